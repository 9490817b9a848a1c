"""docs/troubleshooting.md quotes messages that exist: each part between dots stands in a text of one source file."""

import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "troubleshooting.md"
FOLDERS = ("switch", "testbed", "lab", "config", "plugin", "system", "net")
LITERAL = r'"(?:[^"\\\n]|\\.)*"'
ADJACENT = re.compile(rf"{LITERAL}(?:\s*{LITERAL})*")


def texts_of(source):
    """The texts of a source as the compiler has them, places of {fmt} as dots."""
    out = []
    for found in ADJACENT.finditer(source):
        text = "".join(part[1:-1] for part in re.findall(LITERAL, found[0]))
        text = text.replace('\\"', '"').replace("\\n", "\n")
        text = re.sub(r"(?<!\{)\{[^{} ]*\}(?!\})", "...", text)
        out.append(text.replace("{{", "{").replace("}}", "}"))
    return out


def messages(page):
    """What stands as code in the first column, if it is a message: it has a blank."""
    rows = re.findall(r"(?m)^\| `((?:[^`|]|\\\|)+)` \|", page)
    return [row.replace("\\|", "|") for row in rows]


def parts_of(message):
    return [part for part in message.split("...") if part.strip(" :;,()[]\"")]


def exists(message, sources):
    parts = parts_of(message)
    for texts in sources:
        whole = "\n".join(texts)
        if all(part in whole for part in parts):
            return True
    return False


class Troubleshooting(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.cpp", "*.h"], cwd=ROOT, text=True, capture_output=True,
                               check=True).stdout.split()
        cls.sources = [texts_of((ROOT / name).read_text(encoding="utf-8")) for name in names
                       if name.split("/")[0] in FOLDERS and (ROOT / name).exists()]

    def test_every_message_exists(self):
        found = messages(PAGE.read_text(encoding="utf-8"))
        self.assertGreater(len(found), 40)
        for message in found:
            with self.subTest(message=message):
                self.assertTrue(parts_of(message))
                self.assertTrue(exists(message, self.sources), "no source says so")

    def test_a_message_that_does_not_exist_is_found(self):
        self.assertFalse(exists("the switch has ... gone fishing", self.sources))
        self.assertFalse(exists("EAL did not begin: ...", self.sources))
        self.assertTrue(exists("EAL did not start: ...", self.sources))

    def test_texts_are_those_of_the_compiler(self):
        self.assertEqual(texts_of('f("a \\"b\\" "\n  "c {} {:.1f}", x, "{{y}}");'), ['a "b" c ... ...', "{y}"])


if __name__ == "__main__":
    unittest.main()
