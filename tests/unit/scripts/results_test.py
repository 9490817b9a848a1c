"""scripts/results: docs/schemes.md is what kept results give, has every scheme, and what else the script makes of texts."""

import json
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))
from lib import results, scheme_table  # noqa: E402
from lib.netns import Trouble  # noqa: E402
from lib.schemes import host_laws, scheme_names  # noqa: E402

DOCUMENT = ROOT / "docs" / "schemes.md"


def rows_of(section):
    return [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| ")][1:]


class Document(unittest.TestCase):
    def test_it_is_what_the_results_give(self):
        self.assertEqual(DOCUMENT.read_text(), scheme_table.scheme_document(ROOT), "scripts/results --document writes it")

    def test_every_registered_scheme_is_in_every_table(self):
        sections = DOCUMENT.read_text().split("\n## ")[1:]
        self.assertEqual(len(sections), 1 + len(scheme_table.WORKLOADS))
        for section in sections:
            rows = rows_of(section)
            self.assertEqual(rows[:len(scheme_names())], scheme_names())
            for law in host_laws():
                self.assertIn(law, rows)

    def test_all_four_workloads_have_results(self):
        for _, experiment, suffix, item, _ in scheme_table.WORKLOADS:
            found = scheme_table.variants_of(scheme_table.kept(ROOT, experiment), suffix)
            for scheme in ("ecmp", "drill"):
                cells = scheme_table.cells_of(found[scheme], item)
                self.assertNotEqual(cells[0], "-", f"{experiment}, {scheme}")


class Cells(unittest.TestCase):
    def test_a_scheme_without_runs_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name in ("docs/schemes", "docs/results", "bench"):
                (root / name).mkdir(parents=True)
            shutil.copy(ROOT / "docs" / "configuration.md", root / "docs")
            (root / "bench" / "instructions.json").write_text('{"rows": {"pipeline.ecmp.10k": {"total": 317.5}}}')
            (root / "docs" / "schemes" / "reps.md").write_text(
                "# reps\n\n## What it keeps and reads\n\n* Keeps of each flow 40 octets.\n\n## Parameters\n\n* 8 octets a flow\n")
            run = {"variant": "ecmp", "seed": 3, "slowdown_mean": 1.25, "slowdown_p99": 12.34, "ooo_ratio": 0.5,
                   "pfc_events": 1234, "unfinished": 0}
            other = {**run, "slowdown_mean": 1.75, "seed": 5}
            (root / "docs" / "results" / "schemes-permutation.json").write_text(
                json.dumps({"size": "ci", "runs": [run, other, {**run, "variant": "drill with rlb"}]}))
            text = scheme_table.scheme_document(root)
        permutation = text.split("\n## ")[-1]
        self.assertIn("| ecmp | 1.5 | 12.3 | - | 50 | 1234 | 0 |", permutation)
        self.assertIn("| conga | - | - | - | - | - | - |", permutation)
        self.assertIn("size ci, seeds 3, 5:", permutation)
        self.assertIn("| drill with rlb |", permutation)
        self.assertIn("Not in these runs: wcmp,", permutation)
        self.assertIn("`schemes-web` has not been run.", text)
        self.assertIn("| ecmp | switches | 0 | 318 |", text)
        self.assertIn("| reps | hosts | 40 | - |", text)
        self.assertIn("| letflow | switches | 8 | - |", text)

    def test_the_state_of_every_scheme_with_a_table_is_found(self):
        for name in scheme_names():
            has_table = any(f"| `{key}` |" in (ROOT / "docs" / "configuration.md").read_text().partition(f"\n### {name}\n")[2]
                            .partition("\n##")[0] for key in ("flows", "entries"))
            self.assertEqual(scheme_table.state_of(ROOT, name) != "0", has_table, name)
        for name in host_laws():
            self.assertNotEqual(scheme_table.state_of(ROOT, name), "0", name)


class Script(unittest.TestCase):
    def test_the_rows_are_experiments(self):
        for name in results.ROWS:
            self.assertTrue((ROOT / "config" / "experiments" / f"{name}.yaml").is_file(), name)

    def test_notes_are_of_experiments(self):
        for file in (ROOT / "docs" / "results").glob("*.md"):
            if file.stem not in ("what_moved", "other_figures"):
                self.assertTrue((ROOT / "config" / "experiments" / f"{file.stem}.yaml").is_file(), file)

    def test_claimed_variants(self):
        text = """id: x
matrix:
  - "x of [not this]: at most 1"
expect:
  - "In words, of [these] not."
  - "a of [v=1] against [v=2]: -5 %"
  - "b of [v=3]: at most 0"
  - "c of [v=1] against [v=4]: less"
  - "d of every [v]: at most 0"
"""
        self.assertEqual(results.claimed_variants(text), ["v=1", "v=2", "v=3", "v=4"])

    def test_the_part_between_the_marks_is_replaced(self):
        text = f"before\n{results.BEGIN}\nold\n{results.END}\nafter\n"
        self.assertEqual(results.with_claims(text, "new\n"), f"before\n{results.BEGIN}\nnew\n{results.END}\nafter\n")
        with self.assertRaises(Trouble):
            results.with_claims("no marks", "new\n")


if __name__ == "__main__":
    unittest.main()
