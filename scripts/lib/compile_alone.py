#!/usr/bin/python3
"""compile_alone.py BUILD HEADER...: compiles each header alone with the flags of the build.

Flags come from BUILD/compile_commands.json: those of a file in the header's folder where there is
one, so that a folder's own libraries are found.
"""

import json
import shlex
import subprocess
import sys
from pathlib import Path


def flags_by_folder(build):
    flags = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        words = words[1:] if words[0].endswith("ccache") else words
        words = words[: words.index("-o")] + words[words.index("-o") + 2:]
        words = [w for w in words if w not in ("-c", entry["file"])]
        flags.setdefault(str(Path(entry["file"]).parent), words)
    return flags


def nearest(flags, folder):
    for candidate in (folder, *folder.parents):
        if str(candidate) in flags:
            return flags[str(candidate)]
    return next(iter(flags.values()))


def main():
    build, headers = Path(sys.argv[1]).resolve(), sys.argv[2:]
    flags = flags_by_folder(build)
    failed = False
    for header in headers:
        words = nearest(flags, Path(header).resolve().parent)
        command = [*words, "-fsyntax-only", "-x", "c++", "-Wno-pragma-once-outside-header",
                   "-include", header, "/dev/null"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path.cwd())
        if done.returncode:
            failed = True
            print(f"{header}:1: does not compile alone\n{done.stderr}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
