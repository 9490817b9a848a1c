"""How binaries of GoogleTest are run, by programs that print and write what such a binary does."""

import contextlib
import io
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"
sys.path.insert(0, str(SCRIPTS))
from lib import test_binaries  # noqa: E402

# Its shard of four tests; `ends` says how the third one goes.
BINARY = """\
#!/usr/bin/python3
import os, sys, time
ends = {ends!r}
report = next(word for word in sys.argv if word.startswith("--gtest_output=xml:")).split(":", 1)[1]
mine = [k for k in range(4) if k % int(os.environ["GTEST_TOTAL_SHARDS"]) == int(os.environ["GTEST_SHARD_INDEX"])]
print(f"[==========] Running {{len(mine)}} tests from 1 test suite.")
cases = ""
for k in mine:
    print(f"[ RUN      ] Suite.Test{{k}}", flush=True)
    inside = ""
    word = "      OK"
    if k == 2 and ends == "fails":
        print("a reason")
        inside, word = "<failure message=''/>", " FAILED "
    if k == 2 and ends == "is skipped":
        inside, word = "<skipped message=''/>", " SKIPPED"
    if k == 2 and ends == "dies":
        os.kill(os.getpid(), 9)
    if k == 2 and ends == "hangs":
        time.sleep(600)
    print(f"[ {{word}} ] Suite.Test{{k}} (0 ms)")
    cases += f"<testcase classname='Suite' name='Test{{k}}' status='run' result='completed'>{{inside}}</testcase>"
open(report, "w").write(f"<testsuites><testsuite>{{cases}}</testsuite></testsuites>")
sys.exit(1 if ends == "leaks" or (ends == "fails" and 2 in mine) else 0)
"""


class Binaries(unittest.TestCase):
    def run_it(self, ends, processes):
        with tempfile.TemporaryDirectory() as folder:
            binary = Path(folder) / "some_test"
            binary.write_text(BINARY.format(ends=ends), encoding="utf-8")
            binary.chmod(0o755)
            with contextlib.redirect_stdout(io.StringIO()) as out:
                outcome = test_binaries.run([binary], folder, processes)
        self.assertEqual(out.getvalue(), f"some_test: {test_binaries.said(outcome.counts)}\n")
        return outcome

    def test_all_that_it_has_runs_once(self):
        for processes in (1, 2, 3, 8):
            outcome = self.run_it("well", processes)
            self.assertEqual((outcome.counts, outcome.failures), (Counter(passed=4), []))

    def test_a_failure_is_told_with_what_the_test_printed(self):
        outcome = self.run_it("fails", 2)
        self.assertEqual(outcome.counts, Counter(passed=3, failed=1))
        self.assertEqual(outcome.failures[0][0], "Suite.Test2")
        self.assertIn("a reason", outcome.failures[0][1])
        self.assertFalse(any("Test0" in line for line in outcome.failures[0][1]))

    def test_a_skipped_test_is_no_failure(self):
        self.assertEqual(self.run_it("is skipped", 2).counts, Counter(passed=3, skipped=1))

    def test_what_a_dead_process_did_not_run_has_failed(self):
        outcome = self.run_it("dies", 1)
        self.assertEqual(outcome.counts, Counter(passed=2, failed=2))
        name, lines = outcome.failures[0]
        self.assertEqual((name, lines[-2:]), ("Suite.Test2", ["the process ended with status -9", "1 tests behind it did not run"]))

    def test_a_process_that_hangs_is_ended(self):
        self.addCleanup(setattr, test_binaries, "TIMEOUT_S", test_binaries.TIMEOUT_S)
        test_binaries.TIMEOUT_S = 8
        outcome = self.run_it("hangs", 2)
        self.assertEqual(outcome.counts, Counter(passed=3, failed=1))
        self.assertIn("the process took more than 8 s", outcome.failures[0][1])

    def test_a_process_that_ends_badly_without_a_failed_test_has_failed(self):
        outcome = self.run_it("leaks", 1)
        self.assertEqual(outcome.counts, Counter(passed=4, failed=1))
        self.assertEqual(outcome.failures[0][0], "some_test")


if __name__ == "__main__":
    unittest.main()
