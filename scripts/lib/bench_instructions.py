"""Instructions by function: a packet of every case of pipeline_bench and host_bench, a poll with one packet, a hop."""

import functools
import os
from concurrent.futures import ThreadPoolExecutor

from .bench_lab import per_hop
from .bench_results import result
from .callgrind import growth, run

UNIT = "instructions/packet"
LAB = "lab.288"
CASE = "pipeline.letflow.10k"  # whose functions are shown
POLL = "eddy::ShardImpl::poll*"  # what is collected
EXCHANGE = "eddy::host::*exchange_burst*"
SINGLE = {"poll.one_packet": "send_all", "poll.completion": "complete_all"}
TARGETS = ("pipeline_bench", "host_bench", "lab_bench")
TURNS = {"pipeline_bench": 2_000, "host_bench": 500}  # polls, and bursts
DRIVERS = ("eddy::bench::", "eddy::host::exchange_burst")
LEAST = 0.5  # instructions a packet, below which a function is not listed


def instructions(binaries, show):
    """Prints the tables of a packet, a hop and a poll; results hold totals only."""
    rows = count_all(binaries)
    show(f"{CASE}: {total(rows[CASE]):.1f} instructions a packet inside a poll, the driver's not counted")
    show_table(rows[CASE], show)
    hop = difference(rows["worker.cross"], rows["worker.stay"])
    show(f"worker.hop: {total(hop):.1f} instructions a packet more than without the hop")
    show_table(hop, show)
    for name in SINGLE:
        show(f"{name}: {total(rows[name]):.1f} instructions a poll, the driver's not counted")
        show_table(rows[name], show)
    return [*(result(f"instructions.{name.removeprefix('pipeline.')}", [total(functions)], unit_of(name))
              for name, functions in rows.items()),
            *(result(f"instructions.{name}", [value], UNIT) for name, value in overheads(rows).items())]


def unit_of(row):
    return {LAB: "instructions/hop"}.get(row, "instructions/poll" if row in SINGLE else UNIT)


def overheads(rows):
    """What one row costs more than another."""
    more = {"hop": ("worker.cross", "worker.stay"), "rlb.overhead.idle": ("rlb.idle", "rlb.bare"),
            "rlb.overhead.unguarded": ("rlb.unguarded", "rlb.bare"), "rlb.overhead.warned": ("rlb.warned", "rlb.bare"),
            "rlb.overhead.steady": ("rlb.steady", "rlb.bare_steady"),
            "isolation.overhead": ("isolation.idle.10k", CASE),
            "isolation.overhead.ecmp": ("isolation.idle_ecmp.10k", "pipeline.ecmp.10k"),
            "isolation.overhead.connected": ("isolation.idle_connected.10k", "pipeline.connected.10k")}
    return {name: total(rows[whole]) - total(rows[base]) for name, (whole, base) in more.items()}


def count_all(binaries, only=""):
    """{row: {function: instructions a packet}} of those with `only` in their names, on all cores."""
    jobs = {name: functools.partial(per_packet, binaries / program, name, packets)
            for program in TURNS for name, packets in cases(binaries / program)}
    jobs |= {name: functools.partial(single, binaries, name) for name in SINGLE}
    jobs[LAB] = functools.partial(per_hop, binaries)
    chosen = {name: job for name, job in jobs.items() if only in name}
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        running = {name: pool.submit(job) for name, job in chosen.items()}
        return {name: future.result() for name, future in running.items()}


def cases(program):
    """Names and packets a turn, as the program lists them."""
    for line in run([program, "--list"]).splitlines():
        name, packets = line.split()
        yield name, int(packets)


def per_packet(program, case, packets):
    words = [program, "--instructions", case]
    count = ["--polls"] if program.name == "pipeline_bench" else []
    rows = growth(lambda turns: [*words, *count, str(turns)], POLL if count else EXCHANGE, TURNS[program.name])
    return {name: value / packets for name, value in rows.items() if not name.startswith(DRIVERS)}


def single(binaries, name):
    """Of a poll that holds one packet, or one completion."""
    rows = growth(lambda polls: [binaries / "pipeline_bench", "--instructions", "poll.single", "--polls", str(polls)],
                  f"eddy::bench::SinglePolls::{SINGLE[name]}*", TURNS["pipeline_bench"])
    return {function: value for function, value in rows.items() if not function.startswith(DRIVERS)}


def total(functions):
    return sum(functions.values())


def difference(whole, base):
    return {name: whole.get(name, 0) - base.get(name, 0) for name in whole | base}


def show_table(rows, show):
    for name, count in sorted(rows.items(), key=lambda row: -row[1]):
        if abs(count) >= LEAST:
            show(f"  {count:7.1f}  {name[:110]}")
