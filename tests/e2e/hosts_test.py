"""Two hosts on one switch, over each kind of host port: ping, TCP and UDP, IPv4 and IPv6."""

from support import Flow, OnFabric, main


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


class AfPacket(TwoHosts, OnFabric):
    plan = TwoHosts.plan | {"host_ports": "af_packet"}


class TwoWorkers(TwoHosts, OnFabric):
    """Every packet crosses from one worker to the other."""

    plan = TwoHosts.plan | {"workers": 2}


class AfXdp(TwoHosts, OnFabric):
    plan = TwoHosts.plan | {"host_ports": "af_xdp"}


class Tap(TwoHosts, OnFabric):
    plan = TwoHosts.plan | {"host_ports": "tap"}


if __name__ == "__main__":
    main()
