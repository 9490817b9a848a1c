"""eddylab up, down and run --real: an experiment as processes, and that nothing of them stays behind."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from plugin_support import put, trusted_folder
from support import BINARIES, main, run, wait_for

EXPERIMENT = """
id: real
title: Two leaves, four hosts
# A round trip of 0.4 s and headroom for 0.5 s between polls: no machine is too busy for that.
topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 2, host_rate: 10Gbps, fabric_rate: 10Gbps, host_delay: 100us}
buffer: {size: 32MiB}
switches: {poll_gap: 500ms}
wred:
  default: {kmin: 5kB, kmax: 200kB, pmax: 0.01}
traffic:
  - {type: incast, degree: 2, size: 200kB, period: 500us}
run: {seeds: [1], warmup: 0us, duration: 1ms, drain: 40ms}
matrix:
  load_balancer.scheme: [ecmp, letflow]
sizes: {ci: {}}
"""
DILATION = 1000
LETFLOW = ("--variant", "scheme=letflow")
SWITCHES = ("leaf1", "leaf2", "spine1")


class Real(unittest.TestCase):
    """Each test has an experiment and a fabric's name of its own."""

    def setUp(self):
        self.directory = Path(tempfile.mkdtemp(prefix="eddy-real-test-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.file = self.directory / "real.yaml"
        self.file.write_text(EXPERIMENT, encoding="utf-8")
        self.name = f"r{os.getpid()}"
        self.folder = Path("/run/eddy/lab") / self.name
        self.processes = []
        self.addCleanup(self.end)

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        if self.folder.exists():
            run(BINARIES / "eddylab", "down", self.name)

    def command(self, *words):
        return [str(w) for w in (BINARIES / "eddylab", words[0], self.file, "--size", "ci", "--name", self.name,
                                 "--time-dilation", DILATION, *words[1:])]

    def begin(self, until, *words):
        """Starts it and waits until it has said `until`."""
        out = self.directory / f"out{len(self.processes)}"
        with open(out, "w", encoding="utf-8") as file:
            process = subprocess.Popen(self.command(*words), stdout=file, stderr=subprocess.STDOUT)
        self.processes.append(process)
        wait_for(lambda: until in out.read_text() or process.poll() is not None, 40, until)
        self.assertIsNone(process.poll(), out.read_text())
        return process

    def eddylab(self, *words, timeout=60):
        return subprocess.run(words, capture_output=True, text=True, timeout=timeout, check=False)

    def pids(self):
        return [pid for pid, _ in json.loads((self.folder / "state.json").read_text())["processes"]]

    def children(self, process):
        """All processes below one."""
        found = [int(pid) for pid in run("pgrep", "-P", process.pid, check=False).stdout.split()]
        return found

    def assert_gone(self, pids):
        for pid in pids:
            wait_for(lambda p=pid: not Path(f"/proc/{p}").exists(), 10, f"end of {pid}")

    def result(self, out, variant="scheme=letflow"):
        return json.loads((out / "real" / "ci" / variant / "seed1" / "run.json").read_text())["run"]

    def test_a_run_is_that_of_virtual_time_with_real_processes(self):
        done = self.eddylab(*self.command("run", "--real", "--out", self.directory / "out"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("3 switches and eddyhost on", done.stderr)
        self.assertIn("measured poll gap", done.stderr)
        self.assertFalse(self.folder.exists())
        virtual = self.directory / "virtual"
        run(BINARIES / "eddylab", "run", self.file, "--size", "ci", "--quiet", "--out", virtual, "--set",
            f"run.time_dilation={DILATION}")
        for variant in ("scheme=ecmp", "scheme=letflow"):
            real, wanted = self.result(self.directory / "out", variant), self.result(virtual, variant)
            self.assertTrue(real["real"])
            self.assertFalse(wanted["real"])
            for key in ("trace_digest", "config_hash", "scheme", "flows", "time_dilation"):
                self.assertEqual(real[key], wanted[key], key)
            self.assertEqual((real["unfinished"], real["lossless_drops"]), (0, 0))
            self.assertGreater(real["counters"]["tx_packets"], 0)
        shown = run(BINARIES / "eddylab", "show", self.directory / "out" / "real" / "ci").stdout
        self.assertIn("scheme=letflow", shown)
        again = self.eddylab(*self.command("run", "--real", *LETFLOW, "--out", self.directory / "out"))
        self.assertIn("this run is there already", again.stderr)
        # Where the dilation is not given, what a run that is there has is as good as one of our choice.
        words = self.command("run", "--real", *LETFLOW, "--out", self.directory / "out")
        at = words.index("--time-dilation")
        again = self.eddylab(*words[:at], *words[at + 2:])
        self.assertIn("this run is there already", again.stderr)

    def test_up_stays_until_down(self):
        up = self.begin("up: ", "up", *LETFLOW)
        pids = self.pids()
        self.assertEqual(len(pids), len(SWITCHES))
        own = os.readlink("/proc/self/ns/net")
        spaces = {os.readlink(f"/proc/{pid}/ns/net") for pid in pids}
        self.assertEqual(len(spaces - {own}), len(SWITCHES))
        ports = run(BINARIES / "eddyctl", "--socket", self.folder / "spine1.sock", "show", "ports").stdout
        self.assertRegex(ports, r"leaf1 +fabric +up +up")
        second = self.eddylab(*self.command("up", *LETFLOW))
        self.assertEqual(second.returncode, 1)
        self.assertIn("is up already", second.stderr)
        down = self.eddylab(BINARIES / "eddylab", "down", self.name)
        self.assertEqual(down.returncode, 0, down.stderr)
        self.assertEqual(up.wait(10), 0)
        self.assert_gone(pids)
        self.assertFalse(self.folder.exists())

    def test_plugins_are_loaded_by_every_process(self):
        plugin = put("trouble", trusted_folder(self))
        balancer = f"load_balancer: {{plugin: {plugin}, scheme: calm}}\nsizes:"
        self.file.write_text(re.sub(r"matrix:\n.*\nsizes:", balancer, EXPERIMENT), encoding="utf-8")
        up = self.begin("up: ", "up")
        for name in SWITCHES:
            said = run(BINARIES / "eddyctl", "--socket", self.folder / f"{name}.sock", "show", "schemes", "--json").stdout
            self.assertEqual(json.loads(said)["plugin"], str(plugin), name)
        run(BINARIES / "eddylab", "down", self.name)
        self.assertEqual(up.wait(10), 0)
        done = self.eddylab(*self.command("run", "--real", "--out", self.directory / "out"))
        self.assertEqual(done.returncode, 0, done.stderr)
        real = self.result(self.directory / "out", "only")
        self.assertEqual((real["scheme"], real["plugin"]), ("calm", str(plugin)))
        self.assertEqual((real["unfinished"], real["counters"]["selector_fallback_packets"]), (0, 0))

    def test_a_killed_up_leaves_no_process_and_down_clears_the_rest(self):
        up = self.begin("up: ", "up", *LETFLOW)
        pids = self.pids()
        up.kill()
        up.wait()
        self.assert_gone(pids)
        down = self.eddylab(BINARIES / "eddylab", "down", self.name)
        self.assertEqual(down.returncode, 0, down.stderr)
        self.assertFalse(self.folder.exists())
        self.assertEqual(self.eddylab(BINARIES / "eddylab", "down", self.name).returncode, 1)

    def test_a_switch_that_dies_is_named(self):
        up = self.begin("up: ", "up", *LETFLOW)
        os.kill(self.pids()[2], signal.SIGKILL)
        self.assertEqual(up.wait(15), 1)
        self.assertIn("eddyd spine1 ended (137)", (self.directory / "out0").read_text())
        self.assertFalse(self.folder.exists())

    def test_a_run_that_is_ended_keeps_what_there_is_and_one_that_is_killed_leaves_nothing(self):
        long_run = ("run", "--real", *LETFLOW, "--set", "run.duration=100ms", "--out", self.directory / "out")
        process = self.begin("hosts are up", *long_run)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(30), 130)
        self.assertTrue(self.result(self.directory / "out")["interrupted"])
        self.assertFalse(self.folder.exists())
        process = self.begin("hosts are up", *long_run)
        children = self.children(process)
        self.assertEqual(len(children), len(SWITCHES) + 1)
        process.kill()
        process.wait()
        self.assert_gone(children)

    def test_what_the_machine_cannot_do_is_refused(self):
        for words, said in (
                (("--time-dilation", "2"), r"--time-dilation 2 is too small for this machine: \d+ is needed"),
                (("--set", "topology.hosts_per_leaf=40", "--set", "buffer.size=256MiB"), "at most 32"),
                (("--name", "No"), "valid are 1 to 20"),
                (("--variant", "scheme=x"), "no variant")):
            command = [*self.command("run", "--real", *LETFLOW[:0 if "--variant" in words else 2]), *map(str, words)]
            for option in ("--time-dilation", "--name"):  # the later of two counts
                if command.count(option) == 2:
                    at = command.index(option)
                    del command[at:at + 2]
            done = self.eddylab(*command)
            self.assertIn(done.returncode, (1, 2), words)
            self.assertTrue(re.search(said, done.stderr), f"{words}: {done.stderr}")
            self.assertFalse(self.folder.exists())


if __name__ == "__main__":
    main()
