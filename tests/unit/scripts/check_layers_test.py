"""Each rule of scripts/check_layers.py finds what it is there for, and nothing else."""

import re
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))
import check_layers  # noqa: E402
from lib import cpp_text  # noqa: E402

HEADER = "// A header.\n#pragma once\n"


def findings_of(path, text):
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        (root / path).parent.mkdir(parents=True)
        (root / path).write_text(text, encoding="utf-8")
        findings = check_layers.Findings()
        check_layers.check_file(root, path, findings)
        return findings.lines()


class Includes(unittest.TestCase):
    def test_lb_may_not_see_pfc(self):
        self.assertEqual(findings_of("lb/a.cpp", '#include "net/ids.h"\n#include "pfc/pool.h"\n'),
                         ['lb/a.cpp:2: layer lb may not include "pfc/pool.h"'])

    def test_plain_config_is_for_everyone_and_yaml_is_not(self):
        self.assertEqual(findings_of("pfc/a.cpp", '#include "config/config.h"\n'), [])
        self.assertEqual(len(findings_of("pfc/a.cpp", '#include "config/yaml.h"\n')), 1)

    def test_lab_and_dpdk_do_not_meet(self):
        self.assertEqual(len(findings_of("lab/a.cpp", '#include "switch/dpdk/eal.h"\n')), 1)
        self.assertEqual(len(findings_of("switch/dpdk/a.cpp", '#include "lab/engine.h"\n')), 1)

    def test_mains_and_tests_see_all_of_the_switch(self):
        self.assertEqual(findings_of("switch/eddyd.cpp", '#include "switch/dpdk/eal.h"\n'), [])
        self.assertEqual(findings_of("tests/unit/a.cpp", '#include "switch/dpdk/eal.h"\n'), [])

    def test_runtime_headers_are_banned_in_pure_folders_only(self):
        self.assertEqual(len(findings_of("net/a.cpp", "#include <chrono>\n")), 1)
        self.assertEqual(findings_of("switch/dpdk/a.cpp", "#include <chrono>\n"), [])


class WhatOthersCanReach(unittest.TestCase):
    def test_one_place_unlinks_sockets(self):
        for path in ("switch/dpdk/port.cpp", "lab/real/a.cpp"):
            self.assertEqual(len(findings_of(path, "void f() { ::unlink(path.c_str()); }\n")), 1)
        self.assertEqual(findings_of("system/unix_socket.cpp", "void f() { ::unlink(path.c_str()); }\n"), [])
        self.assertEqual(findings_of("tests/unit/a.cpp", "void f() { ::unlink(path.c_str()); }\n"), [])

    def test_no_folder_in_tmp_has_a_name_that_others_know(self):
        for text in ('fs::path base = "/tmp";\n', 'open("/var/tmp/eddy");\n'):
            self.assertEqual(len(findings_of("switch/dpdk/eal.cpp", text)), 1)
        self.assertEqual(findings_of("switch/dpdk/eal.cpp", 'open("/tmpl");\n'), [])

    def test_nor_in_scripts(self):
        named = re.compile(r"""["'\s=]/(var/)?tmp/""")
        for path in sorted((ROOT / "scripts").rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                with self.subTest(path.name):
                    self.assertNotRegex(path.read_text(encoding="utf-8"), named)


def findings_of_tree(texts):
    findings = check_layers.Findings()
    check_layers.check_tree(texts, findings)
    return findings.lines()


class Rooms(unittest.TestCase):
    def test_an_arrow_between_rooms_may_not_run_up(self):
        up = '#include "switch/dataplane/queues/egress.h"\n'
        self.assertEqual(findings_of("switch/dataplane/state/a.cpp", up),
                         ['switch/dataplane/state/a.cpp:1: room state of switch/dataplane may not include '
                          '"switch/dataplane/queues/egress.h"'])
        self.assertEqual(findings_of("switch/dataplane/paths/a.cpp", up), [])
        self.assertEqual(findings_of("switch/dataplane/queues/a.cpp", up), [])

    def test_every_room_may_use_those_before_it_and_none_behind(self):
        for folder, rooms in check_layers.ROOMS.items():
            before = []
            for room, may_use in rooms.items():
                self.assertLessEqual(set(may_use), set(before), f"{folder}: {room}")
                before.append(room)

    def test_real_and_page_do_not_know_each_other(self):
        self.assertEqual(len(findings_of("lab/real/a.cpp", '#include "lab/page/page.h"\n')), 1)
        self.assertEqual(len(findings_of("lab/page/a.cpp", '#include "lab/real/needs.h"\n')), 1)

    def test_a_room_that_nobody_named_is_found(self):
        self.assertEqual(len(findings_of("lab/attic/a.cpp", '#include "lab/run/run.h"\n')), 1)

    def test_schemes_stand_above_rlb_and_rlb_above_what_both_use(self):
        self.assertEqual(findings_of("lb/schemes/a.cpp", '#include "lb/rlb/rlb.h"\n'), [])
        self.assertEqual(findings_of("lb/rlb/a.cpp", '#include "lb/path_view.h"\n'), [])
        self.assertEqual(len(findings_of("lb/a.cpp", '#include "lb/rlb/rlb.h"\n')), 1)

    def test_plain_config_is_below_all_and_uses_net_only(self):
        self.assertEqual(findings_of("lb/a.cpp", '#include "config/resequence.h"\n'), [])
        self.assertEqual(findings_of("config/keys/a.cpp", '#include "config/path_service.h"\n'), [])
        self.assertEqual(len(findings_of("config/keys/a.cpp", '#include "config/load.h"\n')), 1)
        self.assertEqual(len(findings_of("config/defaults.cpp", '#include "lb/dre.h"\n')), 1)
        self.assertEqual(len(findings_of("config/rlb.h", HEADER + '#include "config/load.h"\n')), 1)
        self.assertEqual(len(findings_of("net/a.cpp", '#include "config/config.h"\n')), 1)


class Circles(unittest.TestCase):
    def test_units_that_need_each_other(self):
        texts = {"net/a.h": '#include "net/b.h"\n', "net/b.cpp": 'int b;\n#include "net/c.h"\n',
                 "net/b.h": "", "net/c.h": '#include "net/a.h"\n', "net/d.h": '#include "net/a.h"\n'}
        self.assertEqual(findings_of_tree(texts),
                         ["net/a.h:1: units that need each other: net/a, net/b, net/c"])

    def test_a_source_and_its_own_header_are_one_unit(self):
        texts = {"net/a.h": "", "net/a.cpp": '#include "net/a.h"\n#include "net/b.h"\n', "net/b.h": ""}
        self.assertEqual(findings_of_tree(texts), [])

    def test_folders_that_need_each_other(self):
        texts = {"lab/x/a.h": '#include "lab/y/a.h"\n', "lab/y/a.h": "",
                 "lab/y/b.h": '#include "lab/x/b.h"\n', "lab/x/b.h": ""}
        self.assertEqual(findings_of_tree(texts),
                         ["lab/x/a.h:1: folders that need each other: lab/x, lab/y"])

    def test_plain_config_and_its_yaml_side_are_two_folders(self):
        texts = {"config/config.h": "", "pfc/a.h": '#include "config/config.h"\n',
                 "config/validate.cpp": '#include "pfc/a.h"\n'}
        self.assertEqual(findings_of_tree(texts), [])
        texts["pfc/a.h"] += '#include "config/validate.h"\n'
        texts["config/validate.h"] = ""
        self.assertEqual(len(findings_of_tree(texts)), 2)  # of units, and of folders

    def test_two_circles_are_two_findings(self):
        texts = {f"net/{a}.h": f'#include "net/{b}.h"\n' for a, b in ("ab", "ba", "cd", "dc", "ec")}
        self.assertEqual(len(findings_of_tree(texts)), 2)

    def test_a_folder_holds_32_units(self):
        texts = {f"net/a{i}.h": "" for i in range(32)}
        texts["net/a0.cpp"] = ""
        self.assertEqual(findings_of_tree(texts), [])
        texts["net/b.cpp"] = ""
        self.assertEqual(findings_of_tree(texts), ["net:1: folder has 33 units, over 32"])


class Words(unittest.TestCase):
    def test_every_pure_rule_fires_once_with_its_line(self):
        for word in ("rte_eal_init", "rte_eth_rx_burst", "rte_rdtsc", "rte_get_tsc_cycles",
                     "rte_rand", "rte_log(1)", "rte_zmalloc", "rte_spinlock_lock",
                     "std::chrono::seconds", "std::mutex", "clock_gettime", "std::getenv",
                     "std::ofstream", "std::cout", "spdlog", "throw", "thread_local",
                     "std::mt19937", "std::pow"):
            with self.subTest(word=word):
                found = findings_of("pfc/a.cpp", f"int a;\nint b = {word};\n")
                self.assertEqual(len(found), 1, found)
                self.assertTrue(found[0].startswith("pfc/a.cpp:2: "), found)

    def test_a_static_variable_is_state_and_a_constant_or_function_is_not(self):
        for code in ("static int count = 0;\n", "  static std::vector<int> seen;\n"):
            self.assertEqual(len(findings_of("net/a.cpp", code)), 1, code)
        for code in ("static const int kA = 0;\n", "static int f(int a);\n", "static_assert(true);\n",
                     "  static constexpr int kB{1};\n", "static Id none() { return Id{1}; }\n"):
            self.assertEqual(findings_of("net/a.cpp", code), [], code)

    def test_data_structures_of_dpdk_are_allowed(self):
        code = "auto a = rte_log2_u32(8); rte_ether_hdr h; rte_ring_init(r); rte_prefetch0(p);\n"
        self.assertEqual(findings_of("net/a.cpp", code), [])

    def test_comments_and_strings_are_free(self):
        self.assertEqual(findings_of("net/a.cpp", '// we throw no rte_rand\nauto s = "try";\n'), [])

    def test_unfinished_work_is_found_in_comments(self):
        self.assertEqual(len(findings_of("switch/dpdk/a.cpp", "int a;  // TODO: more\n")), 1)

    def test_tests_do_not_sleep(self):
        self.assertEqual(len(findings_of("tests/unit/a.cpp", "usleep(5);\n")), 1)

    def test_order_of_a_hash_map(self):
        code = "std::unordered_map<int, int> seen_;\nvoid f() {\n  for (auto& x : seen_) g(x);\n}\n"
        self.assertEqual(len(findings_of("lb/a.cpp", code)), 1)
        self.assertEqual(findings_of("lb/a.cpp", code.replace("unordered_", "")), [])


class Shape(unittest.TestCase):
    def test_headers_open_with_a_comment(self):
        self.assertEqual(findings_of("net/a.h", HEADER), [])
        self.assertEqual(len(findings_of("net/a.h", "#pragma once\n")), 1)

    def test_lengths(self):
        body = "  a();\n"
        self.assertEqual(findings_of("net/a.cpp", "void f() {\n" + body * 68 + "}\n"), [])
        self.assertEqual(findings_of("net/a.cpp", "void f() {\n" + body * 69 + "}\n"),
                         ["net/a.cpp:1: f has 71 lines, over 70"])
        self.assertEqual(len(findings_of("net/a.cpp", "int a;\n" * 701)), 1)

    def test_parameters(self):
        seven = ", ".join(f"int a{i}" for i in range(7))
        self.assertEqual(findings_of("net/a.cpp", f"void f({seven}) {{\n}}\n"),
                         ["net/a.cpp:1: f has 7 parameters, over 6"])
        six = "std::map<int, int> a, int b = {}, int c = f(1, 2), int d, int e, int g"
        self.assertEqual(findings_of("net/a.cpp", f"void f({six}) {{\n}}\n"), [])


class Functions(unittest.TestCase):
    def names(self, code):
        return [(f.name, f.line, f.lines) for f in cpp_text.functions(code)]

    def test_constructor_with_braced_members(self):
        self.assertEqual(self.names("A::A(int a)\n    : x_{a}, y_{1} {\n  go();\n}\n"), [("A::A", 1, 4)])

    def test_lambda_among_arguments(self):
        code = "void f() {\n  run(1, [&](int a, int b) {\n    g(a);\n  });\n  h();\n}\n"
        self.assertEqual(self.names(code), [("f", 1, 6), ("lambda", 2, 3)])

    def test_control_statements_types_and_values_are_no_functions(self):
        code = ("namespace a {\nstruct B : C<int> {\n  int d = 1;\n};\nint e[] = {1, 2};\n"
                "int f() const {\n  for (int i = 0; i < 3; i++) {\n    if (a()) {\n    }\n  }\n}\n}\n")
        self.assertEqual(self.names(code), [("f", 6, 6)])


if __name__ == "__main__":
    unittest.main()
