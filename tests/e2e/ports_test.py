"""Ports that a reload adds to a running switch and removes from it, while others carry traffic."""

import json
import os
import re
import sys
from pathlib import Path

from support import OnFabric, Trouble, main, run, wait_for

LOSSLESS_TOS = 3 << 2
PACKETS_A_SECOND = 2_000
ROUNDS = 20

SENDER = """
import socket, struct, sys, time
target, tos, rate, stop = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
import os
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
s.connect((target, 9000))
start, sent = time.monotonic(), 0
while not os.path.exists(stop):
    due = int((time.monotonic() - start) * rate)
    while sent < due:
        try:
            s.send(struct.pack("!Q", sent) + bytes(400))
        except OSError:
            pass
        sent += 1
    time.sleep(0.002)
for _ in range(5):
    s.send(struct.pack("!Q", 2**64 - 1) + struct.pack("!Q", sent))
    time.sleep(0.05)
"""

RECEIVER = """
import socket, struct, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)
s.bind(("0.0.0.0", 9000))
s.settimeout(60)
print("ready", flush=True)
last, got, disorder = -1, 0, 0
while True:
    data = s.recv(2048)
    (number,) = struct.unpack("!Q", data[:8])
    if number == 2**64 - 1:
        break
    got += 1
    disorder += number <= last
    last = max(last, number)
print("sent", struct.unpack("!Q", data[8:16])[0], "got", got, "disorder", disorder, flush=True)
"""


class Stream:
    """Numbered packets of the lossless class from one host to another, until they are counted."""

    def __init__(self, world, source, target):
        self._world, self._source, self._target = world, source, target
        self._stop = world.directory / f"stop-{source.name}-{target.name}"

    def __enter__(self):
        self._stop.unlink(missing_ok=True)
        self._receiver = self._world.spawn(self._target.namespace, sys.executable, "-c", RECEIVER,
                                           log=f"receiver-{self._target.name}")
        wait_for(lambda: "ready" in self._receiver.output(), 10, "the receiver listens")
        self._sender = self._world.spawn(self._source.namespace, sys.executable, "-c", SENDER, self._target.ipv4,
                                         LOSSLESS_TOS, PACKETS_A_SECOND, self._stop, log=f"sender-{self._source.name}")
        return self

    def __exit__(self, *_):
        self._stop.touch()
        self._sender.wait(20)

    def give_up(self):
        """Of what the receiver has got nobody asks."""
        self._receiver.kill()

    def count(self):
        """(sent, got, out of order)"""
        said = wait_for(lambda: re.search(r"sent (\d+) got (\d+) disorder (\d+)", self._receiver.output()), 20,
                        "the receiver has counted")
        return tuple(int(each) for each in said.groups())


class Changing(OnFabric):
    """A leaf whose file is changed; each test ends with the file that it began with."""

    leaf = "leaf1"

    @property
    def switch(self):
        return self.fabric.switch(self.leaf)

    def setUp(self):
        self.before = self.switch.path.read_text()

    def tearDown(self):
        """What came goes first: it may be where something of the first file was."""
        ports = re.search(r"(?ms)^ports:\n(.*?)^\S", self.switch.path.read_text() + "end").group(1)
        for name in re.findall(r"(?m)^  (\w+):", ports):
            if not re.search(rf"(?m)^  {name}:", self.before):
                self.remove(name)
        self.call("reload")
        self.switch.path.write_text(self.before, encoding="utf-8")
        self.call("reload")

    def call(self, *words, code=0):
        done = self.switch.eddyctl(*words, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def refused(self, said):
        """The reload is, in one line, and so is its check, of class restart; nothing has changed."""
        generation = self.switch.show("ports")["generation"]
        value = json.loads(self.call("--json", "reload", "--check", code=1))
        self.assertEqual((value["class"], value["applies"]), ("restart", "no"), value)
        out = self.call("reload", code=1)
        self.assertRegex(out, said)
        self.assertEqual(out.count("\n"), 1, out)
        self.assertEqual(self.switch.show("ports")["generation"], generation)

    def add(self, name, device, worker=0, more=""):
        text = self.switch.path.read_text()
        port = f"ports:\n  {name}: {{device: \"{device}\", speed: 100Mbps, worker: {worker}{more}}}\n"
        self.switch.path.write_text(text.replace("ports:\n", port, 1), encoding="utf-8")

    def add_host(self, host, worker=0):
        number = int(host.name[1:])
        self.add(host.name, f"net_af_packet{number},iface={host.name}", worker,
                 f", addresses: [10.0.{number}.1/24, \"fd00:0:0:{number}::1/64\"], pgs: {{3: lossless}}")

    def remove(self, name):
        text = self.switch.path.read_text()
        self.switch.path.write_text(re.sub(rf"(?m)^  {name}:.*\n(?:    .*\n)*", "", text), encoding="utf-8")

    def ports(self):
        return {row["port"]: row for row in self.switch.show("ports")["rows"]}

    def is_up(self, name):
        return self.ports().get(name, {}).get("oper") == "up"


class Hosts(Changing):
    """Two hosts that talk, and a third that comes and goes; two workers."""

    plan = {"leaves": 1, "spines": 0, "hosts_per_leaf": 3, "later": ("h3",), "workers": 2, "spare_ports": 1,
            "host_pg": "lossless"}

    def reachable(self, host):
        return all(run("ip", "netns", "exec", other.namespace, "ping", "-c", "1", "-W", "1", address,
                       check=False).returncode == 0
                   for other in self.fabric.hosts if other is not host for address in (host.ipv4, host.ipv6))

    def test_others_go_on_while_a_port_comes_and_goes(self):
        first, second, third = self.fabric.hosts
        self.assert_mesh([first, second], versions=(4,))
        with Stream(self.world, first, second) as stream, Stream(self.world, second, first) as back:
            for worker in (0, 1, 0):
                self.add_host(third, worker)
                self.assertIn("; class port\n", self.call("reload", "--check"))
                self.assertNotIn("h3", self.ports())
                self.assertIn("  port h3 added\n", self.call("reload"))
                wait_for(lambda: self.is_up("h3"), 5, "the new port is up")
                self.assertEqual(self.ports()["h3"]["rx_packets"] // 100, 0)
                wait_for(lambda: self.reachable(third), 10, "the host behind it is reached")
                with Stream(self.world, first, third) as to_port:
                    wait_for(lambda: self.ports()["h3"]["tx_packets"] > 500, 10, "traffic to the port")
                    self.remove("h3")
                    self.assertIn("  port h3 removed\n", self.call("reload"))
                    self.assertNotIn("h3", self.ports())
                    self.assertNotIn("h3", {row["port"] for row in self.switch.show("neighbors")["rows"]})
                to_port.give_up()
        for each in (stream, back):
            sent, got, disorder = each.count()
            self.assertGreater(sent, PACKETS_A_SECOND)
            self.assertEqual((got, disorder), (sent, 0))
        dropped = {row["port"]: row["dropped_packets"] for row in self.switch.show("ports")["rows"]}
        self.assertGreater(dropped["h1"], 0, "what was sent to the port when it was gone")
        events = [row["event"] for row in self.switch.show("events")["rows"] if row.get("port") == "h3"]
        self.assertGreaterEqual(events.count("link_up"), 3)
        self.assertEqual(events.count("link_up"), events.count("link_down"))

    def test_nothing_grows(self):
        third = self.fabric.hosts[2]
        pid = self.switch.process.pid
        counted = []
        for number in range(ROUNDS):
            self.add_host(third, number % 2)
            self.call("reload")
            wait_for(lambda: self.is_up("h3"), 5, "the new port is up")
            if number % 10 == 0:
                wait_for(lambda: self.reachable(third), 10, "the host behind it is reached")
            self.remove("h3")
            self.call("reload")
            status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
            resident = int(re.search(r"VmRSS:\s+(\d+)", status).group(1))
            maps = Path(f"/proc/{pid}/maps").read_text(encoding="ascii").count("\n")
            counted.append((len(os.listdir(f"/proc/{pid}/fd")), maps, resident))
        # The least of some rounds: a client of the control socket may still be there.
        warm, last = (tuple(map(min, zip(*part))) for part in (counted[2:7], counted[-5:]))
        self.assertEqual(warm[:2], last[:2], f"file descriptors, maps, KiB: {counted}")
        self.assertLess(last[2], warm[2] + 512, f"file descriptors, maps, KiB: {counted}")

    def test_what_cannot_be_is_refused_and_changes_nothing(self):
        third = self.fabric.hosts[2]
        self.add("late", "net_af_packet9,iface=no-such-interface")
        self.refused("port late .*: there is no network interface no-such-interface")
        self.switch.path.write_text(self.before, encoding="utf-8")
        self.add_host(third)
        self.add("more", "net_null7")
        self.refused("no room for more, h3: of the places only 1 is free; a restart of eddyd with more switch.spare_ports")
        self.switch.path.write_text(self.before, encoding="utf-8")
        self.add("late", "net_memif7,role=server,id=0,socket=/no/such/folder/late.memif,socket-abstract=no")
        self.refused("the directory of socket /no/such/folder/late.memif does not exist")
        self.switch.path.write_text(self.before, encoding="utf-8")
        self.remove("h2")
        self.add("other", "net_af_packet2,iface=h3")
        self.refused("port other: device net_af_packet2 is port h2's; remove that by a reload of its own")
        self.switch.path.write_text(self.before, encoding="utf-8")
        self.add("late", "net_bogus7")
        generation = self.switch.show("ports")["generation"]
        self.assertRegex(self.call("reload", code=1), "port late .*: the device cannot be used")
        self.assertEqual(self.switch.show("ports")["generation"], generation)
        self.switch.path.write_text(self.before, encoding="utf-8")
        self.add("late", "net_null7", more=", mtu: 9000")
        self.refused("port late: mtu 9000 needs packet buffers of ")
        self.switch.path.write_text(self.before, encoding="utf-8")
        self.add("late", "net_tap7,iface=late")
        self.refused("(needs CAP_NET_ADMIN|name tap under privileges.ports)")
        self.assert_mesh(self.fabric.hosts[:2], versions=(4,))

    def test_a_port_takes_the_place_of_one_that_is_gone(self):
        """Without any room but what the first leaves."""
        first, second, third = self.fabric.hosts
        self.add("filler", "net_null7")
        self.call("reload")
        self.remove("h2")
        self.call("reload")
        self.add_host(third, 1)
        self.call("reload")
        wait_for(lambda: self.is_up("h3"), 5, "the new port is up")
        wait_for(lambda: run("ip", "netns", "exec", first.namespace, "ping", "-c", "1", "-W", "1", third.ipv4,
                             check=False).returncode == 0, 10, "the host behind it is reached")
        self.assertEqual(self.ports()["h3"]["dropped_packets"] // 1000, 0)
        del second


class AfXdp(Changing):
    """A port on AF_XDP comes, and goes for good."""

    plan = {"leaves": 1, "spines": 0, "hosts_per_leaf": 2, "later": ("h2",), "host_ports": "af_xdp", "spare_ports": 1}

    def test_it_comes_once(self):
        self.add("h2", "net_af_xdp2,iface=h2", 0, ", addresses: [10.0.2.1/24]")
        self.assertIn("port h2 added", self.call("reload"))
        wait_for(lambda: self.is_up("h2"), 5, "the port is up")
        self.assert_mesh(self.fabric.hosts, versions=(4,))
        self.remove("h2")
        self.assertIn("port h2 removed", self.call("reload"))
        self.add("h2", "net_af_xdp3,iface=h2", 0, ", addresses: [10.0.2.1/24]")
        self.refused("port h2: an AF_XDP device is not opened a second time; restart eddyd")


class Links(Changing):
    """Links of memif between two switches, which come and go."""

    plan = {"leaves": 1, "spines": 1, "hosts_per_leaf": 1, "spare_ports": 2}

    def test_a_link_comes_and_its_client_goes(self):
        leaf, spine = self.fabric.switch("leaf1"), self.fabric.switch("spine1")
        before = spine.path.read_text()
        socket = self.world.directory / "second.memif"
        port = "role={},id=0,socket={},socket-abstract=no"
        self.leaf = "spine1"
        try:
            self.add("second", "net_memif9," + port.format("server", socket), more=", role: fabric, pgs: {3: lossless}")
            self.assertIn("port second added", self.call("reload"))
            self.leaf = "leaf1"
            self.add("second", "net_memif9," + port.format("client", socket), more=", role: fabric, pgs: {3: lossless}")
            self.assertIn("port second added", self.call("reload"))
            for switch in (leaf, spine):
                wait_for(lambda s=switch: {row["port"]: row["oper"] for row in s.show("ports")["rows"]}["second"] == "up",
                         15, "the link is up and its ends know each other")
            for _ in range(3):
                self.remove("second")
                self.assertIn("port second removed", self.call("reload"))
                wait_for(lambda: {row["port"]: row["oper"] for row in spine.show("ports")["rows"]}["second"] != "up",
                         5, "the other end sees it")
                self.add("second", "net_memif9," + port.format("client", socket),
                         more=", role: fabric, pgs: {3: lossless}")
                self.call("reload")
                wait_for(lambda: self.is_up("second"), 15, "the link is up again")
            self.leaf = "spine1"
            self.remove("second")
            self.refused("port second: a memif server cannot be removed while the switch runs")
        finally:
            self.leaf = "leaf1"
            spine.path.write_text(before, encoding="utf-8")


class Rights(Changing):
    """A switch that has given up what its ports do not need."""

    plan = {"leaves": 1, "spines": 1, "hosts_per_leaf": 1, "later": ("h1",), "spare_ports": 2}

    def restart(self, kinds):
        """With a port that needs no right, and what is named."""
        self.switch.process.popen.terminate()
        self.switch.process.wait(10)
        text = self.before + f"privileges: {{ports: [{kinds}]}}\n"
        self.switch.path.write_text(text, encoding="utf-8")
        self.switch.start()
        wait_for(lambda: self.switch.eddyctl("show", "ports").returncode == 0, 20, "it answers")

    def test_a_kind_that_is_not_named_is_refused_by_the_name_of_what_it_needs(self):
        host = self.fabric.hosts[0]
        self.restart("")
        self.add_host(host)
        self.refused("needs CAP_NET_ADMIN, CAP_NET_RAW, which eddyd does not keep; name af_packet under privileges.ports")
        self.restart("af_packet, tap")
        self.assertRegex(self.switch.process.output(), "runs as .* with CAP_NET_ADMIN, CAP_NET_RAW")
        self.add_host(host)
        self.assertIn("port h1 added", self.call("reload"))
        wait_for(lambda: self.is_up("h1"), 5, "the port is up")
        self.add("tap", "net_tap3,iface=late")
        self.assertIn("port tap added", self.call("reload"))
        self.assertEqual(run("ip", "-n", self.switch.namespace, "link", "show", "late").returncode, 0)
        self.remove("tap")
        self.call("reload")
        self.assertNotEqual(run("ip", "-n", self.switch.namespace, "link", "show", "late", check=False).returncode, 0)
        self.before = re.sub(r"(?m)^  h1:.*\n", "", self.switch.path.read_text())


if __name__ == "__main__":
    main()
