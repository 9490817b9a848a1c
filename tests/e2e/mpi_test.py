#!/usr/bin/python3
"""eddylab-mpi with Open MPI: ranks of this machine over shared memory, and nothing that leaves it.

Binaries are taken from $EDDY_BIN, which ctest sets. Needs no root.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("EDDY_BIN", ROOT / "build" / "dev" / "bin"))
PATIENCE = 200  # seconds, on a machine that is busy
# Shared memory between ranks, the loopback for what mpirun itself says; all as root in a container, on few cores.
MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "btl", "self,vader", "--mca", "oob_tcp_if_include", "lo",
          "--mca", "btl_vader_single_copy_mechanism", "none", "--mca", "plm", "isolated", "--mca", "orte_base_help_aggregate", "1"]
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith(("OMPI_", "PMI_", "PMIX_", "SLURM_"))} | {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_btl": "self,vader",
    "OMPI_MCA_oob_tcp_if_include": "lo", "EDDY_DATA": str(ROOT / "config")}
# What differs with the number of processes, and between two builds.
PHYSICAL = ("commit", "cpu_seconds", "peak_rss_bytes", "replay")

EXPERIMENT = """
id: shared
title: A fabric that ranks share
topology: {kind: leaf_spine, leaves: 4, spines: 4, hosts_per_leaf: 4, host_delay: 1us, fabric_delay: 1us}
buffer: {size: 9MiB}
traffic:
  - {type: poisson, name: web, cdf: web_search, truncate: 200kB, load: 0.6, reference: core}
  - {type: incast, degree: 8, size: 100kB, period: 200us}
run: {seeds: [1], warmup: 0us, duration: 400us, drain: 20ms, sample_period: 50us}
matrix:
  load_balancer.scheme: [ecmp, drill, hermes]
  rlb: ["off", default]
faults:
  - {type: link_flap, links: [leaf1-spine1], start: 60us, duration: 100us}
  - {type: random_drop, links: [leaf2-spine2], probability: 0.01, start: 100us, duration: 50us}
  - {type: switch_stall, switches: [spine3], start: 120us, duration: 20us}
"""


@unittest.skipUnless(shutil.which("mpirun") and (BIN / "eddylab-mpi").exists(), "there is no Open MPI: eddylab-mpi is NOT tested")
class SharedRuns(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="eddylab-mpi-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def call(self, words, code=0):
        done = subprocess.run([str(word) for word in words], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE,
                              check=False, env=ENVIRONMENT)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done

    def alone(self, *words, **options):
        return self.call([BIN / "eddylab", "run", *words, "--quiet", "--out", "alone"], **options)

    def shared(self, ranks, *words, **options):
        return self.call([*MPIRUN, "-n", ranks, BIN / "eddylab-mpi", "run", *words, "--out", f"on{ranks}"], **options)

    def runs(self, out, experiment, size="full"):
        runs = json.loads((self.folder / out / experiment / size / "result.json").read_text())["runs"]
        return without_physical(runs)

    def own_lines(self, said):
        return [line for line in said.splitlines() if line.startswith("eddylab-mpi: ")]

    def test_results_are_those_of_one_process(self):
        (self.folder / "shared.yaml").write_text(EXPERIMENT)
        self.alone("shared.yaml")
        expected = self.runs("alone", "shared")
        self.assertEqual(len(expected), 6)
        for ranks, threads in ((2, 2), (4, 1)):
            self.shared(ranks, "shared.yaml", "--quiet", "--threads", threads)
            self.assertEqual(self.runs(f"on{ranks}", "shared"), expected)

    def test_the_catalogue_too_and_ranks_say_what_they_sent(self):
        words = ("leaf-spine", "--size", "ci", "--variant", "scheme=letflow", "--seed", "1")
        self.alone(*words)
        expected = self.runs("alone", "leaf-spine", "ci")
        said = self.shared(4, *words, "--stats").stdout
        self.assertEqual(self.runs("on4", "leaf-spine", "ci"), expected)
        rows = [line.split() for line in said.splitlines() if re.match(r"^ +\d+ +\d", line)]
        self.assertEqual([row[0] for row in rows], ["0", "1", "2", "3"])
        for row in rows:
            windows, messages, frames, octets = map(int, row[1:5])
            self.assertEqual(messages, 3 * windows)
            self.assertGreater(octets, frames * 64)
        # A finished run is not run again; without mpirun it is one rank.
        self.assertIn("1 of 1 runs are there already", self.shared(4, *words).stderr)
        self.call([BIN / "eddylab-mpi", "run", *words, "--quiet", "--out", "one"])
        self.assertEqual(self.runs("one", "leaf-spine", "ci"), expected)

    def test_wrong_use_is_one_line_and_one_code(self):
        small = ("leaf-spine", "--size", "ci", "--seed", "1", "--variant", "scheme=ecmp", "--set")
        for ranks, words, code, what in (
                (4, (*small, "topology.leaves=2", "--set", "topology.spines=1"), 1, "into 3 parts that can run apart, which is too few"),
                (2, (*small, "run.packets=1000"), 1, "run.packets: who gets the last packet"),
                (2, ("nothing.yaml",), 2, "nothing.yaml"),
                (2, ("leaf-spine", "--check"), 2, "eddylab run has it")):
            said = self.shared(ranks, *words, code=code).stderr
            lines = [line for line in said.splitlines() if what in line]
            self.assertEqual(len(lines), 1, said)

    def test_ranks_that_read_different_files_do_not_run(self):
        for name, load in (("a", "0.6"), ("b", "0.5")):
            (self.folder / name).mkdir()
            (self.folder / name / "shared.yaml").write_text(EXPERIMENT.replace("load: 0.6", f"load: {load}"))
        one = [BIN / "eddylab-mpi", "run"]
        said = self.call([*MPIRUN, "-n", 1, *one, "a/shared.yaml", ":", "-n", 1, *one, "b/shared.yaml"], code=2).stderr
        self.assertEqual(len(self.own_lines(said)), 1, said)
        self.assertIn("rank 1: it reads another configuration", said)
        (self.folder / "b" / "shared.yaml").unlink()
        said = self.call([*MPIRUN, "-n", 1, *one, "a/shared.yaml", ":", "-n", 1, *one, "b/shared.yaml"], code=2).stderr
        self.assertEqual(len(self.own_lines(said)), 1, said)
        self.assertIn("rank 1: b/shared.yaml", said)


def without_physical(value):
    """Of a result, what does not depend on the machine."""
    if isinstance(value, dict):
        return {key: without_physical(of) for key, of in value.items() if key not in PHYSICAL}
    return [without_physical(of) for of in value] if isinstance(value, list) else value


if __name__ == "__main__":
    unittest.main()
