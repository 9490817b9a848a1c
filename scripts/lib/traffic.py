"""Traffic between hosts in namespaces: ping meshes and iperf3 flows, and what came of them.

Rates are in bit/s, times in seconds unless a name says otherwise.
"""

import json
import re
from dataclasses import dataclass, field

from .netns import Trouble, wait_for

_PING_COUNT = re.compile(r"(\d+) packets transmitted, (\d+) received")
_PING_RTT = re.compile(r"rtt min/avg/max/mdev = [\d.]+/([\d.]+)/([\d.]+)/")


@dataclass
class Host:
    """One host of a test: where it is and what it is called by."""

    name: str
    namespace: str
    ipv4: str
    ipv6: str

    def address(self, version):
        return self.ipv4 if version == 4 else self.ipv6


@dataclass
class PingResult:
    source: str
    target: str
    sent: int = 0
    received: int = 0
    average_ms: float = 0.0
    maximum_ms: float = 0.0
    said: str = ""

    @property
    def ok(self):
        return self.sent > 0 and self.sent == self.received


def ping_command(address, count=3, interval=0.2, wait=2):
    return ["ping", "-n", "-c", count, "-i", interval, "-W", wait, address]


def parse_ping(source, target, text):
    result = PingResult(source, target, said=text)
    if counts := _PING_COUNT.search(text):
        result.sent, result.received = int(counts.group(1)), int(counts.group(2))
    if rtt := _PING_RTT.search(text):
        result.average_ms, result.maximum_ms = float(rtt.group(1)), float(rtt.group(2))
    return result


def ping_mesh(world, hosts, versions=(4, 6), count=3):
    """Every host pings every other, all at once."""
    running = []
    for version in versions:
        for source in hosts:
            for target in hosts:
                if source is not target:
                    log = f"ping{version}-{source.name}-{target.name}"
                    command = ping_command(target.address(version), count)
                    running.append((source, target, world.spawn(source.namespace, *command, log=log)))
    results = []
    for source, target, process in running:
        if process.wait(5 + 3 * count) is None:
            process.kill()
        results.append(parse_ping(source.name, target.name, process.output()))
        world.forget(process)
    return results


@dataclass
class Flow:
    """One iperf3 run: `streams` parallel flows from a host to another."""

    name: str
    source: Host
    target: Host
    udp: bool = False
    streams: int = 1
    rate: int = 0  # bit/s a stream; 0 = as TCP finds it
    dscp: int = 0
    version: int = 4
    start: float = 0.0  # seconds after the traffic's start
    length: float = 0.0  # seconds; 0 = until the traffic's end
    port: int = 5201

    def command(self, seconds):
        words = ["iperf3", "-c", self.target.address(self.version), "-p", self.port,
                 "-t", max(1, round(seconds)), "-P", self.streams, "-J", "--connect-timeout", 3000]
        if self.udp:
            words += ["-u", "-l", 1200]
        if self.rate:
            words += ["-b", self.rate]
        if self.dscp:
            words += ["-S", self.dscp << 2]
        return words


@dataclass
class FlowResult:
    flow: Flow
    error: str = ""
    bit_rate: float = 0.0  # received
    sent_packets: int = 0  # UDP
    lost_packets: int = 0  # UDP
    retransmits: int = 0  # TCP
    rtt_ms: float = 0.0  # TCP, mean over its streams
    streams: list = field(default_factory=list)  # bit/s of each stream

    @property
    def ok(self):
        return not self.error and self.bit_rate > 0


def parse_iperf(flow, text):
    """The result of `iperf3 -J`, which prints an object even when it fails."""
    result = FlowResult(flow)
    try:
        report = json.loads(text[text.index("{"):])
    except ValueError:
        result.error = text.strip().split("\n")[-1] or "iperf3 said nothing"
        return result
    end = report.get("end", {})
    if "error" in report:
        result.error = report["error"]
    received = end.get("sum" if flow.udp else "sum_received", {})
    result.bit_rate = received.get("bits_per_second", 0.0)
    if flow.udp:
        result.sent_packets = received.get("packets", 0)
        result.lost_packets = received.get("lost_packets", 0)
        result.bit_rate *= 1 - result.lost_packets / max(1, result.sent_packets)
        return result
    result.retransmits = end.get("sum_sent", {}).get("retransmits", 0)
    streams = end.get("streams", [])
    result.streams = [s["receiver"]["bits_per_second"] for s in streams]
    rtts = [s["sender"].get("mean_rtt", 0) for s in streams]
    result.rtt_ms = sum(rtts) / len(rtts) / 1000 if rtts else 0.0
    return result


class Traffic:
    """Flows that run in the background: start(), tick() now and then, finish()."""

    def __init__(self, world, flows):
        self._world = world
        self._flows = flows
        self._servers = []
        self._clients = {}
        for number, flow in enumerate(flows):
            flow.port = 5201 + number

    def start(self):
        """Starts the servers and waits until they listen."""
        for flow in self._flows:
            server = self._world.spawn(flow.target.namespace, "iperf3", "-s", "-1", "-p", flow.port,
                                       "--forceflush", log=f"server-{flow.name}")
            self._servers.append(server)
        for flow, server in zip(self._flows, self._servers):
            wait_for(lambda s=server: "listening" in s.output() or not s.alive(), 5,
                     f"iperf3 server of {flow.name}")
            if not server.alive():
                raise Trouble(f"iperf3 server of {flow.name} ended: {server.output().strip()}")

    def tick(self, elapsed, seconds):
        """Starts the flows whose time has come, to end at their own time or the traffic's."""
        for flow in self._flows:
            if flow.name not in self._clients and elapsed >= flow.start:
                command = flow.command(flow.length or seconds - elapsed)
                self._clients[flow.name] = self._world.spawn(flow.source.namespace, *command,
                                                             log=f"flow-{flow.name}")

    def running(self):
        return [name for name, client in self._clients.items() if client.alive()]

    def finish(self, patience=8):
        """Waits for the flows and returns a FlowResult for each."""
        results = []
        for flow in self._flows:
            client = self._clients.get(flow.name)
            if client is None:
                results.append(FlowResult(flow, error="was not started"))
                continue
            if client.wait(patience) is None:
                client.kill()
                results.append(FlowResult(flow, error=f"did not end within {patience} s"))
            else:
                results.append(parse_iperf(flow, client.output()))
            self._world.forget(client)
        for server in self._servers:
            server.popen.terminate()
            if server.wait(2) is None:
                server.kill()
            self._world.forget(server)
        self._servers, self._clients = [], {}
        return results
