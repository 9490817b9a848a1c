"""What scripts/demo computes and prints, from made-up numbers."""

import contextlib
import io
import json
import sys
import types
import unittest
from pathlib import Path
from unittest import mock

import yaml

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))
from lib import demo, display, fabric, traffic, watch  # noqa: E402
from lib.demo_report import Report  # noqa: E402
from lib.demo_stories import Everyday, Throttled  # noqa: E402


def port(name, role="fabric", **counts):
    row = {"port": name, "role": role, "oper": "up", "speed_bps": 100_000_000, "queued_bytes": 2048,
           "lossless_dropped_packets": 0}
    return row | dict.fromkeys(watch.COUNTERS, 0) | counts


def sample(at_s, *ports, drops=None, name="leaf1"):
    return watch.SwitchSample(name, at_s * 10**9, {p["port"]: p for p in ports}, drops or {})


class Differences(unittest.TestCase):
    def test_rates_are_over_the_switchs_own_time(self):
        rows = watch.port_rows([sample(1, port("spine1", rx_bytes=1000))],
                               [sample(3, port("spine1", rx_bytes=251_000, tx_bytes=500))])
        self.assertEqual(rows[0].rx_bps(), 1e6)
        self.assertEqual(rows[0].tx_bps(), 2000)

    def test_a_restarted_switch_counts_from_zero(self):
        rows = watch.port_rows([sample(9, port("spine1", rx_bytes=1000))],
                               [sample(2, port("spine1", rx_bytes=300))])
        self.assertEqual((rows[0].counts["rx_bytes"], rows[0].seconds), (300, 2))

    def test_drops_leave_out_what_did_not_grow(self):
        before = [sample(1, drops={("h1", "no_route"): 5})]
        after = [sample(2, drops={("h1", "no_route"): 5, ("h1", "queue_full"): 7})]
        self.assertEqual(watch.drops_by_reason(before, after), {("leaf1", "h1", "queue_full"): 7})

    def test_split_counts_fabric_ports_of_one_switch(self):
        rows = watch.port_rows([sample(1), sample(1, name="leaf2")],
                               [sample(2, port("h1", "host", tx_bytes=9), port("spine1", tx_bytes=3),
                                       port("spine2", tx_bytes=1)),
                                sample(2, port("spine1", tx_bytes=50), name="leaf2")])
        self.assertEqual(watch.split(rows, "leaf1"), [("spine1", 3), ("spine2", 1)])


class Screens(unittest.TestCase):
    @staticmethod
    def run_traffic(seconds, refresh):
        """On a machine where each sample of the fabric takes 2.5 s."""
        clock = [100.0]

        def sample_slowly(_switches):
            clock[0] += 2.5
            return []

        def sleep(seconds):
            clock[0] += seconds

        story = types.SimpleNamespace(start=lambda *_: None, tick=lambda *_: None, running=lambda: [], finish=lambda _: [])
        report = types.SimpleNamespace(live=lambda second, *_: second, totals=lambda *_: None)
        fabric_of_none = types.SimpleNamespace(switches=[], check_alive=lambda: None)
        with mock.patch.object(demo.time, "monotonic", lambda: clock[0]), mock.patch.object(demo.time, "sleep", sleep), \
                mock.patch.object(demo.watch, "sample_fabric", sample_slowly):
            demo.run_traffic(fabric_of_none, story, report, types.SimpleNamespace(refresh=refresh), seconds)

    def test_seconds_are_those_of_the_clock_on_a_busy_machine(self):
        """Else the last screens would show a fabric whose traffic has ended."""
        shown = []
        self.run_traffic(9, shown.append)
        self.assertEqual(shown, [1, 4, 7, 9])

    def test_an_interruption_that_python_has_lost_ends_it_at_the_next_second(self):
        shown = []

        def refresh(second):
            shown.append(second)
            with contextlib.suppress(KeyboardInterrupt):
                demo.Interruption.hear(2, None)

        self.addCleanup(setattr, demo.Interruption, "heard", False)
        with self.assertRaises(KeyboardInterrupt):
            self.run_traffic(9, refresh)
        self.assertEqual(shown, [1])


class Text(unittest.TestCase):
    def test_numbers_are_short(self):
        for value, text in ((0, "0"), (999, "999"), (1000, "1.0k"), (12_345, "12.3k"),
                            (123_456, "123k"), (4_560_000, "4.6M"), (7e9, "7.0G")):
            self.assertEqual(display.number(value), text)

    def test_bar_has_its_width_whatever_the_shares(self):
        for parts in ([1, 1], [1, 2, 3], [0, 5], [10**12, 1]):
            self.assertEqual(len(display.bar(parts)), 24)
        self.assertEqual(display.bar([3, 1], 8), "######==")

    def test_drops_line_keeps_within_its_width_and_says_how_many_more(self):
        drops = {("leaf1", f"h{n}", "neighbor_unresolved"): n for n in range(1, 20)}
        line = display.drops_line(drops, 80)
        self.assertLessEqual(len(line), 80 + len(", and 19 more"))
        self.assertTrue(line.startswith("leaf1 h19 neighbor_unresolved 19, "), line)
        self.assertIn("more", line)

    def test_live_view_fits_100_columns_and_is_plain_in_a_file(self):
        big = {c: 10**11 for c in watch.COUNTERS}
        names = [sample(t, *(port(f"spine{n}", **(big if t == 2 else {})) for n in (1, 2)),
                        name=name) for t in (1, 2) for name in ("leaf1", "leaf2")]
        report = Report(display.Screen(io.StringIO()), fabric.Plan())
        lines = report.live(3, 20, ["tcp-v4", "udp"], names[:2], names[2:])
        self.assertLessEqual(max(map(len, lines)), 100)
        self.assertNotIn("\033", "".join(lines))
        self.assertEqual(sum(" spine" in line for line in lines[:7]), 4)


class Failures(unittest.TestCase):
    def report(self, **counts):
        report = Report(display.Screen(io.StringIO()), fabric.Plan(leaves=1))
        counts = {"tx_bytes": 5} | counts
        report.totals([sample(1, port("spine1"))], [sample(2, port("spine1", **counts))])
        host = traffic.Host("h1", "ns", "10.0.0.1", "fd00::1")
        good = traffic.FlowResult(traffic.Flow("tcp", host, host), bit_rate=1e6)
        report.flows([good])
        report.pings([traffic.PingResult("h1", "h2", 3, 3)])
        return report

    def test_all_well(self):
        self.assertEqual(self.report().failures(), [])

    def test_a_lost_ping_a_dead_flow_a_dead_path_and_a_lossless_drop_are_named(self):
        report = self.report(tx_bytes=0, lossless_dropped_packets=2)
        report.pings([traffic.PingResult("h1", "h2", 3, 2)])
        report.flows([traffic.FlowResult(traffic.Flow("tcp", *report_hosts()), error="refused")])
        self.assertEqual(report.failures(), [
            "ping h1 to h2: 2 of 3 answered", "tcp (h1 to h2): refused",
            "leaf1 sent nothing to spine1",
            "2 packets of a lossless class were lost on fabric ports"])

    def test_every_flow_of_the_demo_has_to_deliver(self):
        hosts = [traffic.Host(f"h{n}", "ns", f"10.0.0.{n}", "fd00::1") for n in range(1, 5)]
        world = types.SimpleNamespace(hosts=hosts)
        arguments = types.SimpleNamespace(rlb="default")
        for story in (Everyday(arguments), Throttled(arguments)):
            for flow in story.flows(world, 20):
                report = self.report()
                report.flows([traffic.FlowResult(flow)])
                self.assertEqual(len(report.failures()), 1, flow.name)


def report_hosts():
    return [traffic.Host(n, "ns", "10.0.0.1", "fd00::1") for n in ("h1", "h2")]


class Parsing(unittest.TestCase):
    def test_ping(self):
        text = ("3 packets transmitted, 3 received, 0% packet loss, time 401ms\n"
                "rtt min/avg/max/mdev = 0.035/0.040/0.048/0.005 ms\n")
        result = traffic.parse_ping("a", "b", text)
        self.assertEqual((result.ok, result.average_ms, result.maximum_ms), (True, 0.040, 0.048))
        self.assertFalse(traffic.parse_ping("a", "b", "connect: Network is unreachable").ok)

    def test_iperf(self):
        flow = traffic.Flow("f", *report_hosts())
        failed = traffic.Iperf3.parse(flow, '{"error": "unable to connect to server"}')
        self.assertEqual((failed.ok, failed.error), (False, "unable to connect to server"))
        self.assertFalse(traffic.Iperf3.parse(flow, "iperf3: not JSON").ok)
        end = {"end": {"sum_received": {"bits_per_second": 500.0}, "sum_sent": {"retransmits": 3}}}
        result = traffic.Iperf3.parse(flow, json.dumps(end))
        self.assertEqual((result.ok, result.bit_rate, result.retransmits), (True, 500.0, 3))

    def test_iperf_2(self):
        flow = traffic.Flow("f", *report_hosts(), udp=True)
        sent = "[  1] 0.0000-4.0000 sec  1200000 Bytes  2400000 bits/sec\n[  1] Sent 1000 datagrams\n"
        came = "[  1] 0.0000-3.2000 sec  300000 Bytes  750000 bits/sec   0.001 ms 749/999 (75%)\n"
        result = flow.tool.parse(flow, sent, "Server listening on UDP port 5206\n" + came)
        self.assertTrue(result.ok)
        self.assertEqual((result.bit_rate, result.sent_packets, result.lost_packets), (600_000, 1000, 750))
        nothing = flow.tool.parse(flow, sent, "Server listening on UDP port 5206\n")
        self.assertEqual((nothing.ok, nothing.error, nothing.lost_packets), (False, "", 1000))
        refused = flow.tool.parse(flow, "connect failed: Network is unreachable\n", came)
        self.assertEqual((refused.ok, refused.error), (False, "connect failed: Network is unreachable"))


class Configurations(unittest.TestCase):
    def test_what_is_written_reads_back_as_yaml(self):
        plan = fabric.Plan()
        for config in (fabric.leaf_config(plan, 2, "/run/x"), fabric.spine_config(plan, 1, "/run/x")):
            read = yaml.safe_load(fabric.to_yaml(config))
            self.assertEqual(read["ports"].keys(), config["ports"].keys())
            self.assertEqual(read["routes"], config["routes"])
            self.assertEqual(read["leaves"], config["leaves"])
            self.assertEqual({p["role"] for p in read["ports"].values()} - {"host"}, {"fabric"})

    def test_both_ends_of_a_memif_name_one_socket_and_two_roles(self):
        plan = fabric.Plan()
        leaf = fabric.leaf_config(plan, 1, "/run/x")["ports"]["spine2"]["device"]
        spine = fabric.spine_config(plan, 2, "/run/x")["ports"]["leaf1"]["device"]
        self.assertIn("role=client", leaf)
        self.assertIn("role=server", spine)
        self.assertEqual(leaf.split("socket=")[1], spine.split("socket=")[1])


if __name__ == "__main__":
    unittest.main()
