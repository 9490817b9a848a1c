"""Two hosts on one switch, over each kind of host port: ping, TCP and UDP, IPv4 and IPv6."""

import unittest
from pathlib import Path

from support import (
    Flow, OnFabric, give_back_hugepages, held_hugepages, main, reserve_hugepages, run, total_hugepages, wait_for)


class TwoHosts:
    """The tests; each class below runs them over one kind of port."""

    plan = {"leaves": 1, "spines": 0}


    def test_ping(self):
        self.assert_mesh(self.fabric.hosts)

    def test_tcp_and_udp(self):
        h1, h2 = self.fabric.hosts
        flows = [Flow("tcp4", h1, h2, streams=4), Flow("tcp6", h2, h1, streams=4, version=6),
                 Flow("udp4", h1, h2, udp=True, rate=2_000_000),
                 Flow("udp6", h2, h1, udp=True, rate=2_000_000, version=6)]
        self.assert_flows(self.run_flows(flows, 2))

    def test_the_gateway_answers(self):
        for number, host in enumerate(self.fabric.hosts, 1):
            for gateway in (f"10.0.{number}.1", f"fd00:0:0:{number}::1"):
                done = self.world.run(host.namespace, "ping", "-n", "-c", "2", "-i", "0.2", "-W", "2",
                                      gateway, check=False)
                self.assertIn(" 0% packet loss", done.stdout, done.stdout)

    def test_large_frames(self):
        h1, h2 = self.fabric.hosts
        done = self.world.run(h1.namespace, "ping", "-n", "-c", "2", "-i", "0.2", "-W", "2", "-M", "do",
                              "-s", "1472", h2.ipv4, check=False)
        self.assertIn(" 0% packet loss", done.stdout, done.stdout)


class OnKernelInterface(TwoHosts):
    """Ports whose drivers do not look at the carrier."""

    def test_a_link_goes_down_and_comes_back(self):
        leaf, h1 = self.fabric.switches[0], self.fabric.hosts[0]
        for state in ("down", "up"):
            run("ip", "-n", leaf.namespace, "link", "set", h1.name, state)
            wait_for(lambda: leaf.show("ports")["rows"][0]["oper"] == state, 10, f"port {state}")
        self.assert_mesh(self.fabric.hosts)


class AfPacket(OnKernelInterface, OnFabric):
    plan = TwoHosts.plan | {"host_ports": "af_packet"}

    def test_an_interface_is_made_anew(self):
        """As when a container is started again: a socket of packets stays with the interface that is gone."""
        leaf, h1 = self.fabric.switches[0], self.fabric.hosts[0]
        run("ip", "-n", leaf.namespace, "link", "del", h1.name)
        wait_for(lambda: leaf.show("ports")["rows"][0]["oper"] == "down", 10, "port down")
        for _ in range(2):  # the second is there before anybody has seen the first go
            self.fabric.rewire(h1)
            wait_for(lambda: leaf.show("ports")["rows"][0]["oper"] == "up", 10, "port up")
            self.assert_mesh(self.fabric.hosts)
            run("ip", "-n", leaf.namespace, "link", "del", h1.name)
        self.fabric.rewire(h1)
        wait_for(lambda: leaf.show("ports")["rows"][0]["oper"] == "up", 10, "port up")


class LongPackets(TwoHosts, OnFabric):
    """The kernel's interfaces have 1,500 octets when the switch comes; it raises its own."""

    plan = TwoHosts.plan | {"mtu": 9000}

    def test_packets_of_the_whole_mtu_pass(self):
        h1, h2 = self.fabric.hosts
        done = self.world.run(h1.namespace, "ping", "-n", "-c", "3", "-i", "0.2", "-W", "2", "-M", "do",
                              "-s", "8972", h2.ipv4, check=False)
        self.assertIn(" 0% packet loss", done.stdout, done.stdout)


class TwoWorkers(TwoHosts, OnFabric):
    """Every packet crosses from one worker to the other."""

    plan = TwoHosts.plan | {"workers": 2}


class Busy(TwoHosts, OnFabric):
    """A worker that polls all the time on a core of its own."""

    plan = TwoHosts.plan | {"idle": "busy"}

    def test_it_never_sleeps(self):
        worker = self.worker_thread()
        polls, sleeps = self.polls(), self.sleeps(worker)
        wait_for(lambda: self.polls() > polls + 100_000, 20, "100,000 polls")
        # The kernel may make it wait for a lock or a page; an adaptive worker would sleep a thousand times.
        self.assertLess(self.sleeps(worker), sleeps + 20)

    def test_it_stays_on_one_core(self):
        status = (self.worker_thread() / "status").read_text()
        self.assertRegex(status, r"(?m)^Cpus_allowed_list:\t\d+$")

    def worker_thread(self):
        tasks = Path(f"/proc/{self.fabric.switches[0].process.pid}/task")
        (worker,) = (t for t in tasks.iterdir() if (t / "comm").read_text().startswith("rte-worker"))
        return worker

    def polls(self):
        return self.fabric.switches[0].show("workers")["rows"][0]["polls"]

    @staticmethod
    def sleeps(thread):
        lines = (thread / "status").read_text().split("\n")
        line = next(line for line in lines if line.startswith("voluntary_ctxt_switches"))
        return int(line.split()[1])


class Hugepages(TwoHosts, OnFabric):
    """As on a real machine: memory of hugepages, a worker that never sleeps."""

    plan = Busy.plan
    ENOUGH = 320  # MiB: the switch takes less than 100, and others may start meanwhile

    @classmethod
    def setUpClass(cls):
        try:
            cls.addClassCleanup(give_back_hugepages, total_hugepages())
        except OSError as error:
            raise unittest.SkipTest(f"no hugepages here: {error}") from error
        free = reserve_hugepages(cls.ENOUGH)
        if free < cls.ENOUGH:
            raise unittest.SkipTest(f"needs {cls.ENOUGH} MiB of hugepages, {free} can be had")
        super().setUpClass()

    def test_its_memory_is_of_hugepages(self):
        process = self.fabric.switches[0].process
        self.assertRegex(process.output(), r"memory: \d+ MiB of hugepages")
        self.assertGreater(held_hugepages(process.pid), 32)


class AfXdp(OnKernelInterface, OnFabric):
    plan = TwoHosts.plan | {"host_ports": "af_xdp"}


class Tap(TwoHosts, OnFabric):
    plan = TwoHosts.plan | {"host_ports": "tap"}


if __name__ == "__main__":
    main()
