"""scripts/docs: pages of a small tree, links that lead nowhere, and the documents of this one."""

import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

TREE = {
    "README.md": "# Small\n\n[one](docs/one.md), [its heading](docs/one.md#a-heading-with-code), [all](docs/deep), [far](https://example.org/x.md)\n",
    "docs/one.md": "# One\n\n## A heading, with `code`\n\n[up](../README.md#small), [here](#one)\n\n![a picture](p.svg)\n\n[two](deep/two.md)\n",
    "docs/p.svg": "<svg/>\n",
    "docs/deep/two.md": "# Two\n\n[source](../../src/a.cpp), [notes](../../src/NOTES.md)\n",
    "src/a.cpp": "int a;\n",
    "src/NOTES.md": "# Notes\n",
}


class Docs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="eddy-docs-test-")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name) / "tree"
        for name, text in TREE.items():
            self.write(name, text)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def call(self, *arguments):
        return subprocess.run([ROOT / "scripts" / "docs", "--root", self.root, *arguments], capture_output=True, text=True, check=False)

    def test_pages_link_to_pages(self):
        done = self.call()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        out = self.root / "build" / "docs"
        self.assertEqual(done.stdout, f"4 pages, 10 links, 0 of them broken: {out}/index.html\n")
        self.assertIn('href="docs/one.html#a-heading-with-code"', (out / "index.html").read_text())
        self.assertIn('href="docs/deep/index.html"', (out / "README.html").read_text())
        self.assertIn('href="https://example.org/x.md"', (out / "README.html").read_text())
        self.assertIn('id="a-heading-with-code"', (out / "docs/one.html").read_text())
        self.assertIn('href="../../src/NOTES.html"', (out / "docs/deep/two.html").read_text())
        self.assertIn('<a href="two.html">Two</a>', (out / "docs/deep/index.html").read_text())
        self.assertEqual((out / "docs/p.svg").read_text(), TREE["docs/p.svg"])
        self.assertEqual((out / "src/a.cpp").read_text(), TREE["src/a.cpp"])
        self.assertEqual(self.call().returncode, 0, "made anew")

    def test_every_broken_link_is_told_with_its_place(self):
        self.write("docs/one.md", TREE["docs/one.md"] + "\n[gone](gone.md) and [no heading](deep/two.md#three)\n\n[none](#nowhere), "
                   "[out](../../etc)\n\n![no picture](q.svg)\n")
        done = self.call("--check")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.splitlines(), [
            "docs/one.md:11: gone.md: there is no such file",
            "docs/one.md:11: deep/two.md#three: docs/deep/two.md has no heading #three",
            "docs/one.md:13: #nowhere: docs/one.md has no heading #nowhere",
            "docs/one.md:13: ../../etc: leads out of the tree",
            "docs/one.md:15: q.svg: there is no such file"])
        self.assertFalse((self.root / "build").exists())

    def test_a_folder_of_others_is_left_alone(self):
        other = self.root / "other"
        other.mkdir()
        (other / "mine").write_text("precious")
        done = self.call("--out", other)
        self.assertEqual(done.returncode, 1)
        self.assertIn("was not written by this script", done.stderr)
        self.assertEqual((other / "mine").read_text(), "precious")

    def test_our_own_documents_have_no_broken_link(self):
        done = subprocess.run([ROOT / "scripts" / "docs", "--check"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
