"""eddyctl top of all switches of a folder: on two real switches, and on sockets that answer as switches do."""

import json
import os
import signal
import time

from pair import Pair
from support import EndToEnd, main, seconds_since, wait_for
from top_test import EDDYCTL, Terminal

LINK = "leaf-spine"


class TopOfAll(EndToEnd):
    def setUp(self):
        self.pair = Pair(self.world, self.world.directory)
        self.addCleanup(self.pair.stop)
        self.pair.start_both()

    def json(self):
        done = self.pair.eddyctl("--json", "top", "--all")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def links(self):
        return {row["link"]: row for row in self.json()["links"]}

    def terminal(self):
        terminal = Terminal(24, 160, "--dir", self.pair.folder, "top", "--all")
        self.addCleanup(terminal.close)
        terminal.shows(LINK)
        return terminal

    def test_both_ends_are_one_link(self):
        links = self.links()
        self.assertEqual(list(links), [LINK, "leaf:lone", "leaf:nobody"])
        link = links[LINK]
        self.assertEqual((link["state"], link["port"], link["peer_switch"], link["peer_port"]),
                         ("up", "to-spine", "spine", "to-leaf"))
        self.assertEqual(links["leaf:nobody"]["state"], "down")
        wait_for(lambda: self.links()[LINK].get("forth_bps", 0) > 0, 10, "LLDP is seen")

    def test_every_view_is_printed_once_where_there_is_no_terminal(self):
        done = self.pair.eddyctl("top", "--all")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for text in (LINK, "switches\nSwitch", "workers\nSwitch  Worker"):
            self.assertIn(text, done.stdout)
        self.assertNotIn("\x1b", done.stdout)

    def test_switches_come_and_go_without_an_end(self):
        terminal = self.terminal()
        leaf, spine = (self.pair.processes[name] for name in ("leaf", "spine"))
        os.kill(leaf.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, leaf.pid, signal.SIGCONT)
        terminal.shows("leaf silent")
        terminal.shows("no answer within 2 s")
        began = time.monotonic()
        terminal.send("2")
        terminal.shows("[2 switches]")
        self.assertLess(seconds_since(began), 1.5, "it waits for nobody")
        terminal.send("1")
        os.kill(leaf.pid, signal.SIGCONT)
        terminal.until(lambda: not any("silent" in line for line in terminal.frame()), "the leaf answers")
        spine.popen.terminate()
        spine.wait(10)
        terminal.shows("spine gone")
        self.pair.start("spine")
        terminal.until(lambda: any(LINK in line and " up " in line for line in terminal.frame()), "the link is up again")
        terminal.send("q")
        self.assertEqual(terminal.ends(), 0)

    def test_it_ends_at_once_beside_a_switch_that_hangs(self):
        leaf = self.pair.processes["leaf"]
        terminal = self.terminal()
        os.kill(leaf.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, leaf.pid, signal.SIGCONT)
        terminal.shows("leaf silent")
        began = time.monotonic()
        terminal.send("q")
        self.assertEqual(terminal.ends(), 0)
        self.assertLess(seconds_since(began), 1.0)

    def test_filter_sort_and_pause(self):
        terminal = self.terminal()
        terminal.send("/")
        terminal.send("nobody\r")
        terminal.shows('1 rows with "nobody"')
        self.assertFalse(any(LINK in line for line in terminal.frame()))
        terminal.send("\x1b")
        terminal.shows(LINK)
        terminal.send("s")
        terminal.shows("by link")
        terminal.send("p")
        terminal.shows("PAUSED")

    def test_a_killed_switch_is_said_in_json(self):
        self.pair.processes["spine"].kill()
        wait_for(lambda: self.links()[LINK]["state"] == "spine silent" if LINK in self.links() else True, 10, "it is said")
        (row,) = (row for row in self.json()["switches"] if row["switch"] == "spine")
        self.assertEqual(row["state"], "silent")
        self.assertIn("nobody answers", row["why"])


class Nobody(EndToEnd):
    def test_lines_that_are_refused(self):
        pair = Pair(self.world, self.world.directory)
        for words, code, said in (
                (("top", "--all"), 1, f"no switch runs here (looked in {pair.folder})"),
                (("--fabric", "x", "top"), 2, f"--dir {pair.folder} and --fabric: one of them"),
                (("--json", "--name", "leaf", "top"), 2, "top is for people"),
                (("--name", "leaf", "top"), 1, "no switch \"leaf\" runs here")):
            done = pair.eddyctl(*words)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(said, done.stderr)
        self.assertTrue(os.access(EDDYCTL, os.X_OK))


if __name__ == "__main__":
    main()
