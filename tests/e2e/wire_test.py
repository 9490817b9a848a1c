"""eddywire: hosts in namespaces of their own get their ends of veth pairs, and get them again."""

import json
import socket
import unittest

from support import BINARIES, EndToEnd, main, run, wait_for

PAIRS = ("h1=sw1,mac=02:aa:00:01:00:01,mtu=1400", "h2=sw2,mac=02:aa:00:01:00:02,mtu=9000")


def links(namespace):
    """By name, as ip has them."""
    return {link["ifname"]: link for link in json.loads(run("ip", "-n", namespace, "-j", "link").stdout)}


class Wire(EndToEnd):
    """A server in a namespace of its own, two namespaces for hosts."""

    def setUp(self):
        self.place = {short: self.world.namespace(f"{short}{self.id()[-8:]}") for short in ("wire", "h1", "h2")}
        self.socket = self.world.directory / f"{self.id()[-8:]}.sock"
        self.server = self.serve()

    def serve(self):
        server = self.spawn("wire", "serve", *(word for pair in PAIRS for word in ("--pair", pair)))
        wait_for(lambda: "2 pairs" in server.output() or not server.alive(), 5, "eddywire serve")
        self.assertTrue(server.alive(), server.output())
        return server

    def spawn(self, short, *words, log=None):
        return self.world.spawn(self.place[short], BINARIES / "eddywire", "--socket", self.socket, *words,
                                log=log or f"{short}-{self.id()[-8:]}")

    def join(self, short, host, *words, log=None):
        return self.spawn(short, "join", host, "--address", "10.0.1.1", "--gateway", "169.254.0.1", *words, log=log)

    def end(self, process):
        process.popen.terminate()
        self.assertEqual(process.wait(5), 0, process.output())

    def index(self, short, device):
        """What tells an interface from a later one of its name; None: there is none."""
        return links(self.place[short]).get(device, {}).get("ifindex")

    def carrier(self, device="sw1"):
        return "LOWER_UP" in links(self.place["wire"]).get(device, {}).get("flags", ())

    def test_a_host_gets_what_it_is_to_have(self):
        self.assertFalse(self.carrier())
        self.join("h1", "h1")
        wait_for(self.carrier, 5, "a carrier at the switch")
        link = links(self.place["h1"])["eth0"]
        self.assertEqual((link["address"], link["mtu"]), ("02:aa:00:01:00:01", 1400))
        shown = run("ip", "-n", self.place["h1"], "-j", "address", "show", "eth0").stdout
        self.assertEqual([(a["local"], a["prefixlen"]) for a in json.loads(shown)[0]["addr_info"]
                          if a["family"] == "inet"], [("10.0.1.1", 32)])
        routes = json.loads(run("ip", "-n", self.place["h1"], "-j", "route").stdout)
        self.assertEqual([(r["dst"], r["gateway"], r["dev"]) for r in routes], [("default", "169.254.0.1", "eth0")])
        for place, device in (("h1", "eth0"), ("wire", "sw1"), ("wire", "sw2")):
            features = self.world.run(self.place[place], "ethtool", "-k", device).stdout
            self.assertIn("tx-checksumming: off", features)
            self.assertIn("tx-tcp-segmentation: off", features)
            self.assertIn("tx-tcp6-segmentation: off", features)
        self.assertIn("UP", links(self.place["wire"])["sw2"]["flags"])
        self.assertEqual(links(self.place["wire"])["sw2"]["mtu"], 9000)

    def test_a_host_that_is_started_again_gets_it_again(self):
        for _ in range(2):
            before = self.index("h1", "eth0")
            process = self.join("h1", "h1")
            wait_for(lambda: self.index("h1", "eth0") != before and self.carrier(), 5, "a new carrier")
            self.end(process)

    def test_a_namespace_that_goes_takes_its_end_along(self):
        process = self.join("h1", "h1")
        wait_for(self.carrier, 5, "a carrier")
        before = self.index("wire", "sw1")
        self.end(process)
        run("ip", "netns", "del", self.place["h1"])
        self.world.namespaces.remove(self.place["h1"])
        wait_for(lambda: self.index("wire", "sw1") not in (None, before), 5, "a new pair")
        self.place["h1"] = self.world.namespace(f"again{self.id()[-8:]}")
        self.join("h1", "h1", log="again")
        wait_for(self.carrier, 5, "a carrier at the new pair")

    def test_hosts_find_a_server_that_was_away(self):
        host = self.join("h1", "h1")
        wait_for(self.carrier, 5, "a carrier")
        before = self.index("wire", "sw1")
        self.server.kill()
        self.server = self.serve()
        wait_for(lambda: self.index("wire", "sw1") != before and self.carrier(), 5, "a new carrier")
        self.assertTrue(host.alive(), host.output())

    def test_two_containers_are_not_one_host(self):
        self.join("h1", "h1")
        wait_for(self.carrier, 5, "a carrier")
        second = self.join("h2", "h1")
        self.assertEqual(second.wait(5), 1)
        self.assertEqual(second.output().strip(), "eddywire: host h1: another container has joined as this host")
        self.assertTrue(self.carrier())

    def test_an_unknown_host_is_refused(self):
        stranger = self.join("h1", "h7")
        self.assertEqual(stranger.wait(5), 1)
        self.assertEqual(stranger.output().strip(), 'eddywire: no host of the name "h7"')

    def test_the_command_of_a_host_is_its_life(self):
        process = self.join("h1", "h1", "--", "/bin/sh", "-c", "ip -br link show eth0; exit 7")
        self.assertEqual(process.wait(5), 7)
        self.assertIn("02:aa:00:01:00:01", process.output())
        process = self.join("h1", "h1", "--", "/bin/sh", "-c", "echo on; exec sleep 60", log="sleeper")
        wait_for(lambda: "on" in process.output(), 5, "the command")
        process.popen.terminate()
        self.assertEqual(process.wait(5), 128 + 15)

    def test_nobody_serves(self):
        self.server.kill()
        alone = self.join("h1", "h1", "--wait", "300ms")
        self.assertEqual(alone.wait(5), 1)
        self.assertEqual(alone.output().strip(), f"eddywire: nobody serves {self.socket} within 300ms")

    def test_strangers_words_do_no_harm(self):
        for words in (b"", b"h1\0", b"h1 eth0\0", b"h1 eth0", b"x" * 4000, b"\0" * 10):
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as stranger:
                stranger.connect(str(self.socket))
                stranger.send(words)
        self.join("h1", "h1")
        wait_for(self.carrier, 5, "a carrier")


class BadWords(unittest.TestCase):
    def test_each_is_refused_in_a_line(self):
        for pair in ("h1", "h1=sw1", "h1=sw1,mac=02:aa:00:01:00:01", "h1=a/b,mac=02:aa:00:01:00:01,mtu=1500",
                     "h1=sixteen-letters-,mac=02:aa:00:01:00:01,mtu=1500", "h1=sw1,mac=01:aa:00:01:00:01,mtu=1500",
                     "h1=sw1,mac=02:aa:00:01:00:01,mtu=0", "h1=sw1,mac=02:aa:00:01:00:01,mtu=1500x",
                     "../h1=sw1,mac=02:aa:00:01:00:01,mtu=1500"):
            done = run(BINARIES / "eddywire", "serve", "--pair", pair, check=False)
            self.assertEqual(done.returncode, 2, pair)
            self.assertTrue(done.stderr.startswith(f"eddywire: --pair {pair}: "), done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for words in (("h 1", "10.0.0.1", "10.0.0.2"), ("h1", "fd00::1", "10.0.0.2"), ("h1", "10.0.0.1", "x")):
            done = run(BINARIES / "eddywire", "join", words[0], "--address", words[1], "--gateway", words[2],
                       check=False)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)


if __name__ == "__main__":
    main()
