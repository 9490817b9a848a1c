#!/usr/bin/python3
"""scripts/check speed: the instructions of every case against those that bench/instructions.json keeps.

Fails when a case costs over 3 % more than it did, and names the functions that grew. Compilers and libraries compile
to other instructions, so with others than the file was made with it reports and does not fail.
"""

import argparse
import json
import platform
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from lib.bench_instructions import TARGETS, count_all, difference, total, unit_of  # noqa: E402
from lib.netns import Trouble  # noqa: E402
from lib.release import build_release  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "bench" / "instructions.json"
MOST = 0.03  # of what a case cost
LISTED = 1.0  # instructions, of a function that is kept
NAMED = 5  # functions, of a case that grew


def parse_arguments():
    parser = argparse.ArgumentParser(prog="scripts/check speed", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write what was counted into the file instead")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases that have TEXT in their names")
    parser.add_argument("--most", type=float, default=MOST * 100, metavar="PERCENT",
                        help=f"by which a case may grow (default: {MOST * 100:g})")
    parser.add_argument("--bin", type=Path, metavar="DIR", help="count the programs there (default: preset release, built)")
    return parser.parse_args()


def made_with():
    """What turns sources into instructions."""
    first_line = {"compiler": ["g++", "--version"], "dpdk": ["pkg-config", "--modversion", "libdpdk"],
                  "valgrind": ["valgrind", "--version"]}
    found = {name: subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()[0]
             for name, words in first_line.items()}
    flags = re.search(r"^flags\s*:(.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.M)
    widest = next((name for name in ("avx512f", "avx2") if flags and name in flags[1].split()), "neither avx2 nor avx512f")
    return {**found, "machine": platform.machine(), "vectors": widest}


def as_kept(rows):
    return {name: {"total": round(total(functions), 1),
                   "functions": {each: round(count, 1) for each, count in sorted(functions.items(), key=lambda row: -row[1])
                                 if count >= LISTED}} for name, functions in rows.items()}


def write(path, rows):
    """A case a line, so that a change of one is a line of the difference."""
    lines = ",\n  ".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
    path.write_text(f'{{"made_with": {json.dumps(made_with())},\n "rows": {{\n  {lines}\n}}}}\n', encoding="utf-8")


def compare(kept, found, most):
    """Prints a line a case; returns those that grew by more than `most` (1: 100 %)."""
    grown = []
    for name, row in found.items():
        before = kept.get(name, {}).get("total")
        change = "new" if before is None else f"{100 * (row['total'] / before - 1):+6.2f} %"
        print(f"{name:28} {row['total']:9.1f} {unit_of(name):20} {change}")
        if before is None or row["total"] <= before * (1 + most):
            continue
        grown.append(name)
        more = difference(row["functions"], kept[name]["functions"])
        for function, count in sorted(more.items(), key=lambda each: -each[1])[:NAMED]:
            if count >= LISTED:
                print(f"    {count:+8.1f}  {function[:100]}")
    return grown


def main():
    arguments = parse_arguments()
    if arguments.update and arguments.only:
        print("scripts/check speed: --update takes all cases, --only some", file=sys.stderr)
        return 2
    try:
        found = as_kept(count_all(arguments.bin or build_release(TARGETS, ["--check"]), arguments.only))
    except Trouble as trouble:
        print(f"scripts/check speed: {trouble}", file=sys.stderr)
        return 1
    if arguments.update:
        write(KEPT, found)
        return 0
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    grown = compare(kept["rows"], found, arguments.most / 100)
    if not found:
        print(f"scripts/check speed: no case has '{arguments.only}' in its name", file=sys.stderr)
        return 2
    gone = [] if arguments.only else sorted(kept["rows"].keys() - found.keys())
    if gone:
        print(f"no longer there: {', '.join(gone)} (scripts/check speed --update forgets them)")
    if not grown:
        return 1 if gone else 0
    if kept["made_with"] != made_with():
        print(f"made with {kept['made_with']}, here are {made_with()}: reported only")
        return 0
    print(f"{len(grown)} of {len(found)} cases grew by more than {arguments.most:g} %: {', '.join(grown)}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
