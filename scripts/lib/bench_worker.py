"""The polling thread of a loaded eddyd: what its own counters say of a period.

Busy cycles and packets are read over /metrics at both ends of the same period, and the time in which others had the
worker's core is taken off: a turn that is interrupted goes on counting TSC cycles. Units: TSC cycles, packets
received, seconds.
"""

import os
import re
import socket
import time
import urllib.request
from pathlib import Path

from .netns import Trouble


class Worker:
    """The only polling thread of the switch, and its counters."""

    def __init__(self, switch, url):
        self.url = url
        self._stat = next(task / "schedstat" for task in Path(f"/proc/{switch.pid}/task").iterdir()
                          if "rte-worker" in (task / "comm").read_text())

    def counts(self):
        """Since its start: busy cycles, packets received, seconds that it ran; and the time."""
        text = scrape(self.url)
        cycles, packets = (float(re.search(rf"^eddy_worker_{name}_total{{.*}} (\S+)$", text, re.MULTILINE)[1])
                           for name in ("busy_cycles", "packets"))
        return cycles, packets, int(self._stat.read_text().split()[0]) / 1e9, time.monotonic()

    def since(self, before):
        """Since `before`, which counts() returned: busy cycles a packet, packets a second, and the share of the time
        that the worker ran. Of the time in which others had the core the busy turns have had their share."""
        cycles, packets, ran, took = (later - sooner for later, sooner in zip(self.counts(), before))
        return cycles / max(packets, 1) * ran / took, packets / took, ran / took


def put_us_ahead(switch):
    """Who watches, and eddyd's control, before eddyhost's polling thread on their core."""
    for task in (0, *(int(task.name) for task in Path(f"/proc/{switch.pid}/task").iterdir())):
        os.sched_setscheduler(task, os.SCHED_FIFO, os.sched_param(20))


def scrape(url):
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.read().decode()
    except OSError as error:
        raise Trouble(f"{url}: {error}") from None


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
