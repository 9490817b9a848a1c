"""eddylab trace: packets of a run, told of as they come; the same packet captured and explained goes the same way."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapNgReader

ROOT = Path(__file__).resolve().parents[2]
BINARIES = Path(os.environ.get("EDDY_BIN", ROOT / "build" / "dev" / "bin"))
RUN = ("leaf-spine", "--size", "ci", "--variant", "scheme=ecmp")
# Data from a host of the leaf to another leaf.
DATA = "udp dst port 4791 and ip[1] & 0xfc = 12 and src net 10.0.1.0/24 and not dst net 10.0.1.0/24"


def eddylab(*words):
    return subprocess.run([BINARIES / "eddylab", *map(str, words)], capture_output=True, text=True, timeout=120, check=False)


class Trace(unittest.TestCase):
    def traced(self, *words):
        done = eddylab("trace", *RUN, "--json", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def test_a_packet_captured_explained_and_traced_goes_one_way(self):
        stories, said = self.traced("--switch", "leaf1", "--at", "200us", "--count", "3", "--filter", DATA)
        self.assertEqual((len(stories), said), (3, "eddylab: 3 packets traced\n"))
        for story in stories:
            packet, egress = story["packet"], story["egress"]
            with self.subTest(src=packet["src"], sport=packet["sport"], came=story["came_ns"]):
                self.assertEqual((story["fate"], story["as_said"]), ("sent", True))
                self.assertGreaterEqual(story["came_ns"], 200_000)
                self.assertEqual(story["took_ns"], story["left_ns"] - story["came_ns"])
                self.assertEqual(self.explained(story, packet), egress)
                self.assertIn((packet["src"], packet["dst"], packet["sport"]), self.captured(egress, story["left_ns"]))

    def explained(self, story, packet):
        """The port that the same switch names for such a packet at that moment, in another run of the same seed."""
        words = (f"src={packet['src']} dst={packet['dst']} port={story['port']} sport={packet['sport']} dport={packet['dport']} "
                 f"dscp={packet['dscp']} qp={packet['qp']} opcode={packet['opcode']} len={packet['len']} ecn=ect0")
        done = eddylab("explain", *RUN, words, "--at", f"{story['came_ns']}ns", "--switch", "leaf1", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = json.loads(done.stdout)
        ours, theirs = ([step["step"] for step in each["steps"] if step["step"] != "transmit"] for each in (said, story))
        self.assertEqual(ours, theirs)
        return next(step["port"] for step in said["steps"] if step["step"] == "select")

    def captured(self, egress, left_ns):
        """What a capture of the run has leaving by that port at that moment."""
        with tempfile.TemporaryDirectory(prefix="eddy-lab-trace-") as folder:
            done = eddylab("run", *RUN, "--seed", "1", "--quiet", "--out", folder, "--capture", f"leaf1:{egress}@{left_ns}ns-{left_ns + 1}ns")
            self.assertEqual(done.returncode, 0, done.stderr)
            (file,) = Path(folder).rglob("capture.pcapng")
            frames = [Ether(data) for data, _ in RawPcapNgReader(str(file))]
        return {(frame[IP].src, frame[IP].dst, frame[UDP].sport) for frame in frames if UDP in frame}

    def test_the_same_run_is_told_of_the_same_way_in_lines(self):
        words = ("trace", *RUN, "--switch", "spine2", "--at", "100us", "--count", "2")
        first, second = eddylab(*words), eddylab(*words)
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertEqual(first.stdout, second.stdout)
        self.assertEqual(first.stdout.count("spine2, in by leaf"), 2)
        self.assertEqual(first.stdout.count("\n  2   parse "), 2)
        self.assertEqual(first.stdout.count("\n  15  transmit "), 2)
        self.assertEqual(first.stdout.count("\n  => it left by "), 2)

    def test_times_are_the_experiments(self):
        (plain,), _ = self.traced("--switch", "leaf1", "--at", "200us", "--count", "1", "--filter", DATA)
        (slow,), _ = self.traced("--switch", "leaf1", "--at", "200us", "--count", "1", "--filter", DATA, "--set", "run.time_dilation=10")
        self.assertAlmostEqual(plain["came_ns"], slow["came_ns"], delta=20_000)
        self.assertEqual(slow["at_ns"] // 1000, slow["came_ns"] // 1000)

    def test_a_run_that_ends_before_all_have_come(self):
        stories, said = self.traced("--switch", "leaf1", "--at", "0s", "--count", "5", "--filter", "icmp")
        self.assertEqual((stories, said), ([], "eddylab: 0 packets traced\n"))

    def test_what_it_cannot_do_is_said(self):
        for words, said in ((("--switch", "leaf9"), "--switch leaf9 is unknown; switches are leaf1, leaf2, leaf3, leaf4, spine1"),
                            (("--switch", "leaf1", "--filter", "udq"), "--filter \"udq\": can't parse filter expression"),
                            (("--switch", "leaf1", "--at", "-1us"), "--at: "),
                            (("--switch", "leaf1", "--at", "1s"), "--at 1s: the run has ended before that"),
                            (("--switch", "leaf1", "--count", "4001"), "--count: Value 4001 not in range 1 to 4000"),
                            ((), "--switch is required")):
            done = eddylab("trace", *RUN, *words)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(said, done.stderr)
        self.assertIn('--variant: one has to be named; there are: "scheme=ecmp"',
                      eddylab("trace", "leaf-spine", "--size", "ci", "--switch", "leaf1").stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
