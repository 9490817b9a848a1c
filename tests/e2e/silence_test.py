"""eddylab leaves nothing unsaid: what is wrong with a result stands first, what cannot be done is refused.

Binaries are taken from $EDDY_BIN, which ctest sets. Needs no root.
"""

import json
import subprocess
import unittest

from eddylab_test import EDDYLAB, ENVIRONMENT, PATIENCE, ROOT, Eddylab

ONE = ("--variant", "scheme=ecmp", "--seed", 1)


def first_line(text):
    return text.splitlines()[0] if text else ""


class Silence(Eddylab):
    def page(self, folder):
        """The data of the report's page."""
        self.call("report", folder, "--out", "page.html")
        text = (self.folder / "page.html").read_text()
        return json.loads(text.split('id="data">', 1)[1].split("</script>", 1)[0])

    def warned(self, out, *words, code=0, sets=()):
        """Runs; returns what run says on stderr, and what show and the page say first."""
        given = [word for each in sets for word in ("--set", each)]
        said = self.run_all(out, *ONE, *given, *words, code=code).stderr
        folder = self.folder / out / "tiny" / "ci"
        shown = self.call("show", folder, code=code).stdout
        return said, first_line(shown), self.page(folder)["results"][0]["warnings"]


class Warnings(Silence):
    def test_a_good_run_has_none(self):
        said, shown, page = self.warned("out")
        self.assertNotIn("warning", said)
        self.assertTrue(shown.startswith("tiny (ci)"), shown)
        self.assertEqual(page, [])

    def test_no_measured_flow_is_an_error(self):
        # All flows start in the warm-up.
        said, shown, page = self.warned("out", code=1, sets=["traffic=[{type: burst, size: 10kB}]"])
        self.assertIn("eddylab: scheme=ecmp, seed 1: no flow was measured\n", said)
        self.assertIn("No flow was measured in 1 of 1 run", shown)
        self.assertIn("No flow was measured in 1 of 1 run", page[0])
        self.assertIn("start before run.warmup is over", page[1])
        # It is not finished, and no other sweep says that all is well.
        self.assertIn("no flow was measured",
                      self.run_all("out", *ONE, "--set", "traffic=[{type: burst, size: 10kB}]", code=1).stderr)

    def test_no_flow_at_all_is_an_error_of_a_sweep_too(self):
        done = self.run_all("out", "--jobs", 2, "--seed", 1, "--set", "traffic=[]", code=1)
        self.assertEqual(done.stderr.count("no flow was measured"), 2, done.stderr)
        self.assertIn("warning: No flow was measured in 2 of 2 runs", done.stderr)

    def test_unfinished_flows_and_flows_outside_of_the_run(self):
        trace = self.folder / "trace.csv"
        trace.write_text("start,source,destination,size\n200us,host1,host3,10kB\n300us,host1,host3,900MB\n"
                         "40ms,host1,host3,1B\n")
        said, shown, page = self.warned("out", sets=[f"traffic=[{{type: trace, file: {trace}}}]", "run.drain=1ms"])
        unfinished = "1 of 1 run are censored: flows were unfinished at the end, up to 1 in one"
        outside = "traffic.0.file: 1 of 3 flows start outside of the run and are left out"
        self.assertIn(f"eddylab: warning: {unfinished}", said)
        self.assertIn(f"eddylab: warning: {outside}", said)
        self.assertIn(unfinished, shown)
        self.assertIn(unfinished, page[0])
        self.assertIn(outside, page[1])

    def test_little_headroom_is_said_before_the_runs_and_with_them(self):
        said, shown, page = self.warned("out", sets=["buffer.size=70KiB", "switches.allow_overcommit=true"])
        self.assertRegex(first_line(said), "^eddylab: warning: switches.allow_overcommit: [a-z]+1: ")
        self.assertGreaterEqual(said.count("switches.allow_overcommit: "), 2)  # with the result again
        self.assertIn("switches.allow_overcommit: ", "\n".join(page))
        self.assertTrue(shown.startswith("warning: "), shown)


class Finished(Silence):
    """What is asked of a sweep that has ended."""

    def test_files_that_were_not_asked_for_then_are_made_now(self):
        folder = self.folder / "out" / "tiny" / "ci" / "scheme=ecmp" / "seed1"
        self.run_all("out", *ONE)
        before = self.values("out")[0]
        for words, names in ((["--hpcc"], ["fct.txt", "pfc.txt"]),
                             (["--timeline", "leaf1:spine1@0us-100us"], ["timeline.json", "timeline.svg"])):
            with self.subTest(words=words):
                said = self.run_all("out", *ONE, *words).stderr
                self.assertIn(f"1 of 1 runs are there already, but without {' '.join(words)}: run again", said)
                for name in names:
                    self.assertTrue((folder / name).exists(), name)
                made = (folder / names[0]).stat().st_mtime_ns
                self.assertIn("1 of 1 runs are there already (", self.run_all("out", *ONE, *words).stderr)
                self.assertEqual((folder / names[0]).stat().st_mtime_ns, made)
        after = self.values("out")[0]
        self.assertEqual({**after, "with": []}, {**before, "with": []}, "the run is the same")

    def test_another_path_is_another_timeline(self):
        for path, hop in (("leaf1:spine1@0us-100us", "spine1"), ("leaf1:spine2@0us-100us", "spine2")):
            self.run_all("out", *ONE, "--timeline", path)
            file = self.folder / "out" / "tiny" / "ci" / "scheme=ecmp" / "seed1" / "timeline.json"
            self.assertEqual(json.loads(file.read_text())["hops"][0]["to"], hop)

    def test_invariants_are_checked(self):
        self.run_all("out", *ONE)
        self.assertIn("without --check: run again", self.run_all("out", *ONE, "--check").stderr)
        self.assertEqual(self.result("out")["runs"][0]["with"], ["--check"])
        self.assertIn("there already (", self.run_all("out", *ONE, "--check").stderr)
        self.assertIn("there already (", self.run_all("out", *ONE).stderr, "more was done than is asked")

    def test_a_file_that_is_gone_is_made_again(self):
        self.run_all("out", *ONE, "--hpcc")
        (self.folder / "out" / "tiny" / "ci" / "scheme=ecmp" / "seed1" / "pfc.txt").unlink()
        self.assertIn("without pfc.txt: run again", self.run_all("out", *ONE, "--hpcc").stderr)


class Folders(Silence):
    def hold(self, out):
        """A sweep that runs until the test ends."""
        long_one = subprocess.Popen([EDDYLAB, "run", self.file, "--size", "reduced", "--out", out, *map(str, ONE)],
                                    cwd=self.folder, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
        self.addCleanup(long_one.communicate)
        self.addCleanup(long_one.kill)
        self.assertIn("started", long_one.stderr.readline())
        return long_one

    def test_two_sweeps_into_one_folder(self):
        first = self.hold("out")
        said = self.run_all("out", "--seed", 2, size="reduced", code=1).stderr
        self.assertEqual(said, f"eddylab: out/tiny/reduced: another sweep, process {first.pid}, is writing there; wait "
                               "for its end, or give another --out\n")
        self.run_all("out", *ONE)  # another size is another folder
        self.run_all("elsewhere", *ONE)

    def test_processes_of_one_job_share_a_folder_and_two_jobs_do_not(self):
        part = {"PMI_RANK": "0", "PMI_SIZE": "2"}
        other = subprocess.Popen([EDDYLAB, "run", self.file, "--size", "reduced", "--out", "out"], cwd=self.folder,
                                 env={**ENVIRONMENT, **part}, stderr=subprocess.PIPE, text=True)
        self.addCleanup(other.communicate)
        self.addCleanup(other.kill)
        self.assertIn("process 1 of 2", other.stderr.readline())
        self.assertRegex(other.stderr.readline(), r"^2 runs: .* packet hops or more, .* hours of CPU")
        self.assertIn("started", other.stderr.readline())
        words = ("--set", "run.duration=1ms", "--fresh")
        self.run_all("out", *words, size="reduced", environment={"PMI_RANK": "1", "PMI_SIZE": "2"})
        for environment in (part, {}):
            with self.subTest(environment=environment):
                said = self.run_all("out", *words, size="reduced", environment=environment, code=1).stderr
                self.assertIn("another sweep", said.splitlines()[-1])

    def test_a_folder_that_cannot_be_written_is_said_first_and_alone(self):
        (self.folder / "file").write_text("")
        for words in (["run", self.file, "--size", "ci", "--jobs", 2, "--out", "file"],
                      ["run", self.file, "--size", "ci", "--out", "file/below"],
                      ["run", self.file, "--size", "ci", *ONE, "--out", "/proc/self/none"]):
            with self.subTest(words=words):
                said = self.call(*words, code=1).stderr
                self.assertRegex(said, r"^eddylab: [^\n]*: cannot be written: [^\n]*\n$")
        self.run_all("out", *ONE)
        for words in (["--out", "none/page.html"], ["--out", "out"], ["--figures", "file"]):
            with self.subTest(words=words):
                said = self.call("report", "out/tiny/ci", *words, code=1).stderr
                self.assertRegex(said, r"^eddylab: [^\n]*: cannot be written: [^\n]*\n$")
        self.assertFalse((self.folder / "report.html").exists())
        done = self.call("show", "out/tiny/ci", "--figures", "file/below", code=1)
        self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1))


class Configured(Silence):
    def test_a_variant_is_obeyed(self):
        text = self.call("config", self.file, "--variant", "scheme=letflow").stdout
        self.assertIn("scheme: letflow", text)
        self.assertNotIn("scheme: ecmp", text)
        self.assertEqual(self.call("config", self.file).stdout.count("--- # scheme="), 2)
        said = self.call("config", self.file, "--variant", "scheme=plb", code=2).stderr
        self.assertIn('no variant "scheme=plb"; there are: "scheme=ecmp", "scheme=letflow"', said)

    def test_eddyd_takes_what_is_printed_for_it(self):
        examples = [self.file, *sorted((ROOT / "config" / "experiments").glob("rlb-s*.yaml"))]
        for file in examples:
            variants = [line[6:] for line in self.call("config", file, "--size", "ci").stdout.splitlines()
                        if line.startswith("--- # ")]
            with self.subTest(file=file):
                for switch in ("leaf1", "leaf2", "spine1", "spine2"):  # each has a seed of its own
                    said = self.call("config", file, switch, "--size", "ci", "--variant", variants[-1], "--set", "faults=[]")
                    checked = subprocess.run([EDDYLAB.parent / "eddyd", "--check", "--config", "/dev/stdin"],
                                             input=said.stdout, capture_output=True, text=True, timeout=PATIENCE, check=False)
                    self.assertEqual(checked.returncode, 0, checked.stderr)
                    self.assertIn(f"switch {switch}: id ", checked.stdout)

    def test_what_cannot_be_set_is_refused(self):
        for set_, said in (("matrix.load_balancer.scheme=[plb]", "matrix stands at the top of a file alone"),
                           ("sizes.ci.run.duration=1ms", "sizes stands at the top"),
                           ("run.seeds=[9223372036854775808]", "valid is 0 to 9223372036854775807")):
            with self.subTest(set=set_):
                self.assertIn(said, self.run_all("out", "--set", set_, code=2).stderr)
        for seed in ("9223372036854775808", "-1", "18446744073709551616"):
            with self.subTest(seed=seed):
                self.run_all("out", f"--seed={seed}", code=2)
                self.call("config", self.file, "leaf1", "--variant", "scheme=ecmp", f"--seed={seed}", code=2)
        self.assertFalse((self.folder / "out").exists())


FAULTY = """
id: faulty
topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2, failed: [{links: [leaf1-spine9]}]}
load_balancer: {scheme: letflwo}
traffic:
  - {type: poisson, cdf: no_such_curve, load: 0.4}
  - {type: trace, file: ./no_such_trace.csv}
  - {type: burst, size: 1kB, sources: [leaf7.host1], destinations: [host99]}
  - {type: incast, degree: 2}
faults:
  - {type: link_flap, links: [leaf9-spine1], duration: 1ms}
  - {type: switch_stall, switches: [spine7], duration: 1ms}
run: {sees: [1]}
matrix:
  - {name: one}
sizes:
  ci: {topology.leavs: 3}
  reduced: {traffic.0.cdf: no_other_curve}
"""


class Validated(Silence):
    def test_every_file_and_name_is_looked_up_at_once(self):
        (self.folder / "faulty.yaml").write_text(FAULTY)
        said = self.call("validate", "faulty.yaml", self.file, code=2)
        for part in ("'letflwo'", "no_such_curve", "no_such_trace.csv", "leaf7.host1", "host99", "leaf1-spine9",
                     "leaf9-spine1", "spine7", "'sees'", "'leavs'", "no_other_curve", "traffic.3: no size"):
            with self.subTest(part=part):
                self.assertEqual(sum(part in line for line in said.stderr.splitlines()), 1, said.stderr)
        self.assertNotIn("faulty.yaml: good", said.stdout)
        self.assertIn("tiny.yaml: good", said.stdout)

    def test_files_of_topologies_are_looked_up(self):
        text = FAULTY.replace("kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2,", "kind: file, file: none.topo,")
        (self.folder / "faulty.yaml").write_text(text)
        said = self.call("validate", "faulty.yaml", code=2).stderr
        self.assertIn("none.topo", said)
        self.assertIn("no_such_curve", said)

    def test_a_reconfiguration_and_a_second_document(self):
        good = self.file.read_text()
        (self.folder / "faulty.yaml").write_text(
            good + "faults: [{type: reconfigure, switches: [spine1], set: {buffer.sise: 1MiB}}]\n")
        self.assertIn("buffer.sise", self.call("validate", "faulty.yaml", code=2).stderr)
        (self.folder / "faulty.yaml").write_text(good + "---\n" + 40 * "[" + 40 * "]" + "\n")
        self.assertIn("a second document", self.call("validate", "faulty.yaml", code=2).stderr)

    def test_the_experiments_of_the_tree_are_good(self):
        done = subprocess.run([EDDYLAB, "validate", *sorted((ROOT / "config/experiments").glob("*.yaml"))], cwd=ROOT,
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)
