"""docs/tutorial.md and docs/formats.md do what they say: their files are written, their commands run, and they print what stands
there.

  EDDY_BIN=build/dev/bin tests/e2e/tutorial_test.py --update    puts what they print today into the pages
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = {"tutorial": 5, "formats": 6}  # and more commands than that
BINARIES = Path(os.environ["EDDY_BIN"]).resolve()
BLOCK = re.compile(r"^```(?P<kind>\w+)(?: file=(?P<file>\S+))?\n(?P<text>.*?)^```$", re.M | re.S)


def run_console(text, folder):
    """The block as it would be with what its commands print now, standard error included."""
    environment = {**os.environ, "PATH": f"{BINARIES}:{os.environ['PATH']}", "EDDY_DATA": str(ROOT / "config")}
    lines = []
    for command in re.findall(r"^\$ (.*)$", text, re.M):
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment, text=True, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        # A reader that has seen enough, such as head, ends what writes to it.
        if done.returncode not in (0, 141):
            raise AssertionError(f"'{command}' ends with {done.returncode}:\n{done.stdout}")
        lines += [f"$ {command}", *(line.rstrip() for line in done.stdout.splitlines())]
    return "".join(f"{line}\n" for line in lines)


def blocks(page, folder):
    """Each block of the page, and what it should be."""
    for block in BLOCK.finditer(page):
        text = block["text"]
        if block["file"]:
            (Path(folder) / block["file"]).write_text(text, encoding="utf-8")
        yield block, run_console(text, folder) if block["kind"] == "console" else text


class Pages(unittest.TestCase):
    def test_the_commands_of_the_tutorial_print_what_stands_there(self):
        self.check("tutorial")

    def test_the_commands_of_formats_print_what_stands_there(self):
        self.check("formats")

    def check(self, name):
        commands = 0
        with tempfile.TemporaryDirectory() as folder:
            for block, printed in blocks(page_of(name).read_text(encoding="utf-8"), folder):
                with self.subTest(block=block["text"].splitlines()[0]):
                    self.assertEqual(block["text"], printed)
                commands += len(re.findall(r"^\$ ", block["text"], re.M)) if block["kind"] == "console" else 0
        self.assertGreater(commands, PAGES[name])


def page_of(name):
    return ROOT / "docs" / f"{name}.md"


def update(name):
    page, out, at = page_of(name).read_text(encoding="utf-8"), [], 0
    with tempfile.TemporaryDirectory() as folder:
        for block, printed in blocks(page, folder):
            out += [page[at:block.start("text")], printed]
            at = block.end("text")
    page_of(name).write_text("".join(out) + page[at:], encoding="utf-8")


if __name__ == "__main__":
    if "--update" in sys.argv:
        for each in PAGES:
            update(each)
    else:
        unittest.main()
