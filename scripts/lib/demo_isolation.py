"""The demo's story of congestion isolation: flows that go to no congested host, beside an incast, with and without it.

Hosts are eddyhost's, as in the story of RoCEv2; whatever is said here is of what ran, nothing is expected of how fast.
"""

import sqlite3

from .demo_roce import DILATION, ID, LONGEST_DRAIN, POLL_GAP, Roce
from .display import number, table
from .fabric import Plan

SCHEME = "ecmp"  # a path for each flow
VICTIM_KB, VICTIM_GAP_MS = 50, 100
INCAST, VICTIMS = range(2)  # by their place in the experiment


class Isolated(Roce):
    """h1 and h4 send to h3 at once, again and again, twice what it takes; h2 sends short flows to h4, which has room."""

    good = "every flow delivered all it had, in order, and not one packet was lost."
    traffic = (
        "Traffic: RoCEv2 without congestion control, lossless class: every 0.6 s h1 and h4 send 3 MB each to",
        f"h3 at once. The victims: {VICTIM_KB} kB from h2 to h4 every {VICTIM_GAP_MS} ms, whose line is free.")
    # What four processes on few cores can keep up with: they poll at times only every few ms.
    ISOLATION = {"enabled": "true", "threshold": "10kB", "refresh": "6ms", "life": "200ms", "stay": "200ms"}

    def plan(self, names):
        return Plan(host_ports="memif", scheme=SCHEME, names=names, host_pg="lossless", buffer="24MiB", xoff="128KiB",
                    poll_gap=POLL_GAP, isolation=self.ISOLATION if self._arguments.isolation else {})

    def experiment(self, seconds):
        return experiment(seconds)

    def counter(self, name):
        return self._result["counters"].get(name, 0)

    def finish(self, fabric):
        """Keeps how long flows took: their file goes with the run."""
        results = super().finish(fabric)
        with sqlite3.connect(self.results() / "flows.sqlite") as rows:
            found = rows.execute("SELECT traffic, fct_ns FROM flows WHERE finished ORDER BY fct_ns").fetchall()
        self._times = [[fct * DILATION / 1e6 for of, fct in found if of == item] for item in (INCAST, VICTIMS)]
        return results

    def completions_ms(self, traffic):
        """Real milliseconds that the flows of an item took, the shortest first."""
        return self._times[traffic]

    def pauses(self):
        return sum(read for (_, port), (_, read) in self._pauses.items() if not port.startswith("h"))

    def lines(self):
        lines = super().lines()
        times = self.completions_ms(VICTIMS)
        lines.append(f"  victims {len(times)} flows of {VICTIM_KB} kB: {', '.join(_of(times))}")
        if self._arguments.isolation:
            lines.append(f"  isolated {self.counter('isolation_begun_packets')} packets, put back "
                         f"{self.counter('isolation_ended_packets')}; times that somebody was named: "
                         f"{self.counter('isolation_hot_hosts')}")
        return lines

    def _failures(self, flows, sent):
        lines = super()._failures(flows, sent)
        if self._result["ooo_ratio"]:
            lines.append("packets arrived out of order")
        begun, ended = (self.counter(f"isolation_{what}_packets") for what in ("begun", "ended"))
        if self._arguments.isolation and not begun:
            lines.append("nothing was isolated")
        if begun != ended:
            lines.append(f"of {begun} isolated packets {ended} were put back")
        return lines


def _of(times):
    """Half, nearly all and all of them were as fast."""
    if not times:
        return ["none ended"]
    at = (("median", len(times) // 2), ("p90", len(times) * 9 // 10), ("slowest", -1))
    return [f"{name} {times[place]:.0f} ms" for name, place in at]


def isolation_side_by_side(told):
    """Lines that compare runs: [(name, story)]."""
    rows = [("victims", *("" for _ in told))]
    of = [_of(story.completions_ms(VICTIMS)) for _, story in told]
    for values in zip(*of):
        what = values[0].rsplit(" ", 2)[0]
        rows.append((f"  completion, {what}", *(value.removeprefix(f"{what} ") for value in values)))
    incast = [story.completions_ms(INCAST) for _, story in told]
    rows.append(("incast: completion, mean", *(f"{sum(each) / max(1, len(each)):.0f} ms" for each in incast)))
    rows += [("pauses between switches", *(number(story.pauses()) for _, story in told)),
             ("packets isolated", *(number(story.counter("isolation_begun_packets")) for _, story in told))]
    return table(("", *(name for name, _ in told)), rows, left=1)


def experiment(seconds):
    """What eddyhost runs: real seconds are 1/400 s of the experiment's."""
    us = 1_000_000 // DILATION  # a real second
    return f"""id: {ID}
title: Short flows beside an incast across the demo's fabric
topology: {{kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2, host_delay: 100ns}}
buffer: {{size: 24MiB}}
switches: {{poll_gap: {POLL_GAP}}}
load_balancer: {{scheme: {SCHEME}}}
host: {{congestion_control: none, window: false}}
traffic:
  - {{type: incast, name: incast, degree: 2, size: 6MB, start: 100us, period: 1500us, remote_only: false,
     sources: [leaf1.host1, leaf2.host2], destinations: [leaf2.host1]}}
  - {{type: incast, name: victims, degree: 1, size: {VICTIM_KB}kB, start: 200us, period: {VICTIM_GAP_MS * us // 1000}us,
     sources: [leaf1.host2], destinations: [leaf2.host2]}}
run: {{seeds: [1], warmup: 0us, duration: {int(seconds * us)}us, drain: {LONGEST_DRAIN * us}us,
       time_dilation: {DILATION}}}
sizes: {{ci: {{}}}}
"""
