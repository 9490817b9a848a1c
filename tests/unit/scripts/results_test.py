"""scripts/results: what it makes of texts, and what it runs."""

import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))
from lib import results  # noqa: E402
from lib.netns import Trouble  # noqa: E402


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
