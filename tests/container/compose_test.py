"""The demo's fabric by docker-compose, as `eddylab export` writes it: traffic, switches that are killed, and nothing left."""

import os
import signal
import tempfile
import time
import unittest
from pathlib import Path

from support import main, run, shared, wait_for
from fabrics import Compose, Fabric, Stopwatch, export, started

HEALS_WITHIN = 2.0  # seconds after the switch answers
PREFIX = f"t{os.getpid()}-"


def there_is():
    """What a fabric of ours could leave."""
    engine = shared.engine
    mine = ("--filter", f"name={PREFIX[:-1]}")
    return {"containers": engine.call("ps", "--all", "--quiet", *mine).stdout.split(),
            "volumes": engine.call("volume", "ls", "--quiet", *mine).stdout.split(),
            "networks": engine.call("network", "ls", "--quiet", *mine).stdout.split(),
            "interfaces": [line.split(":")[1].strip() for line in run("ip", "-o", "link").stdout.splitlines()]}


class ComposeUp(unittest.TestCase):
    """One fabric for all tests; each leaves it as it was, but for the last."""

    @classmethod
    def setUpClass(cls):
        cls.engine = shared.engine
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.folder = export(Path(place.name) / "demo", "demo", "--to", "compose", "--hosts", "linux")
        cls.compose = Compose(cls.engine, cls.folder, PREFIX)
        cls.fabric = Fabric(cls.engine, PREFIX)
        cls.addClassCleanup(cls.compose.call, "down", "-v", "--timeout", "2")
        cls.before = there_is()
        began = time.monotonic()
        cls.compose.call("up", "-d")
        cls.fabric.wait_until_up()
        print(f"up in {time.monotonic() - began:.1f} s")
        cls.fabric.enter()
        cls.addClassCleanup(cls.fabric.leave)

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        super().run(result)
        if len(result.failures) + len(result.errors) > before and there_is()["containers"]:
            for name in ("wire", *Fabric.SWITCHES, *Fabric.HOSTS):
                print(f"--- {name}", self.engine.logs(PREFIX + name)[-1500:], sep="\n")

    def lives(self):
        """What changes when a container is started again or replaced."""
        names = ["wire", *Fabric.SWITCHES, *Fabric.HOSTS]
        found = {name: self.engine.inspect(PREFIX + name) for name in names}
        return {name: (each["Id"], each["State"]["StartedAt"]) for name, each in found.items()}

    def assert_alone(self, before, name):
        """That this container is another than before, and all others are as they were."""
        after = self.lives()
        self.assertEqual([each for each in before if before[each] != after[each]], [name])

    def assert_heals(self, watch, switch, killed):
        back = wait_for(lambda: switch.answers() and time.time(), 15, f"{switch.short} answers", 0.02)
        reply = watch.first_after(started(self.engine, switch.container), 15)
        print(f"{switch.short}: away for {reply - killed:.2f} s, healed {reply - back:.2f} s after it answered")
        self.assertLess(reply - back, HEALS_WITHIN)
        self.fabric.wait_until_up()

    def test_hosts_reach_each_other(self):
        self.assertEqual(self.fabric.pings(), {})
        named = self.engine.exec(PREFIX + "leaf1-host1", "ping", "-n", "-c", "1", "leaf2-host2", check=False)
        self.assertIn("1 received", named.stdout, named.stderr)

    def test_lossless_traffic(self):
        results, rows = self.fabric.run_traffic()
        self.assertEqual([result.trouble for result in results if not result.ok], [])
        fabric = [row for row in rows if row.role == "fabric"]
        self.assertEqual(sum(row.counts["lossless_dropped_packets"] for row in fabric), 0)
        self.assertGreater(sum(row.counts["pfc_tx_xoff"] for row in fabric), 0)
        self.assertGreater(sum(row.counts["pfc_rx_xoff"] for row in fabric), 0)

    def test_containers_are_allowed_what_is_documented(self):
        for name in Fabric.SWITCHES:
            status = Path(f"/proc/{self.engine.pid(PREFIX + name)}/status").read_text(encoding="ascii")
            fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
            is_leaf = name.startswith("leaf")
            self.assertEqual(int(fields["CapBnd"], 16), 1 << 12 | 1 << 13 | 1 << 14 if is_leaf else 0, name)
            self.assertEqual(fields["Uid"].split()[0], "0" if is_leaf else "6480")
            self.assertEqual(fields["Gid"].split()[0], "6480")
            self.assertEqual(fields["NoNewPrivs"], "1")
        wait_for(lambda: self.engine.inspect(PREFIX + "leaf1")["State"]["Health"]["Status"] == "healthy", 20, "healthy")

    def test_a_switch_s_process_is_killed(self):
        for short in ("leaf1", "spine1"):
            switch, before = self.fabric.switch(short), self.lives()
            watch = Stopwatch(self.fabric, self.fabric.hosts[0], self.fabric.hosts[2])
            killed = time.time()
            os.kill(self.engine.pid(switch.container), signal.SIGKILL)
            self.assert_heals(watch, switch, killed)
            watch.end()
            self.assert_alone(before, short)
        self.assertEqual(self.fabric.pings(), {})

    def test_a_switch_is_replaced_by_another_version(self):
        self.engine.call("tag", "eddy:0.2.0", "eddy:0.2.1-test")
        self.addCleanup(self.engine.call, "rmi", "eddy:0.2.1-test", check=False)
        switch, before = self.fabric.switch("leaf1"), self.lives()
        watch = Stopwatch(self.fabric, self.fabric.hosts[0], self.fabric.hosts[2])
        killed = time.time()
        self.engine.call("kill", switch.container)
        self.compose.call("up", "-d", "--no-deps", "--timeout", "2", "leaf1", EDDY_TAG="0.2.1-test")
        self.assert_heals(watch, switch, killed)
        watch.end()
        self.assertEqual(self.engine.inspect(switch.container)["Config"]["Image"], "eddy:0.2.1-test")
        self.assert_alone(before, "leaf1")
        self.assertEqual(self.fabric.pings(), {})
        self.compose.call("up", "-d", "--no-deps", "--timeout", "2", "leaf1")
        self.fabric.wait_until_up()

    def test_a_host_is_started_again(self):
        before = self.lives()
        self.engine.call("restart", "--time", "2", PREFIX + "leaf2-host1")
        self.fabric.wait_until_up()
        self.assert_alone(before, "leaf2-host1")
        self.assertEqual(self.fabric.pings(), {})
        self.fabric.leave()
        self.fabric.enter()

    def test_zz_nothing_is_left(self):
        during = there_is()
        self.assertEqual((len(during["containers"]), len(during["volumes"])), (9, 1))
        processes = [self.engine.pid(PREFIX + name) for name in ("wire", *Fabric.SWITCHES, *Fabric.HOSTS)]
        self.fabric.leave()
        began = time.monotonic()
        self.compose.call("down", "-v", "--timeout", "3")
        print(f"down in {time.monotonic() - began:.1f} s")
        self.assertEqual(there_is(), self.before)
        self.assertEqual([pid for pid in processes if Path(f"/proc/{pid}/ns").exists()], [])


class WithEddyhost(unittest.TestCase):
    """The experiment's own traffic; nobody is root, nobody has a capability or a network."""

    def test_the_experiment_runs(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        folder = export(Path(place.name) / "demo", "demo", "--size", "ci", "--to", "compose", "--hosts", "eddyhost")
        compose = Compose(shared.engine, folder, PREFIX)
        self.addCleanup(compose.call, "down", "-v", "--timeout", "2")
        compose.call("up", "-d")
        status = shared.engine.wait(PREFIX + "hosts", 60)
        said = shared.engine.logs(PREFIX + "hosts")
        self.assertEqual(status, 0, said)
        shared.engine.call("cp", f"{PREFIX}hosts:/run/eddy/results", folder / "results")
        self.assertTrue((folder / "results" / "demo" / "ci" / "result.json").exists())


if __name__ == "__main__":
    main()
