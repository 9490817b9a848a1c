#!/usr/bin/python3
"""Builds preset dev as far as the tests that are asked for need it, and runs them. Called by scripts/test.

Without arguments every test runs, label by label, some labels beside each other, binaries of GoogleTest whole; then a table says how many CPU minutes
compiling and each label took, and the run fails over tests/cpu_budget.txt, whose minutes are those of a machine as fast as
the yardstick that stands there. Behind the table stands each failed test once more, with the end of what it printed.
Arguments go to ctest, to which each test of a binary is a test of its own. build/dev/tests.txt, which CMake writes, says for
each test or binary of tests its label, its targets and its sources.
"""

import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from lib import test_binaries, yardstick  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "dev"
BUDGET = ROOT / "tests" / "cpu_budget.txt"
COMPILING = "compile"
WHOLE = "whole"  # a label of CMake's: no part of a binary
SHOWN_LINES = 40  # of what a failed test printed, at the end of a run
YARDSTICK = "yardstick"  # its row of the budget: CPU seconds on the machine of the other rows' minutes
EVERYTHING = ("all", "packaged")  # what packages hold is not part of all: manual pages, completion
# Labels that run beside each other, and have a budget together: tests of containers take turns with one daemon and wait for it,
# those of packages wait for Debian's mirror.
BESIDE = {"package": "packaging", "container": "packaging"}
A_TEST = re.compile(r"^\s*(?:TYPED_)?TEST(_F|_P)?\s*\(\s*(\w+)\s*,\s*(\w+)", re.M)
# How ctest chooses: option -> (what it is matched with, whether a match takes the test).
CHOICES = {"-R": ("name", True), "--tests-regex": ("name", True),
           "-E": ("name", False), "--exclude-regex": ("name", False),
           "-L": ("label", True), "--label-regex": ("label", True),
           "-LE": ("label", False), "--label-exclude": ("label", False)}


@dataclass
class Registered:
    """A line of tests.txt: a single test, or a binary whose tests GoogleTest knows."""

    name: str
    label: str
    targets: list
    sources: list

    def names(self):
        """The names that ctest has for its tests, as far as the sources tell."""
        found = []
        for source in self.sources:
            for kind, suite, test in A_TEST.findall((ROOT / source).read_text(encoding="utf-8")):
                found.append((f"{suite}.{test}", kind == "_P"))
        return found or [(self.name, False)]

    def whole(self):
        """Whether it is a binary whose tests ctest would run one by one."""
        return bool(self.sources)


def registered(text):
    rows = []
    for line in text.splitlines():
        name, label, targets, sources = line.split("|")
        rows.append(Registered(name, label, targets.split(), sources.split()))
    return rows


def may_match(pattern, name, parametrised):
    """Whether the name of a test matches. A parametrised one has words before and after its own that only the
    binary knows; it may match unless the pattern names another suite or test."""
    if re.search(pattern, name):
        return True
    named = re.search(r"(\w+)\\?\.(\w+)", pattern)
    suite, test = name.split(".") if parametrised else ("", "")
    return parametrised and (named is None or (suite.endswith(named[1]) and test.startswith(named[2])))


def needed_targets(rows, arguments):
    """What to build for these arguments of ctest; None: everything."""
    wanted = [(CHOICES[word], value) for word, value in zip(arguments, arguments[1:]) if word in CHOICES]
    if not wanted:
        return None
    targets = set()
    for row in rows:
        for name, parametrised in row.names():
            values = {"name": name, "label": row.label}
            if all(may_match(pattern, values[of], parametrised and of == "name") == takes
                   for (of, takes), pattern in wanted):
                targets.update(row.targets)
                break
    return sorted(targets)


class Spent:
    """CPU minutes by label, and the yardsticks that were read around each."""

    def __init__(self, read=yardstick.read, used=yardstick.children_cpu_seconds):
        self.read, self.used = read, used
        self.labels = {}  # label -> (CPU minutes, mean yardstick in CPU seconds)
        self.last = read()

    def by(self, label, work):
        """Does the work and notes what it took; returns what it returned."""
        before = self.used()
        result = work()
        minutes = (self.used() - before) / 60
        now = self.read()
        self.labels[label] = (minutes, (self.last + now) / 2)
        self.last = now
        return result


def budget():
    rows = [line.split() for line in BUDGET.read_text(encoding="utf-8").splitlines()]
    return {row[0]: float(row[1]) for row in rows if row and not row[0].startswith("#")}


def configure():
    done = subprocess.run(["cmake", "--preset", "dev"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)


def build(targets):
    if targets == []:
        return
    # As many compilers as cores: what more of them would fill of a core's time they cost the others by the caches that they share.
    words = ["--parallel", str(len(os.sched_getaffinity(0))), "--target", *(EVERYTHING if targets is None else targets)]
    if subprocess.run(["cmake", "--build", "--preset", "dev", *words], cwd=ROOT, check=False).returncode:
        sys.exit(1)


def ctest(words, report):
    """Runs ctest; returns its status and how many tests passed, failed and were skipped."""
    report.unlink(missing_ok=True)
    command = ["ctest", "--preset", "dev", "--no-tests=error", "-j", str(len(os.sched_getaffinity(0))),
               "--output-junit", str(report), *words]
    status = subprocess.run(command, cwd=ROOT, check=False).returncode
    if not report.exists():
        return status, Counter()
    suite = ElementTree.parse(report).getroot()
    count = {name: int(suite.get(name, 0)) for name in ("tests", "failures", "disabled", "skipped")}
    skipped = count["disabled"] + count["skipped"]
    return status, Counter(passed=count["tests"] - count["failures"] - skipped,
                           failed=count["failures"], skipped=skipped)


def failed_tests(report):
    """The failed tests of a report of ctest, each with what it printed."""
    if not report.exists():
        return []
    cases = ElementTree.parse(report).getroot().iter("testcase")
    return [(case.get("name"), case.findtext("system-out", "").splitlines())
            for case in cases if case.get("status") == "fail"]


def show(failures):
    for name, printed in failures:
        print(f"FAILED {name}", *printed[-SHOWN_LINES:], sep="\n    ")


def over_budget(spent, allowed):
    """Prints the table; the labels that took more than they may, or that nobody has allowed anything.

    What may be taken is the budget on a machine as fast as its yardstick, and as much more as this one is slower.
    """
    over = []
    print(f"{'CPU minutes':14}{'spent':>8}{'may':>8}{'budget':>8}{'yardstick':>11}")
    for label, (minutes, read) in spent.items():
        may = allowed.get(label, 0) * read / allowed[YARDSTICK]
        if minutes > may:
            over.append(label)
        print(f"{label:14}{minutes:8.2f}{may:8.2f}{allowed.get(label, 0):8.2f}{read:11.2f}"
              f"{'  OVER' if label in over else ''}")
    return over


def run_group(rows, words):
    """The tests of one label, or of several beside each other. Returns the status of ctest, how many tests passed, failed and
    were skipped, and the failures."""
    binaries = test_binaries.run([BUILD / "bin" / row.name for row in rows if row.whole()], ROOT, processes(words))
    if all(row.whole() for row in rows):
        return 0, binaries.counts, binaries.failures
    labels = labels_of(rows)
    report = BUILD / f"tests_{labels[0]}.xml"
    status, counts = ctest(["-L", f"^({'|'.join(labels)})$", "-L", f"^{WHOLE}$", *words], report)
    return status, binaries.counts + counts, binaries.failures + failed_tests(report)


def labels_of(rows):
    return list(dict.fromkeys(row.label for row in rows))


def processes(words):
    """As many as ctest would have."""
    if "-j" in words[:-1]:
        return max(1, int(words[words.index("-j") + 1]))
    return len(os.sched_getaffinity(0))


def run_all(rows, words, spent):
    """Every label; one after another, or those of BESIDE."""
    status, counts, failures = 0, Counter(), []
    groups = {}
    for row in rows:
        groups.setdefault(BESIDE.get(row.label, row.label), []).append(row)
    for name, chosen in groups.items():
        print(f"== {', '.join(labels_of(chosen))}", flush=True)
        failed, counted, more = spent.by(name, lambda chosen=chosen: run_group(chosen, words))
        status, counts = status or failed, counts + counted
        failures += more
    over = over_budget(spent.labels, budget())
    if over:
        print(f"scripts/test: over the budget of {BUDGET.relative_to(ROOT)}: {', '.join(over)}")
    show(failures)
    print(test_binaries.said(counts))
    return status or (1 if failures or over else 0)


def main():
    arguments = sys.argv[1:]
    configure()
    rows = registered((BUILD / "tests.txt").read_text(encoding="utf-8"))
    targets = needed_targets(rows, arguments)
    if targets is None:
        spent = Spent()
        spent.by(COMPILING, lambda: build(None))
        return run_all(rows, arguments, spent)
    build(targets)
    return ctest(arguments, BUILD / "tests_chosen.xml")[0]


if __name__ == "__main__":
    sys.exit(main())
