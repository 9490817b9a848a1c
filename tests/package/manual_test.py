#!/usr/bin/python3
"""Manual pages: they read without a complaint of man, and say all that the help and the table of keys say."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ["EDDY_BIN"])
PAGES = BIN.parent / "packaging" / "man"
PROGRAMS = {"eddyd": 8, "eddyctl": 1, "eddylab": 1, "eddyhost": 1, "eddywire": 8}
if (BIN / "eddylab-mpi").exists():
    PROGRAMS["eddylab-mpi"] = 1
OTHERS = {"mpirun.1"}  # of what the package needs
FILES = ("eddyd.yaml.5", "eddy-experiment.5", "eddy-schemes.7")


def shown(page):
    """The page as text, in one line, and what man had to say of it."""
    done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", str(PAGES / f"{page}.gz")], capture_output=True, text=True,
                          check=True, env=os.environ | {"LC_ALL": "C.UTF-8", "MANWIDTH": "200", "MAN_KEEP_FORMATTING": "0"})
    return " ".join(re.sub(".\b", "", done.stdout).replace("\u2010", "-").replace("\u2212", "-").split()), done.stderr


def help_of(*words):
    return subprocess.run([BIN / words[0], *words[1:], "--help"], capture_output=True, text=True, check=True).stdout


def said_by(text):
    """Options and the descriptions of all that a help lists."""
    lines = [line for line in text.splitlines() if line.startswith("  ")]
    return [line.split()[0].split(",")[-1].split("{")[0] for line in lines if line.startswith("  -")], \
        [line[30:].strip() for line in lines if line[30:].strip() and line[29] == " " and not re.match("Excludes:|Needs:", line[30:])]


class Manual(unittest.TestCase):
    def test_pages_of_programs_say_what_their_help_says(self):
        for program, section in PROGRAMS.items():
            page, complaints = shown(f"{program}.{section}")
            self.assertEqual(complaints, "", program)
            commands = [line.split()[0] for line in help_of(program).partition("Subcommands:")[2].splitlines() if line.startswith("  ")]
            for words in [(program,), *((program, command) for command in commands)]:
                options, descriptions = said_by(help_of(*words))
                self.assertTrue(options and descriptions)
                for text in options + descriptions:
                    self.assertIn(" ".join(text.split()), page, " ".join(words))
            for part in ("SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "EXAMPLES", "SEE ALSO"):
                self.assertIn(part, page)

    def test_pages_of_files_have_every_key_and_every_scheme(self):
        for page, document in (("eddyd.yaml.5", "configuration.md"), ("eddy-experiment.5", "experiments.md")):
            text, complaints = shown(page)
            self.assertEqual(complaints, "", page)
            before = (ROOT / "docs" / document).read_text().partition("## load_balancer")[0]
            keys = set(re.findall(r"^\| `(\w+)` \|", before, re.M))
            self.assertGreater(len(keys), 50)
            self.assertEqual([key for key in sorted(keys) if f" {key} " not in text], [])
            self.assertNotRegex(text, r"\(\S+\.md\)|\bconfig/e")
        text, complaints = shown("eddy-schemes.7")
        self.assertEqual(complaints, "")
        for line in (ROOT / "lb/schemes.txt").read_text().splitlines():
            if line and not line.startswith("#"):
                self.assertIn(f" {line} ", text)
        for key in ("contribution", "until_drained", "all_warned", "on_exceed"):
            self.assertIn(f" {key} ", text)

    def test_every_page_that_is_named_is_there(self):
        there = {path.name.removesuffix(".gz") for path in PAGES.iterdir()}
        for page in sorted(there):
            for name, section in re.findall(r"([a-z][\w.-]+)\((\d)\)", shown(page)[0].partition("SEE ALSO")[2].rpartition(" Eddy ")[0]):
                self.assertIn(f"{name}.{section}", there | OTHERS, page)
        self.assertEqual(there, {f"{name}.{section}" for name, section in PROGRAMS.items()} | set(FILES))


if __name__ == "__main__":
    sys.exit(unittest.main())
