"""eddyctl top on a pseudo terminal, beside a control socket that answers as a switch does.

Binaries are taken from $EDDY_BIN, which ctest sets. Needs no root.
"""

import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import threading
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EDDYCTL = Path(os.environ.get("EDDY_BIN", ROOT / "build" / "dev" / "bin")) / "eddyctl"
PATIENCE = 60  # seconds, on a machine that is busy
SEQUENCE = re.compile(r"\x1b\[(\??)([\d;]*)([A-Za-z])")


class Switch:
    """Answers `show` on a Unix socket; `packets` is what its first port has received."""

    def __init__(self, folder):
        self.path = str(folder / "switch.sock")
        self.packets = 1000
        self.asked = 0
        self.refuses = False
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(self.path)
        self._socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        self._socket.close()
        os.unlink(self.path)

    def _serve(self):
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            with client, client.makefile("rw") as lines:
                for line in lines:
                    lines.write(json.dumps(self._answer(json.loads(line))) + "\n")
                    lines.flush()

    def _answer(self, request):
        self.asked += 1
        if self.refuses:
            return {"ok": False, "problems": ["the switch is busy"]}
        rows = {"ports": [{"port": f"port{i}", "role": "host", "rx_packets": self.packets * (i + 1)} for i in range(40)],
                "queues": [{"port": "port0", "queue": 3, "used_bytes": 4096}]}.get(request["report"], [])
        return {"ok": True, "result": {"report": request["report"], "switch": "fake", "generation": 1,
                                       "uptime_ns": 5_000_000_000, "rows": rows}}


class Terminal:
    """What a terminal of this size would show, as lines."""

    def __init__(self, rows, columns, *words):
        self.child, self.fd = pty.fork()
        if self.child == 0:
            os.execv(EDDYCTL, [str(EDDYCTL), *map(str, words)])
        self.said = ""
        self.exit_code = None
        self.resize(rows, columns)

    def resize(self, rows, columns):
        self.rows, self.columns = rows, columns
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def send(self, keys):
        os.write(self.fd, keys.encode())

    def read(self, timeout):
        ready, _, _ = select.select([self.fd], [], [], timeout)
        if not ready:
            return
        try:
            self.said += os.read(self.fd, 1 << 16).decode()
        except OSError:  # the other side is closed
            _, status = os.waitpid(self.child, 0)
            self.exit_code = os.waitstatus_to_exitcode(status)

    def until(self, is_so, what):
        deadline = time.monotonic() + PATIENCE
        while not is_so():
            if time.monotonic() > deadline or self.exit_code is not None:
                raise AssertionError(f"{what}; it said:\n{self.said[-2000:]}")
            self.read(deadline - time.monotonic())

    def frame(self):
        """The lines of the last whole screen, and none before there is one."""
        whole = self.said.rfind("\x1b[J")
        start = self.said.rfind("\x1b[H", 0, whole)
        if whole < 0 or start < 0:
            return []
        return [line.rstrip("\r") for line in SEQUENCE.sub("", self.said[start:whole]).split("\n")]

    def shows(self, text):
        self.until(lambda: any(text in line for line in self.frame()), f"{text!r} is on the screen")

    def ends(self):
        deadline = time.monotonic() + PATIENCE
        while self.exit_code is None and time.monotonic() < deadline:
            self.read(deadline - time.monotonic())
        return self.exit_code

    def close(self):
        if self.exit_code is None:
            os.kill(self.child, signal.SIGKILL)
            os.waitpid(self.child, 0)
        os.close(self.fd)


def gives_the_terminal_back(case, socket_path, words, end):
    """A command of eddyctl that draws: `end(child, terminal)` ends it, and the terminal is set as before."""
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    child = subprocess.Popen([EDDYCTL, "--socket", socket_path, *words], stdin=theirs, stdout=theirs)
    said = b""
    while b"port0" not in said:
        said += os.read(ours, 1 << 16)
    case.assertNotEqual(termios.tcgetattr(theirs), before)
    end(child, ours)
    reader = threading.Thread(target=lambda: os.read(ours, 1 << 16), daemon=True)
    reader.start()
    case.assertEqual(child.wait(PATIENCE), 0)
    case.assertEqual(termios.tcgetattr(theirs), before)
    os.close(theirs)
    reader.join()
    os.close(ours)


class Top(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="eddy-top-")
        self.addCleanup(folder.cleanup)
        self.switch = Switch(Path(folder.name))
        self.addCleanup(self.switch.close)

    def start(self, rows=24, columns=80):
        terminal = Terminal(rows, columns, "--socket", self.switch.path, "top")
        self.addCleanup(terminal.close)
        terminal.shows("[1 ports]")
        return terminal

    def test_a_screen_fits_and_follows_the_window(self):
        terminal = self.start()
        for rows, columns in ((24, 80), (10, 40), (60, 200)):
            terminal.resize(rows, columns)
            terminal.until(lambda: len(terminal.frame()) == rows, f"a screen of {rows} lines")
            self.assertLessEqual(max(map(len, terminal.frame())), columns)
        terminal.shows("port39")

    def test_numbers_are_read_again_and_stay_while_paused(self):
        terminal = self.start()
        terminal.shows("1,000")
        self.switch.packets = 2001
        terminal.shows("2,001")
        terminal.send("p")
        terminal.shows("PAUSED")
        self.switch.packets = 3003
        asked = self.switch.asked
        terminal.send("r")  # drawn anew, not read anew
        terminal.shows("reversed")
        self.assertFalse(any("3,003" in line for line in terminal.frame()))
        self.assertEqual(self.switch.asked, asked)
        terminal.send("r")
        terminal.send(" ")
        terminal.shows("3,003")

    def test_rows_are_sorted_and_scrolled(self):
        terminal = self.start()
        terminal.until(lambda: terminal.frame()[3].startswith("port0 "), "the switch's own order")
        terminal.send("s" * 9)
        terminal.shows("by rx_packets")
        self.assertTrue(terminal.frame()[3].startswith("port39 "), terminal.frame()[3])
        terminal.send("\x1b[B")
        terminal.until(lambda: terminal.frame()[3].startswith("port38 "), "a row further")

    def test_views_are_chosen(self):
        terminal = self.start()
        terminal.send("2")
        terminal.shows("4.0 KiB")
        terminal.shows("[2 queues]")
        terminal.send("5")
        terminal.shows("nothing to show")
        terminal.send("h")
        terminal.shows("this help")

    def test_a_switch_that_refuses_is_asked_again(self):
        terminal = self.start()
        self.switch.refuses = True
        terminal.shows("the switch is busy")
        terminal.shows("port0")
        self.switch.refuses = False
        self.switch.packets = 7
        terminal.until(lambda: not any("busy" in line for line in terminal.frame()), "it answers again")

    def test_it_ends_and_gives_the_terminal_back(self):
        for how in (lambda terminal: terminal.send("q"), lambda terminal: terminal.send("\x03"),
                    lambda terminal: os.kill(terminal.child, signal.SIGTERM)):
            terminal = self.start()
            before = termios.tcgetattr(terminal.fd)
            self.assertFalse(before[3] & termios.ECHO)
            how(terminal)
            self.assertEqual(terminal.ends(), 0)
            self.assertIn("\x1b[?25h\x1b[?1049l", terminal.said)

    def test_the_terminal_has_its_settings_again(self):
        gives_the_terminal_back(self, self.switch.path, ["top"], lambda child, terminal: os.write(terminal, b"q"))

    def test_without_a_terminal_everything_is_printed_once(self):
        done = self.call("--socket", self.switch.path, "top")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("port39", done.stdout)
        self.assertIn("queues\nPort   Queue", done.stdout)
        self.assertNotIn("\x1b", done.stdout)

    def test_what_it_cannot_do_is_said(self):
        done = self.call("--socket", self.switch.path, "--json", "top")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--json show", done.stderr)
        done = self.call("--socket", self.switch.path + "-none", "top")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.call("top", "ports").returncode, 2)
        self.switch.refuses = True
        terminal = Terminal(24, 80, "--socket", self.switch.path, "top")
        self.addCleanup(terminal.close)
        self.assertEqual(terminal.ends(), 1)
        self.assertIn("the switch is busy", terminal.said)
        self.assertNotIn("\x1b", terminal.said)

    def call(self, *words):
        return subprocess.run([EDDYCTL, *words], capture_output=True, text=True, timeout=PATIENCE, check=False,
                              stdin=subprocess.DEVNULL)


class Arguments(unittest.TestCase):
    """What is wrong with a line is said before any switch is looked for; none runs here."""

    def call(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            return subprocess.run([EDDYCTL, "--dir", folder, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=PATIENCE, check=False)

    def test_values_that_are_none(self):
        for good, bad, problems in (
                (("trace",), ("--count", "0"), ["--count 0: no whole number from 1 to 4000"]),
                (("trace",), ("--count", "x", "--filter", "udp prot 3"), ["--count x", "--filter \"udp prot 3\""]),
                (("capture", "all", "-w", "/dev/null"), ("--count", "0", "--filter", "udp prot 3"), ["--filter \"udp prot 3\"", "--count 0"]),
                (("web",), ("--listen", "nowhere"), ["--listen nowhere: valid is"]),
                (("top",), ("--json",), ["top is for people"]),
                (("explain", "src=1.2.3.4"), ("--count", "3"), ["--count does not concern explain"])):
            done = self.call(*good)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertIn("no switch runs here", done.stderr)
            done = self.call(*good, *bad)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", len(problems)), done.stderr)
            for line, problem in zip(done.stderr.splitlines(), problems):
                self.assertIn(problem, line)


if __name__ == "__main__":
    unittest.main(verbosity=2)
