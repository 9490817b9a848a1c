"""Two leaves and two spines joined by memif, four hosts: traffic across, and healing."""

import re
import time

from support import ROOT, Flow, OnFabric, main, wait_for

HEALED_WITHIN = 8.0  # seconds, generous for a busy machine, from the restart of a switch to every pair talking again
PROBES = 240  # of each pair, 50 ms apart
_REPLY = re.compile(r"^\[(\d+\.\d+)\] .*icmp_seq=(\d+) ", re.MULTILINE)


class Traffic(OnFabric):
    """Everything reaches everything, over both spines."""

    plan = {"scheme": "ecmp"}

    def test_ping(self):
        self.assert_mesh(self.fabric.hosts)

    def test_tcp_and_udp_cross_both_spines(self):
        h1, h2, h3, h4 = self.fabric.hosts
        results = self.run_flows([
            Flow("tcp4", h1, h3, streams=16), Flow("tcp6", h4, h2, streams=8, version=6),
            Flow("lossless", h2, h4, streams=8, dscp=3),
            Flow("udp", h3, h1, udp=True, rate=2_000_000)], 3)
        self.assert_flows(results)
        for leaf in ("leaf1", "leaf2"):
            for row in self.fabric.switch(leaf).show("paths")["rows"]:
                self.assertEqual(row["live"], "yes", row)
                self.assertGreater(row["tx_packets"], 100, row)

    def test_every_scheme_adopted_by_reload_carries_traffic(self):
        h1, _, h3, _ = self.fabric.hosts
        for scheme in schemes():
            with self.subTest(scheme=scheme):
                for name in ("leaf1", "leaf2"):
                    leaf = self.fabric.switch(name)
                    leaf.config["load_balancer"]["scheme"] = scheme
                    leaf.write()
                    done = leaf.eddyctl("reload")
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    rows = leaf.show("schemes")["rows"]
                    self.assertEqual({r["scheme"] for r in rows if r["active"] == "yes"}, {scheme})
                self.assert_mesh(self.fabric.hosts, versions=(4,))
                self.assert_flows(self.run_flows([Flow(f"{scheme}-tcp", h1, h3, streams=8, rate=20_000_000)], 1))


def schemes():
    lines = (ROOT / "lb" / "schemes.txt").read_text().splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


class Incast(OnFabric):
    """Two hosts flood a third over a slow last link, in the lossless class."""

    plan = {"scheme": "spray", "host_speed": "10Mbps", "detection_time": "5s"}

    def test_it_pauses_hop_by_hop_and_loses_nothing_lossless(self):
        h1, h2, h3, _ = self.fabric.hosts
        flood = {"udp": True, "rate": 20_000_000, "dscp": 3}
        self.assert_flows(self.run_flows([Flow("a", h1, h3, **flood), Flow("b", h2, h3, **flood)], 3))
        for name in ("leaf2", "spine1", "spine2"):
            rows = self.fabric.switch(name).show("ports")["rows"]
            self.assertGreater(sum(r["pfc_tx_xoff"] for r in rows), 0, name)
        for switch in self.fabric.switches:
            for row in switch.show("pgs")["rows"]:
                self.assertEqual(row["lossless_dropped_packets"], 0, (switch.name, row))


class Healing(OnFabric):
    """kill -9 and restart each switch in turn: the fabric heals by itself."""

    plan = {"scheme": "ecmp"}

    def heal(self, name):
        """Kills and restarts a switch while every pair pings; returns how long each was without."""
        switch = self.fabric.switch(name)
        self.assert_mesh(self.fabric.hosts, versions=(4,))
        pings = []
        for source in self.fabric.hosts:
            for target in self.fabric.hosts:
                if source is not target:
                    command = ("ping", "-n", "-D", "-i", "0.05", "-c", PROBES, target.ipv4)
                    log = f"heal-{name}-{source.name}-{target.name}"
                    pings.append((f"{source.name} to {target.name}",
                                  self.world.spawn(source.namespace, *command, log=log)))
        for pair, ping in pings:
            wait_for(lambda p=ping: "icmp_seq=3 " in p.output(), 4, f"ping {pair} before the kill")
        switch.process.kill()
        restarted = time.time()
        switch.start()
        outages = {}
        for pair, ping in pings:
            self.assertIsNotNone(ping.wait(30), f"ping {pair} does not end")
            outages[pair] = self.healed_after(pair, ping.output(), restarted)
            self.world.forget(ping)
        return outages

    def healed_after(self, pair, text, restarted):
        """Seconds from `restarted` until the last gap in the replies was over."""
        replies = [(float(at), int(seq)) for at, seq in _REPLY.findall(text)]
        healed = 0.0
        for (_, before), (at, seq) in zip(replies, replies[1:]):
            if seq != before + 1:
                healed = max(healed, at - restarted)
        last_at, _ = replies[-1]
        self.assertGreater(last_at, restarted + HEALED_WITHIN, f"{pair} is silent at the end:\n{text}")
        return healed

    def check(self, name):
        outages = self.heal(name)
        worst = max(outages, key=outages.get)
        print(f"{name}: healed {outages[worst]:.2f} s after its restart (last: {worst})")
        self.assertLess(outages[worst], HEALED_WITHIN, worst)
        for switch in self.fabric.switches:
            wait_for(switch.ports_up, HEALED_WITHIN, f"every port of {switch.name} up again")

    def test_leaf1(self):
        self.check("leaf1")

    def test_leaf2(self):
        self.check("leaf2")

    def test_spine1(self):
        self.check("spine1")

    def test_spine2(self):
        self.check("spine2")


if __name__ == "__main__":
    main()
