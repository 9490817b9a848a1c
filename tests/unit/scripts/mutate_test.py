"""scripts/mutate changes what it says it changes, and nothing that cannot be told apart."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))
from lib import mutant_draw, mutant_ledger, mutants  # noqa: E402
from lib.netns import Trouble  # noqa: E402

EXPLAINED = ROOT / "tests" / "mutants" / "explained.txt"


def in_function(lines):
    return f"void f() {{\n{lines}\n}}\n"


def after(kind, code):
    """What becomes of the lines of `code`, by mutants of a kind."""
    return [mutant.after for mutant in mutants.mutants_of("net/a.cpp", code) if mutant.kind == kind]


class Kinds(unittest.TestCase):
    def test_comparison_takes_the_neighbour(self):
        for one, other in (("<", "<="), ("<=", "<"), (">", ">="), (">=", ">"), ("==", "!="), ("!=", "=="),
                           ("&&", "||"), ("||", "&&")):
            self.assertEqual(after("comparison", f"  return a {one} b;\n"), [f"return a {other} b;"])

    def test_comparison_at_the_end_of_a_line(self):
        self.assertEqual(after("comparison", "  return a &&\n         b;\n"), ["return a ||"])

    def test_templates_shifts_and_references_are_no_comparison(self):
        for code in ("std::array<int, kN> a;", "a << b;", "a >> b;", "auto&& a = b;", "a <=> b;", "p->q;",
                     "template <typename T>", "bool operator<(T a) const;"):
            self.assertEqual(after("comparison", code + "\n"), [], code)

    def test_either_of_two_equals_is_no_mutant(self):
        self.assertEqual(after("comparison", "  return a < b ? a : b;\n"), [])
        self.assertEqual(after("comparison", "  return a < b ? c : b;\n"), ["return a <= b ? c : b;"])

    def test_off_by_one(self):
        self.assertEqual(after("off_by_one", "  x = y + 1;\n"), ["x = y + 0;"])
        self.assertEqual(after("off_by_one", "  x = y.size() - 1;\n"), ["x = y.size() - 0;"])
        self.assertEqual(after("off_by_one", "  for (size_t i = 0; i < n; ++i) {\n"),
                         ["for (size_t i = 1; i < n; ++i) {", "for (size_t i = 0; i + 1 < n; ++i) {"])
        self.assertEqual(after("off_by_one", "  x = y + 16;\n"), [])

    def test_constant(self):
        for one, other in (("0", "1"), ("16", "17"), ("17", "34"), ("1'000", "2000"), ("50_us", "100_us"),
                           ("0xfff0", "0xfff1"), ("0.5", "1.0"), ("true", "false"), ("false", "true")):
            self.assertEqual(after("constant", f"  x = {one};\n"), [f"x = {other};"], one)

    def test_what_only_has_to_be_large_enough_is_no_constant(self):
        for code in ("uint8_t octets[16];", "std::bitset<64> b;", "uint8_t a : 3;", "virtual void f() = 0;",
                     "v.reserve(64);", "constexpr size_t kPrefetchAhead = 4;", "struct alignas(64) A {"):
            self.assertEqual(after("constant", code + "\n"), [], code)

    def test_a_step_of_one_is_off_by_one_and_no_constant(self):
        self.assertEqual(after("constant", "  x = y + 1;\n"), [])

    def test_dropped_call(self):
        for one, other in (("table_.clear();", ";"), ("if (a) drop(packet, why(b));", "if (a) ;"),
                           ("else pool->give(x);", "else ;"), ("port(i).queues[3].stop();", ";"),
                           ("std::sort(a.begin(), a.end());", ";"),
                           ("for (auto x : xs) if (x) stop(x);", "for (auto x : xs) if (x) ;")):
            self.assertEqual(after("dropped_call", in_function(one)), [other], one)

    def test_a_call_over_several_lines_is_dropped_whole(self):
        found = [m for m in mutants.mutants_of("net/a.cpp", in_function("  call(a,\n       b);")) if m.kind == "dropped_call"]
        self.assertEqual([m.applied(in_function("  call(a,\n       b);")) for m in found], [in_function("  ;")])

    def test_declarations_and_results_are_no_dropped_call(self):
        for code in ("Type name(argument);", "x = call();", "return call();", "throw call();", "const auto x(y);"):
            self.assertEqual(after("dropped_call", in_function(code)), [], code)
        self.assertEqual(after("dropped_call", "class A {\n  A(int b);\n  explicit A(B);\n};\n"), [])

    def test_swapped_argument(self):
        self.assertEqual(after("swapped_argument", in_function("x = f(a, b(c), d);")),
                         ["x = f(b(c), a, d);", "x = f(a, d, b(c));"])
        self.assertEqual(after("swapped_argument", in_function("x = a.b - c[d];")), ["x = c[d] - a.b;"])
        self.assertEqual(after("swapped_argument", in_function('f("a", "b");')), ['f("b", "a");'])

    def test_what_has_no_order_is_not_swapped(self):
        for code in ("x = std::max(a, b);", "x = f(a, a);", "auto f = [](int a, int b) {};", "x = a - b - c;",
                     "x = f(a, 3);", "x = f(a, Kind::b);"):
            self.assertEqual(after("swapped_argument", in_function(code)), [], code)
        self.assertEqual(after("swapped_argument", "void f(int a, long b) {\n}\n"), [])

    def test_forgotten_counter(self):
        for code in ("++sent_;", "--queue.held;", "octets_ += length;", "a[i].left -= b;", "context_.count(p, C::x);",
                     "tally.add(1);"):
            self.assertEqual(after("forgotten_counter", in_function(code)), [";"], code)
        for code in ("x = y.count();", "return n += m;", "for (i = 0; a; ++i) g();"):
            self.assertEqual(after("forgotten_counter", in_function(code)), [], code)


class LeftAlone(unittest.TestCase):
    def test_what_is_no_code(self):
        for code in ("// a < b + 1", "/* f(a, b); */", 'x = "a < b + 1";', "#if A < 3", "static_assert(a == 3);",
                     "ASSERT(a < b && f(c, d) == 3);", "[[gnu::aligned(8)]] int x;", 'std::fprintf(stderr, "x", a, b);',
                     "rte_prefetch0(a + 1);"):
            self.assertEqual(mutants.mutants_of("net/a.cpp", in_function(code)), [], code)

    def test_the_rest_of_the_line_is_code(self):
        self.assertEqual(after("comparison", '  if (a < b) say("c < d");  // e < f\n'), ['if (a <= b) say("c < d");'])


class Ids(unittest.TestCase):
    def test_they_follow_their_line_and_not_its_number(self):
        one = mutants.mutants_of("net/a.cpp", "x = a < b;\n")
        other = mutants.mutants_of("net/a.cpp", "int y;\n\n  x = a < b;  // why\n")
        self.assertEqual([m.id for m in one], [m.id for m in other])
        self.assertNotEqual(one[0].id, mutants.mutants_of("net/b.cpp", "x = a < b;\n")[0].id)

    def test_equal_lines_are_told_apart(self):
        found = mutants.mutants_of("net/a.cpp", "x = a < b;\nx = a < b;\n")
        self.assertEqual(len({m.id for m in found}), 2)
        self.assertEqual([m.line for m in found], [1, 2])

    def test_the_mutant_is_the_text_but_for_its_change(self):
        text = "int x = 0;\nbool y = a < b;  // c\n"
        changed = [m for m in mutants.mutants_of("net/a.cpp", text) if m.kind == "comparison"][0].applied(text)
        self.assertEqual(changed, "int x = 0;\nbool y = a <= b;  // c\n")


class Draw(unittest.TestCase):
    def setUp(self):
        lines = "".join(f"x{i} = a{i} < b{i};\ny{i} = {i};\n" for i in range(40))
        self.candidates = mutants.mutants_of("net/a.cpp", lines) + mutants.mutants_of("lab/a.h", lines)

    def order(self, seed, dependents=lambda path: 1, candidates=None):
        drawn = mutant_draw.draw(self.candidates if candidates is None else candidates, seed, dependents)
        return [mutant.id for mutant in drawn]

    def test_a_seed_repeats_and_another_differs(self):
        self.assertEqual(self.order(1), self.order(1))
        self.assertNotEqual(self.order(1), self.order(2))

    def test_one_a_line(self):
        both = mutants.mutants_of("net/a.cpp", "x = a < b + 1;\n")
        self.assertGreater(len(both), 1)
        self.assertEqual(len(mutant_draw.draw(both, 1, lambda path: 1)), 1)

    def test_a_header_that_all_include_is_rare_but_there(self):
        order = mutant_draw.draw(self.candidates, 1, lambda path: 200 if path.endswith(".h") else 1)
        places = [place for place, mutant in enumerate(order) if mutant.path == "lab/a.h"]
        self.assertEqual(len(places), 80)
        self.assertLess(sum(place < 80 for place in places), 20)

    def test_headers_count_those_that_come_to_them_through_others(self):
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            for name, text in (("net/a.h", ""), ("net/b.h", '#include "net/a.h"\n'), ("net/c.cpp", '#include "net/b.h"\n'),
                               ("lab/d.cpp", '#include "net/a.h"\n')):
                (root / name).parent.mkdir(exist_ok=True)
                (root / name).write_text(text)
            count = mutant_draw.dependents(root)
        self.assertEqual([count("net/a.h"), count("net/b.h"), count("net/c.cpp")], [2, 1, 1])

    def test_what_could_harm_others_is_not_changed(self):
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            (root / "lab" / "program").mkdir(parents=True)
            for name, text in (("a.cpp", "kill(pid, 9);\n"), ("b.cpp", "x = 1;\n"), ("program/c.cpp", "x = 1;\n")):
                (root / "lab" / name).write_text(text)
            self.assertEqual(list(mutant_draw.sources(root, "lab")), ["lab/b.cpp"])


class Ledgers(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = Path(directory.name) / "ledger.jsonl"
        self.ledger = mutant_ledger.Ledger.anew(self.path, {"seed": 1})

    def add(self, name, verdict, commit="c1", own=False):
        self.ledger.add({"id": name, "path": "net/a.cpp", "line": 3, "kind": "constant", "before": "x = 1;",
                         "after": "x = 2;", "verdict": verdict, "check": "net_test" if verdict == "killed" else "",
                         "test": "A.B" if verdict == "killed" else "", "commit": commit, "own": own})

    def test_what_is_written_is_read(self):
        self.add("1", "survived")
        self.add("1", "killed")
        read = mutant_ledger.Ledger.of_file(self.path)
        self.assertEqual(read.settings, {"seed": 1})
        self.assertEqual([entry["verdict"] for entry in read.entries.values()], ["killed"])

    def test_an_older_trees_mutants_do_not_count(self):
        self.add("1", "survived")
        self.add("2", "killed")
        self.ledger.close(["2"])
        self.assertEqual(list(mutant_ledger.Ledger.of_file(self.path).entries), ["2"])

    def test_survivors_meet_other_tests_again_and_nobody_else_does(self):
        self.add("1", "survived")
        self.add("2", "killed")
        self.add("3", "survived", own=True)
        wants = [self.ledger.wants(name, commit, False) for name, commit in
                 (("1", "c1"), ("1", "c2"), ("2", "c2"), ("3", "c1"), ("4", "c1"))]
        self.assertEqual(wants, [False, True, False, True, True])

    def test_the_table_says_which_survive_and_why(self):
        self.add("1", "survived")
        self.add("2", "killed")
        self.add("3", "survived")
        self.add("4", "did not compile")
        lines = mutant_ledger.table(self.ledger, {"3": "net/a.cpp: nobody can tell"})
        self.assertEqual(lines[-1], "3 mutants: 1 killed (33.3 %), 1 survive and are explained, 1 survive; "
                                    "1 more did not compile")
        self.assertIn("      net/a.cpp: nobody can tell", lines)
        self.assertIn("  1  net/a.cpp:3  constant", lines)
        every = mutant_ledger.table(self.ledger, {}, every=True)
        self.assertEqual(every[1], "   2  2  killed by net_test A.B  net/a.cpp:3  constant: x = 1;  ->  x = 2;")

    def test_what_is_no_ledger_is_refused(self):
        self.path.write_text("{}\n")
        with self.assertRaisesRegex(Trouble, "is no ledger of scripts/mutate"):
            mutant_ledger.Ledger.of_file(self.path)


class Explained(unittest.TestCase):
    def test_every_id_is_that_of_a_mutant_of_the_file_it_names(self):
        for name, reason in mutant_draw.explained(EXPLAINED).items():
            path, _, words = reason.partition(": ")
            self.assertTrue(words, name)
            text = (ROOT / path).read_text(encoding="utf-8")
            self.assertIn(name, {mutant.id for mutant in mutants.mutants_of(path, text)}, path)


class Program(unittest.TestCase):
    def run_mutate(self, *words):
        return subprocess.run([ROOT / "scripts" / "mutate", *words], capture_output=True, text=True, check=False)

    def test_a_list_needs_no_build_and_repeats(self):
        first = self.run_mutate("--list", "--count", "3", "--file", "pfc/wred.cpp")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertEqual(first.stdout.count("pfc/wred.cpp:"), 3)
        self.assertEqual(self.run_mutate("--list", "--count", "3", "--file", "pfc/wred.cpp").stdout, first.stdout)

    def test_wrong_words_are_refused(self):
        for words, said in ((("--count", "0"), "--count 0: valid is 1 and more"),
                            (("--file", "README.md"), "--file README.md: no file of net"),
                            (("--table", "nowhere.jsonl"), "nowhere.jsonl: there is no such ledger")):
            done = self.run_mutate(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)

    def test_an_unknown_id_is_said(self):
        done = self.run_mutate("--replay", "nothing", "--file", "pfc/wred.cpp")
        self.assertEqual(done.returncode, 3)
        self.assertIn("nothing: no mutant of these files has that id", done.stderr)


if __name__ == "__main__":
    unittest.main()
