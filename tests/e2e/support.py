"""What the end-to-end tests share: a fabric of real eddyd processes for each class of tests.

Binaries are taken from $EDDY_BIN, which ctest sets. Needs root: without, the tests fail and say so.
"""

import os
import sys
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from lib.fabric import Fabric, Plan  # noqa: E402,F401
from lib.hugepages import (  # noqa: E402,F401
    give_back_hugepages, held_hugepages, reserve_hugepages, total_hugepages)
from lib.netns import Trouble, World, run, wait_for  # noqa: E402,F401
from lib.traffic import (Flow, Traffic, parse_ping, ping_command,  # noqa: E402,F401
                         ping_mesh)

BINARIES = Path(os.environ.get("EDDY_BIN", ROOT / "build" / "dev" / "bin"))


class EndToEnd(unittest.TestCase):
    """A class of tests with one World; what the switches said is shown when a test fails."""

    @classmethod
    def setUpClass(cls):
        cls.world = World(f"eddy-e2e-{os.getpid()}")
        cls.addClassCleanup(cls.world.close)

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        super().run(result)
        if len(result.failures) + len(result.errors) > before:
            show_logs(self.world)
            show_poll_gaps(getattr(self, "fabric", None))

    def assert_flows(self, results):
        for result in results:
            self.assertTrue(result.ok, result.trouble)

    def assert_mesh(self, hosts, versions=(4, 6)):
        for ping in ping_mesh(self.world, hosts, versions):
            self.assertTrue(ping.ok, f"ping {ping.source} to {ping.target}:\n{ping.said}")


class OnFabric(EndToEnd):
    """Tests on the fabric that `plan` describes."""

    plan = {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        names = f"e{os.getpid()}-"
        try:
            cls.fabric = Fabric(cls.world, Plan(names=names, **cls.plan), BINARIES)
            cls.fabric.start()
        except Trouble:
            show_logs(cls.world)
            raise

    def run_flows(self, flows, seconds):
        traffic = Traffic(self.world, flows)
        traffic.start()
        traffic.tick(0, seconds)
        return traffic.finish(patience=seconds + 8)


def show_logs(world):
    for log in sorted(world.directory.glob("*.log")):
        lines = log.read_text(errors="replace").strip().split("\n")[-15:]
        if lines != [""]:
            print(f"--- {log.name}", *lines, sep="\n", file=sys.stderr)


def show_poll_gaps(fabric):
    for switch in fabric.switches if fabric else ():
        print(switch.poll_gaps()[1], file=sys.stderr)


def main():
    unittest.main(verbosity=2)


def seconds_since(start):
    return time.monotonic() - start
