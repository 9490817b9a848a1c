"""eddylab from its command line: a sweep with processes, one of which is killed, and what is made of it.

Binaries are taken from $EDDY_BIN, which ctest sets. Needs no root.
"""

import json
import os
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

import jsonschema

ROOT = Path(__file__).resolve().parents[2]
EDDYLAB = Path(os.environ.get("EDDY_BIN", ROOT / "build" / "dev" / "bin")) / "eddylab"
PATIENCE = 120  # seconds, on a machine that is busy
ENVIRONMENT = {key: value for key, value in os.environ.items()
               if not key.startswith(("OMPI_", "PMI_", "SLURM_"))}

EXPERIMENT = """
id: tiny
title: A tiny fabric
topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2, host_delay: 1us, fabric_delay: 1us}
buffer: {size: 9MiB}
traffic:
  - {type: poisson, name: web, cdf: web_search, truncate: 200kB, load: 0.4, reference: core}
run: {seeds: [1, 2], warmup: 100us, duration: 1ms, drain: 20ms}
matrix:
  load_balancer.scheme: [ecmp, letflow]
sizes:
  ci: {}
  reduced: {run.duration: 2000ms}
expect: ["Nothing is lost."]
"""
RUNS = [("scheme=ecmp", 1), ("scheme=ecmp", 2), ("scheme=letflow", 1), ("scheme=letflow", 2)]
# What differs from run to run, or with the folder.
PHYSICAL = ("cpu_seconds", "peak_rss_bytes", "replay")


class Eddylab(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="eddylab-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "tiny.yaml"
        # A file elsewhere: its workload is named by a path.
        curve = ROOT / "config" / "workloads" / "web_search.csv"
        self.file.write_text(EXPERIMENT.replace("cdf: web_search", f"cdf: {curve}"))

    def call(self, *words, code=0, environment=None):
        done = subprocess.run([EDDYLAB, *map(str, words)], cwd=self.folder, capture_output=True,
                              text=True, timeout=PATIENCE, check=False,
                              env={**ENVIRONMENT, **(environment or {})})
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done

    def run_all(self, out, *words, code=0, size="ci", environment=None):
        return self.call("run", self.file, "--size", size, "--out", out, *words, code=code,
                         environment=environment)

    def result(self, out, size="ci"):
        return json.loads((self.folder / out / "tiny" / size / "result.json").read_text())

    def values(self, out):
        runs = self.result(out)["runs"]
        return [{key: value for key, value in run.items() if key not in PHYSICAL} for run in runs]


def children_of(pid):
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(status.parent.name))
    return found


class Sweeps(Eddylab):
    def test_a_sweep_gives_the_same_with_any_number_of_processes(self):
        self.run_all("two", "--jobs", 2)
        self.run_all("one")
        self.run_all("threads", "--jobs", 2, "--threads", 2)
        self.run_all("auto", "--jobs", 2, "--threads", "auto")
        self.assertEqual(self.values("threads"), self.values("one"))
        self.assertEqual(self.values("auto"), self.values("one"))
        self.assertEqual([(run["variant"], run["seed"]) for run in self.result("two")["runs"]], RUNS)
        self.assertEqual(self.values("two"), self.values("one"))
        digests = {run["digest"] for run in self.result("two")["runs"]}
        self.assertEqual(len(digests), len(RUNS))
        by_seed = {(run["seed"], run["trace_digest"]) for run in self.result("two")["runs"]}
        self.assertEqual(len(by_seed), 2, "schemes of one seed have the same flows")
        for run in self.result("two")["runs"]:
            self.assertGreater(run["flows"], 0)
            self.assertEqual(run["unfinished"], 0)
            self.assertEqual(run["lossless_drops"], 0)

    def test_the_result_is_as_its_schema_says(self):
        self.run_all("out", "--seed", 3)
        schema = json.loads((ROOT / "lab" / "results" / "result.schema.json").read_text())
        result = self.result("out")
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(result, schema)
        del result["runs"][0]["fct_p99_us"]
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate(result, schema)

    def test_flows_in_sqlite_agree_with_the_result(self):
        self.run_all("out", "--seed", 3, "--variant", "scheme=ecmp", "--hpcc")
        folder = self.folder / "out" / "tiny" / "ci" / "scheme=ecmp" / "seed3"
        run = self.result("out")["runs"][0]
        with sqlite3.connect(folder / "flows.sqlite") as flows:
            count, mean = flows.execute("SELECT count(*), avg(fct_ns) / 1000.0 FROM flows "
                                        "WHERE measured AND finished").fetchone()
            self.assertEqual(count, run["flows"])
            self.assertAlmostEqual(mean, run["fct_mean_us"], delta=1e-3)
            self.assertEqual(flows.execute("SELECT count(*) FROM flows").fetchone()[0],
                             run["flows_total"])
            self.assertEqual(flows.execute("SELECT name FROM hosts WHERE id = 0").fetchone()[0],
                             "leaf1.host1")
            self.assertGreater(flows.execute("SELECT count(*) FROM samples").fetchone()[0], 0)
            links = flows.execute("SELECT link, sender, bytes, paused_ns FROM links").fetchall()
            self.assertEqual([row[:2] for row in links[:2]],
                             [("leaf1-spine1", "leaf1"), ("leaf1-spine1", "spine1")])
            self.assertEqual(len(links), 2 * 4)
            # Every flow crosses two links; ACKs and headers come on top.
            payload = 2 * flows.execute("SELECT sum(delivered_bytes) FROM flows").fetchone()[0]
            sent = sum(row[2] for row in links)
            self.assertGreater(sent, payload)
            self.assertLess(sent, payload * 1.3)
            self.assertEqual(sum(row[3] for row in links), 0)
        lines = (folder / "fct.txt").read_text().splitlines()
        self.assertEqual(len(lines), run["flows_total"])
        self.assertTrue(all(len(line.split()) == 8 for line in lines))

    def test_conweaves_scripts_find_their_columns(self):
        """Reads the files as that simulator's scripts do: by position, at the times of the trace."""
        trace = self.folder / "flows.txt"
        trace.write_text("4\n" "0 2 3 300000 2.000010000\n" "1 2 3 300000 2.000010000\n"
                         "3 0 3 1000 2.000020000\n" "2 1 3 64000 2.000030000\n")
        self.run_all("out", "--seed", 1, "--variant", "scheme=ecmp", "--conweave",
                     "--set", "host.window=false", "--set", "run.warmup=0ms",
                     "--set", f"traffic=[{{type: trace, file: {trace}}}]")
        run = self.result("out")["runs"][0]
        self.assertEqual(run["flows_total"], 4)
        files = self.folder / "out/tiny/ci/scheme=ecmp/seed1"
        fct = [[int(word) for word in line.split(" ")]
               for line in (files / "out_fct.txt").read_text().splitlines()]
        self.assertEqual(sorted((row[0], row[1], row[4], row[5]) for row in fct),
                         [(0, 2, 300000, 2000010000), (1, 2, 300000, 2000010000),
                          (2, 1, 64000, 2000030000), (3, 0, 1000, 2000020000)])
        self.assertTrue(all(row[6] >= row[7] * 0.95 for row in fct), "an FCT, and that of the flow alone")
        last = max(row[5] + row[6] for row in fct)

        def series(name, separator, columns):
            rows = [[int(word) for word in line.split(separator)]
                    for line in (files / name).read_text().splitlines()]
            self.assertTrue(all(len(row) == columns for row in rows))
            self.assertEqual(rows, sorted(rows))
            return rows

        # ns, leaf, port, octets: two leaves (nodes 4 and 5) of two hosts, with two uplinks each.
        uplinks = series("out_uplink.txt", ",", 4)
        times = sorted({row[0] for row in uplinks})
        self.assertEqual(times[0], 2000010000)
        self.assertEqual({b - a for a, b in zip(times, times[1:])}, {10000})
        self.assertLess(times[-1], last + 10000)
        self.assertEqual({tuple(row[1:3]) for row in uplinks}, {(4, 3), (4, 4), (5, 3), (5, 4)})
        ends = {tuple(row[1:3]): row[3] for row in uplinks}
        self.assertGreater(ends[4, 3] + ends[4, 4], 600000, "leaf 1 has sent both flows up")
        for port in ends:
            octets = [row[3] for row in uplinks if tuple(row[1:3]) == port]
            self.assertEqual(octets, sorted(octets), "it counts on")
        self.assertEqual({row[3] for row in uplinks if row[0] == times[0]}, {0})

        # ns, host, QPs, those that have octets left.
        pairs = series("out_conn.txt", ",", 4)
        self.assertEqual({row[1] for row in pairs}, {0, 1, 2, 3})
        self.assertTrue(all(row[3] <= row[2] <= 1 for row in pairs))
        self.assertEqual([row[2:] for row in pairs if row[:2] == [2000020000, 0]], [[1, 1]])
        self.assertEqual([row[2] for row in pairs if row[0] < 2000030000 and row[1] == 2], [0, 0])

        # ns, host, CNPs by ECN, by out-of-order packets, all: only hosts that have sent some.
        cnps = series("out_cnp.txt", " ", 5)
        self.assertGreater(run["counters"]["nic_tx_cnp_packets"], 0)
        self.assertEqual({row[1] for row in cnps}, {2})
        self.assertTrue(all(row[2] == row[4] > 0 and row[3] == 0 for row in cnps))
        self.assertEqual(sum(row[2] for row in cnps), run["counters"]["nic_tx_cnp_packets"])

    def test_the_fabric_of_conweaves_simulator(self):
        """All four schemes, and its analysis of out_fct.txt gives our statistics."""
        self.call("run", "fidelity-conweave", "--size", "ci", "--out", "out", "--conweave")
        folder = self.folder / "out" / "fidelity-conweave" / "ci"
        runs = json.loads((folder / "result.json").read_text())["runs"]
        self.assertEqual([run["variant"] for run in runs],
                         ["conga", "drill", "ecmp", "letflow"])
        for run in runs:
            self.assertEqual(run["lossless_drops"], 0)
            self.assertEqual(run["unfinished"], 0)
            self.assertEqual(run["warnings"], [])
            self.assertGreater(run["flows"], 500)
            rows = [[int(word) for word in line.split()]
                    for line in (folder / run["variant"] / "seed1" / "out_fct.txt").read_text().splitlines()]
            slowdowns = sorted(max(1, row[6] / row[7]) for row in rows if row[5] >= 500_000)
            self.assertEqual(len(slowdowns), run["flows"])
            mean = sum(slowdowns) / len(slowdowns)  # of whole nanoseconds
            self.assertAlmostEqual(mean / run["slowdown_mean"], 1, delta=1e-3)
            rank = -(-len(slowdowns) * 99 // 100)
            self.assertAlmostEqual(slowdowns[rank - 1] / run["slowdown_p99"], 1, delta=1e-3)

    def test_a_series_without_samples_is_refused(self):
        done = self.run_all("out", "--seed", 1, "--variant", "scheme=ecmp", "--conweave",
                            "--set", "run.sample_period=none", code=1)
        self.assertIn("run.sample_period: none, --conweave needs one", done.stderr)
        done = self.run_all("out", "--seed", 1, "--variant", "scheme=ecmp", "--flow-series",
                            "--set", "run.sample_period=none", code=1)
        self.assertIn("run.sample_period: none, --flow-series needs one", done.stderr)

    def test_series_of_flows_are_written_and_change_nothing(self):
        one = ("--seed", 1, "--variant", "scheme=letflow")
        self.run_all("plain", *one)
        self.run_all("plain", *one, "--flow-series", "--timeline", "leaf1:spine1@0us-10us", "--hpcc")  # runs it again
        self.run_all("out", *one)
        digests = [self.result(out)["runs"][0]["digest"] for out in ("plain", "out")]
        self.assertEqual(digests[0], digests[1])
        run = self.result("plain")["runs"][0]
        self.assertEqual(run["with"], ["--hpcc", "--flow-series", "--timeline leaf1:spine1@0us-10us"])
        folder = self.folder / "plain" / "tiny" / "ci" / "scheme=letflow" / "seed1"
        links = [row.split(",") for row in (folder / "link_flows.csv").read_text().splitlines()]
        self.assertEqual(links[0], ["at_ns", "link", "sender", "flows"])
        self.assertEqual({row[2] for row in links[1:]}, {"leaf1", "leaf2", "spine1", "spine2"})
        self.assertTrue(all(0 < int(row[3]) <= run["flows_total"] for row in links[1:]))
        tables = [row.split(",") for row in (folder / "flow_tables.csv").read_text().splitlines()]
        self.assertGreater(max(int(row[2]) for row in tables[1:]), 0)

    def test_a_timeline_is_written_beside_the_results(self):
        self.run_all("out", "--seed", 3, "--variant", "scheme=ecmp", "--timeline", "leaf1:spine1@0us-100us")
        folder = self.folder / "out" / "tiny" / "ci" / "scheme=ecmp" / "seed3"
        timeline = json.loads((folder / "timeline.json").read_text())
        self.assertEqual(timeline["hops"][0]["to"], "spine1")
        self.assertEqual({record[2] for record in timeline["records"]} - set(timeline["kinds"]), set())
        self.assertIn("<svg", (folder / "timeline.svg").read_text())
        rows = (folder / "timeline.csv").read_text().splitlines()
        self.assertEqual(len(rows), len(timeline["records"]) + 1)

    def test_pauses_are_logged_as_hpcc_does(self):
        incast = ["--set", "traffic=[{type: incast, degree: 2, size: 4MB, start: 100us}]", "--set", "topology.spines=1",
                  "--set", "buffer.profiles.lossless={mode: static, xoff: 20KiB}"]
        self.run_all("out", "--seed", 1, "--variant", "scheme=ecmp", "--hpcc", *incast)
        run = self.result("out")["runs"][0]
        self.assertGreater(run["pfc_frames"], 0)
        text = (self.folder / "out/tiny/ci/scheme=ecmp/seed1/pfc.txt").read_text()
        self.run_all("checked", "--seed", 1, "--variant", "scheme=ecmp", "--hpcc", "--check", *incast)
        self.assertEqual((self.folder / "checked/tiny/ci/scheme=ecmp/seed1/pfc.txt").read_text(), text)
        self.assertEqual(self.result("checked")["runs"][0]["exempt"], [])
        rows = [list(map(int, line.split())) for line in text.splitlines()]
        self.assertEqual(rows, sorted(rows, key=lambda row: row[0]))
        self.assertEqual(sum(row[4] for row in rows), run["pfc_frames"])
        for at, node, is_switch, port, pause in rows:
            self.assertEqual(is_switch, int(node >= 4), "the hosts are numbered first")
            self.assertGreaterEqual(port, 1)
            self.assertIn(pause, (0, 1))
            self.assertLessEqual(at, run["simulated_us"] * 1000)

    def test_a_killed_run_is_told_and_the_sweep_goes_on_from_there(self):
        self.run_all("whole")
        # One that takes long enough to be caught, by its process.
        command = [EDDYLAB, "run", self.file, "--size", "reduced", "--out", "long", "--jobs", "2",
                   "--seed", "1"]
        sweep = subprocess.Popen(command, cwd=self.folder, env=ENVIRONMENT, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(lambda: sweep.poll() is None and sweep.kill())
        children = self.wait_for_children(sweep, 2)
        os.kill(children[0], signal.SIGKILL)
        sweep.send_signal(signal.SIGINT)  # the other one ends with what it has
        _, said = sweep.communicate(timeout=PATIENCE)
        self.assertEqual(sweep.returncode, 130, said)
        self.assertIn("killed by signal 9", said)
        replay = next(line for line in said.splitlines() if "again: eddylab run" in line)
        self.assertIn("--size reduced", replay)
        self.assertIn("--variant scheme=", replay)
        self.assertIn("--seed 1", replay)

    def wait_for_children(self, process, count):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and process.poll() is None:
            children = children_of(process.pid)
            if len(children) >= count:
                return children
        self.fail(f"{count} processes of the sweep were not seen")

    def test_a_sweep_that_was_stopped_goes_on(self):
        self.run_all("whole")
        self.run_all("parts", "--variant", "scheme=ecmp")
        kept = self.folder / "parts" / "tiny" / "ci" / "scheme=ecmp" / "seed1" / "run.json"
        before = kept.stat().st_mtime_ns
        lost = self.folder / "parts" / "tiny" / "ci" / "scheme=ecmp" / "seed2"
        text = (lost / "run.json").read_text()
        (lost / "run.json").write_text(text[:len(text) // 2])  # as a crash would leave it
        done = self.run_all("parts", "--resume", "--jobs", 2)
        self.assertIn("1 of 4 runs are there already", done.stderr)
        self.assertEqual(kept.stat().st_mtime_ns, before)
        self.assertEqual(self.values("parts"), self.values("whole"))

    def test_an_interrupted_run_is_marked_and_run_again(self):
        command = [EDDYLAB, "run", self.file, "--size", "reduced", "--out", "out", "--seed", "1",
                   "--variant", "scheme=ecmp", "--progress"]
        with subprocess.Popen(command, cwd=self.folder, env=ENVIRONMENT, text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as run:
            self.addCleanup(lambda: run.poll() is None and run.kill())
            self.assertIn("started", run.stderr.readline())
            run.send_signal(signal.SIGINT)
            run.communicate(timeout=PATIENCE)
            self.assertEqual(run.returncode, 130)
        interrupted = self.result("out", "reduced")["runs"][0]
        self.assertTrue(interrupted["interrupted"])
        self.assertIn("were interrupted", self.call("show", "out/tiny/reduced").stdout)

    def test_another_configuration_is_not_mixed_in(self):
        self.run_all("out", "--seed", 1)
        refused = self.run_all("out", "--seed", 1, "--set", "run.duration=500us", code=1)
        self.assertIn("another configuration", refused.stderr)
        self.assertIn("--fresh", refused.stderr)
        before = self.values("out")
        self.run_all("out", "--seed", 1, "--set", "run.duration=500us", "--fresh")
        self.assertNotEqual(self.values("out"), before)
        # Other seeds are the same configuration.
        self.run_all("out", "--seed", "1,2", "--set", "run.duration=500us", "--set", "run.seeds=[9]")

    def test_processes_of_mpirun_share_the_runs(self):
        self.run_all("alone")
        for rank in range(3):
            done = self.run_all("shared", environment={"OMPI_COMM_WORLD_RANK": str(rank),
                                                       "OMPI_COMM_WORLD_SIZE": "3"})
            self.assertIn(f"process {rank + 1} of 3", done.stderr)
        self.assertEqual(self.values("shared"), self.values("alone"))
        self.assertIn("PMI_RANK=7", self.run_all("x", code=2, environment={
            "PMI_RANK": "7", "PMI_SIZE": "2"}).stderr)

    def test_the_replay_line_replays(self):
        self.run_all("first", "--seed", 2, "--variant", "scheme=letflow")
        run = self.result("first")["runs"][0]
        line = run["replay"].replace("eddylab", str(EDDYLAB), 1)
        subprocess.run(f"{line} --out again", shell=True, cwd=self.folder, check=True,
                       capture_output=True, timeout=PATIENCE, env=ENVIRONMENT)
        self.assertEqual(self.result("again")["runs"][0]["digest"], run["digest"])


class Shown(Eddylab):
    def test_tables_and_figures(self):
        self.run_all("out", "--jobs", 2)
        folder = self.folder / "out" / "tiny" / "ci"
        text = self.call("show", folder, "--figures").stdout
        self.assertEqual(text, self.call("show", folder / "result.json").stdout)
        self.assertIn("tiny (ci): A tiny fabric", text)
        self.assertIn("Nothing is lost.", text)
        rows = [line for line in text.splitlines() if line.startswith("scheme=ecmp ")]
        mean = sum(run["fct_mean_us"] for run in self.result("out")["runs"][:2]) / 2
        self.assertIn(f" {mean:.0f} +-" if mean >= 100 else f" {mean:.1f} +-", rows[0])
        self.assertIn("< 1 BDP", text)
        drawn = {}
        for name in ("fct_cdf.svg", "slowdown_by_size.svg", "queues.svg"):
            drawn[name] = (folder / name).read_bytes()
            root = xml.fromstring(drawn[name])
            self.assertTrue(root.findall(".//{*}polyline") + root.findall(".//{*}path"), name)
            self.assertIn("scheme=letflow", drawn[name].decode())
        self.call("show", folder / "result.json", "--figures", "elsewhere")
        for name, before in drawn.items():
            self.assertEqual((self.folder / "elsewhere" / name).read_bytes(), before)
        self.assertEqual(json.loads(self.call("show", folder, "--json").stdout), self.result("out"))

    def test_one_of_several_variants_is_shown_and_drawn(self):
        self.run_all("out", "--seed", 1)
        folder = self.folder / "out" / "tiny" / "ci"
        one = ["show", folder, "--variant", "scheme=letflow"]
        text = self.call(*one, "--figures", "one").stdout
        self.assertIn("scheme=letflow", text)
        self.assertNotIn("scheme=ecmp", text)
        self.assertNotIn("scheme=ecmp", (self.folder / "one" / "fct_cdf.svg").read_text())
        self.assertEqual(len(json.loads(self.call(*one, "--json").stdout)["runs"]), 1)
        self.assertIn("\"scheme=ecmp\"", self.call("show", folder, "--variant", "x", code=2).stderr)

    def test_times_of_a_topology_are_for_reading(self):
        text = self.call("topology", self.file).stdout
        # 2 x 4 us of links, packet and ACK over 40 Gb/s.
        self.assertRegex(text, r"over 4 links: [89]\.\d{1,3}us\n")
        self.assertNotIn("ps\n", text.replace("Gbps", "").replace("Mbps", ""))

    def test_files_are_validated_and_printed(self):
        self.assertIn("good; sizes ci, reduced, full, 2 variants",
                      self.call("validate", self.file).stdout)
        wrong = self.folder / "wrong.yaml"
        wrong.write_text(EXPERIMENT.replace("leaves: 2", "leafs: 2").replace("load: 0.4", "lode: 1"))
        said = self.call("validate", self.file, wrong, code=2).stderr
        self.assertIn("leafs", said)
        self.assertIn("lode", said)
        printed = self.folder / "printed.yaml"
        printed.write_text(self.call("config", self.file, "--set",
                                     "load_balancer.scheme=drill").stdout)
        self.assertEqual(self.call("config", printed).stdout, printed.read_text())
        self.assertIn("4 hosts", self.call("topology", self.file).stdout)

    def test_schemas(self):
        for of in ("experiment", "result"):
            schema = json.loads(self.call("schema", of).stdout)
            jsonschema.Draft202012Validator.check_schema(schema)

    def test_collectives_have_times_of_their_own(self):
        file = ROOT / "config" / "experiments" / "collectives.yaml"
        self.call("validate", file)
        self.call("run", file, "--size", "ci", "--out", "out")
        size = self.folder / "out" / "collectives" / "ci"
        result = json.loads((size / "result.json").read_text())
        jsonschema.validate(result, json.loads(self.call("schema", "result").stdout))
        for run in result["runs"]:
            self.assertEqual([tenant["name"] for tenant in run["tenants"]], ["job1", "job2", "web"])
            self.assertEqual(run["lossless_drops"], 0)
            for job in run["tenants"][:2]:
                self.assertGreaterEqual(job["requests"], 1)
                self.assertEqual(job["requests_unfinished"], 0)
                self.assertGreaterEqual(job["request_slowdown_mean"], 1)
        claims = [line for line in self.call("show", size).stdout.splitlines() if " against " not in line
                  and line.startswith("job")]
        self.assertEqual(len(claims), 4)
        for line in claims:
            self.assertTrue(line.endswith("holds"), line)
        # On two threads it is the same run.
        self.call("run", file, "--size", "ci", "--out", "two", "--threads", "2", "--variant", "ecmp")
        two = json.loads((self.folder / "two" / "collectives" / "ci" / "result.json").read_text())
        ecmp = [run for run in result["runs"] if run["variant"] == "ecmp"]
        self.assertEqual(two["runs"][0]["digest"], ecmp[0]["digest"])
        self.assertEqual(two["runs"][0]["tenants"], ecmp[0]["tenants"])

    def test_claims_are_a_document_and_kept(self):
        self.file.write_text(self.file.read_text().replace(
            'expect: ["Nothing is lost."]', 'expect: ["lossless_drops of every []: at most 0", "pfc_events of [scheme=none]: at most 0", "Fine."]'))
        self.run_all("out", "--seed", "1-2")
        size = self.folder / "out" / "tiny" / "ci"
        whole = self.call("claims", size, "--keep", "kept").stdout
        self.assertIn("| [tiny](#tiny) | ci | 1-2 | `lossless_drops` of every run | at most 0 | 0 | holds |", whole)
        self.assertIn("| `pfc_events` of `scheme=none` | at most 0 | - | 0 | not run |", whole)
        self.assertIn("* In words: Fine.", whole)
        (self.folder / "kept" / "tiny.md").write_text("why")
        kept = self.call("claims", "kept", "--unseen").stdout
        self.assertIn("[Numbers](kept/tiny.json). **[What it shows](kept/tiny.md).**", kept)
        self.assertRegex(kept, r"\nClaims without results here: .*rlb-s1 \(")
        tables = [line for line in whole.splitlines() if line.startswith("|")]
        self.assertEqual([line for line in kept.splitlines() if line.startswith("|")], tables)
        rows = json.loads(self.call("claims", "kept", "--json").stdout)
        self.assertEqual([row["verdict"] for row in rows], ["holds", "not run", "in words"])
        self.assertIn("scheme=ecmp", self.call("show", "kept/tiny.json").stdout)
        for words, said in ((("nowhere",), "nowhere: there is no such file or folder"), ((self.file,), "tiny.yaml"),
                            (("kept", "--keep", "kept/tiny.json"), "kept/tiny.json")):
            done = self.call("claims", *words, code=1)
            self.assertEqual(done.stdout, "")
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(said, done.stderr)

    def test_the_experiments_are_listed(self):
        done = subprocess.run([EDDYLAB, "list"], cwd=ROOT, capture_output=True, text=True,
                              timeout=PATIENCE, check=True)
        ids = [line.split()[0] for line in done.stdout.splitlines()[1:]]
        self.assertEqual(ids, sorted(p.stem for p in (ROOT / "config/experiments").glob("*.yaml")))
        self.assertEqual(self.call("list", "--names").stdout.split(), ids)

    def test_the_variants_of_an_experiment_are_listed(self):
        self.assertEqual(self.call("list", "leaf-spine").stdout.splitlines(),
                         ["scheme=ecmp", "scheme=letflow", "scheme=presto", "scheme=drill"])
        self.assertEqual(self.call("list", "leaf-spine", "--names").stdout.count("scheme="), 4)
        self.assertIn("no experiment", self.call("list", "none", code=2).stderr)


class Explained(Eddylab):
    PACKET = "src=leaf1.host1 dst=leaf2.host1 dport=4791 dscp=3 ecn=ect0 len=1000"

    def explain(self, *words, code=0):
        return self.call("explain", self.file, *words, code=code)

    def test_a_packet_at_an_instant_of_a_run(self):
        words = (self.PACKET, "--at", "400us", "--variant", "scheme=letflow", "--json")
        story = json.loads(self.explain(*words).stdout)
        self.assertEqual((story["switch"], story["port"], story["at_ns"], story["fate"]), ("leaf1", "host1", 400_000, "queued"))
        select = {step["step"]: step for step in story["steps"]}["select"]
        self.assertEqual((select["scheme"], len(select["paths"])), ("letflow", 2))
        self.assertIn(story["egress"], ("spine1", "spine2"))
        self.assertEqual(json.loads(self.explain(*words).stdout), story, "the same run says the same")
        busy = [json.loads(self.explain(self.PACKET, "--at", f"{at}us", "--variant", "scheme=letflow", "--json").stdout)
                for at in range(200, 1000, 100)]
        waiting = [path["backlog_bytes"] for one in busy for step in one["steps"] if step["step"] == "select" for path in step["paths"]]
        self.assertGreater(max(waiting), 0, "nothing ever waits")

    def test_another_switch_and_words_for_people(self):
        lines = self.explain(self.PACKET, "port=leaf1", "--switch", "spine1", "--at", "1ms", "--variant", "scheme=ecmp").stdout
        self.assertRegex(lines, r"^spine1, in by leaf1\n")
        self.assertRegex(lines, r"\n  => it goes into queue \d of leaf2\n$")

    def test_what_is_wrong_is_said(self):
        for words, part in (((self.PACKET, "--at", "1ms"), '--variant: one has to be named; there are: "scheme=ecmp", "scheme=letflow"'),
                            ((self.PACKET, "--at", "soon"), "--at"), ((self.PACKET, "--at", "1ms", "--switch", "leaf9"), "leaf9"),
                            (("hello", "--at", "1ms"), "src is missing, valid is a host of the fabric such as leaf1.host1"),
                            (("src=leaf9.host1 dst=leaf1.host1", "--at", "1ms"), "src=leaf9.host1 is none, valid is a host"),
                            (("src=192.0.2.1 dst=leaf1.host1", "--at", "1ms"), "--switch is missing, as src is no host"), ((self.PACKET, "--at", "20s"), "ended before"),
                            (("src=leaf1.host1 dst=nobody dscp=70", "--at", "1ms"), "dst=nobody")):
            if "--at" in words and "variant" not in part:
                words = (*words, "--variant", "scheme=ecmp")
            self.assertIn(part, self.explain(*words, code=2).stderr)

    def test_all_that_is_wrong_is_said_at_once(self):
        valid = "valid is a host of the fabric such as leaf1.host1, or an address"
        for packet, problems in (("hello", [f"src is missing, {valid}", "dst is missing", '"hello" is not KEY=VALUE']),
                                 ("dst=leaf2.host99 src=leaf1.host1 dscp=70", [f"dst=leaf2.host99 is none, {valid}", "dscp=70 is no whole number from 0 to 63"]),
                                 ("src=nobody dst=leaf2.host1 port=nowhere", [f"src=nobody is none, {valid}"]),
                                 ("src=leaf1.host1 src=leaf1.host2 dst=leaf2.host1", ["src is said twice"])):
            said = self.explain(packet, "--at", "1ms", "--variant", "scheme=ecmp", code=2).stderr
            self.assertEqual(sorted(said.splitlines()), sorted(f"eddylab: {problem}" for problem in problems), packet)


class Conformance(Eddylab):
    def test_a_scheme_is_checked(self):
        said = self.call("conformance", "ecmp", "wcmp").stdout
        for check in ("live_members_only", "proposing_changes_nothing", "rlb_around_rlb"):
            self.assertRegex(said, rf"ecmp +{check} +[1-9]\d* +holds")
        self.assertRegex(said, r"wcmp +flow_keeps_its_path +[1-9]\d* +holds")
        self.assertTrue(said.endswith("2 schemes, 16 checks: all hold\n"), said[-80:])

    def test_the_results_are_told_as_json(self):
        told = json.loads(self.call("conformance", "presto", "--json").stdout)
        self.assertEqual([told["holds"], told["schemes"][0]["scheme"]], [True, "presto"])
        verdicts = {each["check"]: each["verdict"] for each in told["schemes"][0]["checks"]}
        self.assertEqual(verdicts.pop("flow_keeps_its_path"), "left out")  # it promises no order
        self.assertEqual(set(verdicts.values()), {"holds"})
        listed = json.loads(self.call("conformance", "--list", "--json").stdout)
        self.assertLessEqual(set(verdicts), {each["check"] for each in listed["checks"]})

    def test_an_unknown_scheme_is_refused(self):
        said = self.call("conformance", "ecmp", "ekmp", code=2).stderr
        self.assertIn("'ekmp' is no scheme; valid: ecmp", said)


class Models(Eddylab):
    def test_figures_are_listed_and_computed(self):
        figures = json.loads(self.call("model", "--json").stdout)["figures"]
        self.assertEqual([each["figure"] for each in figures], ["lf-7", "lf-8", "fc-4a", "fc-4b", "fc-4c", "fc-5"])
        self.assertIn("lf-7   LetFlow's chain", self.call("model").stdout)
        told = json.loads(self.call("model", "fc-4a", "--set", "rtt=50us", "--json").stdout)
        self.assertEqual((told["settings"]["rtt"], told["settings"]["hosts"]), ("50us", "1024"))
        self.assertLess(told["rows"][0]["octets"]["flowcut full"], 7 * 2**20)
        said = self.call("model", "lf-7", "--set", "gap=500us", "--figure", "split.svg")
        self.assertIn("ideal: 80.0 of 100 flows", said.stdout)
        self.assertEqual(said.stderr, "split.svg\n")
        self.assertEqual(xml.parse(self.folder / "split.svg").getroot().tag.split("}")[1], "svg")
        self.assertIn("gap=30us,50us", self.call("model", "lf-7", "--keys").stdout)

    def test_a_run_stands_beside_the_model(self):
        self.call("run", "lf-7", "--size", "ci", "--out", "out", "--flow-series", "--quiet",
                  "--variant", "congestion_control=dcqcn gap=20us", "--variant", "congestion_control=dcqcn gap=900us")
        told = json.loads(self.call("model", "lf-7", "--compare", "out/lf-7/ci", "--json").stdout)
        rows = {row["gap_us"]: row for row in told["runs"]}
        self.assertEqual((rows[20]["flows"], rows[20]["ideal"]), (25, 20))
        self.assertGreater(rows[20]["run"], 16)  # of them on the fast path
        self.assertLess(rows[900]["run"], 16)
        self.assertLess(rows[900]["model"], 13)
        table = self.call("model", "lf-7", "--compare", "out/lf-7/ci").stdout
        self.assertIn("congestion_control=dcqcn gap=20us", table)

    def test_what_cannot_be_computed_or_compared_is_said(self):
        for words, code, said in ((["lf-9"], 2, "lf-9 not in"),
                                  (["lf-7", "--set", "gap=5"], 2, "--set gap: '5' has no unit"),
                                  (["lf-7", "--set", "rates=1Gbps"], 2, "--set rates: two values"),
                                  (["lf-8", "--compare", "out"], 2, "no run shows what lf-8 is of"),
                                  (["lf-7", "--compare", "none"], 1, "none: no finished run in it"),
                                  (["lf-7", "--figure", "none/x.svg"], 1, "none/x.svg"),
                                  (["--keys"], 2, "figure")):
            with self.subTest(words=words):
                done = self.call("model", *words, code=code)
                self.assertIn(said, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertLessEqual(done.stderr.count("\n"), 2)  # where to find help


class Mistakes(Eddylab):
    def test_wrong_options_are_refused(self):
        for words in ([], ["walk"], ["run"], ["run", self.file, "--size", "huge"],
                      ["run", self.file, "--jobs", "0"], ["run", self.file, "--jobs", "x"],
                      ["run", self.file, "--threads", "0"], ["run", self.file, "--threads", "2x"],
                      ["run", self.file, "--threads", "257"], ["run", self.file, "--threads", "few"],
                      ["run", self.file, "--quiet", "--progress"], ["show"], ["validate"],
                      ["schema", "x"], ["run", self.file, "--sed", "1"]):
            with self.subTest(words=words):
                self.assertNotEqual(self.call(*words, code=2).stderr, "")

    def test_what_would_be_valid_is_said(self):
        for words, said in ((["walk"], "no command \"walk\"; they are run, up,"),
                            (["run", "none"], "no experiment \"none\""),
                            (["run", "./none.yaml"], "none.yaml"),
                            (["run", self.file, "--seed", "1,x"], "\"x\" is no seed"),
                            (["run", self.file, "--variant", "x"], "\"scheme=ecmp\""),
                            (["run", self.file, "--set", "x"], "key.path=value"),
                            (["run", self.file, "--set", "run.durration=1ms"], "durration")):
            with self.subTest(words=words):
                self.assertIn(said, self.call(*words, code=2).stderr)
        self.assertFalse((self.folder / "results").exists())

    def test_every_program_says_its_version(self):
        for name in ("eddyd", "eddyctl", "eddylab", "eddyhost"):
            program = EDDYLAB.parent / name
            if program.exists():  # not all are built everywhere
                done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
                self.assertRegex(done.stdout, rf"^{name} \d+\.\d+\.\d+ \(commit [0-9a-z]+( with changes)?\)$")

    def test_every_program_has_the_same_words_for_help(self):
        for name in ("eddyd", "eddyctl", "eddylab", "eddyhost"):
            program = EDDYLAB.parent / name
            if not program.exists():  # not all are built everywhere
                continue
            with self.subTest(program=name):
                done = {words: subprocess.run([program, *words], capture_output=True, text=True, check=False)
                        for words in (("--help",), ("help",), ("x", "y", "--help"), ("x", "y", "--version"))}
                self.assertIn("Usage: " + name, done["--help",].stdout)
                self.assertEqual((done["help",].returncode, done["help",].stdout), (0, done["--help",].stdout))
                for words in (("x", "y", "--help"), ("x", "y", "--version")):
                    self.assertEqual((done[words].returncode, done[words].stdout), (2, ""))
                    self.assertRegex(done[words].stderr, f'^{name}: .*"[xy]"')
        for words, code in ((("NOSUCH", "--help"), 2), (("show", "NOSUCH", "--help"), 2), (("show", "--help"), 0),
                            (("help", "show"), 0), (("help", "NOSUCH"), 2)):
            with self.subTest(words=words):
                done = subprocess.run([EDDYLAB.parent / "eddyctl", *words], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(self.call("help", "run").stdout, self.call("run", "--help").stdout)
        self.call("help", "NOSUCH", code=2)

    def test_what_is_no_result_is_said(self):
        (self.folder / "x.json").write_text("{}")
        for path in ("none", ".", "x.json"):
            self.assertNotEqual(self.call("show", path, code=1).stderr, "")
        (self.folder / "x.json").write_text('{"schema_version": 1, "runs": [1, {"variant": 2}]}')
        self.call("show", "x.json", code=1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
