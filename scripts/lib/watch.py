"""Numbers of a running fabric: samples through eddyctl, differences, sums.

A sample holds what `eddyctl --json show ports|drops` said of every switch. Counters only grow while
a switch lives; a switch that was restarted counts from zero, and so do its differences.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

COUNTERS = ("rx_packets", "rx_bytes", "tx_packets", "tx_bytes", "pfc_tx_xoff", "pfc_rx_xoff",
            "ecn_marked_packets", "dropped_packets", "lossless_dropped_packets")


@dataclass
class PortRow:
    """One port over one interval: differences of its counters, and its state at the end."""

    switch: str
    port: str
    role: str
    up: bool
    speed_bps: int
    queued_bytes: int
    seconds: float
    counts: dict = field(default_factory=dict)

    def rate(self, counter):
        return self.counts[counter] / self.seconds if self.seconds > 0 else 0.0

    def rx_bps(self):
        return 8 * self.rate("rx_bytes")

    def tx_bps(self):
        return 8 * self.rate("tx_bytes")


@dataclass
class SwitchSample:
    """One switch at one moment."""

    name: str
    at_ns: int
    ports: dict  # name -> row of show ports
    drops: dict  # (port, reason) -> packets


def sample_switch(switch):
    report = switch.show("ports")
    ports = {r["port"]: r | {"lossless_dropped_packets": 0} for r in report["rows"]}
    for row in switch.show("pgs")["rows"]:
        ports[row["port"]]["lossless_dropped_packets"] += row["lossless_dropped_packets"]
    drops = {(r["port"], r["reason"]): r["dropped_packets"] for r in switch.show("drops")["rows"]}
    return SwitchSample(switch.short, report["uptime_ns"], ports, drops)


def sample_fabric(switches):
    """A SwitchSample of each, asked all at once."""
    with ThreadPoolExecutor(len(switches)) as pool:
        return list(pool.map(sample_switch, switches))


def _grown(before, now):
    return now - before if now >= before else now


def port_rows(earlier, later):
    """PortRows between two samples of the same switches, in the order of their configurations."""
    rows = []
    for before, now in zip(earlier, later):
        seconds = _grown(before.at_ns, now.at_ns) / 1e9
        for name, row in now.ports.items():
            old = before.ports.get(name, {})
            counts = {c: _grown(old.get(c, 0), row[c]) for c in COUNTERS}
            rows.append(PortRow(now.name, name, row["role"], row["oper"] == "up", row["speed_bps"],
                                row["queued_bytes"], seconds, counts))
    return rows


def drops_by_reason(earlier, later):
    """{(switch, port, reason): packets} between two samples, without zeros."""
    drops = {}
    for before, now in zip(earlier, later):
        for (port, reason), packets in now.drops.items():
            grown = _grown(before.drops.get((port, reason), 0), packets)
            if grown:
                drops[now.name, port, reason] = grown
    return drops


def split(rows, switch):
    """[(fabric port, octets sent)] of one leaf: how it spread its traffic over the spines."""
    return [(r.port, r.counts["tx_bytes"]) for r in rows
            if r.switch == switch and r.role == "fabric"]
