"""How fast this machine is now: the CPU seconds of a fixed piece of work, done on every core at once.

The same tests take twice the CPU minutes on one machine, or in one hour, of what they take on another: cores are
shared, and their clocks differ. What they take beside a yardstick that was measured around them differs far less.
"""

import os
import resource
import subprocess
from pathlib import Path

WORK = Path(__file__).resolve().parents[2] / "tests" / "yardstick.cpp"
COMMAND = ("g++", "-std=c++20", "-O1", "-c", str(WORK), "-o", os.devnull)


def children_cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def read():
    """CPU seconds of the work, each core doing it once, the mean of them."""
    before = children_cpu_seconds()
    running = [subprocess.Popen(COMMAND) for _ in os.sched_getaffinity(0)]
    for process in running:
        if process.wait():
            raise SystemExit(f"{' '.join(COMMAND)} failed, so that CPU minutes have nothing to be compared with")
    return (children_cpu_seconds() - before) / len(running)
