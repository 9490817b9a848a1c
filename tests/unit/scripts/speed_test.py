#!/usr/bin/python3
"""Tests of scripts/check speed: what it says of cases that cost more, are new or are gone."""

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))
from lib import speed  # noqa: E402

ROWS = {"pipeline.a": {"select": 60.0, "parse": 40.0}, "host.b": {"receive": 200.0}}


def scaled(rows, name, function, factor):
    return {row: {each: count * (factor if (row, each) == (name, function) else 1) for each, count in functions.items()}
            for row, functions in rows.items()}


class Speed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="eddy-speed-")
        self.addCleanup(folder.cleanup)
        self.kept = Path(folder.name) / "instructions.json"
        with mock.patch.object(speed, "made_with", lambda: {"compiler": "one"}):
            speed.write(self.kept, speed.as_kept(ROWS))

    def run_with(self, rows, *words, made=None):
        """Its exit code and what it printed, where `rows` are counted."""
        printed = io.StringIO()
        with mock.patch.object(speed, "KEPT", self.kept), mock.patch.object(speed, "count_all", lambda *_: rows), \
                mock.patch.object(speed, "made_with", lambda: made or json.loads(self.kept.read_text())["made_with"]), \
                mock.patch.object(sys, "argv", ["speed", "--bin", "/nowhere", *words]), \
                contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            return speed.main(), printed.getvalue()

    def test_the_same_passes(self):
        code, text = self.run_with(ROWS)
        self.assertEqual(code, 0, text)
        self.assertIn("+0.00 %", text)

    def test_a_little_more_passes(self):
        self.assertEqual(self.run_with(scaled(ROWS, "pipeline.a", "select", 1.04))[0], 0)

    def test_more_fails_and_names_the_function(self):
        code, text = self.run_with(scaled(ROWS, "pipeline.a", "select", 1.06))
        self.assertEqual(code, 1)
        self.assertRegex(text, r"\+3\.6  select")
        self.assertNotIn("parse", text)
        self.assertIn("1 of 2 cases grew by more than 3 %: pipeline.a", text)

    def test_the_bound_can_be_given(self):
        grown = scaled(ROWS, "pipeline.a", "select", 1.04)
        self.assertEqual(self.run_with(grown, "--most", "1")[0], 1)

    def test_other_compilers_are_only_reported(self):
        code, text = self.run_with(scaled(ROWS, "host.b", "receive", 2), made={"compiler": "another"})
        self.assertEqual(code, 0)
        self.assertIn("reported only", text)

    def test_a_case_that_is_gone_is_said(self):
        code, text = self.run_with({"host.b": ROWS["host.b"]})
        self.assertEqual(code, 1)
        self.assertIn("no longer there: pipeline.a", text)

    def test_a_new_case_is_no_growth(self):
        code, text = self.run_with(ROWS | {"host.c": {"receive": 1.0}})
        self.assertEqual(code, 0)
        self.assertRegex(text, "host.c .* new")

    def test_update_keeps_what_was_counted(self):
        grown = scaled(ROWS, "host.b", "receive", 2)
        self.assertEqual(self.run_with(grown, "--update")[0], 0)
        self.assertEqual(json.loads(self.kept.read_text())["rows"]["host.b"]["total"], 400.0)
        self.assertEqual(self.run_with(grown)[0], 0)

    def test_words_that_do_not_go_together(self):
        self.assertEqual(self.run_with(ROWS, "--update", "--only", "a")[0], 2)
        self.assertEqual(self.run_with({}, "--only", "nothing")[0], 2)


if __name__ == "__main__":
    unittest.main()
