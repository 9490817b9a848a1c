"""Instructions by function, under callgrind: a number that no other process disturbs.

Two runs, one twice as long: their difference is free of what starting costs.
"""

import re
import subprocess
import tempfile
from pathlib import Path

from .netns import Trouble

_ROW = re.compile(r"^\s*([\d,]+)\s+\([\s\d.]+%\)\s+\S*?:(.*?)(?:\s+\[.*\])?$")


def growth(command, toggle, turns):
    """What a turn more costs, by function. `command(n)`: the words that run n turns; `toggle`: what is collected."""
    short, long = (profile(command(count), toggle)[0] for count in (turns, 2 * turns))
    return {name: (count - short.get(name, 0)) / turns for name, count in long.items()}


def profile(command, toggle):
    """Instructions of each function inside `toggle`, its callees not included; and what the program printed."""
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory) / "callgrind"
        printed = run(["valgrind", "--tool=callgrind", "--collect-atstart=no",
                       f"--toggle-collect={toggle}", f"--callgrind-out-file={out}", *command])
        report = run(["callgrind_annotate", "--threshold=100", "--show-percs=yes", out])
    counts = {}
    for line in report.splitlines():
        if (row := _ROW.match(line)) and "PROGRAM TOTALS" not in line:
            name = short_name(row.group(2))
            counts[name] = counts.get(name, 0) + int(row.group(1).replace(",", ""))
    if not counts:
        raise Trouble(f"callgrind_annotate said nothing of use:\n{report[-500:]}")
    return counts, printed


def short_name(name):
    """Without arguments: overloads of a name are one row."""
    return re.sub(r"\(.*", "", name.strip().replace("(anonymous namespace)::", ""))


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Trouble(f"'{command[0]}' failed:\n{done.stderr[-2000:]}")
    return done.stdout
