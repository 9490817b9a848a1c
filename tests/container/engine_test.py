"""Finding docker and starting it: what is said where that does not work, and that nothing is left."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

from support import ROOT, STORE, InContainers, NoEngine, Trouble, find_engine, main, wait_for

from lib import engine as engines

CLIENT = """#!/bin/sh
case "$*" in
  --version) echo "Docker version {version}, build 0" ;;
  *"buildx version") exit {buildx} ;;
  *) echo "{complaint}" >&2; exit 1 ;;
esac
"""
UNREACHABLE = "Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?"
DENIED = "Got permission denied while trying to connect to the Docker daemon socket at unix:///x: connect: permission denied"
TOO_OLD = "Error response from daemon: client version 1.12 is too old. Minimum supported API version is 1.24"


class Refusals(InContainers):
    def client(self, version="20.10.24", complaint=UNREACHABLE, buildx=1):
        folder = self.folder()
        path = folder / "docker"
        path.write_text(CLIENT.format(version=version, complaint=complaint, buildx=buildx))
        path.chmod(0o755)
        return str(path)

    def why(self, *clients, host=None, own=None, kind="docker"):
        environment = {"DOCKER_HOST": host} if host else {}
        with mock.patch.object(engines, "docker_clients", lambda: list(clients)), \
                mock.patch.dict(os.environ, environment), self.assertRaises(NoEngine) as caught:
            find_engine(kind, own)
        text = str(caught.exception)
        self.assertNotIn("\n", text)
        return text

    def test_without_a_client(self):
        self.assertRegex(self.why(), "^docker is not installed: install docker.io")

    def test_with_a_client_that_is_too_old(self):
        client = self.client("1.13.1")
        self.assertEqual(self.why(client), f"docker cannot build images: {client} is 1.13, which is too old "
                                           "(18.09 or newer is needed)")

    def test_with_a_client_that_cannot_build(self):
        self.assertRegex(self.why(self.client("28.2.2")), "28.2 without its plugin buildx$")

    def test_the_first_client_that_can_build_is_taken(self):
        old, new, good, plugin = (self.client("1.13.1"), self.client("28.2.2"), self.client("20.10.24"),
                                  self.client("28.2.2", buildx=0))
        self.assertEqual(engines.choose_client([old, new, good]), good)
        self.assertEqual(engines.choose_client([old, plugin, good]), plugin)

    def test_a_daemon_that_is_named_and_not_there(self):
        self.assertEqual(self.why(self.client(), host="unix:///x", own=STORE),
                         "no docker daemon answers at unix:///x (DOCKER_HOST names it)")

    def test_no_permission(self):
        self.assertEqual(self.why(self.client(complaint=DENIED), host="unix:///x"),
                         "no permission to use the docker daemon at unix:///x: run this as root, or join the group docker "
                         "(DOCKER_HOST names it)")

    def test_a_client_that_the_daemon_does_not_know(self):
        self.assertRegex(self.why(self.client(complaint=TOO_OLD), host="unix:///x"),
                         "do not fit: client version 1.12 is too old. Minimum supported API version is 1.24")

    def test_no_daemon_and_nowhere_to_start_one(self):
        with mock.patch.object(engines, "DEFAULT_HOST", "unix:///x"):
            self.assertEqual(self.why(self.client()), "no docker daemon answers at unix:///x: start it, or set DOCKER_HOST")
            with mock.patch.object(os, "geteuid", lambda: 1000):
                self.assertEqual(self.why(self.client(), own=STORE),
                                 "no docker daemon answers at unix:///x, and to start one needs root")
            with mock.patch.dict(os.environ, {"PATH": ""}):
                self.assertEqual(self.why(self.client(), own=STORE),
                                 "no docker daemon answers at unix:///x, and dockerd is not installed")

    def test_a_daemon_that_does_not_start(self):
        """It says why not, in its last words."""
        client, folder = self.client(), self.folder()
        daemon = Path(client).with_name("dockerd")
        daemon.write_text("#!/bin/sh\necho starting\necho 'failed to start daemon: no graph driver' >&2\nexit 1\n")
        daemon.chmod(0o755)
        with mock.patch.dict(os.environ, {"PATH": f"{daemon.parent}:{os.environ['PATH']}"}), \
                mock.patch.object(engines, "docker_clients", lambda: [client]), self.assertRaises(NoEngine) as caught:
            find_engine("docker", folder, private=True)
        self.assertEqual(str(caught.exception),
                         "dockerd does not start here: failed to start daemon: no graph driver")

    def test_an_engine_that_nobody_knows(self):
        with self.assertRaisesRegex(Trouble, "no container engine 'rocket': known are docker, podman"):
            find_engine("rocket")


OWNER = """
import sys, time
sys.path.insert(0, {scripts!r})
from lib.engine import find_engine
with find_engine("docker", {folder!r}, private=True) as engine:
    print(engine._daemon._process.pid, engine._daemon._containerd()[0], flush=True)
    sys.stdin.read()
"""

# It goes, and leaves the daemon.
LEAVER = """
import sys
sys.path.insert(0, {scripts!r})
from lib.engine import find_engine
engine = find_engine("docker", {folder!r}, private=True, outlive=True)
print(engine._daemon._process.pid, engine._daemon._containerd()[0], flush=True)
engine.leave()
"""


class OwnDaemon(InContainers):
    def launch(self, folder):
        owner = subprocess.Popen([sys.executable, "-c", OWNER.format(scripts=str(ROOT / "scripts"), folder=str(folder))],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        def end():
            owner.kill()
            owner.wait()
            owner.stdin.close()
            owner.stdout.close()
        self.addCleanup(end)
        return owner

    def start(self, folder):
        owner = self.launch(folder)
        return owner, [int(word) for word in owner.stdout.readline().split()]

    def assert_gone(self, pids, folder):
        wait_for(lambda: not any(engines.process_start(pid) for pid in pids), 30, f"{pids} are gone")
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
        self.assertNotIn(f" {folder}", mounts)

    def test_it_ends_with_its_owner_and_leaves_nothing(self):
        folder = self.folder()
        owner, pids = self.start(folder)
        self.assertEqual(len(pids), 2)
        owner.stdin.close()
        self.assertEqual(owner.wait(30), 0)
        self.assert_gone(pids, folder)

    def test_after_an_owner_that_was_killed_the_next_one_cleans_up(self):
        folder = self.folder()
        owner, pids = self.start(folder)
        owner.send_signal(signal.SIGKILL)
        owner.wait()
        again, more = self.start(folder)
        self.assertEqual(len(more), 2)
        again.stdin.close()
        self.assertEqual(again.wait(30), 0)
        self.assert_gone(pids + more, folder)

    def test_two_owners_have_it_one_after_the_other(self):
        folder = self.folder()
        first, pids = self.start(folder)
        second = self.launch(folder)
        self.assertTrue(engines.process_start(pids[0]))
        began = time.monotonic()
        first.stdin.close()
        more = [int(word) for word in second.stdout.readline().split()]
        self.assertEqual(first.wait(30), 0)
        self.assertNotEqual(pids, more)
        self.assertLess(time.monotonic() - began, 60)
        second.stdin.close()
        self.assertEqual(second.wait(30), 0)
        self.assert_gone(pids + more, folder)

    def test_one_that_is_left_goes_on_until_it_is_ended(self):
        folder = self.folder()
        self.addCleanup(engines.end_own_daemon, folder)
        words = [sys.executable, "-c", LEAVER.format(scripts=str(ROOT / "scripts"), folder=str(folder))]
        pids = [int(word) for word in subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout.split()]
        self.assertEqual(len(pids), 2)
        # The next one would end it: it has to wait.
        with open(folder / "lock", "w", encoding="ascii") as lock, self.assertRaises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.assertTrue(all(engines.process_start(pid) for pid in pids))
        engines.end_own_daemon(folder)
        self.assert_gone(pids, folder)
        self.start(folder)


if __name__ == "__main__":
    main(with_images=False)
