"""eddylab --containers where docker or podman is missing, out of reach, old, or has other images: a line each, and
nothing is started. The clients are scripts that say what the real ones do; tests/container has the real ones."""

import os
import shutil
import stat
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINARIES = Path(os.environ.get("EDDY_BIN", ROOT / "build" / "dev" / "bin"))
EXPERIMENT = """
id: trouble
title: Two leaves, two hosts
topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 1}
traffic:
  - {type: incast, degree: 1, size: 20kB, period: 500us}
run: {seeds: [1], duration: 1ms, drain: 40ms}
sizes: {ci: {}}
"""
# Words of the client's command line -> what it does; the first that matches counts.
WORKS = {
    "version": "echo 20.10.24+dfsg1",
    "image inspect": f"echo {{version}}",
    "ps": "true",
    "run": "echo started > \"$0.started\"; exit 125",
}


def fake(client, answers):
    """A client that says for words of its command line what it is told to; anything else fails."""
    cases = "".join(f'  *" {words} "*) {answer} ;;\n' for words, answer in answers.items())
    client.write_text(f'#!/bin/sh\ncase " $* " in\n{cases}  *) echo "no such word: $*" >&2; exit 1 ;;\nesac\n',
                      encoding="utf-8")
    client.chmod(client.stat().st_mode | stat.S_IXUSR)


class EngineTrouble(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="eddy-engine-trouble-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "bin").mkdir()
        (self.folder / "trouble.yaml").write_text(EXPERIMENT, encoding="utf-8")
        self.version = subprocess.run([BINARIES / "eddylab", "--version"], capture_output=True, text=True,
                                      check=True).stdout.split()[1]
        self.name = f"t{os.getpid()}"

    def client(self, name="docker", **changes):
        answers = {words: changes.get(words.replace(" ", "_"), answer) for words, answer in WORKS.items()}
        fake(self.folder / "bin" / name, {w: a.replace("{version}", self.version) for w, a in answers.items()})

    def up(self, *words, code=1, **environment):
        environment = {"PATH": str(self.folder / "bin"), "XDG_RUNTIME_DIR": str(self.folder), **environment}
        done = subprocess.run([BINARIES / "eddylab", "up", "trouble.yaml", "--size", "ci", "--name", self.name,
                               *(words or ["--containers"])], cwd=self.folder, env=environment, capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        for root in ("/run/eddy/lab", self.folder / "eddy" / "lab"):
            self.assertFalse((Path(root) / self.name).exists())
        return done.stderr

    def assert_refused(self, line, *words, code=1, **environment):
        """With this line alone, before any container is started."""
        said = self.up(*words, code=code, **environment)
        self.assertEqual(said, f"eddylab: {line}\n")
        self.assertEqual(list((self.folder / "bin").glob("*.started")), [])

    def test_no_engine_is_there(self):
        self.assert_refused("docker: there is no such program on PATH; --containers needs docker 20.10 or podman 4.0, "
                            "or newer")
        self.client("docker")
        self.assert_refused("podman: there is no such program on PATH; --containers needs docker 20.10 or podman 4.0, "
                            "or newer", "--containers", "podman")

    def test_an_engine_that_is_not_known(self):
        self.client()
        said = self.up("--containers", "rkt", code=2)
        self.assertIn("rkt is neither docker nor podman", said)

    def test_the_daemon_is_out_of_reach(self):
        refused = ('echo "Cannot connect to the Docker daemon at $2. Is the docker daemon running?" >&2; exit 1')
        self.client(version=refused)
        self.assert_refused("docker: no daemon answers: start it, or name another one in DOCKER_HOST")
        self.assert_refused("docker: no daemon answers at unix:///nowhere: start it, or name another one in DOCKER_HOST",
                            DOCKER_HOST="unix:///nowhere")
        self.client(version='echo "permission denied while trying to connect to the Docker daemon socket at x" >&2; '
                            "exit 1")
        self.assert_refused("docker: no permission to use its daemon: be root, or in the group docker")
        self.client(version="echo Error response from daemon: client version 1.22 is too old. >&2; exit 1")
        self.assert_refused("docker: client and daemon do not fit: client version 1.22 is too old.")

    def test_a_daemon_of_another_machine(self):
        self.client()
        self.assert_refused("docker: its daemon at ssh://elsewhere may be on another machine, and a fabric needs this "
                            "one: DOCKER_HOST has to begin with unix://", DOCKER_HOST="ssh://elsewhere")

    def test_an_old_client(self):
        self.client(version="echo 19.03.15")
        client = self.folder / "bin" / "docker"
        self.assert_refused(f"docker: version 19.03.15 of {client} is too old: 20.10 or newer is needed")
        self.client("podman", version="echo 3.4.2")
        client = self.folder / "bin" / "podman"
        self.assert_refused(f"podman: version 3.4.2 of {client} is too old: 4.0 or newer is needed",
                            "--containers=podman")

    def test_an_image_is_missing(self):
        for said in ("Error: No such image: eddy", "Error: inspecting object: eddy: image not known"):
            self.client(image_inspect=f"echo {said} >&2; exit 1")
            self.assert_refused(f"docker: there is no image eddy:{self.version}; scripts/images builds it")

    def test_an_image_of_another_version(self):
        self.client(image_inspect="echo 9.9.9")
        self.assert_refused(f"docker: image eddy:{self.version} is of version 9.9.9, this eddylab is {self.version}; "
                            f"scripts/images builds it anew, as eddy:{self.version}")
        self.client(image_inspect="echo")
        self.assertIn("is of version unknown", self.up())
        only_latest = f'case "$*" in *:latest) echo 0.0.9;; *) echo No such image >&2; exit 1;; esac'
        self.client(image_inspect=only_latest)
        self.assert_refused(f"docker: image eddy:latest is of version 0.0.9, this eddylab is {self.version}; "
                            f"scripts/images builds it anew, as eddy:{self.version}")

    def test_a_container_of_somebody_else_has_the_name(self):
        self.client(ps=f"echo 'af01|eddy-{self.name}-leaf2|demo|'")
        said = self.up("--containers", "--time-dilation", "10000")
        self.assertIn(f"docker: a container named eddy-{self.name}-leaf2 is there already and is not of this user's "
                      "eddylab", said)
        self.assertEqual(list((self.folder / "bin").glob("*.started")), [])

    def test_what_a_killed_fabric_of_this_user_left_is_removed_first(self):
        self.client(ps=f"test -e $0.removed || echo 'af01|eddy-{self.name}-leaf2|{self.name}|eddylab:{os.geteuid()}'")
        with open(self.folder / "bin" / "docker", "r+", encoding="utf-8") as file:
            text = file.read().replace("case ", 'case " $* " in *" rm --force --volumes af01 "*) : > $0.removed; '
                                                "exit ;; esac\ncase ", 1)
            file.seek(0)
            file.write(text)
        said = self.up("--containers", "--time-dilation", "10000")
        self.assertTrue((self.folder / "bin" / "docker.removed").exists(), said)
        self.assertRegex(said, r"eddyd \w+ ended \(125\)")  # whichever ended first

    def test_a_container_that_the_engine_cannot_start(self):
        self.client(run='echo "docker: Error response from daemon: no space left on device." >&2; exit 125')
        said = self.up("--containers", "--time-dilation", "10000")
        self.assertIn("ended (125): docker: Error response from daemon: no space left on device.", said)

    def test_more_ports_than_a_switch_can_have(self):
        self.client()
        said = self.up("--containers", "--time-dilation", "10000", "--set", "topology.hosts_per_leaf=32", "--set",
                       "buffer.size=256MiB")
        self.assertIn("33 ports, a real eddyd has at most 32", said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
