"""Congestion isolation between real processes: eddyd for the switches, eddyhost for the hosts, on veth.

Nothing here depends on how fast the machine is: flows last seconds, and what is known of a host outlives them.
"""

import json
import re
import sqlite3
import subprocess
import sys

from eddyhost_test import WithSwitches
from support import BINARIES, main, run, wait_for

# 40 Gb/s are 40 Mb/s, and 1 ms is 1 s. Two hosts, one of them on the receiver's leaf, send 2 MB each to it: with five flows or
# more it is named as a host, with fewer they are.
EXPERIMENT = """
id: hosts
title: An incast of two hosts, isolated
topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 2}
buffer: {size: 32MiB, profiles: {lossless: {mode: static, xoff: 64KiB}}}
switches: {poll_gap: 200ms}
wred:
  default: {kmin: 400kB, kmax: 1600kB, pmax: 0.01}
host: {congestion_control: none, window: false}
isolation: {enabled: true, threshold: 30kB, refresh: 20us, life: 500us, stay: 4ms}
traffic:
  - {type: incast, name: incast, degree: 2, size: 4MB, period: 1500us, remote_only: false,
     sources: [leaf1.host1, leaf2.host2], destinations: [leaf2.host1]}
  - {type: incast, name: others, degree: 1, size: 20kB, period: 200us, sources: [leaf1.host2], destinations: [leaf2.host2]}
run: {seeds: [1], warmup: 0us, duration: 4ms, drain: 60ms, time_dilation: 1000}
sizes: {ci: {}}
"""
HOSTS = {"leaf1": ("leaf1.host1", "leaf1.host2"), "leaf2": ("leaf2.host1", "leaf2.host2")}
NORMAL_DSCP, ACK_DSCP = 3, 48  # isolated packets have 4 between switches

# How many IPv4 packets of each DSCP come in by a device, until standard input ends.
COUNT_DSCPS = """
import collections, json, select, socket, sys
seen = collections.Counter()
line = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
line.bind((sys.argv[1], 0))
print("counting", flush=True)
while True:
    ready, _, _ = select.select([line, sys.stdin], [], [])
    if line in ready:
        frame, source = line.recvfrom(64)
        if source[2] != socket.PACKET_OUTGOING and frame[12:14] == b"\\x08\\x00" and frame[23] == 17:
            seen[frame[15] >> 2] += 1
    elif sys.stdin in ready:
        break
print(json.dumps(seen))
"""


class Isolation(WithSwitches):
    """Hosts in a namespace of their own, on veth pairs to those of their leaves."""

    experiment = EXPERIMENT

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.namespace = cls.world.namespace("hosts")
        cls.leaves = {name: cls.world.namespace(name) for name in HOSTS}
        for leaf, namespace in cls.leaves.items():
            for host in HOSTS[leaf]:
                cls.world.veth((cls.namespace, host), (namespace, host))
                for end in (cls.namespace, namespace):
                    cls.world.run(end, "sysctl", "-qw", f"net/ipv6/conf/{host}/disable_ipv6=1")
                    run("ip", "-n", end, "link", "set", host, "up")
        cls.switch_ports = cls.host_ports(cls)

    def namespace_of(self, switch):
        return self.leaves.get(switch)

    def host_ports(self):
        return "--port", "*=net_af_packet{n},iface={host}"

    def show(self, switch, report="isolation"):
        done = run(BINARIES / "eddyctl", "--name", f"{self.names}{switch}", "--json", "show", report, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else {"rows": [], "hosts": []}

    def begun(self):
        return sum(row["isolation_begun_packets"] for row in self.show("leaf1")["rows"])

    def count_dscps(self, device):
        """A process that counts; what it has counted comes by dscps_of()."""
        process = subprocess.Popen(["ip", "netns", "exec", self.namespace, sys.executable, "-c", COUNT_DSCPS, device],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for end in (process.wait, process.kill, process.stdin.close, process.stdout.close):
            self.addCleanup(end)
        self.assertEqual(process.stdout.readline(), "counting\n")
        return process

    def dscps_of(self, process):
        return {int(dscp): count for dscp, count in json.loads(process.communicate(timeout=10)[0]).items()}

    def assert_sound(self):
        """All arrived, once and in order, and all that was isolated was put back; the counters."""
        real = self.result()
        counters = real["counters"]
        lost = {name: count for name, count in counters.items() if name.startswith("drops_") and count}
        self.assertEqual((real["unfinished"], real["lossless_drops"], lost), (0, 0, {}), real["warnings"])
        self.assertEqual((real["ooo_ratio"], counters["nic_retransmitted_packets"]), (0, 0))
        with sqlite3.connect(self.directory / "hosts/ci/only/seed1/flows.sqlite") as rows:
            self.assertEqual(rows.execute("SELECT SUM(ooo) FROM flows").fetchone(), (0,))
        self.assertGreater(counters["isolation_begun_packets"], 0)
        self.assertEqual(counters["isolation_ended_packets"], counters["isolation_begun_packets"])
        return counters

    def test_flows_to_a_congested_host_are_isolated_and_put_back(self):
        self.start_switches()
        counting = {host: self.count_dscps(host) for host in HOSTS["leaf2"]}
        process = self.begin()
        here = wait_for(lambda: [row for row in self.show("leaf2")["hosts"] if row.get("port") == "host1"], 20,
                        "a congested host on leaf2")[0]
        self.assertEqual((here["said_by"], here["leaf"], here["state"] in ("hot", "crowded")), ("this switch", 2, True), here)
        # By itself leaf1 isolates long flows of its uplink, too.
        there = wait_for(lambda: [row for row in self.show("leaf1")["hosts"] if row["isolated_packets"] and row["said_by"] != "this switch"], 20,
                         "isolated packets on leaf1")[0]
        self.assertEqual((there["leaf"], there["destination"]), (2, here.get("destination", there["destination"])), (here, there))
        self.assertRegex(there["said_by"], r"^switch \d+$")
        table = run(BINARIES / "eddyctl", "--name", f"{self.names}leaf1", "show", "isolation").stdout
        self.assertRegex(table, r"Port .*Isolated.*\n(.*\n)+\nDestination +Tag +Leaf .*Said by\n(.*\n)*" + re.escape(there["destination"]))
        self.assertEqual(process.wait(90), 0, process.output())
        counters = self.assert_sound()
        self.assertGreater(counters["isolation_hot_hosts"], 0)
        self.assertEqual(counters["isolation_placeless_packets"], 0)
        for host, counter in counting.items():
            seen = self.dscps_of(counter)
            self.assertGreater(seen[NORMAL_DSCP], 0, host)
            self.assertLessEqual(seen.keys(), {NORMAL_DSCP, ACK_DSCP}, f"{host} saw another DSCP")

    def test_switched_on_and_off_under_traffic_by_reload(self):
        self.start_switches()
        process = self.begin()
        before = 0
        for turn in range(3):
            before = wait_for(lambda least=before: (self.begun() > least or not process.alive()) and self.begun() or None, 30,
                              "isolated packets")
            for enabled in ("false", "true"):
                for name in self.switches:
                    self.reload(name, enabled)
            self.assertTrue(process.alive() or turn > 0, process.output())
        self.assertEqual(process.wait(90), 0, process.output())
        self.assert_sound()
        for name in self.switches:
            self.assertEqual(self.show(name)["generation"], 7, name)

    def reload(self, name, enabled):
        path = self.directory / f"{name}.yaml"
        text, found = re.subn(r"(isolation:\n(?: +.*\n)*? +enabled: )\w+", rf"\g<1>{enabled}", path.read_text(encoding="utf-8"))
        self.assertEqual(found, 1, text)
        path.write_text(text, encoding="utf-8")
        done = run(BINARIES / "eddyctl", "--name", f"{self.names}{name}", "reload", check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("isolation.enabled", done.stdout)


if __name__ == "__main__":
    main()
