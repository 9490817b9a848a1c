"""What the tests of containers share: an engine of their own, and the images of this build tree in it.

Programs are taken from $EDDY_BIN, which ctest sets. The images eddy, eddy-lab and eddy-host, :latest and :VERSION, are
built once for all tests, and anew when programs or the Dockerfile have changed. Where no container can be started the
tests are skipped, loudly; main() exits with 77 then.
"""

import hashlib
import json
import os
import subprocess
import sys
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from lib import images  # noqa: E402
from lib.engine import CONFINED, NoEngine, find_engine, last_line  # noqa: E402,F401
from lib.hugepages import give_back_hugepages, reserve_hugepages, total_hugepages  # noqa: E402,F401
from lib.netns import Trouble, run, wait_for  # noqa: E402,F401

BINARIES = Path(os.environ.get("EDDY_BIN", ROOT / "build" / "dev" / "bin"))
BUILD = BINARIES.parent
STORE = BUILD / "containers"
PACKAGES = STORE / "packages"
PROGRAMS = ("eddyd", "eddyctl", "eddylab", "eddyhost", "eddywire")
MADE_OF = ("docker/Dockerfile", "packaging", "config/experiments", "config/workloads", "config/examples")
SKIPPED = 77
# A switch's container: no capability, nothing to write to but its sockets' volume and DPDK's run folder.
SWITCH = (*CONFINED, "--network", "none", "--tmpfs", "/run/dpdk")
NO_WAIT = ("--wait", "0s")
ABOUT_HUGEPAGES = "free hugepages are not used"  # said of a machine that has some; SWITCH may not place them


class shared:  # what all classes of a file use
    engine = None


def fingerprint():
    """Of what the images are made of."""
    digest = hashlib.sha256()
    paths = [BINARIES / name for name in PROGRAMS if (BINARIES / name).exists()]
    for name in MADE_OF:
        path = ROOT / name
        paths += sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    for path in paths:
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def build_images(engine):
    """Unless they are there already."""
    wanted = fingerprint()
    marker = STORE / "fingerprint"
    if marker.exists() and marker.read_text() == wanted and all(engine.has_image(name) for name in images.IMAGES):
        return
    marker.unlink(missing_ok=True)
    for old in PACKAGES.glob("*.deb"):
        old.unlink()
    done = subprocess.run([ROOT / "scripts" / "package", "--build", BUILD, "--out", PACKAGES, "--no-build", "--no-lint"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise Trouble(f"scripts/package: {last_line(done)}")
    images.build_images(engine, PACKAGES, store=STORE, revision=images.revision_of(PACKAGES))
    marker.write_text(wanted)


def main(with_images=True):
    """unittest.main() with an engine; what it skips it says where nobody overlooks it."""
    try:
        shared.engine = find_engine("docker", own=STORE, private=True)
    except NoEngine as why:
        print(f"SKIPPED, ALL OF {Path(sys.argv[0]).name}: {why}", file=sys.stderr)
        sys.exit(SKIPPED)
    with shared.engine as engine:
        if with_images:
            build_images(engine)
        unittest.main(verbosity=2)


class InContainers(unittest.TestCase):
    """Each test's containers are gone after it; what they said is shown when it fails."""

    def setUp(self):
        self.engine = shared.engine
        self.names, self.volumes = [], []
        self.addCleanup(self.take_down)

    def take_down(self):
        if self.failed():
            self.show_logs()
        self.remove_containers()
        if self.volumes:
            self.engine.call("volume", "rm", "--force", *self.volumes)

    def show_logs(self):
        for name in self.names:
            print(f"--- {name}", self.engine.logs(name)[-3000:], sep="\n", file=sys.stderr)

    def remove_containers(self):
        self.engine.remove(*self.names)
        self.names.clear()

    def failed(self):
        outcome = getattr(self, "_outcome", None)
        result = getattr(outcome, "result", None)
        return bool(result) and any(test is self for test, _ in result.failures + result.errors)

    def name(self, short):
        """Of a container that is removed after the test."""
        name = f"test-{os.getpid()}-{short}"
        self.names.append(name)
        return name

    def folder(self):
        path = STORE / "work" / f"{os.getpid()}-{time.monotonic_ns()}"
        path.mkdir(parents=True)
        self.addCleanup(run, "rm", "-rf", path)
        return path

    def volume(self, short="run"):
        """One that takes the owner and the mode of /run/eddy in the image."""
        name = f"test-{os.getpid()}-{short}-{time.monotonic_ns()}"
        self.engine.call("volume", "create", name)
        self.volumes.append(name)
        return name

    def start_switch(self, short, ports, *arguments, options=(), volume=None, image="eddy", more=None):
        """A switch with these ports, {name: device}, and what else its YAML says; returns the container's name."""
        name = self.name(short)
        configuration = self.folder() / f"{short}.yaml"
        configuration.write_text(json.dumps({"switch": {"name": short}, "ports": {
            port: {"device": device, "addresses": [f"10.0.{number}.1/24"]}
            for number, (port, device) in enumerate(ports.items(), 1)}, **(more or {})}))
        self.engine.run(image, "--config", f"/etc/eddy/{short}.yaml", *arguments, options=(
            "--name", name, *SWITCH, "--env", f"EDDY_SWITCH={short}", "--volume", f"{volume or self.volume()}:/run/eddy",
            "--volume", f"{configuration}:/etc/eddy/{short}.yaml:ro", *options))
        return name

    def running(self, name):
        """Waits until a switch answers."""
        wait_for(lambda: self.engine.exec(name, "eddyctl", "show", "ports", check=False).returncode == 0, 15,
                 f"{name} answers")
        return name

    def wire(self, one, other):
        """A veth pair between the namespaces of two containers, each (container, interface); None: the test's own."""
        def end(where):
            return ("netns", self.engine.pid(where)) if where else ()
        run("ip", "link", "add", "name", one[1], *end(one[0]), "type", "veth", "peer", "name", other[1], *end(other[0]))

    def enter(self, container, *command, **options):
        """Runs a program of ours in the network namespace of a container."""
        return run("nsenter", "--target", self.engine.pid(container), "--net", *command, **options)

    def lines_at_end(self, name, seconds=20):
        """What a container has said that has ended, and with which status."""
        status = self.engine.wait(name, seconds)
        return status, self.engine.logs(name).strip().splitlines()

    def assert_refused(self, name, pattern, status=1):
        """It ends, and its only line that is no information, and not about the machine's hugepages, says why."""
        code, lines = self.lines_at_end(name)
        self.assertEqual(code, status, lines)
        telling = [line for line in lines if " [info] " not in line and ABOUT_HUGEPAGES not in line]
        self.assertEqual(len(telling), 1, lines)
        self.assertRegex(telling[0], pattern)


def seconds_since(start):
    return time.monotonic() - start
