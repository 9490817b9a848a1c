"""Each rule of scripts/check_citations.py finds what leads nowhere, and nothing else."""

import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))
import check_citations  # noqa: E402

TREE = {
    "docs/reference.md": "# Reference\n",
    "docs/reference/A_schemes.md": "# A. Schemes\n\n## A.1 First\n\n### A.1.1 Part\n\n## A.10 Tenth\n",
    "docs/reference/F_errata.md": "# F. Errata\n\n| # | what |\n|---|---|\n| F-1 | wrong |\n| I-4 | vector |\n",
    "docs/architecture.md": "# Architecture\n\n## 1. The idea\n\n## 2. The house\n",
    "docs/adr/0003-writers.md": "# 3. One writer\n",
    "docs/papers.md": "# Papers\n\n| key | title |\n|---|---|\n| LetFlow | Let it flow |\n| RLB | x |\n| 802.1Q | x |\n\n"
                      "RFC 791 (IPv4), 1071 (checksum)\n",
    "docs/guide.md": "# A guide\n\n## Two `words`, here\n\n## Same\n\n## Same\n",
    "net/ids.h": "// Ids.\n",
}


def findings_with(path, text):
    """What is found in the small tree above with one file more (or another)."""
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        for name, content in {**TREE, path: text}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(content, encoding="utf-8")
        return check_citations.findings_of(root)[0]


class Rules(unittest.TestCase):
    def assert_found(self, path, text, *expected):
        self.assertEqual(findings_with(path, text), list(expected))

    def test_the_small_tree_is_sound(self):
        self.assert_found("net/a.h", "// Nothing.\n")


class Sections(Rules):
    def test_a_section_of_the_reference(self):
        self.assert_found("net/a.h", "// Source: reference A.1, A.1.1 and A.10; reference A.\n")
        self.assert_found("net/a.h", "// One.\n// Source: reference A.2.\n",
                          "net/a.h:2: reference A.2: there is no such section")

    def test_lists_and_ranges_to_their_end(self):
        self.assert_found("net/a.cpp", "// reference A.1, A.7; reference, sections A.1-A.8 and Z.\n",
                          "net/a.cpp:1: reference A.7: there is no such section",
                          "net/a.cpp:1: reference A.8: there is no such section")

    def test_a_citation_goes_on_behind_the_end_of_a_line(self):
        self.assert_found("net/a.h", "//\n// Source: reference\n// A.1 (and more), A.9.\n",
                          "net/a.h:2: reference A.9: there is no such section")
        self.assert_found("net/a.cpp", 'f("by reference "\n  "A.9");\n',
                          "net/a.cpp:1: reference A.9: there is no such section")

    def test_the_word_alone_cites_nothing(self):
        self.assert_found("net/a.h", "// Keeps the plan by reference. A reference: core. reference, 160 of them\n")

    def test_vectors_and_errata(self):
        self.assert_found("net/a.cpp", "// Golden vector I-4, reference F-1.\n")
        self.assert_found("net/a.cpp", "// I-5.\n", "net/a.cpp:1: I-5: the reference has no such section")

    def test_bare_numbers_count_within_the_reference_only(self):
        self.assert_found("docs/reference/B_more.md", "# B. More\n\nSee A.3 and A.10.\n",
                          "docs/reference/B_more.md:3: A.3: the reference has no such section")
        self.assert_found("docs/more.md", "See A.3.\n")

    def test_a_section_of_the_architecture(self):
        self.assert_found("net/a.h", "// Source: architecture, sections 1 and\n// 2; architecture, section 3.\n",
                          "net/a.h:2: architecture, section 3: there is no such section")

    def test_a_decision(self):
        self.assert_found("net/a.h", "// docs/adr/0003, ADR 0003.\n")
        self.assert_found("docs/a.md", "ADR 0004\n", "docs/a.md:1: docs/adr/0004: there is no such decision")


class Files(Rules):
    def test_a_file_named_in_a_comment(self):
        self.assert_found("net/a.h", "// See net/ids.h and net/<name>.h.\n")
        self.assert_found("net/a.h", "// See\n// net/gone.h.\n", "net/a.h:2: net/gone.h: there is no such file")

    def test_code_and_code_generators_name_what_they_like(self):
        self.assert_found("net/a.cpp", '#include "net/made.h"\nopen("net/gone.h");\n')
        self.assert_found("scripts/a.py", "open('net/gone.h')\n")

    def test_a_section_of_a_document(self):
        self.assert_found("net/a.h", '// docs/guide.md, "Same".\n')
        self.assert_found("net/a.h", '// docs/guide.md, "Same" and "Other".\n',
                          'net/a.h:1: docs/guide.md: has no section "Other"')


class Links(Rules):
    def test_files_beside_above_and_folders(self):
        self.assert_found("docs/a.md", "[x](guide.md) [y](../net/ids.h) [z](adr) ![p](guide.md) [u](https://a.b/c)\n")
        self.assert_found("docs/adr/0003-writers.md", "# 3. One\n\n[x](../guide.md)\n[y](guide.md)\n",
                          "docs/adr/0003-writers.md:4: link to guide.md: there is no such file")

    def test_anchors(self):
        self.assert_found("docs/a.md", "# Top\n\n[x](guide.md#two-words-here) [y](guide.md#same-1) [z](#top)\n")
        self.assert_found("docs/a.md", "[x](guide.md#same-2)\n\n[z](#top)\n",
                          "docs/a.md:1: link to guide.md#same-2: docs/guide.md has no such heading",
                          "docs/a.md:3: link to #top: docs/a.md has no such heading")

    def test_code_has_no_links_and_no_headings(self):
        self.assert_found("docs/a.md", "```\n[x](gone.md)\n# Top\n```\n`[x](gone.md)`\n")
        self.assert_found("docs/a.md", "```\n# Top\n```\n[z](#top)\n",
                          "docs/a.md:4: link to #top: docs/a.md has no such heading")


class Papers(Rules):
    def test_a_paper_by_its_key(self):
        self.assert_found("net/a.h", "// The RLB paper; the paper; its papers; This paper.\n")
        self.assert_found("net/a.cpp", 'f("the RLB2 paper");\n',
                          "net/a.cpp:1: the RLB2 paper: docs/papers.md has no such key")

    def test_not_by_authors_or_venue(self):
        self.assert_found("net/a.h", "// Vanini et al., NSDI 2017\n",
                          "net/a.h:1: 'NSDI 2017': name the paper by its key in docs/papers.md",
                          "net/a.h:1: 'Vanini et al': name the paper by its key in docs/papers.md")

    def test_one_spelling(self):
        self.assert_found("net/a.h", "// LetFlow, and the scheme letflow.\n")
        self.assert_found("docs/a.md", "Letflow\n", "docs/a.md:1: 'Letflow': docs/papers.md spells it 'LetFlow'")
        self.assert_found("docs/a.md", "`Letflow::select`\n")
        self.assert_found("net/a.cpp", "class Letflow;  // Letflow the class\n")

    def test_tags_of_the_reference(self):
        self.assert_found("docs/reference/B_more.md", "# B. More\n\n[RLB] [D] [C:some-thing] [STD] [text](B_more.md)\n")
        self.assert_found("docs/reference/B_more.md", "# B. More\n\n[D, Presto]\n",
                          "docs/reference/B_more.md:3: [Presto]: docs/papers.md has no such key")

    def test_standards(self):
        self.assert_found("net/a.h", "// 802.1Q 36; RFC 791, 1071 and 1071.\n")
        self.assert_found("net/a.h", "// 802.1Qxx; RFC 791, 792.\n",
                          "net/a.h:1: 802.1Qxx: docs/papers.md has no such standard",
                          "net/a.h:1: RFC 792: docs/papers.md does not list it")


class Counts(Rules):
    def test_what_was_read_is_counted_by_kind(self):
        with tempfile.TemporaryDirectory() as directory:
            for name, content in {**TREE, "net/a.h": "// reference A.1, A.10; architecture, section 1.\n"}.items():
                (Path(directory) / name).parent.mkdir(parents=True, exist_ok=True)
                (Path(directory) / name).write_text(content, encoding="utf-8")
            counts = check_citations.findings_of(Path(directory))[1]
        self.assertEqual((counts["sections of the reference"], counts["sections of the architecture"]), (2, 1))


if __name__ == "__main__":
    unittest.main()
