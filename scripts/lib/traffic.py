"""Traffic between hosts in namespaces: ping meshes, iperf3 and iperf 2 flows, and what came of them.

iperf3 carries TCP. Its server must answer a UDP stream's first datagram, for which it would wait for ever if
that is lost; iperf 2 needs no answer, so it carries UDP. Rates are in bit/s, times in seconds unless a name
says otherwise.
"""

import json
import re
import time
from dataclasses import dataclass, field

from .netns import Trouble, wait_for

_PING_COUNT = re.compile(r"(\d+) packets transmitted, (\d+) received")
_PING_RTT = re.compile(r"rtt min/avg/max/mdev = [\d.]+/([\d.]+)/([\d.]+)/")
_IPERF2_REPORT = re.compile(r"0\.0+-([\d.]+) sec +(\d+) Bytes")
DATAGRAM = 1200  # octets of UDP payload
CONNECTS_WITHIN_MS = 10_000  # SYNs go at 0, 1, 3 and 7 s, and flows that begin at once lose some to each other


@dataclass
class Host:
    """One host of a test: where it is and what it is called by."""

    name: str
    namespace: str
    ipv4: str
    ipv6: str

    def address(self, version):
        return self.ipv4 if version == 4 else self.ipv6

    def gateway(self, version):
        return self.ipv4.rsplit(".", 1)[0] + ".1" if version == 4 else self.ipv6.rsplit("::", 1)[0] + "::1"


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
    """One iperf run from a host to another: one UDP stream of `rate`, or `streams` parallel TCP flows."""

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

    @property
    def tool(self):
        return Iperf2 if self.udp else Iperf3


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

    @property
    def trouble(self):
        """Of one that is not ok."""
        return (f"{self.flow.name} ({self.flow.source.name} to {self.flow.target.name}): "
                f"{self.error or 'nothing arrived'}")


class Iperf3:
    """Commands of iperf3 for TCP, and what its client's report says."""

    NAME = "iperf3"

    @staticmethod
    def server(flow):
        return ["iperf3", "-s", "-1", "-p", flow.port, "--forceflush"]

    @staticmethod
    def client(flow, seconds):
        words = ["iperf3", "-c", flow.target.address(flow.version), "-p", flow.port,
                 "-t", max(1, round(seconds)), "-P", flow.streams, "-J", "--connect-timeout", CONNECTS_WITHIN_MS]
        if flow.rate:
            words += ["-b", flow.rate]
        if flow.dscp:
            words += ["-S", flow.dscp << 2]
        return words

    @staticmethod
    def reported(_text):
        """The client's report holds the server's."""
        return True

    @staticmethod
    def parse(flow, text, _server_text=""):
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
        result.bit_rate = end.get("sum_received", {}).get("bits_per_second", 0.0)
        result.retransmits = end.get("sum_sent", {}).get("retransmits", 0)
        streams = end.get("streams", [])
        result.streams = [s["receiver"]["bits_per_second"] for s in streams]
        rtts = [s["sender"].get("mean_rtt", 0) for s in streams]
        result.rtt_ms = sum(rtts) / len(rtts) / 1000 if rtts else 0.0
        return result


class Iperf2:
    """Commands of iperf 2 for one UDP stream: the client says what it sent, the server what came."""

    NAME = "iperf"

    @staticmethod
    def server(flow):
        return ["iperf", "-s", "-P", 1, *Iperf2._common(flow)]

    @staticmethod
    def client(flow, seconds):
        return ["iperf", "-c", flow.target.address(flow.version), "-t", max(1, round(seconds)),
                "-b", flow.rate, "-S", flow.dscp << 2, *Iperf2._common(flow)]

    @staticmethod
    def _common(flow):
        version = ["-V"] if flow.version == 6 else []
        return ["-u", *version, "-p", flow.port, "-l", DATAGRAM, "-f", "b"]

    @staticmethod
    def reported(text):
        return _IPERF2_REPORT.search(text)

    @staticmethod
    def parse(flow, text, server_text):
        result = FlowResult(flow)
        sent, received = _IPERF2_REPORT.search(text), _IPERF2_REPORT.search(server_text)
        if not sent:
            result.error = text.strip().split("\n")[-1] or "iperf said nothing"
            return result
        seconds, octets = float(sent.group(1)), int(received.group(2)) if received else 0
        result.bit_rate = octets * 8 / seconds
        result.sent_packets = int(sent.group(2)) // DATAGRAM
        result.lost_packets = result.sent_packets - octets // DATAGRAM
        return result


class _Run:
    """One flow being run: its server and, once it is due, its client."""

    REPORTS_WITHIN = 3.0  # seconds after the client has ended

    def __init__(self, world, flow):
        self.flow = flow
        self._world = world
        self._client = None
        self._server = world.spawn(flow.target.namespace, *flow.tool.server(flow),
                                   log=f"server-{flow.name}")

    def wait_for_server(self):
        what = f"{self.flow.tool.NAME} server of {self.flow.name}"
        wait_for(lambda: "listening" in self._server.output() or not self._server.alive(), 5, what)
        if not self._server.alive():
            raise Trouble(f"{what} ended: {self._server.output().strip()}")

    def started(self):
        return self._client is not None

    def running(self):
        return self.started() and self._client.alive()

    def start(self, seconds):
        self._client = self._world.spawn(self.flow.source.namespace,
                                         *self.flow.tool.client(self.flow, seconds),
                                         log=f"flow-{self.flow.name}")

    def _stop(self):
        for process in (self._client, self._server):
            if process and process.alive():
                process.kill()
            if process:
                self._world.forget(process)

    def result(self):
        """What came of it; ends what still runs."""
        if not self.started():
            outcome = FlowResult(self.flow, error="was not started")
        elif self.running():
            outcome = FlowResult(self.flow, error="did not end in time")
        else:
            self._wait_for_report()
            outcome = self.flow.tool.parse(self.flow, self._client.output(), self._server.output())
        self._stop()
        return outcome

    def _wait_for_report(self):
        """An iperf 2 server that saw nothing reports nothing."""
        deadline = time.monotonic() + self.REPORTS_WITHIN
        while not self.flow.tool.reported(self._server.output()) and time.monotonic() < deadline:
            time.sleep(0.05)


class Traffic:
    """Flows that run in the background: start(), tick() now and then, finish()."""

    def __init__(self, world, flows):
        for number, flow in enumerate(flows):
            flow.port = 5201 + number
        self._runs = [_Run(world, flow) for flow in flows]

    def start(self):
        """Waits until the servers listen."""
        for each in self._runs:
            each.wait_for_server()

    def tick(self, elapsed, seconds):
        """Starts the flows whose time has come, to end at their own time or the traffic's."""
        for each in self._runs:
            if not each.started() and elapsed >= each.flow.start:
                each.start(each.flow.length or seconds - elapsed)

    def running(self):
        return [each.flow.name for each in self._runs if each.running()]

    def finish(self, patience=20):
        """Waits for the flows, at most so many seconds, and returns a FlowResult for each."""
        deadline = time.monotonic() + patience
        while self.running() and time.monotonic() < deadline:
            time.sleep(0.05)
        return [each.result() for each in self._runs]
