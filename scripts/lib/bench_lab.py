"""The virtual-time fabric: hops and memory, and what a run and a sweep make of two cores."""

import json
import os
import re
import statistics
import subprocess
import tempfile
import time

from .bench_results import result
from .callgrind import profile
from .netns import Trouble

CASES = ("lab.hops_per_second.288", "lab.hops_per_second.1024")
SPARSE = "lab.hops_per_second.sparse"  # two of 512 hosts send
PROCESSES = 3  # where code and data lie in memory differs between them
ROUNDS = 5
SLICE_US = 5  # of virtual time, under callgrind
LONG_SLICE_US = 50  # in which windows are as long, and threads begin and end as seldom, as in a run
SWEEP_ROUNDS = 3
MEBIBYTE = 1 << 20
_HOPS = re.compile(r"^hops (\d+) ", re.M)


def measure(binaries, say):
    return [*hops(binaries, say), *speed_ups(binaries, say), instructions(binaries, say), memory(binaries),
            sweep(binaries, say)]


def hops(binaries, say):
    """Medians over the slices of all processes, on the last core, ahead of others if we may."""
    core = max(os.sched_getaffinity(0))
    samples = {name: [] for name in (*CASES, SPARSE)}
    for number in range(PROCESSES):
        for name, values in samples.items():
            values.append(hops_of_process(binaries, name, on([core])))
        say(f"lab, run {number + 1} of {PROCESSES}")
    return [result(name, values, "hops/s") for name, values in samples.items()]


def speed_ups(binaries, say):
    """One run on two threads, by the CPU time of the busier one, over the same on one, in turns.

    One thread is measured on each of the cores: where a neighbour slows one of them, it matters which one it gets.
    """
    samples = {name: [] for name in CASES}
    cores = sorted(os.sched_getaffinity(0))[-2:]
    for number in range(PROCESSES):
        for name, values in samples.items():
            together = hops_of_process(binaries, name, on(cores), sliced(2))
            alone = [hops_of_process(binaries, name, on([core]), sliced(1)) for core in cores]
            values.append(together / statistics.mean(alone))
        say(f"lab on two threads, run {number + 1} of {PROCESSES}")
    return [result(name.replace("hops_per_second", "speedup.2_threads"), values, "of 1 thread")
            for name, values in samples.items()]


def on(cores):
    return ["taskset", "-c", ",".join(map(str, cores))]


def sliced(threads):
    return ["--threads", str(threads), "--slice", str(LONG_SLICE_US)]


def hops_of_process(binaries, case, prefix, options=()):
    """Hops a CPU second of one case, in a process of its own: beside another it would find its caches full of that."""
    ahead = ["chrt", "-f", "10"] if os.geteuid() == 0 else []
    with tempfile.NamedTemporaryFile(suffix=".json") as scratch:
        run([*ahead, *prefix, binaries / "lab_bench", "--rounds", str(ROUNDS), "--only", case, *options, "--json",
             scratch.name])
        return json.load(scratch)["results"][0]["value"]


def instructions(binaries, say):
    functions = per_hop(binaries)
    say(f"lab: {sum(functions.values()):.0f} instructions a hop")
    return result("lab.instructions.288", [sum(functions.values())], "instructions/hop")


def per_hop(binaries):
    """{function: instructions a hop} of all of the event loop, switches and hosts."""
    counts, printed = profile([binaries / "lab_bench", "--instructions", CASES[0], "--slice", str(SLICE_US)],
                              "*measured_slice*")
    crossed = _HOPS.search(printed)
    if not crossed:
        raise Trouble(f"lab_bench under callgrind said nothing of use:\n{printed[-500:]}")
    return {name: count / int(crossed.group(1)) for name, count in counts.items()}


def memory(binaries):
    """Resident memory of the world of 1,024 hosts under its permutation."""
    pid = os.posix_spawn(binaries / "lab_bench",
                         [str(binaries / "lab_bench"), "--rounds", "1", "--only", CASES[1]],
                         os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise Trouble(f"lab_bench --only {CASES[1]} failed")
    return result("lab.rss.1024", [usage.ru_maxrss * 1024 / MEBIBYTE], "MiB")


def sweep(binaries, say):
    """Wall time of a sweep of independent runs in two processes over that in one, interleaved."""
    ratios = []
    for number in range(SWEEP_ROUNDS):
        alone, together = (timed_sweep(binaries, jobs) for jobs in (1, 2))
        ratios.append(together / alone)
        say(f"lab sweep {number + 1} of {SWEEP_ROUNDS}: {alone:.1f} s with 1 job, {together:.1f} s with 2")
    return result("lab.sweep.2_cores", ratios, "of 1 core")


def timed_sweep(binaries, jobs):
    with tempfile.TemporaryDirectory() as out:
        start = time.monotonic()
        run([binaries / "eddylab", "run", "leaf-spine", "--size", "ci", "--seed", "1,2", "--quiet",
             "--jobs", str(jobs), "--out", out])
        return time.monotonic() - start


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Trouble(f"'{' '.join(map(str, command))}' failed:\n{done.stdout}{done.stderr}")
    return done
