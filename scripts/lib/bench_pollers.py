"""Polling processes on DPDK ports, of which one runs at a time: eddyd, OVS-DPDK, dpdk-testpmd.

All get the same ports: one net_pcap with infinite_rx that brings the packets, and net_null ports
that swallow them. Each polls on one thread on one core. What a packet costs is that thread's CPU
time, in TSC cycles, over the packets it sent, so other processes on the core do not count.
"""

import json
import os
import shutil
import signal
import socket
import time
from pathlib import Path

from .fabric import to_yaml
from .netns import Trouble, run, wait_for

UPLINKS = 4
PREFIXES = 16
SWITCH_MAC = "02:ed:00:00:01:00"  # of port 0: where the packets are sent
PEER_MAC = "02:ed:00:09:00:{:02x}"


def polling_cpu():
    """The last one: eddyd seats its first busy worker there."""
    return max(os.sched_getaffinity(0))


def control_cpu():
    return min(os.sched_getaffinity(0))


def devices(pcap):
    yield f"net_pcap0,rx_pcap={pcap},infinite_rx=1"
    for number in range(1, UPLINKS + 1):
        yield f"net_null{number},no-rx=1"


class Poller:
    """A process with one polling thread. It is stopped whenever it is not measured."""

    memory = 0  # MiB of hugepages

    def __init__(self, world, name):
        self.world = world
        self.name = name
        self.prefix = f"{world.name}-{name}"
        self.process = None
        self._thread = None

    def start(self):
        """Until packets flow, then stopped."""
        self._launch()
        wait_for(self._flows, 30, f"{self.name} forwards packets")
        self._thread = self._find_thread()
        self.pause()

    def stop(self):
        """For its end, which a stopped process would not notice, and what DPDK leaves behind."""
        if self.process and self.process.alive():
            self.resume()
            self.process.popen.terminate()
            if self.process.wait(5) is None:
                self.process.kill()
        shutil.rmtree(Path("/var/run/dpdk") / self.prefix, ignore_errors=True)

    def pause(self):
        self.process.popen.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.popen.send_signal(signal.SIGCONT)

    def cycles_per_packet(self, seconds, tsc_hz):
        self.resume()
        time.sleep(0.2)
        packets, busy = self.forwarded(), self._cpu_seconds()
        time.sleep(seconds)
        packets, busy = self.forwarded() - packets, self._cpu_seconds() - busy
        self.pause()
        if packets == 0:
            raise Trouble(f"{self.name} forwards nothing any more")
        return busy * tsc_hz / packets

    def forwarded(self):
        return sum(self._port(port)["opackets"] for port in self.ask("/ethdev/list"))

    def received(self):
        return sum(self._port(port)["ipackets"] for port in self.ask("/ethdev/list"))

    def ask(self, command):
        """DPDK's telemetry socket."""
        directory = Path("/var/run/dpdk") / self.prefix
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            client.settimeout(5)
            self._connect(client, str(directory / "dpdk_telemetry.v2"))
            client.recv(16384)
            client.send(command.encode())
            return json.loads(client.recv(16384))[command.split(",")[0]]

    @staticmethod
    def _connect(client, path):
        """A full backlog refuses at once, whatever the time-out: the telemetry thread needs a moment."""
        for _ in range(50):
            try:
                return client.connect(path)
            except BlockingIOError:
                time.sleep(0.1)
        raise Trouble(f"{path}: does not take connections")

    def _port(self, port):
        return self.ask(f"/ethdev/stats,{port}")

    def check_alive(self):
        if not self.process.alive():
            said = self.process.output().strip().split("\n")[-1]
            raise Trouble(f"{self.name} ended: {said or 'it said nothing'}")

    def _flows(self):
        self.check_alive()
        try:
            return self.forwarded() > 0
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def _find_thread(self):
        """The thread that used the most CPU time in a while."""
        before = self._thread_seconds()
        time.sleep(0.3)
        after = self._thread_seconds()
        return max(after, key=lambda thread: after[thread] - before.get(thread, 0))

    def _thread_seconds(self):
        seconds = {}
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            try:
                seconds[task.name] = _seconds_of(task)
            except OSError:
                continue  # a thread that has just ended
        return seconds

    def _cpu_seconds(self):
        return _seconds_of(Path(f"/proc/{self.process.pid}/task/{self._thread}"))


def _seconds_of(task):
    return int((task / "schedstat").read_text().split()[0]) / 1e9


class Testpmd(Poller):
    """Moves packets from port to port and does nothing with them: what ports and driver cost."""

    memory = 160

    def __init__(self, world, pcap):
        super().__init__(world, "io")
        self._pcap = pcap

    def _launch(self):
        ports = [f"--vdev={device}" for device in devices(self._pcap)]
        self.process = self.world.spawn(
            None, "dpdk-testpmd", "-l", f"{control_cpu()},{polling_cpu()}", "--in-memory", "-m",
            self.memory, "--no-pci", "--iova-mode=va", f"--file-prefix={self.prefix}", *ports, "--",
            "--forward-mode=io", "--port-topology=chained", "--total-num-mbufs=49152",
            "--nb-cores=1", "--stats-period=3600", log=self.name)


class Eddyd(Poller):
    """One leaf: 16 prefixes on path sets of 4 uplinks, letflow, lossless accounting."""

    memory = 512

    def __init__(self, world, pcap, binaries):
        super().__init__(world, "eddyd")
        self.prefix = f"eddy-{world.name}"
        self._binaries = binaries
        self._config = world.directory / "eddyd.yaml"
        self._config.write_text(to_yaml(eddyd_config(world.name, pcap)) + "\n", encoding="utf-8")

    def _launch(self):
        self.process = self.world.spawn(None, self._binaries / "eddyd", "--config", self._config,
                                        log=self.name)

    def start(self):
        """Packets that came before all ports were up are not counted."""
        super().start()
        self._eddyctl("clear", "counters")

    def losses(self):
        """Packets it dropped since, by reason."""
        rows = json.loads(self._eddyctl("--json", "show", "drops"))["rows"]
        return {row["reason"]: row["dropped_packets"] for row in rows if row["dropped_packets"]}

    def _eddyctl(self, *words):
        self.resume()
        done = run(self._binaries / "eddyctl", "--name", self.world.name, *words)
        self.pause()
        return done.stdout


def eddyd_config(name, pcap):
    names = ["host1"] + [f"spine{number}" for number in range(1, UPLINKS + 1)]
    ports = {port: {"device": device} for port, device in zip(names, devices(pcap))}
    ports["host1"] |= {"mac": SWITCH_MAC, "addresses": ["10.1.1.1/24"]}
    for number in range(1, UPLINKS + 1):
        ports[f"spine{number}"] |= {"role": "fabric", "peer_mac": PEER_MAC.format(number)}
    leaves = range(2, 2 + PREFIXES)
    return {
        "switch": {"name": name, "id": 1, "leaf": 1, "mac": "02:ed:00:00:00:00", "idle": "busy"},
        "buffer": {"size": "32MiB", "profiles": {"lossless": {"mode": "static", "xoff": "128KiB"}}},
        "load_balancer": {"scheme": "letflow"},
        "port_defaults": {"speed": "100Gbps", "mtu": 1500, "pgs": "{3: lossless}"},
        "ports": ports,
        "leaves": {leaf: names[1:] for leaf in leaves},
        "routes": [{"prefix": f"10.{leaf}.0.0/16", "leaf": leaf} for leaf in leaves],
    }


class Ovs(Poller):
    """OVS-DPDK, started by hand in a directory of its own: 16 prefixes, TTL, both MACs."""

    memory = 768
    _program = Path("/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk")

    def __init__(self, world, pcap):
        super().__init__(world, "ovs")
        self._pcap = pcap
        if not self._program.is_file():
            raise Trouble("Open vSwitch with DPDK is not installed; scripts/setup --bench does that")

    def _launch(self):
        self._start_database()
        directory = self.world.directory
        self.process = self.world.spawn(
            None, "env", *self._environment(), self._program, f"unix:{directory}/db.sock",
            f"--unixctl={directory}/vswitchd.ctl", "--pidfile", log=self.name)
        self._vsctl("--no-wait", "add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=netdev",
                    "fail-mode=secure")
        for number, device in enumerate(devices(self._pcap)):
            self._vsctl("--no-wait", "add-port", "br0", f"p{number}", "--", "set", "Interface", f"p{number}",
                        "type=dpdk", f"options:dpdk-devargs={device}",
                        f"ofport_request={number + 1}")
        self._add_flows()

    def _start_database(self):
        directory = self.world.directory
        schema = "/usr/share/openvswitch/vswitch.ovsschema"
        run("ovsdb-tool", "create", directory / "ovs.db", schema)
        self.world.spawn(None, "env", *self._environment(), "ovsdb-server", directory / "ovs.db",
                         f"--remote=punix:{directory}/db.sock", f"--unixctl={directory}/db.ctl",
                         log="ovsdb")
        wait_for((directory / "db.sock").exists, 10, "OVS's database answers")
        self._vsctl("--no-wait", "init")
        extra = f"--in-memory --no-pci --iova-mode=va --file-prefix={self.prefix}"
        self._vsctl("--no-wait", "set", "Open_vSwitch", ".", "other_config:dpdk-init=true",
                    f"other_config:dpdk-socket-mem={self.memory}",
                    f"other_config:dpdk-lcore-mask={1 << control_cpu():#x}",
                    f"other_config:pmd-cpu-mask={1 << polling_cpu():#x}",
                    f'other_config:dpdk-extra="{extra}"')

    def _add_flows(self):
        bridge = self.world.directory / "br0.mgmt"
        wait_for(lambda: self.check_alive() or bridge.exists(), 30, "OVS makes its bridge")
        flows = self.world.directory / "flows"
        lines = []
        for index in range(PREFIXES):
            uplink = index % UPLINKS + 1
            lines.append(f"ip,nw_dst=10.{index + 2}.0.0/16,actions=dec_ttl,"
                         f"mod_dl_src:{SWITCH_MAC},mod_dl_dst:{PEER_MAC.format(uplink)},"
                         f"output:{uplink + 1}")
        flows.write_text("\n".join(lines) + "\n", encoding="utf-8")
        run("env", *self._environment(), "ovs-ofctl", "add-flows",
            f"unix:{bridge}", flows)

    def _environment(self):
        directory = self.world.directory
        return [f"OVS_{what}={directory}" for what in ("RUNDIR", "LOGDIR", "DBDIR")]

    def _vsctl(self, *words):
        run("ovs-vsctl", f"--db=unix:{self.world.directory}/db.sock", "--timeout=20", *words)
