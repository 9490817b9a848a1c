"""What an operator does with a running switch: looks at its configuration, asks what a reload would do, takes ports down."""

import json
import re

from support import BINARIES, OnFabric, main, run, wait_for


def carrier(namespace, interface):
    """Whether the interface has a carrier, as its own namespace sees it."""
    done = run("ip", "netns", "exec", namespace, "ip", "-json", "link", "show", interface)
    return "NO-CARRIER" not in json.loads(done.stdout)[0]["flags"]


class OneLeaf(OnFabric):
    """A switch with two hosts, which has its file's configuration again after each test."""

    plan = {"leaves": 1, "spines": 0}

    @property
    def switch(self):
        return self.fabric.switches[0]

    def call(self, *words, code=0):
        done = self.switch.eddyctl(*words, timeout=30)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def tearDown(self):
        self.switch.write()
        self.call("reload")

    def changed(self, old, new, count=1):
        self.switch.path.write_text(self.switch.path.read_text().replace(old, new, count), encoding="utf-8")

    def drops(self):
        return sum(row["dropped_packets"] for row in self.switch.show("drops")["rows"])


class Configuration(OneLeaf):
    """What is in force, what is set, what a reload would change."""

    def test_the_configuration_is_shown_as_a_file_that_loads(self):
        for words in ((), ("--all",)):
            path = self.world.directory / "shown.yaml"
            path.write_text(self.call("show", "config", *words), encoding="utf-8")
            done = run(BINARIES / "eddyd", "--config", path, "--check", check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
        value = json.loads(self.call("--json", "show", "config"))
        self.assertEqual((value["switch"], value["set"]), (self.switch.name, []))
        self.assertIn(value["brief"], self.call("show", "config"))

    def test_what_was_set_is_in_force_until_the_next_reload(self):
        self.assertIn("ports.h1.watchdog.detection_time (hot): 200ms -> 300ms",
                      self.call("set", "pfcwd", "detection_time", "300ms", "--port", "h1"))
        self.assertIn("2 keys changed", self.call("set", "pfcwd", "action", "alert"))
        rows = {row["port"]: row for row in self.switch.show("pfcwd", "--all")["rows"]}
        self.assertEqual({row["action"] for row in rows.values()}, {"alert"})
        shown = self.call("show", "config")
        self.assertIn("# set since, not in the file: ports.h1.watchdog.detection_time (hot): 200ms -> 300ms", shown)
        self.assertRegex(shown, r"detection_time: 300ms")
        self.assertIn("ports.h1.watchdog.detection_time (hot): 300ms -> 200ms", self.call("reload", "--check"))
        self.assertIn("3 keys changed", self.call("reload"))
        self.assertNotIn("set since", self.call("show", "config"))

    def test_what_cannot_be_set_is_said(self):
        for words, code, said in ((("set", "pfcwd", "detection_time", "soon"), 1, "watchdog.detection_time: "),
                                  (("set", "pfcwd", "action", "bark", "--port", "h1"), 1, "drop, forward"),
                                  (("set", "pfcwd", "action", "drop", "--port", "h9"), 1, "valid are h1, h2"),
                                  (("set", "port", "h9", "admin", "up"), 1, "port \"h9\" unknown; valid are h1, h2"),
                                  (("set", "port", "h1", "admin", "off"), 2, "valid are: up, down")):
            out = self.call(*words, code=code)
            self.assertIn(said, out)
            self.assertEqual(out.count("\n"), 1, out)

    def test_a_check_says_what_a_reload_would_do(self):
        generation = self.switch.show("ports")["generation"]
        self.assertEqual(self.call("reload", "--check"), "a reload would change nothing\n")
        self.changed("kmin: 24KiB", "kmin: 25KiB")
        self.assertIn("1 key differs; class hot\n", self.call("reload", "--check"))
        self.changed("speed: 100Mbps", "speed: 50Mbps")
        out = self.call("reload", "--check")
        self.assertIn("; class port\n", out)
        self.assertIn("port h1 would be restarted\na reload would apply this\n", out)
        text = self.switch.path.read_text()
        h2 = re.search(r"(?ms)^  h2:\n(?:    .*\n)+", text).group(0)
        self.switch.path.write_text(text.replace(h2, ""), encoding="utf-8")
        value = json.loads(self.call("--json", "reload", "--check"))
        self.assertEqual((value["class"], value["applies"], value["removals"]), ("port", "yes", ["h2"]))
        self.assertIn({"key": "ports.h2", "class": "port", "before": "net_af_packet2,iface=h2", "after": ""}, value["changes"])
        self.changed("workers: 1", "workers: 2")
        value = json.loads(self.call("--json", "reload", "--check", code=1))
        self.assertEqual((value["class"], value["applies"]), ("restart", "no"))
        self.assertRegex(self.call("reload", code=1), r":\d+:\d+: switch.workers: 1 -> 2: only a restart")
        self.switch.write()
        self.changed("id: 1", "id: 9")
        self.assertRegex(self.call("reload", "--check", code=1), r":\d+:\d+: the file is of \S+ \(id 9\), the switch that runs is")
        self.switch.path.write_text("switch: {wings: 2}\nports: {h1: {speed: 10}}\n", encoding="utf-8")
        out = self.call("reload", "--check", code=1)
        self.assertEqual(len(re.findall(rf"(?m)^eddyctl: {self.switch.path}:\d+:\d+: ", out)), out.count("\n"), out)
        self.assertGreaterEqual(out.count("\n"), 2, out)
        self.assertEqual(self.switch.show("ports")["generation"], generation)


class Ports(OneLeaf):
    """Ports on interfaces of the kernel, taken down and restarted."""

    hidden = True  # whether the first host sees that its port is down

    def is_up(self, port):
        return self.switch.show("ports", "--port", port)["rows"][0]["oper"] == "up"

    def pings(self, source, target):
        return run("ip", "netns", "exec", source.namespace, "ping", "-c", "3", "-i", "0.2", "-W", "1", target.ipv4,
                   check=False).returncode == 0

    def test_a_port_that_is_down_is_down_at_its_host_and_comes_back(self):
        hosts = self.fabric.hosts
        self.assert_mesh(hosts, versions=(4,))
        for host, other in (hosts, hosts[::-1]):
            before = self.drops()
            self.assertIn(f"ports.{host.name}.admin_up (hot): true -> false",
                          self.call("set", "port", host.name, "admin", "down"))
            if self.hidden or host is not hosts[0]:
                wait_for(lambda h=host: not carrier(h.namespace, "eth0"), 5, "the host sees no carrier")
            wait_for(lambda h=host: not self.is_up(h.name), 5, "the port is down")
            self.assertEqual(self.switch.show("ports", "--port", host.name)["rows"][0]["admin"], "down")
            self.assertIn(f"# set since, not in the file: ports.{host.name}.admin_up (hot): true -> false",
                          self.call("show", "config"))
            self.assertFalse(self.pings(other, host))
            self.assertGreaterEqual(self.drops(), before + 3)
            self.call("set", "port", host.name, "admin", "up")
            if self.hidden or host is not hosts[0]:
                wait_for(lambda h=host: carrier(h.namespace, "eth0"), 5, "the host has its carrier again")
            wait_for(lambda h=host: self.is_up(h.name), 5, "the port is up")
            self.assert_mesh(hosts, versions=(4,))
        times = [row["time"] for row in self.switch.show("events")["rows"] if row["event"] in ("link_down", "link_up")]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertGreaterEqual(len(times), 4)

    def test_a_port_that_is_down_is_left_up_when_the_switch_ends(self):
        self.call("set", "port", "h2", "admin", "down")
        host = self.fabric.hosts[1]
        wait_for(lambda: not carrier(host.namespace, "eth0"), 5, "the host sees no carrier")
        self.switch.process.popen.terminate()
        self.assertEqual(self.switch.process.wait(10), 0)
        wait_for(lambda: carrier(host.namespace, "eth0"), 5, "the interface is as it was")
        self.switch.start()
        wait_for(self.switch.ports_up, 10, "all ports are up")

    OTHER_VALUES = (("speed: 100Mbps", "speed: 50Mbps"), ("mtu: 1500", "mtu: 1400"))

    def test_a_port_with_other_values_is_restarted_and_goes_on(self):
        for old, new in self.OTHER_VALUES:
            with self.subTest(new):
                self.assert_mesh(self.fabric.hosts, versions=(4,))
                self.changed(old, new, 2)
                self.assertIn("port h1 restarted", self.call("reload"))
                wait_for(lambda: all(row["oper"] == "up" for row in self.switch.show("ports")["rows"]), 5,
                         "both ports are up")
                self.assert_mesh(self.fabric.hosts, versions=(4,))


class AfXdp(Ports):
    """The same on AF_XDP."""

    plan = {"leaves": 1, "spines": 0, "host_ports": "af_xdp"}
    OTHER_VALUES = (("speed: 100Mbps", "speed: 50Mbps"),)

    def test_another_mtu_is_refused(self):
        self.changed("mtu: 1500", "mtu: 1400")
        self.assertRegex(self.call("reload", "--check", code=1), "port h1: an AF_XDP device is not opened a second time; restart")


class Taps(Ports):
    """The first host on a tap, which is the host's own interface: it stays as it is."""

    plan = {"leaves": 1, "spines": 0, "host_ports": "tap"}
    hidden = False

    test_a_port_that_is_down_is_left_up_when_the_switch_ends = None  # a tap ends with its switch, and the host's routes with it
    # Another MTU stops the device, and with it the interface of the host, whose routes are gone then.
    OTHER_VALUES = (("speed: 100Mbps", "speed: 50Mbps"),)


class Paths(OnFabric):
    """Two leaves and two spines: all that lead to a spine, or from it, are taken down."""

    plan = {"leaves": 2, "spines": 2, "hosts_per_leaf": 1}

    @staticmethod
    def all_are(ports, state):
        """A client of a memif server connects again, and then has no peer: it is up for nobody."""
        rows = [row for switch, port in ports for row in switch.show("ports", "--port", port)["rows"]]
        return all((row["oper"] == "up") == (state == "up") for row in rows)

    def test_neighbours_see_it_and_packets_take_the_other_way(self):
        leaves = [each for each in self.fabric.switches if each.short.startswith("leaf")]
        spine = next(each for each in self.fabric.switches if each.short == "spine1")
        clients = [(leaf, "spine1") for leaf in leaves]
        servers = [(spine, leaf.short) for leaf in leaves]
        for ports, theirs in ((clients, servers), (servers, clients)):
            with self.subTest(ports=[f"{switch.short} {port}" for switch, port in ports]):
                for state in ("down", "up"):
                    for switch, port in ports:
                        self.assertEqual(switch.eddyctl("set", "port", port, "admin", state).returncode, 0)
                    wait_for(lambda s=state: self.all_are(ports, s), 10, f"{ports} are {state}")
                    wait_for(lambda s=state: self.all_are(theirs, s), 10, f"{theirs} are {state}")
                    self.assert_mesh(self.fabric.hosts)


if __name__ == "__main__":
    main()
