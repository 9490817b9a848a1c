"""Wireshark reads our frames by packaging/wireshark/eddy.lua: every field, of golden frames and of golden captures."""

import random
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DISSECTOR = ROOT / "packaging" / "wireshark" / "eddy.lua"
CASES = ROOT / "tests" / "golden" / "cases"
ETHERNET = "020000000002 020000000001"
TAG = "8100 6064"
UDP = "4500 001c 0000 0000 40 11 0000 0a010102 0a020102 07d0 07d0 0008 0000"
SHIM = "0102 0304 0506 0708 09 0a b9 7d 0e0f 10111213 14151617 98191a1b 1c 1d"
WARNING = "00000007 000015a0 00005dc0 0003a980 0000"
CNM = "0022 0200000000100005 015a 007d 6000 020000000099 0018"
CIM = "05 03 00 0002 0003 371dc05e 00000009 000186a0 0000c350 0000ea60 00000000"

# frame -> (protocol column, the info column's words, fields). Layouts as tests/unit/net has them.
GOLDEN = {
    "probe": (f"88b5 12 81 {SHIM} 0000", "Eddy", "probe: leaf 258 to leaf 772, path 1286", {
        "eddy.shim.version": "1", "eddy.shim.kind": "2", "eddy.shim.flag.rtt_request": "1", "eddy.shim.flag.tail": "0",
        "eddy.shim.flag.tolerable_delay": "1", "eddy.shim.source_leaf": "258", "eddy.shim.destination_leaf": "772",
        "eddy.shim.path": "1286", "eddy.shim.feedback_path": "1800", "eddy.shim.congestion": "9",
        "eddy.shim.feedback_congestion": "10", "eddy.shim.hops": "11", "eddy.shim.virtual_channel": "2",
        "eddy.shim.epoch": "1", "eddy.shim.traffic_class": "7", "eddy.shim.recirculations": "13",
        "eddy.shim.tolerable_delay_units": "3599", "eddy.shim.sequence": "", "eddy.shim.sent_ns": str(0x10111213),
        "eddy.shim.echoed_ns": str(0x14151617), "eddy.shim.hold_ns": str(0x18191a1b), "eddy.shim.strayed": "1",
        "eddy.shim.feedback_packets": "28", "eddy.shim.feedback_marked": "29", "eddy.shim.ethertype": "0x0000"}),
    "data": (f"88b5 10 08 {SHIM} 0800 {UDP}", "UDP", "2000", {
        "eddy.shim.kind": "0", "eddy.shim.sequence": "3599", "eddy.shim.tail_sent_ns": str(0x98191a1b),
        "ip.src": "10.1.1.2", "udp.dstport": "2000"}),
    "data behind a tag": (f"{TAG} 88b5 10 00 {SHIM} 0800 {UDP}", "UDP", "2000", {"vlan.id": "100", "udp.dstport": "2000"}),
    "feedback": (f"88b5 11 04 {SHIM} 0000", "Eddy", "feedback", {"eddy.shim.flag.feedback": "1"}),
    "notify": (f"88b5 14 00 {SHIM} 0000 02 00000400", "Eddy", "notify", {"eddy.shim.reason": "2", "eddy.shim.value": "1024"}),
    "clear": (f"88b5 15 00 {SHIM} 0000 0123456789abcdef 0000000000", "Eddy", "clear", {
        "eddy.shim.flow": "0x0123456789abcdef"}),
    "flowcut ack": (f"88b5 16 00 {SHIM} 0000 0123456789abcdef 0000000000000000 00001000", "Eddy", "flowcut ack", {
        "eddy.shim.flow": "0x0123456789abcdef", "eddy.shim.acked_octets": "4096"}),
    "hula probe": (f"88b5 17 00 {SHIM} 0000 000007 80 00000009", "Eddy", "hula probe", {
        "eddy.shim.top_of_rack": "7", "eddy.shim.utilisation": "128", "eddy.shim.probe_sequence": "9"}),
    "XOFF": (f"88b5 18 00 {SHIM} 0000 0123456789abcdef 000000000000 0064", "Eddy", "flow XOFF", {"eddy.shim.xoff_us": "100"}),
    "XON": (f"88b5 19 00 {SHIM} 0000 0123456789abcdef 000000000000 0000", "Eddy", "flow XON", {
        "eddy.shim.flow": "0x0123456789abcdef", "eddy.shim.xoff_us": ""}),
    "cnm": (f"22e7 {CNM} 0010 0002 01 04 {WARNING} 0002 8000 371dc05e 0002 2000 00000001", "CNM",
            "CNM of 02:00:00:00:00:10 port 5, priority 3: PFC in 5.5 us, leaf 2", {
                "eddy.cnm.feedback": "34", "eddy.cnm.queue_offset": "346", "eddy.cnm.queue_delta": "125",
                "eddy.cnm.priority": "3", "eddy.cnm.destination": "02:00:00:00:00:99", "eddy.cnm.switch": "16",
                "eddy.cnm.leaf": "2", "eddy.cnm.hops_left": "1", "eddy.cnm.sequence": "7", "eddy.cnm.time_to_pfc": "5536",
                "eddy.cnm.expiry": "24000", "eddy.cnm.queue": "240000", "eddy.cnm.culprits": "2",
                "eddy.cnm.culprit.share": "32768,8192", "eddy.cnm.culprit.tag": "0x371dc05e,0x00000001"}),
    "cnm of another vendor": (f"22e7 {CNM[:-4]} 0004 deadbeef", "CNM", "CNM of 02:00:00:00:00:10 port 5, priority 3", {
        "eddy.cnm.length": "4", "eddy.cnm.switch": "", "data.data": "deadbeef"}),
    "cim": (f"88b6 11 {CIM}", "CIM", "hot: host 0x371dc05e behind leaf 3, queue 60000", {
        "eddy.cim.hops_left": "5", "eddy.cim.priority": "3", "eddy.cim.origin": "2", "eddy.cim.leaf": "3",
        "eddy.cim.tag": "0x371dc05e", "eddy.cim.sequence": "9", "eddy.cim.expiry": "100000",
        "eddy.cim.crossed_ns": "50000", "eddy.cim.queue": "60000"}),
    "hello": ("88b6 10 01 03 00 0002 0003 00000000" + " 00000000" * 5, "CIM", "hello of switch 2", {"eddy.cim.kind": "0"}),
}
FAULTY = {
    "eddy.shim.cut": ["88b5 12 81 0102", f"88b5 14 00 {SHIM} 0000 02"],
    "eddy.shim.inner": [f"88b5 10 00 {SHIM} 0800 4500 0030"],
    "eddy.shim.unknown": [f"88b5 22 81 {SHIM} 0000", f"88b5 1c 81 {SHIM} 0000"],
    "eddy.cnm.cut": [f"22e7 {CNM[:34]}", f"22e7 {CNM} 0010 0002", f"22e7 {CNM} 0010 0002 01 04 {WARNING} 0002",
                     f"22e7 {CNM} 0010 0002 01 0e {WARNING}" + " 0002 8000 371dc05e" * 7],
    "eddy.cnm.unknown": [f"22e7 10{CNM[2:]} 0010 0002 01 04 {WARNING}"],
    "eddy.cim.cut": [f"88b6 11 {CIM[:36]}"],
    "eddy.cim.unknown": [f"88b6 21 {CIM}", f"88b6 13 {CIM}"],
}


def frame_of(text):
    return bytes.fromhex(ETHERNET) + bytes.fromhex(text)


def capture_of(frames):
    parts = [struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)]
    for at, frame in enumerate(frames):
        parts.append(struct.pack("<IIII", at, 0, len(frame), len(frame)) + frame)
    return b"".join(parts)


def tshark(capture, *options):
    done = subprocess.run(["tshark", "-X", f"lua_script:{DISSECTOR}", "-r", capture, *options], capture_output=True, text=True,
                          check=True)
    return done.stdout.splitlines()


def columns(capture, fields):
    """A list of values a frame; what occurs several times is joined by commas."""
    asked = [word for field in fields for word in ("-e", field)]
    return [line.split("|") for line in tshark(capture, "-T", "fields", "-E", "separator=|", *asked)]


class Dissectors(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.capture = Path(folder.name) / "frames.pcap"

    def write(self, frames):
        self.capture.write_bytes(capture_of(frames))
        return self.capture

    def test_every_field_is_read(self):
        fields = sorted({field for *_, expected in GOLDEN.values() for field in expected})
        rows = columns(self.write([frame_of(text) for text, *_ in GOLDEN.values()]),
                       ["_ws.col.Protocol", "_ws.col.Info", "_ws.malformed", *fields])
        for (name, (_, protocol, info, expected)), row in zip(GOLDEN.items(), rows, strict=True):
            with self.subTest(frame=name):
                self.assertEqual(row[0], protocol)
                self.assertIn(info, row[1])
                self.assertEqual(row[2], "")
                found = dict(zip(fields, row[3:], strict=True))
                self.assertEqual({field: found[field] for field in expected}, expected)

    def test_what_is_wrong_is_said(self):
        rows = [(fault, text) for fault, texts in FAULTY.items() for text in texts]
        found = columns(self.write([frame_of(text) for _, text in rows]), list(FAULTY))
        for (fault, text), row in zip(rows, found, strict=True):
            with self.subTest(frame=text):
                self.assertEqual([name for name, said in zip(FAULTY, row, strict=True) if said], [fault])

    def test_a_golden_capture_is_read(self):
        rows = columns(CASES / "shim_transit" / "expect_leaf1.pcap", ["eddy.shim.kind", "eddy.shim.hops", "frame.protocols"])
        self.assertGreater(len(rows), 0)
        for kind, hops, protocols in rows:
            self.assertEqual(kind, "0")
            self.assertEqual(hops, "1")
            self.assertTrue(protocols.startswith("eth:ethertype:eddy_shim:ip"), protocols)

    def test_what_a_capture_says_is_fields(self):
        comments = ["eddy dir=out port=spine1 queue=3 pg=4 from=h1 rlb=rerouted+recirculated rounds=2",
                    "eddy dir=drop port=h1 reason=no_route", "somebody else's: dir=in", "eddy"]
        fields = [f"eddy.capture.{name}" for name in ("direction", "port", "queue", "pg", "from", "rlb", "rounds", "drop")]
        rows = columns(self.write_commented(comments), fields)
        self.assertEqual(rows, [
            ["out", "spine1", "3", "4", "h1", "rerouted,recirculated", "2", ""],
            ["drop", "h1", "", "", "", "", "", "no_route"], [""] * 8, [""] * 8])

    def test_no_comment_breaks_it(self):
        comments = ["eddy queue=-1", "eddy queue=999 pg=x rounds=1e99", "eddy rlb=+++ rlb= dir==", "eddy " + "queue=1 " * 500,
                    "eddy new=thing queue=0x", "eddy \u00ff\u0001=\u0002"]
        lines = tshark(self.write_commented(comments), "-V")
        self.assertEqual([line for line in lines if "Lua Error" in line], [])
        self.assertEqual(sum("Eddy switch" in line for line in lines), len(comments))

    def write_commented(self, comments):
        """A pcapng file with a frame for each comment."""
        def block(kind, body):
            length = struct.pack("<I", len(body) + 12)
            return struct.pack("<I", kind) + length + body + length

        def option(code, text):
            return struct.pack("<HH", code, len(text)) + text + bytes(-len(text) % 4)

        frame = frame_of(f"0800 {UDP}").ljust(60, b"\0")
        file = block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1)) + block(1, struct.pack("<HHI", 1, 0, 0))
        for comment in comments:
            file += block(6, struct.pack("<IIIII", 0, 0, 0, len(frame), len(frame)) + frame + option(1, comment.encode())
                          + bytes(4))
        self.capture.write_bytes(file)
        return self.capture

    def test_nothing_that_is_cut_or_changed_breaks_them(self):
        draw = random.Random(1)
        frames = []
        for text, *_ in GOLDEN.values():
            whole = frame_of(text)
            frames += [whole[:length] for length in range(14, len(whole))]
            for _ in range(40):
                changed = bytearray(whole)
                for _ in range(draw.randint(1, 4)):
                    changed[draw.randrange(14, len(changed))] = draw.randrange(256)
                frames.append(bytes(changed))
        lines = tshark(self.write(frames), "-V")
        self.assertEqual([line for line in lines if "Lua Error" in line], [])
        self.assertGreater(sum("Eddy leaf-to-leaf shim" in line for line in lines), 100)


if __name__ == "__main__":
    unittest.main()
