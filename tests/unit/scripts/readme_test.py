"""What README.md, CONTRIBUTING.md and CITATION.cff say is so: links lead somewhere, the configuration loads."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))
import numbers_table  # noqa: E402

PAGES = ("README.md", "CONTRIBUTING.md")


class Pages(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for page in PAGES:
            for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text()):
                if not target.startswith("https://"):
                    self.assertTrue((ROOT / target).exists(), f"{page}: {target}")

    def test_the_citation_has_the_version_of_the_build(self):
        (built,) = re.findall(r"project\(eddy VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())
        (cited,) = re.findall(r"(?m)^version: (\S+)$", (ROOT / "CITATION.cff").read_text())
        self.assertEqual(cited, built)

    def test_the_readme_is_short(self):
        self.assertLess((ROOT / "README.md").read_text().count("\n"), 150)

    def test_the_changelog_of_the_packages_begins_with_the_version_of_the_build(self):
        (built,) = re.findall(r"project\(eddy VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())
        self.assertTrue((ROOT / "packaging/debian/changelog").read_text().startswith(f"eddy ({built}) "))
        self.assertIn(f"\n## {built}", (ROOT / "CHANGELOG.md").read_text())

    def test_every_scheme_is_named(self):
        lines = (ROOT / "lb" / "schemes.txt").read_text().splitlines()
        for scheme in (line for line in lines if line and not line.startswith("#")):
            self.assertIn(f"[{scheme}](", (ROOT / "docs/schemes/README.md").read_text())

    def test_the_configuration_loads(self):
        (text,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(text)
            file.flush()
            done = subprocess.run([Path(os.environ["EDDY_BIN"]) / "eddyd", "--config", file.name,
                                   "--check"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Numbers(unittest.TestCase):
    def test_the_table_is_replaced_and_nothing_else(self):
        text = f"a\n{numbers_table.BEGIN}\nold\n{numbers_table.END}\nb\n"
        rows = [{"name": "x", "value": 80.123, "unit": "cycles", "spread": 0.5}]
        made = numbers_table.with_table(text, rows)
        self.assertTrue(made.startswith("a\n") and made.endswith("\nb\n"))
        self.assertIn("| `x` | 80.12 | cycles | 0.5 |", made)
        self.assertNotIn("old", made)
        self.assertEqual(numbers_table.with_table(made, rows), made)


if __name__ == "__main__":
    unittest.main()
