#!/usr/bin/python3
"""scripts/bench: builds release, measures, prints a table and writes bench.json."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import numbers_table  # noqa: E402
from lib import (  # noqa: E402
    bench_containers, bench_hosts, bench_instructions, bench_lab, bench_memory, bench_newcomer, bench_ovs, bench_report,
    bench_results, bench_watching, bench_web)
from lib.netns import Trouble, end_like_ctrl_c  # noqa: E402
from lib.release import build_release  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("pipeline", "ovs", "memory", "hosts", "watching", "instructions", "lab", "report", "web")
ALONE = ("newcomer", "containers")  # measured when named: they need the network, or minutes
TARGETS = {"pipeline": ("pipeline_bench",), "instructions": bench_instructions.TARGETS,
           "ovs": ("pipeline_bench", "eddyd", "eddyctl"), "memory": ("eddyd", "eddyctl"),
           "hosts": ("eddyd", "eddyctl", "eddylab", "eddyhost"),
           "watching": ("eddyd", "eddyctl", "eddylab", "eddyhost"), "lab": ("lab_bench", "eddylab"),
           "report": ("eddylab",), "web": ("eddyd", "eddyctl"), "newcomer": (),
           "containers": ("packaged",)}
PIPELINE_RUNS = 5  # processes: where code and data lie in memory differs between them


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/bench", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measures the release build; docs/performance.md says how and what it means.\n"
        "  pipeline      cycles a packet of the switch object, in process\n"
        "  ovs           eddyd, OVS-DPDK and testpmd side by side on net_pcap (root)\n"
        "  memory        resident memory of a 4-port demo switch (root)\n"
        "  hosts         eddyhost and eddyd on a core each: 1,024-byte RoCEv2 WRITEs over memif (root)\n"
        "  watching      what eddyctl top and Prometheus cost the worker of a loaded eddyd (root)\n"
        "  instructions  instructions a packet, a poll and a hop of every case, under callgrind\n"
        "  lab           packet hops a second of the virtual-time fabric, a sweep on two cores\n"
        "  report        a report of 100 runs: made, and opened in a browser\n"
        "  web           a picture of the live page of 24 switches, and what watching costs eddyd (root)\n"
        "not part of all:\n"
        "  newcomer      scripts/demo in a fresh Debian: installing, compiling, running (root, network)\n"
        "  containers    the images, and the demo's fabric in containers: up, down, memory, delay (root, network)")
    parser.add_argument("part", nargs="?", default="all", choices=("all", *PARTS, *ALONE))
    parser.add_argument("--rounds", type=int, default=3, metavar="N",
                        help="interleaved rounds a start of ovs, a second a process (default: 3)")
    parser.add_argument("--only", default="", metavar="TEXT",
                        help="of pipeline: what has TEXT in its name")
    parser.add_argument("--output", type=Path, default=ROOT / "bench.json", metavar="FILE",
                        help="where results go; those of other parts stay (default: bench.json)")
    parser.add_argument("--table", action="store_true", help="then write the table of docs/performance.md")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error(f"--rounds {arguments.rounds}: valid is 1 and more")
    return arguments


def say(line):
    print(line, file=sys.stderr, flush=True)


def build(parts):
    """Preset release, and of it what `parts` need; returns the directory of the programs."""
    if not any(TARGETS[part] for part in parts):
        return None
    needs = {"containers": "--containers", "ovs": "--bench", "instructions": "--check", "lab": "--check"}
    extra = [words for part, words in needs.items() if part in parts][:1]  # those of ovs come before those of checks
    return build_release(sorted({target for part in parts for target in TARGETS[part]}), extra)


def run_pipeline(binaries, only, scratch):
    """Results of one process of pipeline_bench, on the last core, ahead of others if we may."""
    cpu = str(max(os.sched_getaffinity(0)))
    ahead = ["chrt", "-f", "10"] if os.geteuid() == 0 else []
    command = [*ahead, "taskset", "-c", cpu, binaries / "pipeline_bench", "--rounds", "60",
               "--only", only, "--json", scratch]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return json.loads(scratch.read_text(encoding="utf-8"))["results"]


def pipeline(binaries, only, scratch):
    """Medians over several processes; the spread is that of the process in the middle, or between
    them, whichever is larger."""
    runs = []
    for number in range(PIPELINE_RUNS):
        runs.append({row["name"]: row for row in run_pipeline(binaries, only, scratch)})
        say(f"pipeline, run {number + 1} of {PIPELINE_RUNS}")
    rows = []
    for name, first in runs[0].items():
        same = [each[name] for each in runs if name in each]
        row = bench_results.result(name, [each["value"] for each in same], first["unit"])
        inside = sorted(each["spread"] for each in same)[len(same) // 2]
        rows.append(row | {"spread": max(row["spread"], inside)})
    return rows


def tsc_hz(binaries, scratch):
    rows = run_pipeline(binaries, "machine.tsc", scratch)
    return next(row["value"] for row in rows if row["name"] == "machine.tsc") * 1e6


def measure(part, arguments, binaries):
    scratch = ROOT / "build" / "release" / "bench-run.json"
    if part == "pipeline":
        return pipeline(binaries, arguments.only, scratch)
    if part == "ovs":
        return bench_ovs.compare(binaries, tsc_hz(binaries, scratch), arguments.rounds, say)
    if part == "memory":
        return bench_memory.measure(binaries, say)
    if part == "hosts":
        return bench_hosts.measure(binaries, say)
    if part == "watching":
        return bench_watching.measure(binaries, say)
    if part == "lab":
        return bench_lab.measure(binaries, say)
    if part == "newcomer":
        return bench_newcomer.measure(say)
    if part == "containers":
        return bench_containers.measure(binaries, say)
    if part == "report":
        return bench_report.measure(binaries, say)
    if part == "web":
        return bench_web.measure(binaries, say)
    return bench_instructions.instructions(binaries, print)


def main():
    arguments = parse_arguments()
    parts = PARTS if arguments.part == "all" else (arguments.part,)
    end_like_ctrl_c()
    rows = []
    try:
        binaries = build(parts)
        for part in parts:
            fresh = measure(part, arguments, binaries)
            bench_results.update(arguments.output, fresh)
            rows += fresh
    except Trouble as trouble:
        say(f"scripts/bench: {trouble}")
        return 1
    except subprocess.CalledProcessError as failed:
        say(f"scripts/bench: {failed.cmd[0]} exited {failed.returncode}")
        return 1
    except KeyboardInterrupt:
        return 130
    print(*bench_results.table(rows), sep="\n")
    if arguments.table:
        fill_table(arguments.output)
    return 0


def fill_table(output):
    path = ROOT / "docs" / "performance.md"
    text = numbers_table.with_table(path.read_text(encoding="utf-8"), bench_results.read(output))
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
