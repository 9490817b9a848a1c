"""eddyctl watch on a pseudo terminal and through a pipe, beside a control socket that answers as a switch does.

Binaries are taken from $EDDY_BIN, which ctest sets. Needs no root.
"""

import json
import os
import signal
import subprocess
import tempfile
import termios
import unittest
from pathlib import Path

from top_test import EDDYCTL, PATIENCE, Switch, Terminal, gives_the_terminal_back

MARKED = "\x1b[7m{}\x1b[0m"


class Watch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="eddy-watch-")
        self.addCleanup(folder.cleanup)
        self.switch = Switch(Path(folder.name))
        self.addCleanup(self.switch.close)

    def start(self, *words, rows=24):
        terminal = Terminal(rows, 80, "--socket", self.switch.path, *(words or ("watch", "ports")))
        self.addCleanup(terminal.close)
        terminal.shows("every 1 s")
        return terminal

    def test_what_has_changed_is_marked(self):
        for words in (("watch", "ports"), ("show", "ports", "--watch", "1")):
            self.switch.packets = 1000
            terminal = self.start(*words)
            terminal.shows("1,000")
            self.assertNotIn(MARKED.format("1,000"), terminal.said)
            self.switch.packets = 2001
            terminal.until(lambda t=terminal: MARKED.format("2,001") in t.said, "a mark")
            self.assertNotIn(MARKED.format("port0"), terminal.said)
            terminal.send("q")
            self.assertEqual(terminal.ends(), 0)

    def test_a_screen_is_cut_and_says_so(self):
        terminal = self.start(rows=10)
        terminal.shows("lines more")
        self.assertEqual(len(terminal.frame()), 10)

    def test_it_ends_and_gives_the_terminal_back(self):
        for how in (lambda terminal: terminal.send("q"), lambda terminal: terminal.send("\x03"),
                    lambda terminal: os.kill(terminal.child, signal.SIGTERM)):
            terminal = self.start()
            self.assertFalse(termios.tcgetattr(terminal.fd)[3] & termios.ECHO)
            how(terminal)
            self.assertEqual(terminal.ends(), 0)
            self.assertIn("\x1b[?25h\x1b[?1049l", terminal.said)

    def test_the_terminal_has_its_settings_again(self):
        gives_the_terminal_back(self, self.switch.path, ["watch", "ports"], lambda child, _: child.send_signal(signal.SIGINT))

    def test_a_switch_that_refuses_ends_it(self):
        terminal = self.start()
        self.switch.refuses = True
        self.assertEqual(terminal.ends(), 1)
        self.assertLess(terminal.said.index("\x1b[?1049l"), terminal.said.index("the switch is busy"))

    def pipe(self, *words):
        child = subprocess.Popen([EDDYCTL, "--socket", self.switch.path, *words], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        return child

    def test_a_pipe_gets_every_reading_whole(self):
        child = self.pipe("watch", "queues")
        lines = [child.stdout.readline() for _ in range(8)]
        for heading in (lines[0], lines[4]):
            self.assertRegex(heading, r"^show queues of fake, every 1 s: \d{4}-\d\d-\d\dT[\d:.]+\+\d\d:\d\d\n$")
        self.assertRegex(lines[1], "^Port +Queue")
        self.assertEqual((lines[3], lines[7]), ("\n", "\n"))
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(PATIENCE), 0)
        self.assertNotIn("\x1b", "".join(lines))
        self.assertEqual(child.stderr.read(), "")

    def test_json_is_one_value_a_line(self):
        child = self.pipe("--json", "watch", "queues")
        for _ in range(2):
            self.assertEqual(json.loads(child.stdout.readline())["rows"][0]["used_bytes"], 4096)
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.wait(PATIENCE), 0)

    def test_what_it_cannot_do_is_said(self):
        for words, code, said in ((("watch",), 2, "a word is missing after \"watch\""),
                                  (("watch", "config"), 2, "\"config\" is not valid after \"watch\""),
                                  (("watch", "ports", "--watch", "0"), 2, "--watch")):
            done = subprocess.run([EDDYCTL, "--socket", self.switch.path, *words], capture_output=True, text=True,
                                  timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
