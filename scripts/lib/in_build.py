#!/usr/bin/python3
"""in_build.py BUILD: of the files named on stdin, prints those that the build compiles."""

import json
import sys
from pathlib import Path


def main():
    commands = json.loads((Path(sys.argv[1]) / "compile_commands.json").read_text())
    known = {str(Path(entry["file"]).resolve()) for entry in commands}
    for name in sys.stdin.read().split():
        if str(Path(name).resolve()) in known:
            print(name)


if __name__ == "__main__":
    main()
