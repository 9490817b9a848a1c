"""Which mutants are run: the files of a folder, and a draw by a seed.

Folders share a draw by the square root of how many mutants they have, so that the lab does not crowd out
the rest, and the kinds share a folder's part evenly. A header that many files include is drawn the more
rarely the more files there are to compile again, but never not at all. The place of a mutant in the
draw depends on the seed, its id and its weight alone: what is changed elsewhere moves few others.
"""

import hashlib
import math
import re
from collections import Counter
from pathlib import Path

from . import mutants

FOLDERS = ("net", "lb", "pfc", "host", "switch/dataplane", "config", "lab")
# Programs, which the end to end tests start, and what no behaviour depends on.
LEFT_OUT = ("lab/program/", "lab/real/", "config/write_docs.cpp", "net/version.")
# A mutant of what ends processes or removes folders could reach others than its own.
_DANGEROUS = re.compile(r"\b(?:kill|remove_all|execv\w*|fork)\(")
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def sources(root, folder):
    """The folder's files that are changed: path -> text."""
    found = {}
    for path in sorted((root / folder).rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix not in (".h", ".cpp") or name.startswith(LEFT_OUT):
            continue
        text = path.read_text(encoding="utf-8")
        if not _DANGEROUS.search(text):
            found[name] = text
    return found


def folder_of(path):
    return next((folder for folder in FOLDERS if path.startswith(folder + "/")), None)


def dependents(root):
    """How many .cpp files come to each header, through others, too: a function of its name."""
    direct = {}
    for top in ("net", "system", "lb", "pfc", "host", "config", "plugin", "switch", "lab", "testbed", "tests"):
        for path in (root / top).rglob("*"):
            if path.suffix in (".h", ".cpp"):
                included = _INCLUDE.findall(path.read_text(encoding="utf-8"))
                direct[path.relative_to(root).as_posix()] = included
    counts = Counter()
    for name in direct:
        if name.endswith(".cpp"):
            counts.update(_reached(direct, name))
    return lambda path: counts[path] if path.endswith(".h") else 1


def _reached(direct, start):
    seen, left = set(), [start]
    while left:
        for name in direct.get(left.pop(), ()):
            if name not in seen:
                seen.add(name)
                left.append(name)
    return seen


def all_mutants(root, folders=FOLDERS, only=()):
    """Every mutant of these folders, or of the files `only`."""
    found = []
    for folder in folders:
        for path, text in sources(root, folder).items():
            if not only or path in only:
                found += mutants.mutants_of(path, text)
    return found


def draw(candidates, seed, dependents_of):
    """All candidates, one a line, in the order of the draw."""
    groups = Counter((folder_of(m.path), m.kind) for m in candidates)
    sizes = Counter(folder_of(m.path) for m in candidates)

    def place(mutant):
        folder = folder_of(mutant.path)
        share = math.sqrt(sizes[folder]) / groups[folder, mutant.kind]
        rarity = 2 / (1 + max(1, dependents_of(mutant.path)))
        digest = hashlib.sha256(f"{seed}:{mutant.id}".encode()).digest()
        uniform = (int.from_bytes(digest[:8], "big") + 1) / (2**64 + 1)
        return -math.log(uniform) / (share * rarity), mutant.id

    taken, order = set(), []
    for mutant in sorted(candidates, key=place):
        if (mutant.path, mutant.line) not in taken:
            taken.add((mutant.path, mutant.line))
            order.append(mutant)
    return order


def explained(path):
    """id -> reason, of the file of survivors that no test can tell from the original."""
    reasons = {}
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, reason = line.partition(" ")
            reasons[name] = reason.strip()
    return reasons
