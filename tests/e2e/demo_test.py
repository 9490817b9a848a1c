"""scripts/demo from outside: what it prints, its exit status, and that nothing is left behind."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from support import BINARIES, ROOT, main, run, wait_for

NAME = f"t{os.getpid()}"
STATE = Path(f"/run/eddy/{NAME}.json")


class Demo(unittest.TestCase):
    """Each test runs a demo of its own name, with the binaries of this build."""

    def setUp(self):
        self.out = tempfile.NamedTemporaryFile("w+", prefix="eddy-demo-test-")
        self.addCleanup(self.out.close)
        self.addCleanup(self.demo, "--down")

    def start(self, *words):
        command = [ROOT / "scripts" / "demo", "--name", NAME, *words]
        return subprocess.Popen(command, stdout=self.out, stderr=subprocess.STDOUT,
                                env=os.environ | {"EDDY_BIN": str(BINARIES)})

    def demo(self, *words):
        """Runs it to its end; returns its status and what it printed."""
        self.out.seek(0)
        self.out.truncate()
        return self.ended(self.start(*words))

    def ended(self, process):
        status = process.wait(120)
        return status, self.printed()

    def printed(self):
        return Path(self.out.name).read_text(encoding="utf-8")

    def seconds(self):
        """Of the screens of a run of 30 s, so far."""
        return [int(second) for second in re.findall(r"(\d+) s of 30 ", self.printed())]

    def until_second(self, second, process):
        """A machine that is busy leaves seconds out."""
        wait_for(lambda: max(self.seconds(), default=0) >= second or process.poll() is not None, 40, f"second {second}")
        self.assertIsNone(process.poll(), self.printed())

    def assert_nothing_left(self, pids=()):
        self.assertNotIn(f"eddy-{NAME}-", run("ip", "netns", "list").stdout)
        self.assertFalse(STATE.exists())
        self.assertEqual(list(STATE.parent.glob(f"{NAME}-*.sock")), [])
        for pid in pids:
            self.assertFalse(Path(f"/proc/{pid}").exists(), pid)

    def switch_pids(self):
        return [pid for pid, _ in json.loads(STATE.read_text())["processes"]]

    def test_a_short_run(self):
        status, text = self.demo("--seconds", "4", "--scheme", "drill")
        self.assertEqual(status, 0, text)
        for part in ("4 s of 4", "scheme drill.", "24 of 24 pairs answered", "PFC", "ECN", "drops",
                     "leaf1 sent over: spine1", "\nOK: "):
            self.assertIn(part, text)
        self.assertNotIn("\033", text)
        self.assertLessEqual(max(len(line) for line in text.split("\n")), 100)
        self.assert_nothing_left()

    def test_rlb_and_isolation_beside_the_same_without_them(self):
        status, text = self.demo("--rlb", "--seconds", "10")
        self.assertEqual(status, 0, text)
        for part in ("1 of 4: drill alone", "2 of 4: drill with RLB", "3 of 4: an incast without isolation",
                     "4 of 4: an incast with isolation", "spine1 to leaf2: throttled to 10Mbps",
                     "spine1 to leaf2: full speed again", "CNMs sent", "passed on", "\nOK: "):
            self.assertIn(part, text)
        alone, with_rlb, shared, isolated, beside = (text[text.index(a):text.index(b)] if b else text[text.index(a):] for a, b in (
            ("1 of 4", "2 of 4"), ("2 of 4", "3 of 4"), ("3 of 4", "4 of 4"), ("4 of 4", "Side by side"), ("Side by side", None)))
        self.assertNotIn("CNMs", alone)
        pauses = re.search(r"while spine1 was slow: (\d+) pauses sent", alone)
        self.assertGreater(int(pauses.group(1)), 10, text)
        self.assertIn("spine1 to leaf1: sent PFC without having warned", alone)
        slow = with_rlb[with_rlb.index("while spine1 was slow"):with_rlb.index("afterwards, with the incast")]
        self.assertNotIn(" 0 rerouted", slow)
        self.assertNotIn(" 0 recirculated", slow)
        self.assertRegex(beside, r"packets rerouted +0 +[1-9]")
        self.assert_isolation(shared, isolated, beside)
        self.assertLessEqual(max(len(line) for line in text.split("\n")), 100)
        self.assert_nothing_left()

    def assert_isolation(self, shared, isolated, beside):
        """How fast it was is not asked: that depends on what else the machine does."""
        for part in (shared, isolated):
            self.assertIn("OK: every flow delivered all it had, in order, and not one packet was lost.", part)
            self.assertRegex(part, r"victims \d+ flows of 50 kB: median \d+ ms, p90 \d+ ms, slowest \d+ ms")
        self.assertNotIn("isolated", shared.split("Summary")[1])
        begun, ended, named = (int(count) for count in re.search(
            r"isolated (\d+) packets, put back (\d+); times that somebody was named: (\d+)", isolated).groups())
        self.assertTrue(begun == ended > 0 < named, isolated)
        for row in ("completion, median", "completion, p90", "completion, slowest", "incast: completion, mean"):
            self.assertRegex(beside, rf"{row} +\d+ ms +\d+ ms\n")
        self.assertRegex(beside, r"packets isolated +0 +[1-9]")

    def test_roce_hosts_obey_pfc_and_nothing_is_lost(self):
        status, text = self.demo("--roce", "--seconds", "4")
        self.assertEqual(status, 0, text)
        for part in ("4 s of 4", "Hosts on memif", "drops   none", "flows ended", "from leaf2 to h4",
                     "not one packet was lost", "\nOK: "):
            self.assertIn(part, text)
        sent, read = re.search(r"switches sent (\d+) frames to hosts, which read (\d+)", text).groups()
        self.assertGreater(int(sent), 0)
        self.assertGreater(int(read), 0)
        self.assertLessEqual(max(len(line) for line in text.split("\n")), 100)
        self.assert_nothing_left()

    def test_ctrl_c_takes_everything_down(self):
        process = self.start("--seconds", "30")
        self.until_second(2, process)
        pids = self.switch_pids()
        process.send_signal(signal.SIGINT)
        status, text = self.ended(process)
        self.assertEqual(status, 130, text)
        self.assertIn("everything is taken down", text)
        self.assert_nothing_left(pids)

    def test_a_switch_that_dies_is_named(self):
        process = self.start("--seconds", "30")
        self.until_second(1, process)
        pids = self.switch_pids()
        os.kill(pids[2], signal.SIGKILL)
        status, text = self.ended(process)
        self.assertEqual(status, 1, text)
        self.assertIn(f"FAILED: eddyd {NAME}-spine1 killed by SIGKILL", text)
        self.assertEqual(text.count("FAILED"), 1, text)
        self.assertIn(f"{NAME}-spine1: poll gaps are not known", text)
        self.assertRegex(text, f"{NAME}-leaf1: longest poll gap seen")
        self.assert_nothing_left(pids)
        self.assert_logs_are_kept(text)

    def test_a_failure_says_that_a_worker_was_beyond_its_poll_gap(self):
        process = self.start("--seconds", "30")
        self.until_second(2, process)
        pids = self.switch_pids()
        enough = len(self.seconds()) + 2  # with each the demo asks for the longest gap of the last second
        while len(self.seconds()) < enough and process.poll() is None:
            os.kill(pids[0], signal.SIGSTOP)
            self.let_pass(0.3)
            os.kill(pids[0], signal.SIGCONT)
            self.let_pass(0.5)
        os.kill(pids[2], signal.SIGKILL)
        status, text = self.ended(process)
        self.assertEqual(status, 1, text)
        self.assertRegex(text, f"A worker was beyond its poll gap on [^:]*{NAME}-leaf1")
        self.assert_nothing_left(pids)
        self.assert_logs_are_kept(text)

    def let_pass(self, seconds):
        until = time.monotonic() + seconds
        wait_for(lambda: time.monotonic() >= until, seconds + 5, "a worker away for long")

    def assert_logs_are_kept(self, text):
        """They are named, there is something in them, and sockets are gone."""
        folder, names = re.search(r"The logs are kept in (\S+):\n +(.*)\n", text).groups()
        self.addCleanup(shutil.rmtree, folder)
        self.assertEqual([name for name in names.split() if "leaf1" in name], [f"{NAME}-leaf1.log"])
        for name in names.split():
            self.assertTrue((Path(folder) / name).exists(), name)
        self.assertIn("runs: ", (Path(folder) / f"{NAME}-leaf1.log").read_text())
        self.assertTrue((Path(folder) / f"{NAME}-leaf1.yaml").exists())
        self.assertFalse([path for path in Path(folder).iterdir() if path.is_socket()])

    def test_what_a_killed_demo_leaves_is_cleared_by_the_next(self):
        process = self.start("--seconds", "30")
        self.until_second(1, process)
        pids = self.switch_pids()
        process.kill()
        process.wait()
        for pid in pids:
            wait_for(lambda p=pid: not Path(f"/proc/{p}").exists(), 5, f"end of {pid}")
        status, text = self.demo("--seconds", "4")
        self.assertEqual(status, 0, text)
        self.assertIn("left behind", text)
        self.assert_nothing_left()

    def test_keep_and_down(self):
        status, text = self.demo("--seconds", "4", "--keep")
        self.assertEqual(status, 0, text)
        pids = self.switch_pids()
        host = run("ip", "netns", "exec", f"eddy-{NAME}-h1", "ping", "-c", "1", "-W", "2", "10.0.3.2")
        self.assertIn(" 0% packet loss", host.stdout)
        status, text = self.demo()
        self.assertEqual(status, 1)
        self.assertIn(f"scripts/demo --down --name {NAME}", text)
        self.assertEqual(self.demo("--down")[0], 0)
        self.assert_nothing_left(pids)

    def test_wrong_options_are_refused_before_anything_is_built(self):
        for words, valid in ((("--scheme", "nonsense"), "letflow"), (("--seconds", "0"), "4 to 3600"),
                             (("--rlb", "--seconds", "5"), "10 to 3600"), (("--rlb", "x"), "paper_star"),
                             (("--hosts", "carrier_pigeon"), "af_xdp"), (("--nonsense",), "--keep"),
                             (("--roce", "--rlb"), "not allowed with")):
            status, text = self.demo(*words)
            self.assertEqual(status, 2, words)
            self.assertIn(valid, text)


if __name__ == "__main__":
    main()
