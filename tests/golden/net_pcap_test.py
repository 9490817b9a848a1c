#!/usr/bin/env python3
"""Golden cases through a real eddyd with real time: DPDK's net_pcap driver, a worker, the TSC clock.

Everything arrives at once there and nobody knows when, so only cases whose frames do not depend on
time are run, and what leaves a port is compared as a set of frames, with the counters of drops.
Needs root, as every real eddyd.
"""

import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path

import golden
import pcap

CASES = ("forward_v4", "ecmp_spread", "vlan_priority_tags", "malformed", "shim_transit",
         "cnm_on_host_port", "wcmp_weights", "presto_cells")
PATIENCE = 20  # seconds, however busy the machine


class Daemon:
    """eddyd on a case's ports, under a name of its own."""

    def __init__(self, case, directory):
        self.name = f"golden-{os.getpid()}"
        text = (case.folder / "switch.yaml").read_text()
        path = directory / "switch.yaml"
        path.write_text(text.replace("name: golden", f"name: {self.name}", 1))
        self.log = open(directory / "log", "w+", encoding="utf-8")
        self.process = subprocess.Popen([golden.BINARIES / "eddyd", "--config", path],
                                        cwd=directory, stdout=self.log, stderr=self.log)

    def show(self, report):
        """The rows of a report; none while eddyd does not answer."""
        done = subprocess.run([golden.BINARIES / "eddyctl", "--name", self.name, "--json", "show",
                               report], capture_output=True, text=True, check=False, timeout=10)
        try:
            return json.loads(done.stdout)["rows"]
        except (ValueError, KeyError):
            return []

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def end(self):
        """SIGTERM: it drains, closes its captures, and says how that went."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()


class NetPcap(unittest.TestCase):
    def test_cases(self):
        for name in CASES:
            with self.subTest(name), tempfile.TemporaryDirectory(prefix="eddy-golden-") as directory:
                self.run_case(golden.Case(name), Path(directory))

    def run_case(self, case, directory):
        case.write_input(directory)
        wanted = {port: Counter(octets for _, octets in
                                pcap.read(case.folder / f"expect_{port}.pcap"))
                  for port in case.ports}
        daemon = Daemon(case, directory)
        try:
            self.wait_for(daemon, len(case.frames), sum(map(Counter.total, wanted.values())))
            drops = {(row["port"], row["reason"]): row["dropped_packets"]
                     for row in daemon.show("drops")}
            self.assertEqual(daemon.end(), 0, daemon.said())
        finally:
            daemon.close()
        self.assertEqual(drops, expected_drops(case))
        for port in case.ports:
            got = Counter(octets for _, octets in pcap.read(directory / f"out_{port}.pcap"))
            self.assertEqual(got, wanted[port], f"{case.name}: {port}")

    def wait_for(self, daemon, received, sent):
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and daemon.process.poll() is None:
            rows = daemon.show("ports")
            seen = ("rx_packets", "pfc_rx_packets", "pause_rx_packets")
            if (sum(row[name] for row in rows for name in seen) >= received
                    and sum(row["tx_packets"] for row in rows) >= sent):
                return
            time.sleep(0.01)
        self.fail(f"not all frames came through:\n{daemon.said()}")


def expected_drops(case):
    records = map(json.loads, (case.folder / "expect_events.jsonl").read_text().splitlines())
    return {(record["port"], record["drop"]): record["value"]
            for record in records if "drop" in record}


if __name__ == "__main__":
    unittest.main(verbosity=2)
