#!/usr/bin/env python3
"""Golden cases: `golden.py check [CASE..]`, `update [CASE..]`, `show CASE`.

check: each case's frames through eddyd and through the test fabric, with 1, 2 and 4 shards; all must
say what is expected (with several shards in any order of events).
update: writes what the test fabric says as the expectation. show: the frames of a case, in and out.
Binaries are taken from $EDDY_BIN. See README.md.
"""

import argparse
import difflib
import os
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import frames as text
import pcap

HERE = Path(__file__).resolve().parent
BINARIES = Path(os.environ.get("EDDY_BIN", HERE.parents[1] / "build" / "dev" / "bin")).resolve()
TAIL = "10ms"  # both worlds run this much longer than their input
SHARDS = {"in_process": 1, "in_process_2": 2, "in_process_4": 4, "eddyd": 0}  # 0: not the fabric
OWN_DRAWS = {"ecn_marking"}  # every shard draws its own marks
SECONDS = 30  # for one run of a world, however busy the machine


class Failure(Exception):
    """What a person needs to know."""


class Case:
    """A folder of cases/, and where it is run."""

    def __init__(self, name):
        self.name = name
        self.folder = HERE / "cases" / name
        if not (self.folder / "switch.yaml").exists():
            raise Failure(f"there is no case {name}")
        try:
            self.ports, self.frames = text.read_frames((self.folder / "frames.txt").read_text())
        except text.Mistake as mistake:
            raise Failure(f"{name}: {mistake}") from None

    def write_input(self, directory):
        for port in self.ports:
            mine = [(frame.at_ns, frame.octets) for frame in self.frames if frame.port == port]
            pcap.write(directory / f"in_{port}.pcap", mine)

    def run_in_process(self, directory, shards):
        self.run(directory, "golden_in_process", self.folder / "switch.yaml", directory, TAIL,
                 str(shards))

    def run_eddyd(self, directory):
        self.run(directory, "eddyd", "--config", self.folder / "switch.yaml", "--clock", "pcap",
                 "--events", "events.jsonl", "--drain-time", TAIL)

    def run(self, directory, program, *arguments):
        done = subprocess.run([BINARIES / program, *arguments], cwd=directory, timeout=SECONDS,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failure(f"{self.name}: {program} ended with {done.returncode}\n"
                          f"{done.stdout}{done.stderr}")

    def outputs(self):
        """Pairs of what a run writes and what it is expected to be."""
        yield "events.jsonl", self.folder / "expect_events.jsonl"
        for port in self.ports:
            yield f"out_{port}.pcap", self.folder / f"expect_{port}.pcap"

    def compare(self, directory, who, in_order=True):
        for name, expected in self.outputs():
            if not expected.exists():
                raise Failure(f"{self.name}: {expected.name} is missing")
            got = directory / name
            if got.read_bytes() == expected.read_bytes():
                continue
            wanted, said = readable(expected), readable(got)
            if name == "events.jsonl" and not in_order and any_order(said) == any_order(wanted):
                continue
            lines = difflib.unified_diff(wanted, said, "expected", who, n=1, lineterm="")
            raise Failure("\n".join([f"{self.name}: {who}: {name} is not what is expected:",
                                     *list(lines)[:60]]))

    def compare_timeline(self):
        if (self.folder / "expect.txt").read_text() != self.timeline():
            raise Failure(f"{self.name}: expect.txt does not show the expected pcaps")

    def timeline(self):
        """What leaves, by time, one line a frame."""
        sent = [(at, self.ports.index(port), octets) for port in self.ports
                for at, octets in pcap.read(self.folder / f"expect_{port}.pcap")]
        return "".join(f"{at:>12} ns  {self.ports[port]:<6} {pcap.describe(octets)}\n"
                       for at, port, octets in sorted(sent))

    def update(self, directory):
        for name, expected in self.outputs():
            expected.write_bytes((directory / name).read_bytes())
        (self.folder / "expect.txt").write_text(self.timeline())


def readable(path):
    if path.suffix == ".pcap":
        return [f"{at} ns {pcap.describe(octets)} {shortened(octets)}"
                for at, octets in pcap.read(path)]
    return path.read_text().splitlines()


def any_order(records):
    """The records of a run whatever its shards: each of them adopts the snapshot for itself."""
    adopted = {record for record in records if "snapshot_adopted" in record}
    return sorted([record for record in records if record not in adopted] + list(adopted))


def shortened(octets):
    """All headers, and a checksum that tells whether the rest is the same."""
    return f"{octets[:72].hex()} crc {zlib.crc32(octets):08x}"


def check(case, worlds):
    for world in worlds:
        with tempfile.TemporaryDirectory(prefix="eddy-golden-") as directory:
            directory = Path(directory)
            case.write_input(directory)
            shards = SHARDS[world]
            if shards:
                case.run_in_process(directory, shards)
            else:
                case.run_eddyd(directory)
            case.compare(directory, world, in_order=shards <= 1)
    case.compare_timeline()


def worlds_of(case):
    return [world for world, shards in SHARDS.items() if shards <= 1 or case.name not in OWN_DRAWS]


def update(case):
    with tempfile.TemporaryDirectory(prefix="eddy-golden-") as directory:
        directory = Path(directory)
        case.write_input(directory)
        case.run_in_process(directory, 1)
        case.update(directory)


def show(case):
    for frame in case.frames:
        print(f"{frame.at_ns:>12} ns  {frame.port:<6} in  {pcap.describe(frame.octets)}")
    print(case.timeline(), end="")


def all_cases():
    return sorted(path.parent.name for path in (HERE / "cases").glob("*/switch.yaml"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("action", choices=["check", "update", "show"])
    parser.add_argument("cases", nargs="*", help="all, unless named")
    parser.add_argument("--world", choices=SHARDS, help="check: only this one")
    asked = parser.parse_args()
    failed = False
    for name in asked.cases or all_cases():
        try:
            case = Case(name)
            if asked.action == "check":
                check(case, [w for w in worlds_of(case) if asked.world in (None, w)])
            else:
                {"update": update, "show": show}[asked.action](case)
        except Failure as failure:
            print(failure, file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
