"""Leaf-spine fabrics of real eddyd processes, with hosts in network namespaces.

A Plan says what there is: switches, hosts, links, in the words of the configuration. A Fabric makes
it so in a World: veth to the hosts, memif between the switches, one YAML file and one eddyd each.
"""

import json
import signal
from dataclasses import dataclass, field
from pathlib import Path

from .netns import Trouble, run, wait_for
from .traffic import Host

HOST_PORTS = ("af_packet", "af_xdp", "tap", "memif")  # memif: the hosts are eddyhost's, see Plan
TAP_HOST = 1  # the one host on a tap, where hosts are on taps: see Fabric


@dataclass
class Plan:
    """Leaves 1..n with `hosts_per_leaf` hosts each, every leaf joined to every spine.

    Hosts on memif are those of the lab's fabric of the same shape, at most two a leaf: their addresses, and
    the leaves' MACs, are the lab's.
    """

    leaves: int = 2
    spines: int = 2
    hosts_per_leaf: int = 2
    host_ports: str = "af_packet"  # of HOST_PORTS
    host_speed: str = "100Mbps"
    fabric_speed: str = "100Mbps"
    scheme: str = "ecmp"
    parameters: dict = field(default_factory=dict)
    names: str = ""  # begins every switch's name
    workers: int = 1  # of each switch; its ports are dealt out to them
    spare_ports: int = 0  # of each switch
    later: tuple = ()  # hosts whose ports no file has at first
    idle: str = "adaptive"
    poll_gap: str = "20ms"  # many processes share few cores
    buffer: str = "3MiB"
    xoff: str = "64KiB"
    kmin: str = "24KiB"
    kmax: str = "96KiB"
    detection_time: str = "200ms"  # of the PFC watchdog; a full group may take as long to drain by a slow port
    rlb: dict = field(default_factory=dict)  # the section of that name; empty: off
    isolation: dict = field(default_factory=dict)  # the same
    host_pg: str = "lossy"  # profile of the lossless class on host ports
    mtu: int = 1500  # of ports and hosts
    prometheus: str = ""  # address:port of /metrics, in each switch's namespace

    def host_port(self, number):
        """The kind of port that host `number` is on."""
        return "af_packet" if self.host_ports == "tap" and number != TAP_HOST else self.host_ports

    def real_hosts(self):
        """Whether they are in namespaces, and not eddyhost's."""
        return self.host_ports != "memif"

    def host_numbers(self, leaf):
        first = (leaf - 1) * self.hosts_per_leaf + 1
        return range(first, first + self.hosts_per_leaf)


def host_ipv4(number, last):
    return f"10.0.{number}.{last}"


def host_ipv6(number, last):
    return f"fd00:0:0:{number}::{last}"


def host_socket(sockets, number):
    return Path(sockets) / f"h{number}.memif"


def lab_network(leaf, place):
    """The two addresses of a link to the lab's host at place 1 or 2 of a leaf: 10.0.LEAF.PLACE, and ours."""
    return (f"10.0.{leaf}.0/31", f"10.0.{leaf}.0/31") if place == 1 else (
        f"10.0.{leaf}.2/31", f"10.0.{leaf}.3/31")


def leaf_config(plan, leaf, sockets):
    """The configuration of leaf `leaf` as nested dicts, in the order in which it is written."""
    ports, routes = {}, []
    for place, number in enumerate(plan.host_numbers(leaf), 1):
        device = (host_device(plan.host_port(number), number) if plan.real_hosts() else
                  f"net_memif{100 + number},role=server,id=0,socket={host_socket(sockets, number)}")
        ports[f"h{number}"] = {
            "device": device,
            "role": "host",
            "speed": plan.host_speed,
            "pgs": f"{{3: {plan.host_pg}}}",
            "addresses": [f"{host_ipv4(number, 1)}/24", f"{host_ipv6(number, 1)}/64"]
                         if plan.real_hosts() else [lab_network(leaf, place)[1]],
        }
    for spine in range(1, plan.spines + 1):
        ports[f"spine{spine}"] = fabric_port(plan, sockets, leaf, spine, "client", spine)
    leaves = {}
    for other in range(1, plan.leaves + 1):
        if other != leaf:
            leaves[other] = [f"spine{s}" for s in range(1, plan.spines + 1)]
            routes += routes_to(plan, other)
    return switch_config(plan, {"name": f"leaf{leaf}", "id": leaf, "leaf": leaf}, ports, leaves,
                         routes)


def spine_config(plan, spine, sockets):
    ports, leaves, routes = {}, {}, []
    for leaf in range(1, plan.leaves + 1):
        ports[f"leaf{leaf}"] = fabric_port(plan, sockets, leaf, spine, "server", leaf)
        leaves[leaf] = [f"leaf{leaf}"]
        routes += routes_to(plan, leaf)
    return switch_config(plan, {"name": f"spine{spine}", "id": 100 + spine}, ports, leaves, routes)


def switch_config(plan, identity, ports, leaves, routes):
    """Thresholds fit the plan's speeds: the defaults are made for 40 Gb/s."""
    for position, port in enumerate(ports.values()):
        port["worker"] = position % plan.workers
        port["watchdog"] = f"{{detection_time: {plan.detection_time}}}"
    ports = {name: port for name, port in ports.items() if name not in plan.later}
    config = {
        "switch": identity | {
            "name": plan.names + identity["name"],
            "mac": f"02:ed:00:00:{identity['id']:02x}:00" if plan.real_hosts() else
                   f"02:ed:00:{identity['id']:02x}:00:00",
            "workers": plan.workers,
            "idle": plan.idle,
            "poll_gap": plan.poll_gap,
        } | ({"spare_ports": plan.spare_ports} if plan.spare_ports else {}),
        "buffer": {
            "size": plan.buffer,
            "profiles": {"lossless": {"mode": "static", "xoff": plan.xoff},
                         "hosts": {"mode": "dynamic", "dynamic_th": 0}},
        },
        "wred": {"default": {"kmin": plan.kmin, "kmax": plan.kmax}},
        "port_defaults": {"mtu": plan.mtu, "pfc": "{refresh_limit: 10ms}", "queues": {1: "{wred: default}"}},
        "load_balancer": {"scheme": plan.scheme} | plan.parameters,
        "ports": ports,
        "leaves": leaves,
        "routes": routes,
    }
    telemetry = {"telemetry": {"prometheus": plan.prometheus}} if plan.prometheus else {}
    isolation = {"isolation": plan.isolation} if plan.isolation else {}
    return config | ({"rlb": plan.rlb} if plan.rlb else {}) | isolation | telemetry


def routes_to(plan, leaf):
    prefixes = []
    for place, number in enumerate(plan.host_numbers(leaf), 1):
        if not plan.real_hosts():
            prefixes.append(lab_network(leaf, place)[0])
            continue
        prefixes += [f"{host_ipv4(number, 0)}/24", f"{host_ipv6(number, '')}/64"]
    return [{"prefix": prefix, "leaf": leaf} for prefix in prefixes]


def fabric_port(plan, sockets, leaf, spine, role, number):
    socket = Path(sockets) / f"leaf{leaf}-spine{spine}.memif"
    return {
        "device": f"net_memif{number},role={role},id=0,socket={socket},socket-abstract=no",
        "role": "fabric",
        "speed": plan.fabric_speed,
        "pgs": "{3: lossless, 4: lossless}" if plan.isolation else "{3: lossless}",
    }


def host_device(kind, number):
    """DPDK's name and arguments for the switch's end of a host's link."""
    if kind == "af_packet":
        return f"net_af_packet{number},iface=h{number}"
    if kind == "af_xdp":
        return f"net_af_xdp{number},iface=h{number}"
    if kind == "tap":
        return f"net_tap{number},iface=h{number}"
    raise Trouble(f"unknown kind of host port '{kind}', valid are {', '.join(HOST_PORTS)}")


def to_yaml(value, indent=0):
    """Dicts, lists and words as block YAML; lists of words and short dicts in lists on one line."""
    pad = "  " * indent
    lines = []
    for key, item in value.items():
        if isinstance(item, dict) and item:
            lines += [f"{pad}{key}:", to_yaml(item, indent + 1)]
        elif isinstance(item, list) and item and isinstance(item[0], dict):
            lines.append(f"{pad}{key}:")
            for row in item:
                inside = ", ".join(f"{k}: {_word(v)}" for k, v in row.items())
                lines.append(f"{pad}  - {{{inside}}}")
        elif isinstance(item, (list, dict)):
            words = ", ".join(_word(word) for word in item)
            lines.append(f"{pad}{key}: [{words}]" if isinstance(item, list) else f"{pad}{key}: {{}}")
        else:
            lines.append(f"{pad}{key}: {_word(item)}")
    return "\n".join(lines)


def _word(value):
    """A word as YAML; what looks like a flow map stays one."""
    text = str(value)
    if text.startswith("{"):
        return text
    return f'"{text}"' if any(c in text for c in ",[]#:") else text


class Switch:
    """One eddyd of a fabric: its file, its process, and what eddyctl says of it."""

    def __init__(self, world, binaries, config, short):
        self._world = world
        self.namespace = None  # once the world has made it
        self._binaries = Path(binaries)
        self.config = config
        self.name = config["switch"]["name"]
        self.short = short  # its name without what begins all names of the plan
        self.path = world.directory / f"{self.name}.yaml"
        self.process = None
        self._worst_gap = 0  # ns, of all that note_gaps() has seen
        self.write()

    @property
    def program(self):
        return self._binaries / "eddyd"

    def write(self):
        self.path.write_text(to_yaml(self.config) + "\n", encoding="utf-8")

    def start(self):
        if self.process:
            self._world.forget(self.process)
        self.process = self._world.start_switch(self)

    def check_alive(self):
        if self.process and not self.process.alive():
            status = self.process.popen.returncode
            how = f"killed by {signal.Signals(-status).name}" if status < 0 else f"exited {status}"
            said = self.process.output().strip().split("\n")[-1]
            raise Trouble(f"eddyd {self.name} {how}: {said or 'it said nothing'}")

    def eddyctl(self, *words, timeout=5):
        command = (self._binaries / "eddyctl", "--name", self.name, *words)
        return run(*command, check=False, timeout=timeout)

    def show(self, report, *words):
        """The rows of a report; Trouble if the switch does not answer."""
        done = self.eddyctl("--json", "show", report, *words)
        try:
            return json.loads(done.stdout)
        except ValueError:
            self.process.wait(1)  # a dying switch closes its socket before it is gone
            self.check_alive()
            said = (done.stderr or done.stdout).strip().split("\n")[-1]
            raise Trouble(f"eddyctl show {report} of {self.name}: {said}") from None

    def note_gaps(self):
        """Remembers the longest poll gap of the last second: the switch itself knows no other."""
        rows = self.show("workers")["rows"]
        self._worst_gap = max([self._worst_gap] + [row["poll_gap_max_ns"] for row in rows])
        return rows

    def poll_gaps(self):
        """Whether a worker stayed away from its ports for longer than planned (None: that is not known), and a
        line on it, for who looks for a cause."""
        try:
            workers, events = self.note_gaps(), self.show("events")["rows"]
        except Trouble as trouble:
            return None, f"{self.name}: poll gaps are not known: {trouble}"
        late = [row.get("value", 0) for row in events if row["event"] == "poll_gap_exceeded"]
        limit = max(row["poll_gap_limit_ns"] for row in workers)
        worst = max([self._worst_gap] + late)
        return worst > limit or bool(late), (
                f"{self.name}: longest poll gap seen {worst / 1e6:.1f} ms, planned for {limit / 1e6:.1f} ms, "
                f"beyond it in {len(late)} seconds of those that its log of events still has")

    def reload(self):
        """Applies `config` as it is now to the running switch."""
        self.write()
        done = self.eddyctl("reload")
        if done.returncode:
            raise Trouble(f"{self.name} refused its new configuration: {done.stdout}{done.stderr}")

    def ports_up(self, hosts=True):
        """Whether it answers and every port is up; without `hosts`, every fabric port."""
        self.check_alive()
        try:
            rows = self.show("ports")["rows"]
        except Trouble:
            return False
        return len(rows) == len(self.config["ports"]) and all(
            r["oper"] == "up" for r in rows if hosts or r["role"] == "fabric")


class Fabric:
    """A Plan made real in a World. start() brings it up; the World's close() takes it down.

    Each switch has a namespace, in which its ends of the hosts' links are. (net_af_packet's fanout
    groups are numbered by process and interface, and clash when switches share a namespace.) Each host
    has one too, except a host on a tap: a tap is made by its switch and looks down to it once it is
    moved elsewhere, so that host lives in its leaf's namespace.
    """

    def __init__(self, world, plan, binaries):
        self.world = world
        self.plan = plan
        self.hosts = []
        self.switches = []
        self._make_switches(binaries)
        numbers = [number for leaf in range(1, plan.leaves + 1) for number in plan.host_numbers(leaf)
                   if plan.real_hosts()]
        spaces = world.open({switch.short: switch for switch in self.switches},
                            [f"h{number}" for number in numbers if plan.host_port(number) != "tap"])
        for switch in self.switches:
            switch.namespace = spaces[switch.short]
        for number in numbers:
            leaf = self.switch(f"leaf{(number - 1) // plan.hosts_per_leaf + 1}")
            self.hosts.append(self._make_host(leaf.namespace, spaces.get(f"h{number}"), number))

    def _make_switches(self, binaries):
        plan, sockets = self.plan, self.world.directory
        for leaf in range(1, plan.leaves + 1):
            self.switches.append(Switch(self.world, binaries, leaf_config(plan, leaf, sockets), f"leaf{leaf}"))
        for spine in range(1, plan.spines + 1):
            self.switches.append(Switch(self.world, binaries, spine_config(plan, spine, sockets), f"spine{spine}"))

    def _make_host(self, outside, namespace, number):
        """A host in its namespace; one without, on a tap, is in that of its leaf."""
        if namespace is None:
            namespace = outside
        else:
            self._wire(namespace, outside, number)
        return Host(f"h{number}", namespace, host_ipv4(number, 2), host_ipv6(number, 2))

    def _wire(self, namespace, outside, number):
        self.world.veth((namespace, "eth0"), (outside, f"h{number}"))
        self._quiet_switch_end(outside, f"h{number}")
        self._set_up_host(namespace, "eth0", number)

    def rewire(self, host):
        """A new link to a host whose link is gone."""
        number = int(host.name[1:])
        leaf = next(s for s in self.switches if host.name in s.config["ports"])
        self._wire(host.namespace, leaf.namespace, number)

    def _quiet_switch_end(self, namespace, device):
        """The kernel must not speak on the switch's end of the link; eddyd does."""
        self.world.run(namespace, "sysctl", "-qw", f"net.ipv6.conf.{device}.disable_ipv6=1")
        run("ip", "-n", namespace, "link", "set", device, "up")

    def _set_up_host(self, namespace, device, number):
        self.world.run(namespace, "ethtool", "-K", device, "tx", "off")
        # A container engine leaves IPv6 off where it has no network of its own.
        self.world.run(namespace, "sysctl", "-qw", "net.ipv4.tcp_ecn=1", f"net.ipv6.conf.{device}.disable_ipv6=0")
        ip = ("ip", "-n", namespace)
        run(*ip, "link", "set", device, "mtu", self.plan.mtu)
        run(*ip, "addr", "add", f"{host_ipv4(number, 2)}/24", "dev", device)
        run(*ip, "addr", "add", f"{host_ipv6(number, 2)}/64", "dev", device, "nodad")
        run(*ip, "link", "set", device, "up")
        run(*ip, "route", "add", "default", "via", host_ipv4(number, 1))
        run(*ip, "-6", "route", "add", "default", "via", host_ipv6(number, 1))

    def start(self, seconds=20):
        """Starts every eddyd and waits until every port of every switch is up, but for those of hosts
        that are eddyhost's."""
        for switch in self.switches:
            switch.start()
        for switch in self.switches:
            wait_for(lambda s=switch: s.ports_up(self.plan.real_hosts()), seconds,
                     f"every port of {switch.name} up")
        if self.plan.host_ports == "tap":
            self._set_up_host(self.host(f"h{TAP_HOST}").namespace, f"h{TAP_HOST}", TAP_HOST)

    def switch(self, name):
        return next(s for s in self.switches if s.short == name)

    def host(self, name):
        return next(h for h in self.hosts if h.name == name)

    def check_alive(self):
        for switch in self.switches:
            switch.check_alive()
