"""The demo's RoCEv2 story: eddyhost stands in for the hosts, which obey PFC, so nothing at all may be lost.

Hosts and their flows are those of an experiment of the lab, written here; the fabric is the demo's.
"""

import json
import shutil
from pathlib import Path

from .display import number
from .fabric import Plan, host_socket
from .netns import Trouble, wait_for

DILATION = 400  # the experiment's 40 Gb/s are the demo's 100 Mb/s
POLL_GAP = "100ms"  # headroom for that: the machine may be busy with other things
LONGEST_DRAIN = 15  # seconds until all flows have ended
ID = "demo-roce"
WORKLOAD = Path(__file__).resolve().parents[2] / "config" / "workloads" / "web_search.csv"


class Roce:
    """Web-search flows between all hosts; now and then three of them answer the fourth all at once."""

    shortest = 4  # seconds
    good = "every flow delivered all it had, and not one packet was lost."
    traffic = (
        "Traffic: RoCEv2 with DCQCN, lossless class: web-search flows between all hosts, and every 2 s an",
        "incast: h1, h2 and h4 send 2 MB each to h3 at once. The hosts (eddyhost) obey PFC.",
        "PFC, ECN marks and drops are counts of the last second.")

    def __init__(self, arguments, world, binaries):
        self._arguments = arguments
        self._world = world
        self._binaries = binaries
        self._eddyhost = None
        self._result = None
        self._pauses = {}  # (switch, port) -> frames sent to a host, and those it has read

    def plan(self, names):
        slow = {"gap": "40ms"} if self._arguments.scheme == "letflow" else {}  # 100 us at 40 Gb/s
        return Plan(host_ports="memif", scheme=self._arguments.scheme, parameters=slow, names=names,
                    host_pg="lossless", buffer="24MiB", poll_gap=POLL_GAP)

    def pings(self, _world, _hosts):
        """Nobody in these hosts answers ping; that a switch finds them says enough."""
        return []

    def experiment(self, seconds):
        return experiment(seconds, self._arguments.scheme)

    def start(self, fabric, seconds):
        """Starts eddyhost and waits until its traffic runs."""
        directory = self._world.directory
        shutil.copy(WORKLOAD, directory)  # beside the experiment, which may be read in a container
        path = directory / f"{ID}.yaml"
        path.write_text(self.experiment(seconds), encoding="utf-8")
        switches = [f"--switch={switch.short}=/run/eddy/{switch.name}.sock" for switch in fabric.switches]
        sockets = [f"--port=leaf{leaf}.host{place}=net_memif{number},socket={host_socket(directory, number)}"
                   for leaf, place, number in places(fabric.plan)]
        self._eddyhost = self._world.spawn_poller(
            None, self._binaries / "eddyhost", path, "--size", "ci", "--name",
            f"{fabric.plan.names}hosts", "--out", directory, *sockets, *switches, log="eddyhost")
        wait_for(lambda: "hosts are up" in self._eddyhost.output() or not self._eddyhost.alive(), 40,
                 "eddyhost up")
        self._check()

    def tick(self, _fabric, _elapsed, _seconds):
        """Nothing is done to the fabric."""
        if not self._eddyhost.alive():
            self._check()
        return []

    def notes(self):
        """What eddyhost said of the run, a poll that came too late among it."""
        return self._result["warnings"] if self._result else []

    def running(self):
        return ["eddyhost"] if self._eddyhost.alive() else []

    def finish(self, fabric):
        """Waits for the flows to end; reads what the hosts have counted."""
        if self._eddyhost.wait(LONGEST_DRAIN + 5) is None:
            raise Trouble("eddyhost does not come to its end")
        self._check()
        self._result = json.loads((self.results() / "run.json").read_text())["run"]
        for switch in fabric.switches:
            for row in switch.show("pfc")["rows"]:
                key = switch.short, row["port"]
                sent, read = self._pauses.get(key, (0, 0))
                self._pauses[key] = sent + row["pfc_tx_xoff"] + row["pfc_tx_xon"], read + row["pfc_rx_xoff"]
        return []

    def results(self):
        """The folder that eddyhost has written."""
        return self._world.directory / ID / "ci" / "only" / "seed1"

    def _check(self):
        status = self._eddyhost.wait(0) if not self._eddyhost.alive() else None
        if status:
            said = self._eddyhost.output().strip().split("\n")[-1]
            raise Trouble(f"eddyhost exited {status}: {said}")

    def _to_hosts(self):
        return {key: sent for key, (sent, _) in self._pauses.items() if key[1].startswith("h") and sent}

    def verdict(self, screen):
        screen.say(*self.lines())
        return self._failures(self._result["flows_total"], sum(self._to_hosts().values()))

    def lines(self):
        result, counters = self._result, self._result["counters"]
        flows = result["flows_total"]
        real_ms = DILATION / 1000
        lines = [f"  RoCEv2  {flows - result['unfinished']} of {flows} flows ended; "
                 f"{number(counters['nic_tx_data_packets'])} data packets, "
                 f"{counters['nic_retransmitted_packets']} sent again, "
                 f"{number(counters['nic_rx_cnp_packets'])} CNPs"]
        if result["fct_p50_us"] is not None:
            lines.append(f"          completion: median {result['fct_p50_us'] * real_ms:.0f} ms, p99 "
                         f"{result['fct_p99_us'] * real_ms:.0f} ms, slowest "
                         f"{result['fct_max_us'] * real_ms:.0f} ms")
        to_hosts = self._to_hosts()
        lines.append(f"  PFC     switches sent {sum(to_hosts.values())} frames to hosts, which read "
                     f"{counters['nic_rx_pfc_packets']} (pauses and resumes)")
        lines += [f"          {sent:6d} from {switch} to {port}"
                  for (switch, port), sent in sorted(to_hosts.items())]
        return lines

    def _failures(self, flows, sent):
        result, counters = self._result, self._result["counters"]
        lines = []
        if result["unfinished"] or result["censored"]:
            lines.append(f"{result['unfinished']} of {flows} flows did not end")
        lost = sum(count for name, count in counters.items() if name.startswith("drops_"))
        if lost or result["lossless_drops"]:
            lines.append(f"{max(lost, result['lossless_drops'])} packets were lost")
        if not sent:
            lines.append("no switch paused a host: the incast was none")
        elif not 0.9 * sent <= counters["nic_rx_pfc_packets"] <= sent:  # some may be on their way
            lines.append(f"the hosts read {counters['nic_rx_pfc_packets']} of {sent} PFC frames")
        if not any(read for (switch, port), (_, read) in self._pauses.items() if port.startswith("leaf")):
            lines.append("no spine was paused by a leaf")
        return lines


def places(plan):
    """(leaf, place on it, host number) of every host."""
    return [(leaf, place, number) for leaf in range(1, plan.leaves + 1)
            for place, number in enumerate(plan.host_numbers(leaf), 1)]


def experiment(seconds, scheme):
    """What eddyhost runs: real seconds are 1/400 s of the experiment's."""
    duration = int(seconds * 1_000_000 / DILATION)
    return f"""id: {ID}
title: RoCEv2 incast across the demo's fabric
topology: {{kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2, host_delay: 100ns}}
buffer: {{size: 24MiB}}
switches: {{poll_gap: {POLL_GAP}}}
load_balancer: {{scheme: {scheme}}}
host: {{window: false}}
traffic:
  - {{type: poisson, name: background, cdf: {WORKLOAD.stem}, truncate: 1MB, load: 0.2, reference: host}}
  - {{type: incast, name: requests, degree: 3, size: 6MB, start: 500us, period: 5ms, remote_only: false,
     destinations: [leaf2.host1]}}
run: {{seeds: [1], warmup: 0us, duration: {duration}us, drain: {LONGEST_DRAIN * 1_000_000 // DILATION}us,
       time_dilation: {DILATION}}}
sizes: {{ci: {{}}}}
"""

