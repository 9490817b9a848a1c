"""What it costs the worker of an eddyd that somebody watches: busy cycles a packet, beside nobody watching.

The load is that of bench_hosts. Periods of each kind take turns, in another order each round. The worker has the
last core to itself, ahead of others; eddyd's control, eddyhost and who watches share the first, so that what
is left to see is what readers do to a worker from another core. Units: TSC cycles, packets received.
"""

import contextlib
import functools
import os
import pty
import statistics
import subprocess
import threading
import time

from . import bench_hosts
from .bench_results import result
from .bench_worker import Worker, free_port, put_us_ahead, scrape
from .netns import Trouble, World, wait_for

STARTS = 3  # processes: where their memory lies changes what a packet costs
ROUNDS = 8  # of each start
PERIOD = 2.0  # seconds
EVERY = 1.0  # seconds between two readings: top's default, which is its fastest; of a scraper
OFTEN = 0.01  # seconds: where this cannot be told from nobody watching, noise is larger than what is looked for
FLOW, LONGEST = "1000GB", 600  # eight of them outlast any start; seconds
SCREEN = b"\033[H"  # begins each picture of top


def measure(binaries, say):
    samples = {kind: [] for kind in WATCHERS}
    for number in range(STARTS):
        for kind, values in one_start(binaries).items():
            samples[kind] += values
        say(f"watching, start {number + 1} of {STARTS}: " + ", ".join(
            f"{kind} {statistics.median(values[-ROUNDS:]):.4g}" for kind, values in samples.items()))
    return rows_of(samples)


def rows_of(samples):
    """Of each kind its cycles; of each but `nobody` what it adds, round by round, in percent of nobody."""
    rows = [result(f"watching.{kind}.cycles", values, "cycles/packet") for kind, values in samples.items()]
    for kind in samples:
        if kind != "nobody":
            added = [100 * (value / bare - 1) for value, bare in zip(samples[kind], samples["nobody"])]
            low, middle, high = statistics.quantiles(added, n=4, method="inclusive")
            rows.append({"name": f"watching.{kind}.added", "value": middle, "unit": "%",
                         "spread": (high - low) / 100})
    return rows


def one_start(binaries):
    """Cycles a packet of each period, by kind."""
    world = World("bench-watching")
    cores = os.sched_getaffinity(0)
    if len(cores) < 2:
        raise Trouble("watching: two cores are needed, one for the worker and one for everybody else")
    try:
        path = bench_hosts.write_experiment(world, FLOW, LONGEST)
        address = f"127.0.0.1:{free_port()}"
        switch = bench_hosts.start_switch(world, binaries, path, address,
                                          [f"--lcores=0@{min(cores)},1@{max(cores)}"])
        os.sched_setaffinity(0, {min(cores)})  # and all that we start from here
        hosts = bench_hosts.start_hosts(world, binaries, path)
        put_us_ahead(switch)
        for process in (switch, hosts):
            bench_hosts.put_ahead(process)
        worker = Worker(switch, f"http://{address}/metrics")
        wait_for(lambda: worker.counts()[1] > 0 or not hosts.alive(), 30, "packets")
        period(worker, "nobody", binaries)  # buffers and caches as they will be
        samples = {kind: [] for kind in WATCHERS}
        for number in range(ROUNDS):
            for kind in turns(number):
                samples[kind].append(period(worker, kind, binaries))
                if not hosts.alive():
                    raise Trouble(f"eddyhost ended: {hosts.output().strip()}")
        return samples
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setaffinity(0, cores)
        world.close()


def turns(number):
    """The kinds in the order of a round: over eight rounds each is in each place, after and before the same others
    as often."""
    kinds = list(WATCHERS)
    first = number // 2 % len(kinds)
    return (kinds[first:] + kinds[:first])[::-1 if number % 2 else 1]


def period(worker, kind, binaries):
    """Busy cycles a packet while `kind` watches, from and to one reading of our own; less those in which others had
    the core, of which the busy turns have had their share."""
    with WATCHERS[kind](worker.url, binaries) as seen:
        before = worker.counts()
        time.sleep(PERIOD)
        cycles, _, _ = worker.since(before)
    if min(seen, default=1) < 0.5:
        raise Trouble(f"{kind}: {min(seen):.0%} of the readings that should have been")
    return cycles


# Each watches while its context is open, and yields a list that then says of each reader how much it read: the share
# of what it should have.


@contextlib.contextmanager
def nobody(_url, _binaries):
    yield []


@contextlib.contextmanager
def top(_url, binaries):
    """One as it comes, and one that was told the fastest interval and shows the longest report."""
    words = (binaries / "eddyctl", "--name", bench_hosts.SWITCH, "top")
    seen = []
    with Screen(words) as first, Screen((*words, "--watch", "1"), keys=b"2") as second:
        wait_for(lambda: first.pictures and second.pictures, 10, "eddyctl top")
        before = first.pictures, second.pictures
        yield seen
        seen += [(first.pictures - before[0]) * EVERY / PERIOD, (second.pictures - before[1]) * EVERY / PERIOD]


@contextlib.contextmanager
def scraping(every, url, _binaries):
    ended, seen, times = threading.Event(), [], []

    def read():
        while not ended.wait(every):
            scrape(url)
            times.append(time.monotonic())

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield seen
    finally:
        ended.set()
        reader.join()
    seen.append(len(times) * every / PERIOD)


WATCHERS = {"nobody": nobody, "top": top, "prometheus": functools.partial(scraping, EVERY),
            "prometheus_100": functools.partial(scraping, OFTEN)}


class Screen:
    """A command on a terminal of its own, whose pictures are read and counted."""

    def __init__(self, words, keys=b""):
        self.pictures = 0
        self._master, terminal = pty.openpty()
        self._process = subprocess.Popen([str(word) for word in words], stdin=terminal, stdout=terminal,
                                         stderr=terminal, start_new_session=True)
        os.close(terminal)
        os.write(self._master, keys)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        with contextlib.suppress(OSError):  # the terminal is gone
            while said := os.read(self._master, 1 << 16):
                self.pictures += said.count(SCREEN)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()
        self._reader.join()
        os.close(self._master)
