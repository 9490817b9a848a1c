"""What the switch answers to hosts itself: time exceeded and unreachable."""

from support import OnFabric, main


class Answers(OnFabric):
    """On one switch with two hosts."""

    plan = {"leaves": 1, "spines": 0}

    def ping(self, *words):
        return self.world.run(self.fabric.hosts[0].namespace, "ping", "-n", "-c", "1", "-W", "2", *words,
                              check=False).stdout

    def test_ttl_exceeded(self):
        said = self.ping("-t", "1", self.fabric.hosts[1].ipv4)
        self.assertRegex(said, r"From 10\.0\.1\.1 icmp_seq=1 Time to live exceeded")

    def test_hop_limit_exceeded(self):
        said = self.ping("-6", "-t", "1", self.fabric.hosts[1].ipv6)
        self.assertRegex(said, r"From fd00:0:0:1::1 icmp_seq=1 Time exceeded: Hop limit")

    def test_no_route(self):
        self.assertRegex(self.ping("192.0.2.1"),
                         r"From 10\.0\.1\.1 icmp_seq=1 Destination Net Unreachable")

    def test_no_route_ipv6(self):
        self.assertRegex(self.ping("-6", "2001:db8::1"),
                         r"From fd00:0:0:1::1 icmp_seq=1 Destination unreachable: No route")

    def test_drops_are_named(self):
        self.ping("-t", "1", self.fabric.hosts[1].ipv4)
        self.ping("192.0.2.1")
        rows = self.fabric.switches[0].show("drops")["rows"]
        reasons = {row["reason"]: row["dropped_packets"] for row in rows}
        self.assertGreater(reasons.get("ttl_expired", 0), 0, rows)
        self.assertGreater(reasons.get("no_route", 0), 0, rows)


if __name__ == "__main__":
    main()
