"""scripts/demo --containers from outside: its stories, what it leaves, and what is left when it is killed."""

import os
import signal
import subprocess
import tempfile
from pathlib import Path

from support import BINARIES, ROOT, InContainers, main, run, shared, wait_for

NAME = f"d{os.getpid() % 100000}"
STATE = Path(f"/run/eddy/{NAME}.json")
NODES = {f"{NAME}-{node}" for node in ("leaf1", "leaf2", "spine1", "spine2", "h1", "h2", "h3", "h4")}
SECONDS = ("--seconds", "4")


class Demo(InContainers):
    """Each test runs a demo of its own name, with the programs and images of this build."""

    def setUp(self):
        super().setUp()
        self.out = tempfile.NamedTemporaryFile("w+", prefix="eddy-demo-test-")
        self.addCleanup(self.out.close)
        self.addCleanup(self.demo, "--down")

    def start(self, *words, environment=None):
        return subprocess.Popen([ROOT / "scripts" / "demo", "--name", NAME, *words], stdout=self.out,
                                stderr=subprocess.STDOUT,
                                env=environment or shared.engine.environ(EDDY_BIN=str(BINARIES)))

    def demo(self, *words, environment=None):
        """Runs it to its end; returns its status and what it printed."""
        self.out.seek(0)
        self.out.truncate()
        return self.ended(self.start(*words, environment=environment))

    def ended(self, process):
        return process.wait(120), self.printed()

    def printed(self):
        return Path(self.out.name).read_text(encoding="utf-8")

    def until(self, text, process):
        wait_for(lambda: text in self.printed() or process.poll() is not None, 60, f"'{text}'")
        self.assertIsNone(process.poll(), self.printed())

    def containers(self):
        listed = self.engine.call("ps", "--all", "--filter", f"label=org.eddy.fabric={NAME}", "--format", "{{.Names}}")
        return set(listed.stdout.split())

    def assert_nothing_left(self):
        self.assertEqual(self.containers(), set())
        self.assertNotIn(f"eddy-{NAME}-", run("ip", "netns", "list").stdout)
        self.assertEqual([path for path in STATE.parent.iterdir() if NAME in path.name], [])
        self.assertEqual([path for path in Path(tempfile.gettempdir()).iterdir()
                          if path.name.startswith(f"eddy-{NAME}-")], [])

    def test_linux_hosts(self):
        status, text = self.demo("--containers", *SECONDS, "--scheme", "drill")
        self.assertEqual(status, 0, text)
        for part in ("4 s of 4", "scheme drill.", "24 of 24 pairs answered", "leaf1 sent over: spine1",
                     f"docker exec -it {NAME}-leaf1 eddyctl top", "\nOK: "):
            self.assertIn(part, text)
        self.assertNotIn("drops at spine", text)
        self.assertLessEqual(max(len(line) for line in text.split("\n")), 100)
        self.assert_nothing_left()

    def test_roce_hosts(self):
        status, text = self.demo("--containers", "--roce", *SECONDS)
        self.assertEqual(status, 0, text)
        for part in ("Hosts on memif", "drops   none", "flows ended", "from leaf2 to h4", "not one packet was lost",
                     "\nOK: "):
            self.assertIn(part, text)
        self.assert_nothing_left()

    def test_a_fabric_that_is_kept(self):
        status, text = self.demo("--containers", *SECONDS, "--keep")
        self.assertEqual(status, 0, text)
        self.assertEqual(self.containers(), NODES)
        self.assertIn("is healthy", self.engine.exec(f"{NAME}-leaf1", "eddyctl", "healthy").stdout)
        pinged = self.engine.exec(f"{NAME}-h1", "ping", "-c", "1", "-W", "2", "10.0.3.2").stdout
        self.assertIn(" 0% packet loss", pinged)
        status, text = self.demo()
        self.assertEqual(status, 1)
        self.assertIn(f"scripts/demo --down --name {NAME}", text)
        elsewhere = {key: value for key, value in os.environ.items() if key != "DOCKER_HOST"}
        status, text = self.demo("--down", environment=elsewhere)
        self.assertEqual(status, 0, text)
        self.assert_nothing_left()

    def test_a_demo_that_is_killed(self):
        process = self.start("--containers", "--seconds", "30")
        self.until("1 s of 30", process)
        self.assertEqual(self.containers(), NODES)
        process.kill()
        process.wait()
        status, text = self.demo("--down")
        self.assertEqual(status, 0, text)
        self.assert_nothing_left()

    def test_ctrl_c(self):
        process = self.start("--containers", "--seconds", "30")
        self.until("1 s of 30", process)
        process.send_signal(signal.SIGINT)
        status, text = self.ended(process)
        self.assertEqual(status, 130, text)
        self.assertIn("everything is taken down", text)
        self.assert_nothing_left()

    def test_a_switch_that_dies_is_named(self):
        process = self.start("--containers", "--seconds", "30")
        self.until("1 s of 30", process)
        self.engine.call("kill", f"{NAME}-spine1")
        status, text = self.ended(process)
        self.assertEqual(status, 1, text)
        self.assertIn(f"FAILED: eddyd {NAME}-spine1 exited 137", text)
        self.assertEqual(self.containers(), set())
        kept = next(path for path in Path(tempfile.gettempdir()).iterdir() if path.name.startswith(f"eddy-{NAME}-"))
        run("rm", "-r", kept)
        self.assert_nothing_left()

    def test_what_cannot_be_had_is_said(self):
        self.names.append(f"{NAME}-h2")
        self.engine.run("eddy-host", options=("--name", f"{NAME}-h2", "--network", "none"))
        status, text = self.demo("--containers", *SECONDS)
        self.assertEqual(status, 1, text)
        self.assertIn(f"a container named {NAME}-h2 is there already", text)
        self.assertTrue(self.engine.inspect(f"{NAME}-h2")["State"]["Running"])
        nobody = shared.engine.environ(EDDY_BIN=str(BINARIES), DOCKER_HOST="unix:///nowhere/docker.sock")
        status, text = self.demo("--containers", *SECONDS, environment=nobody)
        self.assertEqual(status, 1, text)
        self.assertIn("no docker daemon answers at unix:///nowhere/docker.sock (DOCKER_HOST names it)", text)
        status, text = self.demo("--containers", "--hosts", "af_xdp")
        self.assertEqual(status, 2, text)
        self.assertIn("with --containers valid is af_packet", text)


if __name__ == "__main__":
    main()
