"""What is run against a mutant: the programs of its folder's tests, then what sees the folder from afar.

The first check that fails ends it. Each check runs unchanged once, before all mutants, and must pass; how
much CPU time that took says when a mutant hangs. A process that takes too much memory is ended like one that
hangs; virtual memory is not limited, because the lab reserves far more than it touches.
"""

import os
import re
import resource
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from .netns import Trouble

# folder -> (the tests of the folder, what else would notice)
SUITES = {
    "net": (("net_test",), ("parse_replay_test", "host_test", "dataplane_test", "golden")),
    "lb": (("lb_test", "scheme_conformance"), ("dataplane_test", "lab_test", "digests")),
    "pfc": (("pfc_test", "pfc_model_test"), ("dataplane_test", "golden", "digests")),
    "host": (("host_test", "law_conformance"), ("lab_test", "digests")),
    "switch/dataplane": (("dataplane_test",), ("fib_test", "fabric_sim_test", "golden", "lab_test", "digests")),
    "config": (("config_test",), ("lab_test",)),
    "lab": (("lab_results_test", "lab_test"), ("digests",)),
}
PROGRAMS = {"golden": "golden_in_process", "digests": "lab_sim"}
DIGEST_SEEDS = ("1", "2", "3", "5", "8")
MEMORY, LARGEST_FILE = 4 << 30, 1 << 30
LOOK_S = 0.5  # between looks at what a process has taken
CPU_FACTOR, CPU_SLACK_S = 10, 10  # a mutant's objects are not optimised
WALL_FACTOR, WALL_SLACK_S = 20, 120  # on a busy machine
_CPU_TIME_IS_OVER = (-signal.SIGXCPU, -signal.SIGKILL)  # the kernel's word at the soft and the hard limit
_TOKEN = re.compile(r"^\[ +(RUN|OK|FAILED) +\] (\S+?),?(?: \(.*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """How a check ended: `verdict` is passed, killed or timed out; `test` says which test it was."""

    verdict: str
    test: str = ""
    output: str = ""


@dataclass
class Limits:
    """Of one check, in seconds."""

    cpu: int
    wall: float


def checks_of(folder, own_only=False):
    own, others = SUITES[folder]
    return own if own_only else own + others


def targets_of(folders, own_only=False):
    names = {name for folder in folders for name in checks_of(folder, own_only)}
    return sorted(PROGRAMS.get(name, name) for name in names)


class Checks:
    """Runs checks; `root` is the tree, whose files tests read."""

    def __init__(self, root):
        self.root = root
        self.limits, self.digests = {}, ""

    def measure(self, name, program):
        """Runs the unchanged program, from which limits come. It must pass."""
        began, before = time.monotonic(), _cpu_of_children()
        outcome = self.run(name, program, Limits(cpu=600, wall=3600))
        cpu, wall = _cpu_of_children() - before, time.monotonic() - began
        if outcome.verdict != "passed":
            raise Trouble(f"{name} {outcome.verdict} without a mutant: {outcome.test}\n{outcome.output[-4000:]}")
        self.limits[name] = Limits(int(cpu * CPU_FACTOR) + CPU_SLACK_S, wall * WALL_FACTOR + WALL_SLACK_S)
        return cpu

    def run(self, name, program, limits=None):
        limits = limits or self.limits[name]
        if name == "digests":
            return self._run_digests(program, limits)
        if name == "golden":
            return self._run_golden(program, limits)
        return self._run_tests(program, limits)

    def _run_tests(self, program, limits):
        code, output = self._process([program, "--gtest_fail_fast", "--gtest_color=no"], limits)
        if code == 0:
            return Outcome("passed")
        seen = _TOKEN.findall(output)
        failed = [test for word, test in seen if word == "FAILED"]
        test = failed[0] if failed else seen[-1][1] if seen and seen[-1][0] == "RUN" else "(before the first test)"
        return Outcome("timed out" if code is None else "killed", test, output)

    def _run_digests(self, program, limits):
        code, output = self._process([program, *DIGEST_SEEDS], limits)
        self.digests = self.digests or output
        if code is None:
            return Outcome("timed out", "digests", output)
        same = code == 0 and output == self.digests
        return Outcome("passed" if same else "killed", "digests", output)

    def _run_golden(self, program, limits):
        command = ["python3", self.root / "tests" / "golden" / "golden.py", "check", "--world", "in_process"]
        code, output = self._process(command, limits, {"EDDY_BIN": str(Path(program).parent)})
        verdict = "passed" if code == 0 else "timed out" if code is None else "killed"
        return Outcome(verdict, output.split(":")[0][:60] if code else "golden", output)

    def _process(self, command, limits, environment=None):
        """(exit code, output) of a process; the code is None when it took too much time or memory."""
        limited = ["prlimit", f"--cpu={limits.cpu}", "--core=0", f"--fsize={LARGEST_FILE}"]
        with subprocess.Popen([str(word) for word in (*limited, *command)], cwd=self.root, text=True, errors="replace",
                              env=os.environ | (environment or {}), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, start_new_session=True) as process:
            end, output = time.monotonic() + limits.wall, None
            while output is None:
                try:
                    output, _ = process.communicate(timeout=LOOK_S)
                except subprocess.TimeoutExpired:
                    if time.monotonic() > end or _resident(process.pid) > MEMORY:
                        os.killpg(process.pid, signal.SIGKILL)
        return None if process.returncode in _CPU_TIME_IS_OVER else process.returncode, output


def _cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _resident(pid):
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    except (OSError, IndexError):
        return 0
