"""eddylab advise and the warnings of eddyd --check: what is said of configurations and experiments that come with Eddy is
kept in tests/golden/advice; advice_test.py --update writes it anew."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINARIES = Path(os.environ.get("EDDY_BIN", ROOT / "build" / "dev" / "bin"))
GOLDEN = ROOT / "tests" / "golden" / "advice"
EXAMPLES = sorted((ROOT / "config" / "examples").glob("*.yaml"))
EXPERIMENTS = {"regime-mixu": ["--size", "reduced", "--variant", "scheme=ecmp go_back_n deep off", "--variant",
                               "scheme=ecmp go_back_n deep bdp rlb", "--variant", "scheme=ecmp go_back_n shallow unguarded"],
               "rlb-s1": ["--size", "ci"], "leaf-spine": ["--size", "ci"], "schemes-slow": ["--size", "ci"]}

# Of an experiment that is there, under a name of its own.
VARIED = {"isolation-pays": ["regime-mixu", "--size", "reduced", "--variant", "scheme=ecmp go_back_n shallow off", "--variant",
                             "scheme=ecmp go_back_n deep off", "--set", "isolation.enabled=true"],
          "isolation-does-not-pay": ["regime-web", "--size", "ci", "--variant", "scheme=ecmp go_back_n deep unguarded", "--set", "isolation.enabled=true", "--set",
                                     "isolation.threshold=1MB", "--set", "isolation.long_flows=false"],
          "isolation-of-long-flows": ["regime-web", "--size", "reduced", "--variant", "scheme=ecmp go_back_n shallow off", "--variant",
                                      "scheme=ecmp go_back_n deep off", "--set", "isolation.enabled=true"],
          "guards": ["tests/golden/advice/guards.yaml"]}


def call(program, *words):
    return subprocess.run([BINARIES / program, *map(str, words)], capture_output=True, text=True, cwd=ROOT, timeout=120, check=False)


def advise(*words):
    return call("eddylab", "advise", *words)


def cases():
    for file in EXAMPLES:
        yield f"example-{file.stem}.txt", [file.relative_to(ROOT)]
    for name, words in EXPERIMENTS.items():
        yield f"{name}.txt", [name, *words]
    for name, words in VARIED.items():
        yield f"{name}.txt", words


class Advice(unittest.TestCase):
    maxDiff = None

    def test_what_is_said_is_what_was_said(self):
        self.assertEqual(sorted(f.name for f in GOLDEN.glob("*.txt")), sorted(name for name, _ in cases()))
        for name, words in cases():
            with self.subTest(name):
                done = advise(*words)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(done.stdout, (GOLDEN / name).read_text())

    def test_json_says_the_same(self):
        for name, words in cases():
            text = (GOLDEN / name).read_text()
            for subject in json.loads(advise(*words, "--json").stdout):
                self.assertEqual(not subject["should_have"], "no priority group is lossless" in text, name)
                for each in subject["as_set"]:
                    self.assertIn(f"{'warning: ' if each['warning'] else ''}{each['says']}", text)
                    self.assertIn(each["because"], text)

    def test_check_warns_of_the_same_behind_what_it_says(self):
        for file in EXAMPLES:
            done = call("eddyd", "--config", file, "--check")
            self.assertEqual(done.returncode, 0, done.stderr)
            found = [line for line in done.stdout.splitlines() if line.startswith("warning: ")]
            text = (GOLDEN / f"example-{file.stem}.txt").read_text()
            self.assertEqual(found, [line.strip() for line in text.splitlines() if line.startswith("  warning: ")])
            self.assertTrue(done.stdout.startswith("switch "))
            self.assertTrue(done.stdout.endswith("".join(line + "\n" for line in found)))

    def test_check_says_what_isolation_is_worth_where_it_is_on(self):
        with tempfile.TemporaryDirectory() as folder:
            for enabled in ("true", "false"):
                made = call("eddylab", "config", "regime-mixu", "leaf1", "--size", "ci", "--variant", "scheme=ecmp go_back_n shallow off",
                            "--sockets", folder, "--set", f"isolation.enabled={enabled}")
                self.assertEqual(made.returncode, 0, made.stderr)
                (Path(folder) / "leaf1.yaml").write_text(made.stdout)
                done = call("eddyd", "--config", Path(folder) / "leaf1.yaml", "--check")
                self.assertEqual(done.returncode, 0, done.stderr)
                for text in ("isolation's class takes ", "isolation pays where many senders meet at one host, and changes little elsewhere",
                             "\n  measured beside incasts of 16 senders", "web search alone"):
                    self.assertEqual(text in done.stdout, enabled == "true", done.stdout)

    def refused(self, said, *words):
        done = advise(*words)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(said, done.stderr)

    def test_bad_input_is_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            bad = Path(folder) / "bad.yaml"
            bad.write_text("ports:\n  p1: {device: net_null0, speed: 1Furlong}\n")
            self.refused("bad.yaml:2", bad)
            self.refused("--set and --variant are of experiments", EXAMPLES[0], "--set", "run.seeds=1")
            self.refused("no variant", "rlb-s1", "--size", "ci", "--variant", "nothing")
            self.refused("nowhere.yaml", Path(folder) / "nowhere.yaml")


def update():
    GOLDEN.mkdir(exist_ok=True)
    for name, words in cases():
        (GOLDEN / name).write_text(advise(*words).stdout)


if __name__ == "__main__":
    if "--update" in sys.argv:
        update()
    else:
        unittest.main()
