#!/usr/bin/python3
"""plain_commands.py BUILD: writes BUILD/plain/compile_commands.json, the build's own commands without
precompiled headers, for tools that must see what a source itself includes."""

import json
import shlex
import sys
from pathlib import Path


def plain(words):
    """The words of a command with rte_config.h in the place of the precompiled header."""
    out = []
    for word in words:
        if word in ("-Winvalid-pch", "-fpch-preprocess"):
            continue
        out.append("rte_config.h" if word.endswith("/cmake_pch.hxx") else word)
    return out


def main():
    build = Path(sys.argv[1])
    entries = json.loads((build / "compile_commands.json").read_text())
    kept = []
    for entry in entries:
        if "cmake_pch.hxx" in entry["file"]:
            continue
        entry["command"] = shlex.join(plain(shlex.split(entry["command"])))
        kept.append(entry)
    (build / "plain").mkdir(exist_ok=True)
    (build / "plain" / "compile_commands.json").write_text(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
