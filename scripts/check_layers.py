#!/usr/bin/python3
"""Checks what docs and compilers cannot: which folder and which room in it may include which, that
includes go round in no circle, which words are banned where, and the lengths of files, functions,
parameter lists and folders.

  scripts/check_layers.py                  every C++ file that git knows or could know
  scripts/check_layers.py --root DIR       another tree
  scripts/check_layers.py --objects BUILD  also: no writable globals in the pure folders' objects

Prints file:line: what, for each finding; exits 1 if there is one.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from lib import cpp_text  # noqa: E402

MAX_FILE_LINES = 700
MAX_FUNCTION_LINES = 70
MAX_PARAMETERS = 6

PURE = ("net", "lb", "pfc", "host", "switch/dataplane")
# config/ holds plain structs, which everyone may read, and a YAML side, which mains and tests link.
# The plain side's units, headers and sources, stand below lb and pfc and use net only.
PLAIN_CONFIG = ("config/config", "config/capabilities", "config/host", "config/experiment", "config/rlb", "config/path_service",
                "config/resequence", "config/isolation", "config/loaded_scheme", "config/shared_list", "config/defaults", "config/host_defaults")
PLAIN_ROOM = "config (plain)"
MAX_FOLDER_UNITS = 32
MAY_INCLUDE = {
    PLAIN_ROOM: ("net",),
    "net": ("net",),
    "system": ("net", "system"),
    "lb": ("net", "lb"),
    "pfc": ("net", "pfc"),
    "host": ("net", "host"),
    "config": ("net", "lb", "pfc", "host", "config"),
    "plugin": ("net", "system", "lb", "config", "plugin"),
    "switch/dataplane": ("net", "lb", "pfc", "switch/dataplane"),
    "switch/explain": ("net", "lb", "pfc", "config", "switch/dataplane", "switch/explain"),
    "switch/control": ("net", "system", "lb", "pfc", "config", "switch/dataplane", "switch/explain", "switch/control"),
    "switch/dpdk": ("net", "system", "lb", "pfc", "host", "config", "switch/dataplane", "switch/dpdk"),
    "switch": ("net", "system", "lb", "pfc", "host", "config", "plugin", "switch"),
    "lab": ("net", "system", "lb", "pfc", "host", "config", "plugin", "switch/dataplane", "switch/explain", "lab"),
    # The one place where the lab and real ports meet; nobody includes it.
    "testbed": ("net", "system", "lb", "pfc", "host", "config", "plugin", "switch/dataplane", "switch/explain", "switch/control",
                "switch/dpdk", "lab", "testbed"),
}
FOLDERS = ("net", "system", "lb", "pfc", "host", "config", "plugin", "switch", "lab", "testbed", "tests", "bench")

# The rooms of a folder, each with those that it may use beside itself. A room that is not in its
# folder's table may use none and be used by none.
ROOMS = {
    "config": {
        "keys": (),
        ".": ("keys",),
    },
    "lb": {
        ".": (),
        "agents": (".",),
        "rlb": (".",),
        "stages": (".",),
        "schemes": (".", "agents", "rlb", "stages"),
    },
    "host": {
        ".": (),
        "rate_control": (".",),
        "recovery": (".",),
        "entropy": (".",),
        "pacing": (".",),
    },
    "switch/dataplane": {
        "state": (),
        "queues": ("state",),
        "paths": ("state", "queues"),
        "neighbors": ("state", "queues", "paths"),
        "pipeline": ("state", "queues", "paths", "neighbors"),
        "object": ("state", "queues", "paths", "neighbors", "pipeline"),
    },
    "switch/control": {
        "report": (),
        "serve": ("report",),
        "top": ("report",),
        "sonic": ("report",),
        "web": ("report", "serve", "top"),
        "ctl": ("report", "serve", "top", "sonic", "web"),
    },
    "lab": {
        "conformance": (),
        "fabric": (),
        "traffic": ("fabric",),
        "world": ("fabric", "traffic"),
        "faults": ("fabric", "traffic", "world"),
        "check": ("fabric", "traffic", "world", "faults"),
        "reference": ("fabric", "traffic", "world"),
        "run": ("fabric", "traffic", "world", "faults", "check", "reference"),
        "results": ("fabric", "traffic", "world", "faults", "check", "reference", "run"),
        "figures": ("fabric", "traffic", "world", "faults", "check", "reference", "run", "results"),
        "page": ("fabric", "traffic", "world", "faults", "check", "reference", "run", "results", "figures"),
        "model": ("fabric", "traffic", "world", "faults", "check", "reference", "run", "results", "figures"),
        "real": ("fabric", "traffic", "world", "faults", "check", "reference", "run", "results"),
        "export": ("fabric", "traffic", "world", "faults", "check", "reference", "run", "results", "real"),
        "import": ("fabric", "traffic", "world", "faults", "check", "reference", "run", "results", "real", "export"),
        "program": ("fabric", "traffic", "world", "faults", "check", "reference", "run", "results", "figures", "page",
                    "model", "real", "export", "import", "conformance"),
        "mpi": ("fabric", "traffic", "world", "faults", "check", "reference", "run", "results", "figures", "program"),
    },
}

# What a pure folder may not say: (pattern on code without comments and strings, why).
BANNED_IN_PURE = (
    (r"\brte_eal_\w+", "no EAL in pure code"),
    (r"\brte_eth_\w+", "no ports in pure code"),
    (r"\brte_rdtsc\w*", "no clock in pure code"),
    (r"\brte_get_\w+", "no clock or runtime in pure code"),
    (r"\brte_delay_\w+", "no sleeping in pure code"),
    (r"\brte_rand\w*", "randomness is handed in"),
    (r"\brte_(log|vlog)\b|\brte_log_\w+|\bRTE_LOG\w*", "no logging in pure code"),
    (r"\brte_(malloc|zmalloc|calloc|memzone_reserve)\w*", "no runtime memory in pure code"),
    (r"\brte_(spinlock|rwlock|mcslock|ticketlock|pflock|seqlock)\w*", "no lock in pure code"),
    (r"\bstd::(chrono|this_thread)\b", "no clock in pure code"),
    (r"\bstd::(j?thread|mutex|\w+_mutex|lock_guard|unique_lock|scoped_lock|condition_variable)\b",
     "no thread or lock in pure code"),
    (r"\b(clock_gettime|gettimeofday|nanosleep|usleep|sleep_for|sleep_until)\b",
     "no clock in pure code"),
    (r"\b(std::)?(getenv|setenv|secure_getenv)\b", "no environment in pure code"),
    (r"\b(std::)?(fopen|freopen|tmpfile)\b|\bstd::[io]?fstream\b|\bstd::filesystem\b",
     "no file in pure code"),
    (r"\bstd::(cout|cerr|clog)\b|\b(std::)?f?printf\s*\(|\bspdlog\b", "no logging in pure code"),
    (r"\b(throw|try|catch)\b", "no exceptions in pure code"),
    (r"\bthread_local\b", "no global state in pure code"),
    (r"(?m)^[ \t]*(inline )?static (?!const|assert|inline const)[^();={]*[=;{]",
     "no global state in pure code"),
    (r"\bstd::(random_device|mt19937\w*|default_random_engine)\b|\bs?rand\s*\(",
     "randomness is handed in"),
    (r"\bstd::(pow|exp2?|log2?|log10|sqrt|sin|cos)\b", "no libm in decisions"),
)
BANNED_HEADERS_IN_PURE = {
    "chrono", "thread", "mutex", "shared_mutex", "condition_variable", "future", "fstream",
    "iostream", "filesystem", "random", "cmath", "ctime", "time.h", "math.h", "unistd.h",
    "rte_eal.h", "rte_ethdev.h", "rte_log.h", "rte_random.h", "rte_lcore.h", "rte_malloc.h",
    "spdlog/spdlog.h",
}
BANNED_EVERYWHERE = (
    (r"\brte_pktmbuf_(clone|copy)\b", "loses the packet's metadata line"),
    (r"#\s*define\s+(private|protected)\s+public", "test through the interface"),
    (r"\bvolatile\b(?!\s*\()", "volatile is no synchronisation; use std::atomic"),
)
BANNED_IN_TESTS = (
    (r"\b(sleep_for|sleep_until|usleep|nanosleep|rte_delay_\w+)\b", "a test never sleeps"),
    (r"\b(GTEST_SKIP|DISABLED_\w+)\b", "a test skips nothing"),
    (r"\bstd::random_device\b", "a test's seed is printed and repeatable"),
)
BANNED_IN_PROGRAMS = (
    (r"\bunlink(at)?\s*\(", "system/unix_socket.h unlinks sockets: dead ones, and those of the process itself"),
)
MAY_UNLINK = ("system/unix_socket.cpp",)
# With strings.
BANNED_AS_TEXT_IN_PROGRAMS = (
    (r'"/(var/)?tmp\b', "anybody may have made that: mkdtemp(), or dpdk_run_folder() of system/run_folder.h"),
)
MAY_NAME_TMP = ("lab/export/users.h",)  # a container's, which nobody else has
BANNED_IN_COMMENTS = (
    (r"\b(TODO|FIXME|XXX|HACK)\b", "finish it or leave it out"),
)
# The one place in pure code that speaks: a broken invariant, on its way to abort().
MAY_PRINT = ("net/assert.cpp",)
# Symbols of writable sections that are none: constants with addresses in them, function-local
# constants made at first use (a local static that is not const is found in the source), and what the
# compiler adds.
CONSTANT_SYMBOL = re.compile(r"(^|::)k[A-Z]\w*$|\)(?: const)?::\w+$|^DW\.ref|^guard variable")
RANGE_FOR = re.compile(r"\bfor\s*\([^;:()]*:\s*(\w+)\s*\)")
UNORDERED = re.compile(r"\bunordered_(?:map|set)\s*<.*>\s*&?\s*(\w+)\s*[;{=,)]")
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')


class Findings:
    """What was found, in the order of files and lines."""

    def __init__(self):
        self.rows = []

    def add(self, path, line, what):
        self.rows.append((str(path), line, what))

    def lines(self):
        return [f"{path}:{line}: {what}" for path, line, what in sorted(set(self.rows))]


def unit_of(path):
    """A header and its source are one unit, called as both are."""
    return path.removesuffix(".cpp").removesuffix(".h")


def folder_of(path):
    """The layer a file belongs to: the longest name in MAY_INCLUDE that its path begins with."""
    if unit_of(path) in PLAIN_CONFIG:
        return PLAIN_ROOM
    parts = Path(path).parts
    for depth in (2, 1):
        name = "/".join(parts[:depth])
        if len(parts) > depth and name in MAY_INCLUDE:
            return name
    return parts[0]


def allowed(layer, target):
    if layer not in MAY_INCLUDE:
        return True
    if unit_of(target) in PLAIN_CONFIG:
        return layer != "net"
    names = MAY_INCLUDE[layer]
    if layer == "switch":  # the mains: everything of the switch
        return any(target == n or target.startswith(n + "/") for n in names)
    return folder_of(target) in names


def room_of(path):
    """(folder, room) of a file in a folder that has rooms; (None, None) of any other."""
    if unit_of(path) in PLAIN_CONFIG:
        return None, None
    for folder in ROOMS:
        if path.startswith(folder + "/"):
            parts = path[len(folder) + 1:].split("/")
            return folder, parts[0] if len(parts) > 1 else "."
    return None, None


def check_room(path, number, target, findings):
    folder, room = room_of(path)
    other_folder, other = room_of(target)
    if folder is None or folder != other_folder or room == other:
        return
    if other not in ROOMS[folder].get(room, ()):
        findings.add(path, number, f'room {room} of {folder} may not include "{target}"')


def circles(arrows):
    """The groups of nodes that can all reach each other; `arrows`: node -> the nodes it needs."""
    number, low, open_nodes, found = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        open_nodes.append(node)
        for other in sorted(arrows.get(node, ())):
            if other not in number:
                visit(other)
            if other in open_nodes:
                low[node] = min(low[node], low[other])
        if low[node] == number[node]:
            group = open_nodes[open_nodes.index(node):]
            del open_nodes[len(open_nodes) - len(group):]
            if len(group) > 1:
                found.append(sorted(group))

    sys.setrecursionlimit(max(sys.getrecursionlimit(), 4 * len(arrows) + 1000))
    for node in sorted(arrows):
        if node not in number:
            visit(node)
    return found


def check_circles(texts, name_of, kind, findings):
    """No circle of includes between what name_of() gives for paths; `texts`: path -> content."""
    names = {name_of(path) for path in texts}
    arrows, places = {}, {}
    for path, text in texts.items():
        for number, line in enumerate(text.split("\n"), 1):
            match = INCLUDE.match(line)
            if not match or match.group(1) != '"':
                continue
            here, there = name_of(path), name_of(match.group(2))
            if there in names and there != here:
                arrows.setdefault(here, set()).add(there)
                places.setdefault((here, there), (path, number))
    for group in circles(arrows):
        path, number = min(place for (here, there), place in places.items()
                           if here in group and there in group)
        findings.add(path, number, f"{kind} that need each other: {', '.join(group)}")


def folder_name(path):
    return PLAIN_ROOM if unit_of(path) in PLAIN_CONFIG else str(Path(path).parent)


def check_folder_sizes(paths, findings):
    units = {}
    for path in paths:
        units.setdefault(str(Path(path).parent), set()).add(unit_of(path))
    for folder, inside in units.items():
        if len(inside) > MAX_FOLDER_UNITS:
            findings.add(folder, 1, f"folder has {len(inside)} units, over {MAX_FOLDER_UNITS}")


def check_tree(texts, findings):
    """What no file shows alone."""
    check_circles(texts, unit_of, "units", findings)
    check_circles(texts, folder_name, "folders", findings)
    check_folder_sizes(texts, findings)


def check_includes(path, text, findings):
    layer = folder_of(path)
    for number, line in enumerate(text.split("\n"), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quoted, target = match.group(1) == '"', match.group(2)
        if quoted and target.split("/")[0] not in FOLDERS:
            if "/" not in target:
                findings.add(path, number, f'"{target}": include by the path from the top')
        elif quoted and not allowed(layer, target):
            findings.add(path, number, f'layer {layer} may not include "{target}"')
        elif quoted:
            check_room(path, number, target, findings)
        if layer in PURE and not quoted and target in BANNED_HEADERS_IN_PURE:
            findings.add(path, number, f"<{target}> is banned in pure code")


def check_words(path, rules, text, findings):
    for pattern, why in rules:
        for match in re.finditer(pattern, text):
            word = " ".join(match.group(0).split())
            findings.add(path, text.count("\n", 0, match.start()) + 1, f"'{word}': {why}")


def check_hash_order(path, code, findings):
    unordered = {m.group(1) for m in UNORDERED.finditer(code)}
    for match in RANGE_FOR.finditer(code):
        if match.group(1) in unordered:
            line = code.count("\n", 0, match.start()) + 1
            findings.add(path, line, f"order of the hash map '{match.group(1)}' reaches an output")


def check_header(path, text, findings):
    if not text.lstrip().startswith(("//", "/*")):
        findings.add(path, 1, "a header opens with a comment: what it is, units, owner, bounds")
    if "#pragma once" not in text:
        findings.add(path, 1, "a header says #pragma once")


def check_lengths(path, text, code, findings):
    lines = text.count("\n") + (0 if text.endswith("\n") else 1)
    if lines > MAX_FILE_LINES:
        findings.add(path, lines, f"file has {lines} lines, over {MAX_FILE_LINES}")
    for function in cpp_text.functions(code):
        if function.lines > MAX_FUNCTION_LINES:
            findings.add(path, function.line,
                         f"{function.name} has {function.lines} lines, over {MAX_FUNCTION_LINES}")
        if function.parameters > MAX_PARAMETERS:
            findings.add(path, function.line, f"{function.name} has {function.parameters} "
                                              f"parameters, over {MAX_PARAMETERS}")


def check_file(root, path, findings):
    text = (root / path).read_text(encoding="utf-8")
    code = cpp_text.without_comments_and_strings(text)
    layer = folder_of(path)
    check_includes(path, text, findings)
    check_words(path, BANNED_EVERYWHERE, code, findings)
    check_words(path, BANNED_IN_COMMENTS, cpp_text.comments_only(text), findings)
    if layer in PURE:
        rules = [r for r in BANNED_IN_PURE if path not in MAY_PRINT or "logging" not in r[1]]
        check_words(path, rules, code, findings)
        check_hash_order(path, code, findings)
    if layer == "tests":
        check_words(path, BANNED_IN_TESTS, code, findings)
    if layer not in ("tests", "bench"):
        if path not in MAY_NAME_TMP:
            check_words(path, BANNED_AS_TEXT_IN_PROGRAMS, text, findings)
        if path not in MAY_UNLINK:
            check_words(path, BANNED_IN_PROGRAMS, code, findings)
    if path.endswith(".h"):
        check_header(path, text, findings)
    check_lengths(path, text, code, findings)


def check_objects(build, findings):
    """No writable global in any object file of a pure folder."""
    for object_file in sorted(Path(build).glob("**/*.o")):
        relative = object_file.relative_to(build).as_posix()
        if not relative.startswith(tuple(folder + "/" for folder in PURE)):
            continue
        table = subprocess.run(["objdump", "-tC", str(object_file)], capture_output=True,
                               text=True, check=True).stdout
        for line in table.splitlines():
            if not re.search(r"\sO\s+\.(data|bss|tdata|tbss)(\.(?!rel\.ro)|\s)", line):
                continue
            name = line.split(None, 5)[-1].removeprefix(".hidden ")
            if not CONSTANT_SYMBOL.search(name):
                findings.add(relative, 1, f"writable global {name}")


def source_files(root):
    """Files that git tracks or would track; every file where there is no git."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"],
                            capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:
        names = [p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file()]
    return sorted({n for n in names if n.endswith((".h", ".cpp")) and n.split("/")[0] in FOLDERS
                   and (root / n).is_file()})


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--objects", type=Path, help="a build tree whose objects to look into")
    arguments = parser.parse_args()
    findings = Findings()
    files = source_files(arguments.root)
    if not files:
        print(f"check_layers: no C++ file below {arguments.root}", file=sys.stderr)
        return 2
    for path in files:
        check_file(arguments.root, path, findings)
    check_tree({path: (arguments.root / path).read_text(encoding="utf-8") for path in files}, findings)
    if arguments.objects:
        check_objects(arguments.objects, findings)
    for line in findings.lines():
        print(line)
    print(f"check_layers: {len(files)} files, {len(findings.lines())} findings")
    return 1 if findings.rows else 0


if __name__ == "__main__":
    sys.exit(main())
