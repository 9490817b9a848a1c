"""Runs binaries of GoogleTest whole, each in as many processes as there are cores.

A process for each test, as ctest has it, takes longer to start than most tests take to run. Tests are shared out by
GoogleTest's own sharding. What a test of a process that ended too early, or took too long, would have said is lost with it:
it is a failed test, and so are those of that process that had not run by then.
"""

import os
import re
import subprocess
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

TIMEOUT_S = 1200  # of a process: far above what any takes
_BEGIN = re.compile(r"^\[ RUN      \] (\S+)", re.M)


@dataclass
class Outcome:
    """What came of some tests."""

    counts: Counter = field(default_factory=Counter)  # passed, failed, skipped
    failures: list = field(default_factory=list)  # (name, lines that it printed)

    def __iadd__(self, other):
        self.counts += other.counts
        self.failures += other.failures
        return self


def run(binaries, folder, processes):
    """All tests of these binaries (paths), in `folder`; prints a line for each binary. As many processes at a time."""
    work = [(Path(binary), shard) for binary in binaries for shard in range(processes)]
    total = Outcome()
    with ThreadPoolExecutor(processes) as pool:
        done = pool.map(lambda part: run_shard(*part, processes, folder), work)
        for (binary, shard), outcome in zip(work, done):
            if shard == 0:
                whole = Outcome()
            whole += outcome
            if shard == processes - 1:
                print(f"{binary.name}: {said(whole.counts)}", flush=True)
                total += whole
    return total


def said(counts):
    return f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped"


def run_shard(binary, shard, shards, folder):
    with tempfile.TemporaryDirectory() as report_folder:
        report = Path(report_folder) / "report.xml"
        sharing = {"GTEST_TOTAL_SHARDS": str(shards), "GTEST_SHARD_INDEX": str(shard)}
        command = [str(binary), f"--gtest_output=xml:{report}"]
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as printed:
            try:
                status = subprocess.run(command, cwd=folder, env=os.environ | sharing, stdin=subprocess.DEVNULL, stdout=printed,
                                        stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False).returncode
                end = f"the process ended with status {status}"
            except subprocess.TimeoutExpired:
                status, end = 1, f"the process took more than {TIMEOUT_S} s"
            printed.seek(0)
            text = printed.read()
        if not report.exists():
            return cut_short(binary, text, end)
        outcome = by_report(report, text)
        if status and not outcome.failures:  # as a sanitizer ends it
            outcome += failed(binary.name, [*text.splitlines(), end])
        return outcome


def failed(name, lines, more=0):
    """A failed test, and so many that did not run."""
    return Outcome(Counter(failed=1 + more), [(name, lines)])


def by_report(report, text):
    outcome = Outcome()
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        if case.find("failure") is not None:
            outcome += failed(name, printed_by(name, text))
        elif case.find("skipped") is not None or case.get("result") in ("skipped", "suppressed"):
            outcome.counts["skipped"] += 1
        else:
            outcome.counts["passed"] += 1
    return outcome


def cut_short(binary, text, end):
    begun = _BEGIN.findall(text)
    if not begun:
        return failed(binary.name, [*text.splitlines(), end])
    name = begun[-1]
    announced = re.search(r"^\[=+\] Running (\d+) tests? from", text, re.M)
    left = max(0, int(announced[1]) - len(begun)) if announced else 0
    lines = [*printed_by(name, text), end, *([f"{left} tests behind it did not run"] if left else [])]
    outcome = failed(name, lines, left)
    for key, word in (("passed", "      OK"), ("skipped", " SKIPPED")):
        outcome.counts[key] += len(re.findall(rf"^\[ {word} \] \S+ \(", text, re.M))
    for other in re.findall(r"^\[  FAILED  \] (\S+) \(", text, re.M):
        outcome += failed(other, printed_by(other, text))
    return outcome


def printed_by(name, text):
    """The lines of a test in what its process printed."""
    begin = text.find(f"[ RUN      ] {name}\n")
    following = _BEGIN.search(text, begin + 1)
    return text[begin:following.start() if following else len(text)].splitlines()
