"""docs/tutorial.md does what it says: its files are written, its commands run, and they print what stands there.

  EDDY_BIN=build/dev/bin tests/e2e/tutorial_test.py --update    puts what they print today into the page
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "tutorial.md"
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


class Tutorial(unittest.TestCase):
    def test_its_commands_print_what_stands_there(self):
        commands = 0
        with tempfile.TemporaryDirectory() as folder:
            for block, printed in blocks(PAGE.read_text(encoding="utf-8"), folder):
                with self.subTest(block=block["text"].splitlines()[0]):
                    self.assertEqual(block["text"], printed)
                commands += block["kind"] == "console"
        self.assertGreater(commands, 5)


def update():
    page, out, at = PAGE.read_text(encoding="utf-8"), [], 0
    with tempfile.TemporaryDirectory() as folder:
        for block, printed in blocks(page, folder):
            out += [page[at:block.start("text")], printed]
            at = block.end("text")
    PAGE.write_text("".join(out) + page[at:], encoding="utf-8")


if __name__ == "__main__":
    if "--update" in sys.argv:
        update()
    else:
        unittest.main()
