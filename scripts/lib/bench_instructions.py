"""Instructions a packet by function, under callgrind: a number that no other process disturbs.

Two runs, one twice as long: their difference is free of what starting costs.
"""

import re
import subprocess

from .bench_results import result
from .netns import Trouble

UNIT = "instructions/packet"
CASE = "pipeline.letflow.10k"
POLL = "eddy::ShardImpl::poll*"  # what is collected
SINGLE = {"poll.one_packet": "send_all", "poll.completion": "complete_all"}
POLLS = 2_000
BURST = 32
DRIVER = "eddy::bench::"
LEAST = 0.5  # instructions a packet, below which a function is not listed
_ROW = re.compile(r"^\s*([\d,]+)\s+\([\s\d.]+%\)\s+\S*?:(.*?)(?:\s+\[.*\])?$")


def instructions(binaries, directory, show):
    """Prints the table; results hold the total only."""
    rows = per_packet(binaries, directory, CASE)
    total = sum(rows.values())
    show(f"{CASE}: {total:.1f} instructions a packet inside a poll, the driver's not counted")
    show_table(rows, show)
    stay, cross = (per_packet(binaries, directory, case) for case in ("worker.stay", "worker.cross"))
    # Two bursts a poll, hence the half.
    hop = {name: (cross.get(name, 0) - stay.get(name, 0)) / 2 for name in stay | cross}
    show(f"worker.hop: {sum(hop.values()):.1f} instructions a packet more than without the hop")
    show_table(hop, show)
    bare = {name: sum(per_packet(binaries, directory, f"rlb.{name}").values())
            for name in ("bare", "bare_steady")}
    rlb = {name: sum(per_packet(binaries, directory, f"rlb.{name}").values()) - bare[beside]
           for name, beside in (("idle", "bare"), ("unguarded", "bare"), ("warned", "bare"),
                                ("steady", "bare_steady"))}
    for name, count in rlb.items():
        show(f"rlb.overhead.{name}: {count:.1f} instructions a packet more than without RLB")
    singles = [single(binaries, directory, name, show) for name in SINGLE]
    return [result("instructions.letflow.10k", [total], UNIT),
            result("instructions.hop", [sum(hop.values())], UNIT),
            *(result(f"instructions.rlb.overhead.{name}", [count], UNIT)
              for name, count in rlb.items()), *singles]


def single(binaries, directory, name, show):
    """Of a poll that holds one packet, or one completion."""
    toggle = f"eddy::bench::SinglePolls::{SINGLE[name]}*"
    rows = growth(binaries, directory, "poll.single", toggle)
    show(f"{name}: {sum(rows.values()):.1f} instructions a poll, the driver's not counted")
    show_table(rows, show)
    return result(f"instructions.{name}", [sum(rows.values())], "instructions/poll")


def show_table(rows, show):
    for name, count in sorted(rows.items(), key=lambda row: -row[1]):
        if abs(count) >= LEAST:
            show(f"  {count:7.1f}  {name[:110]}")


def per_packet(binaries, directory, case):
    return {name: count / BURST for name, count in growth(binaries, directory, case, POLL).items()}


def growth(binaries, directory, case, toggle):
    """What a poll more costs."""
    short, long = (profile(binaries, directory, case, polls, toggle)
                   for polls in (POLLS, 2 * POLLS))
    return {name: (count - short.get(name, 0)) / POLLS for name, count in long.items()
            if not name.startswith(DRIVER)}


def profile(binaries, directory, case, polls, toggle):
    """Instructions of each function inside `toggle`, its callees not included."""
    out = directory / f"callgrind.{polls}"
    run(["valgrind", "--tool=callgrind", "--collect-atstart=no",
         f"--toggle-collect={toggle}", f"--callgrind-out-file={out}",
         binaries / "pipeline_bench", "--instructions", case, "--polls", str(polls)])
    report = run(["callgrind_annotate", "--threshold=100", "--show-percs=yes", out])
    counts = {}
    for line in report.splitlines():
        if (row := _ROW.match(line)) and "PROGRAM TOTALS" not in line:
            name = short_name(row.group(2))
            counts[name] = counts.get(name, 0) + int(row.group(1).replace(",", ""))
    if not counts:
        raise Trouble(f"callgrind_annotate said nothing of use:\n{report[-500:]}")
    return counts


def short_name(name):
    """Without arguments: overloads of a name are one row."""
    return re.sub(r"\(.*", "", name.strip().replace("(anonymous namespace)::", ""))


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Trouble(f"'{command[0]}' failed:\n{done.stderr[-2000:]}")
    return done.stdout
