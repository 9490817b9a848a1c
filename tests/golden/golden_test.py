#!/usr/bin/env python3
"""The golden tools themselves: frames against reference vectors, mistakes named, differences found."""

import re
import tempfile
import unittest
from pathlib import Path

import frames
import golden
import pcap

PORT = "port h1 switch=02:00:00:00:00:02 peer=02:00:00:00:00:01\n"


def octets(line):
    return frames.read_frames(f"{PORT}1us h1 {line}\n")[1][0].octets.hex()


class Frames(unittest.TestCase):
    def test_pfc_is_reference_vector_i4(self):
        self.assertEqual(octets("pfc 3=0xffff"), "0180c2000001020000000001880801010008"
                         "000000000000ffff0000000000000000" + 26 * "00")

    def test_cnm_is_reference_vector_i20(self):
        self.assertIn("22e700220200000000100005015a007d60000200000000990018"
                      "00100002010000000007000015a000005dc00003a9800000", octets("cnm"))

    def test_a_known_ipv4_header_checksum(self):
        # RFC 1071's method on the example of many textbooks: 0xb861
        line = "ip 192.168.0.1 > 192.168.0.199 proto=17 fragment=0x4000 hex=" + 95 * "00"
        self.assertEqual(octets(line)[28:68], "45000073000040004011b861c0a80001c0a800c7")

    def test_every_repetition_has_its_time_and_its_numbers(self):
        _, all_frames = frames.read_frames(
            PORT + "5us+2us*3 h1 udp 10.0.0.1 > 10.0.0.2 sport=7+1\n")
        self.assertEqual([(f.at_ns, f.octets[34:36].hex()) for f in all_frames],
                         [(5000, "0007"), (7000, "0008"), (9000, "0009")])

    def test_mistakes_are_named_with_their_line(self):
        for line, said in (("1us h1 nonsense", "no kind of frame"), ("1us h9 cnm", "no port h9"),
                           ("1 h1 cnm", "not a time"), ("1us h1 cnm color=red", "not understood"),
                           ("1us h1 udp 10.0.0.1", "a word is missing"),
                           ("1us h1 cnm\n1us h1 cnm", "two frames")):
            with self.subTest(line=line), self.assertRaises(frames.Mistake) as raised:
                frames.read_frames(PORT + line + "\n")
            self.assertIn(said, str(raised.exception))


class Comparison(unittest.TestCase):
    """A run that differs in one octet, one nanosecond or one counter is not what is expected."""

    def setUp(self):
        self.case = golden.Case("forward_v4")
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = Path(temporary.name)
        for name, expected in self.case.outputs():
            (self.directory / name).write_bytes(expected.read_bytes())

    def assert_found(self, where):
        with self.assertRaisesRegex(golden.Failure, where):
            self.case.compare(self.directory, "somebody")

    def test_the_same_is_the_same(self):
        self.case.compare(self.directory, "somebody")
        self.case.compare_timeline()

    def test_an_octet(self):
        sent = pcap.read(self.directory / "out_h2.pcap")
        sent[1] = sent[1][0], sent[1][1][:-1] + b"\1"
        pcap.write(self.directory / "out_h2.pcap", sent)
        self.assert_found("out_h2.pcap")

    def test_a_nanosecond(self):
        sent = pcap.read(self.directory / "out_h1.pcap")
        pcap.write(self.directory / "out_h1.pcap", [(at + 1, octets) for at, octets in sent])
        self.assert_found("out_h1.pcap")

    def test_a_counter(self):
        events = self.directory / "events.jsonl"
        events.write_text(events.read_text().replace('"value":7', '"value":8', 1))
        self.assert_found("events.jsonl")

    def test_the_order_of_events_unless_several_shards_made_them(self):
        events = self.directory / "events.jsonl"
        first, second, *rest = events.read_text().splitlines(keepends=True)
        events.write_text("".join([second, first, *rest]))
        self.assertNotEqual(first, second)
        self.case.compare(self.directory, "somebody", in_order=False)
        self.assert_found("events.jsonl")


class Cases(unittest.TestCase):
    def test_malformed_has_a_frame_for_every_verdict_of_the_parser(self):
        header = (golden.HERE.parents[1] / "net" / "parse.h").read_text()
        listed = re.search(r"enum class ParseVerdict : uint8_t \{(.*?)\};", header, re.S).group(1)
        verdicts = set(re.findall(r"^  (\w+),", listed, re.M)) - {"ok"}
        self.assertGreater(len(verdicts), 20)
        events = (golden.HERE / "cases" / "malformed" / "expect_events.jsonl").read_text()
        self.assertEqual(verdicts - set(re.findall(r'"drop":"(\w+)"', events)), set())

    def test_every_folder_is_a_whole_case(self):
        for folder in (golden.HERE / "cases").iterdir():
            case = golden.Case(folder.name)
            wanted = {"switch.yaml", "frames.txt", "expect.txt", "expect_events.jsonl"}
            wanted |= {f"expect_{port}.pcap" for port in case.ports}
            self.assertEqual({path.name for path in folder.iterdir()}, wanted, folder.name)


if __name__ == "__main__":
    unittest.main()
