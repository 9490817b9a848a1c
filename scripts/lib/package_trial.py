"""Installs packages into a fresh root and lives through what an installation lives through: a first fabric, an upgrade of a
running switch, removal, purge. Every step is a method; what is not as it should be is a Trouble."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from lib.netns import Trouble, wait_for

OLDER = "0.0.9"
CONFIGURATION = """
switch: {name: tried}
ports:
  nowhere: {device: net_null0, addresses: [10.0.1.1/24]}
  loop: {device: net_ring0, addresses: [10.0.2.1/24]}
  peer: {device: "net_memif0,role=server,socket=/run/eddy/tried.memif", addresses: [10.0.3.1/24]}
"""
MEMORY = ("--", "--no-huge", "-m", "256")
# Two leaves, two spines and four hosts, as scripts/demo has; with headroom for so long between polls that no machine is too busy.
FABRIC = ("leaf-spine", "--size", "ci", "--set", "topology.leaves=2", "--set", "topology.spines=2",
          "--set", "topology.hosts_per_leaf=2", "--set", "switches.poll_gap=500ms", "--variant", "scheme=letflow")
SWITCHES = ("leaf1", "leaf2", "spine1", "spine2")
UP_SECONDS = 60
# What Debian's own tools leave when a user and a library come and go, and DPDK's folder.
KEPT_BY_OTHERS = ("run/adduser", "run/dpdk", "etc/ld.so.cache", "etc/passwd-", "etc/group-", "etc/shadow-", "etc/gshadow-",
                  "etc/subuid-", "etc/subgid-", "etc/.pwd.lock", "etc/subuid", "etc/subgid")


def of_version(package, version, folder):
    """The same package as another version, with a file that later ones do not have."""
    with tempfile.TemporaryDirectory(dir=folder) as work:
        tree = Path(work) / "tree"
        subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
        control = tree / "DEBIAN" / "control"
        text = control.read_text(encoding="utf-8")
        now = next(line.split()[1] for line in text.splitlines() if line.startswith("Version:"))
        control.write_text(text.replace(f"Version: {now}", f"Version: {version}").replace(f"(= {now})", f"(= {version})"),
                           encoding="utf-8")
        name = package.name.replace(f"_{now}_", f"_{version}_")
        data = tree / "usr/share/eddy"
        data.mkdir(parents=True, exist_ok=True)
        (data / f"only-in-{package.name.split('_')[0]}-{version}").write_text("old\n", encoding="utf-8")
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", tree, folder / name], check=True,
                       stdout=subprocess.DEVNULL)
    return folder / name


class Trial:
    """In `root`, with the packages `eddy` and `eddy-lab` of these files."""

    def __init__(self, root, packages):
        self.root = root
        self.folder = root.path / "packages"
        self.folder.mkdir()
        self.packages = [Path(shutil.copy(package, self.folder)) for package in packages
                         if package.name.split("_")[0] in ("eddy", "eddy-lab")]
        self.version = self.packages[0].name.split("_")[1]

    def _install(self, packages, *options):
        self.root.run("apt-get", "install", "--yes", "--quiet", "--no-install-recommends", *options,
                      *(f"/packages/{package.name}" for package in packages))

    def _must(self, true, what):
        if not true:
            raise Trouble(what)

    def _log(self, name):
        return self.root.path / "tmp" / name

    def install(self):
        """The way of whoever has the packages and Debian's mirror."""
        self.root.run("apt-get", "update", "--quiet")
        self.before = self.root.files()
        self._install(self.packages)
        self._must(self.root.place("/etc/eddy").is_dir(), "/etc/eddy is not there")
        self._must("eddy:" in self.root.place("/etc/passwd").read_text(), "there is no user eddy")
        for program in ("eddyd", "eddyctl", "eddylab", "eddyhost"):
            said = self.root.run(program, "--version").stdout
            self._must(self.version in said, f"{program} --version says {said}")
        found = self.root.run("sh", "-c", "command -v cc c++ gcc g++ cmake ninja make", check=False).stdout.split()
        self._must(not found, f"the fresh root has a compiler: {found}")

    def fabric(self):
        """A fabric as the demo's: four switches, all healthy, and down again."""
        up = self.root.start("eddylab", "up", *FABRIC, log=self._log("up"))
        sockets = ("eddyctl", "--dir", "/run/eddy/lab/leaf-spine")

        def healthy():
            if up.poll() is not None:
                raise Trouble(f"eddylab up ended: {self._log('up').read_text()}")
            return self.root.run(*sockets, "healthy", "--all", check=False).stdout
        for switch in SWITCHES:
            wait_for(lambda name=switch: f"{name} is healthy" in healthy(), UP_SECONDS, f"{switch} healthy")
        self.root.stop(up)
        self._must(not self.root.place("/run/eddy/lab/leaf-spine").exists(), "eddylab up left its folder")

    def start_switch(self):
        """eddyd with ports that need nothing of the machine, as its own user could have them; waits until it forwards."""
        self.root.place("/etc/eddy").mkdir(exist_ok=True)
        self.root.place("/etc/eddy/tried.yaml").write_text(CONFIGURATION, encoding="utf-8")
        self.switch = self.root.start("eddyd", "--config", "/etc/eddy/tried.yaml", *MEMORY, log=self._log("eddyd"))
        wait_for(lambda: "advancing: 1 of 1" in self._healthy(), UP_SECONDS, "eddyd runs")

    def _healthy(self):
        if self.switch.poll() is not None:
            raise Trouble(f"eddyd ended: {self._log('eddyd').read_text()}")
        return self.root.run("eddyctl", "healthy", "--ports", "none", check=False).stdout

    def stop_switch(self):
        shown = self.root.run("eddyctl", "show", "ports").stdout
        self._must(all(port in shown for port in ("nowhere", "loop", "peer")), f"eddyctl show ports says: {shown}")
        code = self.root.stop(self.switch)
        self._must(code == 0, f"eddyd exited with {code}: {self._log('eddyd').read_text()}")

    def experiment(self):
        """A whole experiment in virtual time."""
        self.root.run("sh", "-c", "cd /tmp && exec eddylab run leaf-spine --size ci --seed 1")
        shown = self.root.run("sh", "-c", "cd /tmp && exec eddylab show results/leaf-spine/ci").stdout
        self._must("scheme=drill" in shown, f"eddylab show says: {shown}")

    def upgrade(self):
        """From an older version, under a switch that runs: it goes on, and answers the newer eddyctl."""
        older = [of_version(package, OLDER, self.folder) for package in self.packages]
        self._install(older, "--allow-downgrades")
        old_files = [self.root.place(f"/usr/share/eddy/only-in-{name}-{OLDER}") for name in ("eddy", "eddy-lab")]
        self._must(all(file.exists() for file in old_files), "the older version is not there")
        self.start_switch()
        user = self.root.run("id", "-u", "eddy").stdout
        self._install(self.packages)
        self._must(not any(file.exists() for file in old_files), "the upgrade left files of the older version")
        self._must(self.root.run("id", "-u", "eddy").stdout == user, "the upgrade made another user")
        self._must("advancing: 1 of 1" in self._healthy(), "the switch does not answer after the upgrade")
        self.stop_switch()

    def remove(self):
        """Programs go, configurations stay."""
        self.root.run("apt-get", "remove", "--yes", "--quiet", "eddy", "eddy-lab")
        self._must(not list(self.root.place("/usr/bin").glob("eddy*")), "removal left programs")
        self._must(self.root.place("/etc/eddy/tried.yaml").exists(), "removal took a configuration")

    def purge(self):
        """Everything goes: files, folders, user and group."""
        self.root.run("dpkg", "--purge", "eddy", "eddy-lab")
        self.root.run("apt-get", "autoremove", "--purge", "--yes", "--quiet")
        for file in ("passwd", "group", "shadow"):
            self._must("eddy" not in self.root.place(f"/etc/{file}").read_text(), f"purging left eddy in /etc/{file}")
        left = sorted(self.root.files() - self.before - set(KEPT_BY_OTHERS) - {"packages"})
        left = [path for path in left if not path.startswith("packages/")]
        self._must(not left, f"purging left {', '.join(left[:20])}")
