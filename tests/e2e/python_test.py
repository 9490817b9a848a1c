"""The Python package: runs and flows as tables, with pandas and without, and the notebook that comes with it."""

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
EDDYLAB = (Path(os.environ["EDDY_BIN"]) / "eddylab").resolve()
os.environ["EDDYLAB"] = str(EDDYLAB)
import eddylab  # noqa: E402
from eddylab import results as module  # noqa: E402
from eddylab import tables  # noqa: E402

NOTEBOOK = ROOT / "examples" / "first_look.ipynb"
KEPT = ROOT / "docs" / "results" / "failures.json"


class Shared:
    """A sweep that is run once for all tests."""

    folder = None
    results = None


def setUpModule():
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    Shared.folder = Path(folder.name)
    Shared.results = eddylab.run("pfc-unit", out=Shared.folder, size="ci", variant=["8 pfc", "8 no pfc"], seeds=[1, 2])


class WithResults(unittest.TestCase):
    def setUp(self):
        self.folder, self.results = Shared.folder, Shared.results

    def copy(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return Path(shutil.copytree(self.results.path.parent, Path(folder.name) / "ci"))


class Tables(WithResults):
    def rows(self, table):
        return table.to_dict("records") if tables.pandas else table

    def test_a_row_of_runs_is_a_run(self):
        rows = self.rows(self.results.runs())
        self.assertEqual([(row["variant"], row["seed"]) for row in rows],
                         [(name, seed) for name in ("8 no pfc", "8 pfc") for seed in (1, 2)])
        for row, run in zip(rows, self.results.value["runs"], strict=True):
            self.assertEqual(row["slowdown_p99"], run["slowdown_p99"])
            self.assertEqual(row["counters.pfc_tx_xoff"], run["counters"]["pfc_tx_xoff"])
        self.assertEqual(self.results.units["fct_p99_us"], "us")

    def test_flows_are_those_that_runs_were_made_of(self):
        run = next(run for run in self.results.value["runs"] if (run["variant"], run["seed"]) == ("8 pfc", 2))
        rows = self.rows(self.results.flows("8 pfc", 2, measured=True))
        self.assertEqual(len(rows), run["flows"])
        self.assertAlmostEqual(sum(row["slowdown"] for row in rows) / len(rows), run["slowdown_mean"], places=6)
        self.assertTrue(all(row["source_name"].startswith("leaf1.host") for row in rows))
        self.assertEqual({(row["variant"], row["seed"]) for row in rows}, {("8 pfc", 2)})
        self.assertEqual(len(self.rows(self.results.flows())), sum(run["flows_total"] for run in self.results.value["runs"]))

    def test_tenants_bins_samples_and_links(self):
        self.assertEqual({row["name"] for row in self.rows(self.results.tenants())}, {"requests"})
        self.assertGreater(len(self.rows(self.results.bins())), 3)
        queues = [row["max_queue_bytes"] for row in self.rows(self.results.samples("8 pfc", 1))]
        run = next(run for run in self.results.value["runs"] if (run["variant"], run["seed"]) == ("8 pfc", 1))
        self.assertEqual(max(queues), run["queue_max_bytes"])
        self.assertEqual(len(self.rows(self.results.links("8 pfc", 1))), 8)

    def test_kept_results_have_runs_and_no_flows(self):
        kept = eddylab.load(KEPT)
        self.assertGreater(len(self.rows(kept.runs())), 0)
        with self.assertRaisesRegex(eddylab.ResultsError, "flows.sqlite is missing"):
            kept.flows()


class TablesWithoutPandas(Tables):
    def setUp(self):
        super().setUp()
        self.addCleanup(setattr, tables, "pandas", tables.pandas)
        tables.pandas = None

    def test_they_are_lists_of_dictionaries(self):
        self.assertIs(type(self.results.runs()), list)
        self.assertIs(type(self.results.flows()[0]), dict)


class Names(WithResults):
    def test_a_variants_folder_is_the_programs(self):
        names = ["8 no pfc", "8 pfc"]
        for name in names:
            self.assertTrue(self.results.flows_file(name, 1).is_file(), name)
        # Of variant_folder(): blanks are joined, and what else is changed has a hash behind it.
        self.assertEqual(module.folder_of(""), "only")
        self.assertEqual(module.folder_of("scheme=drill rlb=off"), "scheme=drill_rlb=off")
        self.assertRegex(module.folder_of("only"), "^only-[0-9a-f]{16}$")
        self.assertRegex(module.folder_of("a/b"), "^a_b-[0-9a-f]{16}$")
        self.assertRegex(module.folder_of(".x"), "^_x-[0-9a-f]{16}$")
        self.assertEqual(len(module.folder_of("x" * 300)), 100 + 17)

    def test_one_that_needs_a_hash(self):
        name = "a/b ü"
        file = self.folder / "odd.yaml"
        file.write_text("id: odd\ntopology: {leaves: 2, spines: 1, hosts_per_leaf: 1}\n"
                        "traffic: [{type: permutation, size: 10kB}]\nrun: {warmup: 0us, duration: 100us, seeds: [1]}\n"
                        f"matrix: {{a: [{{name: '{name}', set: {{buffer.size: 8MiB}}}}]}}\n", encoding="utf-8")
        odd = eddylab.run(file, out=self.folder)
        self.assertEqual(odd.variants, [name])
        self.assertEqual(len(odd.flows()), 2)

    def test_axes(self):
        self.assertEqual(module.axes("scheme=drill rlb=off deep"), {"scheme": "drill", "rlb": "off"})


class Faults(WithResults):
    def refused(self, text, **files):
        place = self.copy()
        for name, content in files.items():
            (place / name.replace("_", ".")).write_bytes(content)
        with self.assertRaisesRegex(eddylab.ResultsError, text):
            eddylab.load(place).flows()

    def test_of_result_json(self):
        self.refused("is no JSON", result_json=b"{")
        self.refused("no list of runs", result_json=b"[]")
        self.refused("is no JSON", result_json=b"[" * 100_000)
        self.refused("schema_version 9", result_json=b'{"schema_version": 9, "runs": []}')
        self.refused("without variant", result_json=b'{"schema_version": 1, "runs": [{}]}')
        with self.assertRaisesRegex(eddylab.ResultsError, "No such file"):
            eddylab.load(self.folder / "nowhere")
        with self.assertRaisesRegex(eddylab.ResultsError, "not a regular file"):
            eddylab.load("/dev/null")

    def test_of_a_database(self):
        place = self.copy()
        file = eddylab.load(place).flows_file("8 pfc", 1)
        file.write_bytes(b"no database" * 100)
        with self.assertRaisesRegex(eddylab.ResultsError, "not a database"):
            eddylab.load(place).flows("8 pfc", 1)
        file.unlink()
        with self.assertRaisesRegex(eddylab.ResultsError, "is missing"):
            eddylab.load(place).flows("8 pfc", 1)

    def test_a_view_is_not_asked(self):
        place = self.copy()
        file = eddylab.load(place).flows_file("8 pfc", 1)
        code = ("import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute('DROP TABLE samples');"
                "d.execute('CREATE VIEW samples AS SELECT 1 AS at_ns'); d.commit()")
        subprocess.run([sys.executable, "-c", code, file], check=True)
        with self.assertRaisesRegex(eddylab.ResultsError, "does not have the tables"):
            eddylab.load(place).samples("8 pfc", 1)

    def test_nobody_has_that_variant(self):
        with self.assertRaisesRegex(eddylab.ResultsError, r"has no run of variant '[^']*'; variants: '8 no pfc', '8 pfc'"):
            self.results.flows("9 pfc")

    def test_a_run_that_is_refused_says_what_eddylab_said(self):
        with self.assertRaisesRegex(eddylab.RunFailed, "unknown key 'nonsense'") as caught:
            eddylab.run("pfc-unit", out=self.folder, set={"nonsense": 1})
        self.assertEqual(caught.exception.status, 2)

    def test_an_option_that_is_none_is_named(self):
        for options, says in (({"bogus": 1}, "--bogus"), ({"jobs": "x"}, "--jobs"), ({"size": "huge"}, "huge")):
            with self.assertRaisesRegex(eddylab.RunFailed, says):
                eddylab.run("pfc-unit", out=self.folder, **options)

    def test_a_program_that_is_not_there_is_named(self):
        with unittest.mock.patch.dict(os.environ, EDDYLAB="/nowhere/eddylab"):
            with self.assertRaisesRegex(eddylab.RunFailed, "^eddylab ended with 127: the program /nowhere/eddylab cannot be run: No such file"):
                eddylab.run("pfc-unit", out=self.folder)


class Export(WithResults):
    def command(self, *words, **other):
        return subprocess.run([EDDYLAB, "export-results", *map(str, words)], cwd=self.folder, capture_output=True, text=True,
                              check=False, **other)

    def refused(self, says, *words, code=1, **other):
        done = self.command(*words, **other)
        self.assertEqual((done.returncode, done.stderr.count("\n"), done.stdout), (code, 1, ""), done.stderr)
        self.assertTrue(done.stderr.startswith("eddylab: export-results: "), done.stderr)
        self.assertIn(says, done.stderr)

    def test_csv(self):
        to = self.folder / "csv"
        done = self.command(self.results.path.parent, "--to", to)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(path.stem for path in to.iterdir()),
                         ["bins", "flows", "links", "runs", "samples", "tenants"])
        lines = (to / "flows.csv").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(lines) - 1, sum(run["flows_total"] for run in self.results.value["runs"]))
        self.assertTrue(lines[0].startswith("variant,seed,id,source,destination"))

    def test_the_package_writes_the_same(self):
        for to, command in (("by-program", [EDDYLAB, "export-results"]), ("by-package", [sys.executable, "-m", "eddylab", "export"])):
            subprocess.run([*command, self.results.path, "--to", self.folder / to], check=True, capture_output=True,
                           env={**os.environ, "PYTHONPATH": str(ROOT / "python"),
                                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"})
        for file in (self.folder / "by-program").iterdir():
            self.assertEqual(file.read_bytes(), (self.folder / "by-package" / file.name).read_bytes())

    def test_faults_are_one_line(self):
        self.refused("nowhere: No such file", self.folder / "nowhere")
        self.refused("/proc/nowhere: No such file", self.results.path.parent, "--to", "/proc/nowhere")
        self.refused("/dev/null", self.results.path.parent, "--to", "/dev/null")
        self.refused("is no JSON", EDDYLAB)
        self.refused("-x: No such file", "--", "-x")
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([EDDYLAB, "export-results", self.results.path], cwd=self.folder, stdout=full,
                                  stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, "eddylab: export-results: standard output: No space left on device\n"))

    def test_without_python_or_pyarrow(self):
        self.refused("no python3 in the path", self.results.path, env={"PATH": "/nowhere"})
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            self.refused("Parquet needs pandas and pyarrow, and p", self.results.path, "--format", "parquet")

    def test_what_lies_in_the_current_folder_is_not_run(self):
        for name in ("eddylab.py", "csv.py"):
            (self.folder / name).write_text("raise SystemExit(9)\n", encoding="utf-8")
            self.addCleanup((self.folder / name).unlink)
        done = self.command(self.results.path, "--to", "safe")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_an_argument_that_is_none(self):
        for words in ((), (self.results.path, "--format", "xml")):
            self.assertEqual(self.command(*words).returncode, 2)


@unittest.skipIf(tables.pandas is None, "pandas is not installed: the notebook is NOT tested")
class Notebook(unittest.TestCase):
    def test_its_cells_run(self):
        book = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
        cells = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
        self.assertEqual([cell["outputs"] for cell in book["cells"] if cell["cell_type"] == "code"], [[]] * len(cells))
        names, here = {}, os.getcwd()
        self.addCleanup(os.chdir, here)
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            os.chdir(folder)
            for number, cell in enumerate(cells):
                exec(compile(cell, f"cell {number}", "exec"), names)  # noqa: S102
            os.chdir(here)
        self.assertEqual(sorted(names["change"]), [2, 8, 15, 25])
        self.assertLess(names["change"][25], 0)


if __name__ == "__main__":
    unittest.main()
