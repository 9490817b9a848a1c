"""What scripts/test builds for which arguments, and how it judges the CPU minutes."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))
from lib import run_tests  # noqa: E402

TESTS = """\
alpha_test|unit|alpha_test|alpha.cpp
beta_test|sim|beta_test|beta.cpp
golden.drill|golden|eddyd eddyctl|
"""
ALPHA = "TEST(Letflow, KeepsOrder) {}\nTEST_F(Queue, Empty) {}\n"
BETA = "TEST_P(EveryScheme, ChoosesLiveMembers) {}\n"


class Targets(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, text in (("alpha.cpp", ALPHA), ("beta.cpp", BETA)):
            (Path(folder.name) / name).write_text(text, encoding="utf-8")
        root = run_tests.ROOT
        self.addCleanup(setattr, run_tests, "ROOT", root)
        run_tests.ROOT = Path(folder.name)
        self.rows = run_tests.registered(TESTS)

    def needed(self, *arguments):
        return run_tests.needed_targets(self.rows, list(arguments))

    def test_without_a_choice_everything_is_built(self):
        self.assertIsNone(self.needed())
        self.assertIsNone(self.needed("-j", "1"))

    def test_a_name_takes_the_binary_that_has_it(self):
        self.assertEqual(self.needed("-R", r"Queue\.Empty"), ["alpha_test"])
        self.assertEqual(self.needed("-R", "^golden"), ["beta_test", "eddyctl", "eddyd"])

    def test_words_that_only_the_binary_knows_may_be_a_parameters(self):
        self.assertEqual(self.needed("-R", "Letflow"), ["alpha_test", "beta_test"])
        self.assertEqual(self.needed("-R", "All/EveryScheme.ChoosesLiveMembers/drill"), ["beta_test"])

    def test_labels_choose_and_exclude(self):
        self.assertEqual(self.needed("-L", "golden"), ["eddyctl", "eddyd"])
        self.assertEqual(self.needed("-LE", "golden|sim"), ["alpha_test"])
        self.assertEqual(self.needed("-L", "unit", "-E", "Letflow|Queue"), [])


class Labels(unittest.TestCase):
    def test_binaries_run_whole_and_the_rest_by_ctest(self):
        asked = []
        for name, fake in (("ctest", lambda words, _: asked.append(words) or (0, run_tests.Counter(passed=2))),
                           ("failed_tests", lambda _: [])):
            self.addCleanup(setattr, run_tests, name, getattr(run_tests, name))
            setattr(run_tests, name, fake)
        run = run_tests.test_binaries.run
        self.addCleanup(setattr, run_tests.test_binaries, "run", run)
        outcome = run_tests.test_binaries.Outcome(run_tests.Counter(passed=1, failed=1), [("A.Bad", [])])
        run_tests.test_binaries.run = lambda binaries, _, processes: asked.append((len(binaries), processes)) or outcome
        rows = run_tests.registered(TESTS.replace("|sim|", "|golden|"))
        self.assertEqual(run_tests.run_group(rows[1:], ["-j", "3"]),
                         (0, run_tests.Counter(passed=3, failed=1), [("A.Bad", [])]))
        self.assertEqual(asked, [(1, 3), ["-L", "^(golden)$", "-L", "^whole$", "-j", "3"]])
        self.assertEqual(run_tests.run_group(rows[:1], [])[1], outcome.counts)  # ctest has nothing to do
        self.assertEqual(len(asked), 3)


class Beside(unittest.TestCase):
    def test_some_labels_run_together_and_every_test_once(self):
        asked = []
        for name, fake in (("run_group", lambda rows, _: asked.append((run_tests.labels_of(rows), [row.name for row in rows]))
                            or (0, run_tests.Counter(passed=len(rows)), [])), ("budget", lambda: {"yardstick": 4})):
            self.addCleanup(setattr, run_tests, name, getattr(run_tests, name))
            setattr(run_tests, name, fake)
        rows = run_tests.registered("a|unit|a|\nb|package|b|\nc|e2e|c|\nd|container|d|\ne|package|e|\n")
        spent = run_tests.Spent(read=lambda: 4, used=lambda: 0)
        with contextlib.redirect_stdout(io.StringIO()):
            run_tests.run_all(rows, [], spent)
        self.assertEqual(asked, [(["unit"], ["a"]), (["package", "container"], ["b", "d", "e"]), (["e2e"], ["c"])])
        self.assertEqual(list(spent.labels), ["unit", "packaging", "e2e"])


class Failures(unittest.TestCase):
    def test_a_failed_test_is_named_with_the_end_of_what_it_printed(self):
        lines = "\n".join(f"line {k}" for k in range(run_tests.SHOWN_LINES + 5))
        with tempfile.NamedTemporaryFile("w", suffix=".xml", encoding="utf-8") as report:
            report.write(f'''<testsuite tests="3" failures="1">
                <testcase name="A.Good" status="run"><system-out>fine</system-out></testcase>
                <testcase name="A.Bad" status="fail"><failure message=""/><system-out>{lines}</system-out></testcase>
                <testcase name="A.Off" status="notrun"><skipped message=""/></testcase></testsuite>''')
            report.flush()
            failed = run_tests.failed_tests(Path(report.name))
        with contextlib.redirect_stdout(io.StringIO()) as out:
            run_tests.show(failed)
        shown = out.getvalue().splitlines()
        self.assertEqual((shown[0], len(shown)), ("FAILED A.Bad", 1 + run_tests.SHOWN_LINES))
        self.assertEqual(shown[-1].strip(), f"line {run_tests.SHOWN_LINES + 4}")

    def test_a_label_without_a_report_has_none(self):
        self.assertEqual(run_tests.failed_tests(Path("/nowhere/tests.xml")), [])


class Budget(unittest.TestCase):
    def test_a_label_over_its_budget_or_without_one_is_named(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            over = run_tests.over_budget({"unit": (1.5, 4), "sim": (1.0, 4), "new": (0.1, 4)},
                                         {"yardstick": 4, "unit": 1.4, "sim": 1.0})
        self.assertEqual(over, ["unit", "new"])
        self.assertEqual(out.getvalue().count("OVER"), 2)

    def test_a_slow_machine_may_take_longer_by_as_much_and_a_fast_one_less(self):
        with contextlib.redirect_stdout(io.StringIO()):
            over = run_tests.over_budget({"slow": (1.5, 6), "slower": (1.6, 6), "fast": (0.9, 3)},
                                         {"yardstick": 4, "slow": 1, "slower": 1, "fast": 1})
        self.assertEqual(over, ["slower", "fast"])

    def test_minutes_stand_beside_the_yardsticks_around_them(self):
        used = iter((0, 60, 70, 190))
        spent = run_tests.Spent(read=iter((2, 4, 6)).__next__, used=used.__next__)
        self.assertEqual(spent.by("a", lambda: 7), 7)
        spent.by("b", lambda: None)
        self.assertEqual(spent.labels, {"a": (1, 3), "b": (2, 5)})

    def test_every_label_of_the_tree_has_a_budget(self):
        labels = {"yardstick", "compile", "unit", "conformance", "sim", "golden", "fuzz", "programs", "e2e", "bench", "packaging"}
        self.assertEqual(set(run_tests.budget()), labels)


if __name__ == "__main__":
    unittest.main()
