"""eddyhost against real eddyd processes: what it writes, and how it ends when something is in the way."""

import json
import os
import signal
import sqlite3
import subprocess
import unittest
from pathlib import Path

from support import BINARIES, EndToEnd, main, run, wait_for

EXPERIMENT = """
id: hosts
title: Two leaves, four hosts
topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 2}
buffer: {size: 16MiB}
switches: {poll_gap: 200ms}
wred:
  default: {kmin: 5kB, kmax: 200kB, pmax: 0.01}
traffic:
  - {type: incast, degree: 2, size: 200kB, period: 500us}
run: {seeds: [1], warmup: 0us, duration: 2ms, drain: 40ms, time_dilation: 1000}
sizes: {ci: {}}
"""
SWITCHES = ("leaf1", "leaf2", "spine1")


class WithSwitches(EndToEnd):
    """Each test starts switches of its own; hosts stand on memif unless a class has other ports."""

    experiment = EXPERIMENT
    namespace = None  # of eddyhost
    switch_ports = ()

    def setUp(self):
        self.directory = Path(run("mktemp", "-d", self.world.directory / "t.XXXXXX").stdout.strip())
        self.file = self.directory / "hosts.yaml"
        self.file.write_text(self.experiment, encoding="utf-8")
        self.names = f"h{os.getpid()}-{self._testMethodName[-6:]}-"
        self.switches = {}

    def tearDown(self):
        for process in self.switches.values():
            process.popen.send_signal(signal.SIGCONT)
            process.popen.terminate()
        for process in self.switches.values():
            if process.wait(5) is None:
                process.kill()
        for name in self.switches:  # one that was killed leaves it
            Path(f"/run/eddy/{self.names}{name}.sock").unlink(missing_ok=True)

    def start_switches(self):
        for name in SWITCHES:
            text = run(BINARIES / "eddylab", "config", self.file, name, "--size", "ci", "--sockets",
                       self.directory, *self.switch_ports).stdout
            path = self.directory / f"{name}.yaml"
            path.write_text(text.replace(f"  name: {name}", f"  name: {self.names}{name}"), encoding="utf-8")
            self.switches[name] = self.world.spawn_poller(self.namespace_of(name), BINARIES / "eddyd", "--config", path,
                                                   log=f"{self.names}{name}")

    def namespace_of(self, switch):
        del switch
        return None  # ours

    def host_ports(self):
        return "--port", f"*=net_memif{{n}},socket={self.directory}/{{host}}.memif"

    def command(self, *words):
        switches = [f"--switch={name}=/run/eddy/{self.names}{name}.sock" for name in self.switches]
        return [str(w) for w in (
            BINARIES / "eddyhost", self.file, "--size", "ci", "--name", f"{self.names}hosts", *self.host_ports(),
            *switches, *(() if "--out" in words else ("--out", self.directory)), *words)]

    def eddyhost(self, *words, prefix=()):
        inside = ("ip", "netns", "exec", self.namespace) if self.namespace else ()
        return subprocess.run([*inside, *prefix, *self.command(*words)], capture_output=True, text=True, timeout=60,
                              check=False)

    def begin(self, *words):
        """Starts it and waits until traffic flows."""
        process = self.world.spawn(self.namespace, *self.command(*words), log=f"{self.names}hosts")
        self.addCleanup(process.kill)
        wait_for(lambda: "hosts are up" in process.output() or not process.alive(), 30, "traffic")
        self.assertTrue(process.alive(), process.output())
        return process

    def result(self):
        return json.loads((self.directory / "hosts/ci/only/seed1/run.json").read_text())["run"]


class Eddyhost(WithSwitches):
    """All that it does, over memif."""

    def test_every_flow_of_the_experiment_ends_and_is_written_as_eddylab_does(self):
        self.start_switches()
        done = self.eddyhost()
        self.assertEqual(done.returncode, 0, done.stderr)
        real = self.result()
        self.assertTrue(real["real"])
        self.assertEqual(real["time_dilation"], 1000)
        self.assertEqual((real["flows"], real["unfinished"], real["lossless_drops"]), (8, 0, 0), real)
        self.assertFalse(real["interrupted"] or real["censored"])
        self.assertEqual(real["counters"]["rx_packets"], 3 * real["counters"]["nic_rx_packets"])
        with sqlite3.connect(self.directory / "hosts/ci/only/seed1/flows.sqlite") as rows:
            flows = rows.execute("SELECT delivered_bytes FROM flows WHERE finished").fetchall()
        self.assertEqual(flows, [(100_000,)] * 8)
        shown = run(BINARIES / "eddylab", "show", self.directory / "hosts/ci").stdout
        self.assertIn("(only)       1      8", shown)
        run(BINARIES / "eddylab", "run", self.file, "--size", "ci", "--quiet", "--out",
            self.directory / "virtual")
        virtual = json.loads((self.directory / "virtual/hosts/ci/result.json").read_text())["runs"][0]
        for key in ("trace_digest", "config_hash", "flows_total", "bdp_bytes"):
            self.assertEqual(real[key], virtual[key], key)

    def test_flows_end_by_every_law_of_hosts(self):
        """Every packet that waits is marked: with swift nobody is notified of it, and a selective ACK is 12 octets longer."""
        marking = "wred:\n  default: {kmin: 1kB, kmax: 2kB, pmax: 1}"
        self.file.write_text(EXPERIMENT.replace("wred:\n  default: {kmin: 5kB, kmax: 200kB, pmax: 0.01}", marking), encoding="utf-8")
        self.start_switches()
        for law, *sets in (("swift", "congestion_control=swift"), ("selective_ack", "recovery=selective_ack"),
                           ("flowbender", "entropy=flowbender"), ("reps", "entropy=reps", "recovery=selective_ack"),
                           ("hf2t", "pacing=hf2t", "hf2t.percentile=0", "hf2t.timeout=10us"),
                           ("mp_rdma", "congestion_control=mp_rdma", "entropy=mp_rdma", "recovery=selective_ack")):
            with self.subTest(law=law):
                host = [word for each in sets for word in ("--set", f"host.{each}")]
                done = self.eddyhost(*host, "--set", "run.duration=1ms", "--out", self.directory / law)
                self.assertEqual(done.returncode, 0, done.stderr)
                real = json.loads((self.directory / law / "hosts/ci/only/seed1/run.json").read_text())["run"]
                self.assertEqual((real["flows"], real["unfinished"], real["lossless_drops"]), (4, 0, 0), real)
                counted = {name[4:]: count for name, count in real["counters"].items() if name.startswith("nic_")}
                self.assertEqual(counted["rx_cnp_packets"] > 0, law not in ("swift", "mp_rdma"), counted)
                self.assertEqual(counted["held_packets"] > 0, law == "hf2t", counted)
                data = 4 * (100_000 + 16) + 58 * counted["rx_data_packets"]  # with the RETH of each flow's first packet
                acks = counted["rx_bytes"] - data - 74 * counted["rx_cnp_packets"]
                self.assertEqual(acks, (74 if "recovery=selective_ack" in sets else 62) * counted["rx_ack_packets"], counted)

    def test_its_log_is_json_where_that_is_asked_for(self):
        self.start_switches()
        done = self.eddyhost("--json-log")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = [json.loads(line) for line in done.stderr.splitlines()]
        self.assertTrue(any("hosts are up" in each["message"] for each in said), said)

    def test_what_a_terminated_run_has_is_kept_and_marked(self):
        self.file.write_text(EXPERIMENT.replace("duration: 2ms", "duration: 400ms"), encoding="utf-8")
        self.start_switches()
        process = self.begin()
        process.popen.terminate()
        self.assertEqual(process.wait(10), 130, process.output())
        partial = self.result()
        self.assertTrue(partial["interrupted"] and partial["censored"])
        self.assertTrue(any("by a signal" in text for text in partial["warnings"]), partial["warnings"])
        again = self.eddyhost("--set", "run.duration=1ms")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertFalse(self.result()["interrupted"])

    def test_a_peer_that_is_gone_ends_the_run_with_what_there_is(self):
        self.file.write_text(EXPERIMENT.replace("duration: 2ms", "duration: 400ms"), encoding="utf-8")
        self.start_switches()
        process = self.begin()
        self.switches["leaf2"].kill()
        self.assertEqual(process.wait(30), 1, process.output())
        self.assertRegex(process.output(), r"port leaf2\.host[12] \(net_memif[23],.*went away")
        self.assertIn("went away", process.output())
        self.assertTrue(self.result()["interrupted"])

    def test_a_peer_that_does_not_answer_ends_the_run(self):
        self.file.write_text(EXPERIMENT.replace("duration: 2ms", "duration: 400ms"), encoding="utf-8")
        self.start_switches()
        process = self.begin("--set", "host.rto=200us", "--patience", "1s")
        self.switches["spine1"].popen.send_signal(signal.SIGSTOP)
        self.switches["leaf1"].popen.send_signal(signal.SIGSTOP)
        self.switches["leaf2"].popen.send_signal(signal.SIGSTOP)
        self.assertEqual(process.wait(40), 1, process.output())
        self.assertIn("no frame has arrived at any host for 1 s", process.output())
        self.assertIn("counters of switches are missing", str(self.result()["warnings"]))

    def test_a_port_that_never_comes_up_is_named(self):
        done = self.eddyhost("--wait", "1s")
        self.assertEqual(done.returncode, 1)
        self.assertIn("not up within 1 s: port leaf1.host1 (net_memif0): nobody has answered on "
                      f"{self.directory}/leaf1.host1.memif", done.stderr)

    def test_a_switch_that_does_not_answer_is_named(self):
        self.start_switches()
        for host in ("leaf1.host1", "leaf1.host2", "leaf2.host1", "leaf2.host2"):
            wait_for((self.directory / f"{host}.memif").exists, 30, f"the port of {host}")
        done = self.eddyhost("--wait", "5s", "--switch=spine9=/run/eddy/nobody.sock")
        self.assertEqual(done.returncode, 1)
        self.assertIn("not up within 5 s: switch spine9: ", done.stderr)

    def test_a_full_disk_is_said(self):
        self.start_switches()
        small = self.directory / "small"
        small.mkdir()
        script = f"mount -t tmpfs -o size=16k none {small} && exec \"$@\""
        done = self.eddyhost("--out", small, prefix=("unshare", "-m", "sh", "-c", script, "sh"))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("flows.sqlite.part: database or disk is full", done.stderr)

    def test_too_little_memory_is_said_before_anything_starts(self):
        done = self.eddyhost("--memory", "20")
        self.assertEqual(done.returncode, 1)
        self.assertIn("MiB of memory (4 hosts, 8 flows), 20 MiB are free", done.stderr)

    def test_wrong_words_are_refused(self):
        for words, valid in ((("--port", "leaf9.host1=net_null0"), "they are leaf1.host1 to leaf2.host2"),
                             (("--port", "leaf1.host1"), "write HOST=DEVICE"),
                             (("--set", "topology.hosts_per_leaf=20", "--set", "buffer.size=256MiB"), "has room for 32"),
                             (("--set", "traffic.0.size=5"), "hosts.yaml"),
                             (("--wait", "soon"), "--wait"),
                             (("--variant", "x"), "no variant")):
            done = self.eddyhost(*words)
            self.assertIn(done.returncode, (1, 2), words)
            self.assertIn(valid, done.stderr, words)


# A port that pauses its peers, and ECN that does not come first.
PAUSING = EXPERIMENT.replace("{size: 16MiB}", "{size: 16MiB, profiles: {lossless: {mode: static, xoff: 16KiB}}}").replace(
    "kmin: 5kB", "kmin: 150kB")


class OverVeth:
    """Hosts in a namespace of their own, on veth pairs to those of their leaves."""

    experiment = PAUSING
    driver = ""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.namespace = cls.world.namespace("hosts")
        leaves = {name: cls.world.namespace(name) for name in SWITCHES[:2]}
        for leaf, namespace in leaves.items():
            for host in (f"{leaf}.host1", f"{leaf}.host2"):
                cls.world.veth((cls.namespace, host), (namespace, host))
                for end in (cls.namespace, namespace):
                    cls.world.run(end, "sysctl", "-qw", f"net/ipv6/conf/{host}/disable_ipv6=1")
                    run("ip", "-n", end, "link", "set", host, "up")
        cls.leaves = leaves
        cls.switch_ports = cls.host_ports(cls)

    def namespace_of(self, switch):
        return self.leaves.get(switch)

    def host_ports(self):
        return "--port", f"*={self.driver}{{n}},iface={{host}}"

    def test_every_flow_ends_and_pauses_lose_nothing(self):
        self.start_switches()
        done = self.eddyhost()
        self.assertEqual(done.returncode, 0, done.stderr)
        real = self.result()
        self.assertEqual((real["flows"], real["unfinished"], real["lossless_drops"]), (8, 0, 0), real)
        counters = real["counters"]
        self.assertEqual(counters["nic_rx_data_packets"], counters["nic_tx_data_packets"])
        self.assertGreater(counters["nic_rx_pfc_packets"], 0, counters)
        with sqlite3.connect(self.directory / "hosts/ci/only/seed1/flows.sqlite") as rows:
            flows = rows.execute("SELECT delivered_bytes FROM flows WHERE finished").fetchall()
        self.assertEqual(flows, [(100_000,)] * 8)

    def test_a_link_that_goes_down_ends_the_run_with_what_there_is(self):
        self.file.write_text(PAUSING.replace("duration: 2ms", "duration: 400ms"), encoding="utf-8")
        self.start_switches()
        process = self.begin()
        run("ip", "-n", self.leaves["leaf2"], "link", "set", "leaf2.host2", "down")
        try:
            self.assertEqual(process.wait(30), 1, process.output())
        finally:
            run("ip", "-n", self.leaves["leaf2"], "link", "set", "leaf2.host2", "up")
        self.assertRegex(process.output(), rf"port leaf2\.host2 \({self.driver}3,.*went away")
        self.assertTrue(self.result()["interrupted"])


class OverAfPacket(OverVeth, WithSwitches):
    driver = "net_af_packet"


class OverAfXdp(OverVeth, WithSwitches):
    driver = "net_af_xdp"


if __name__ == "__main__":
    main()
