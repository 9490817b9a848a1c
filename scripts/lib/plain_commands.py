#!/usr/bin/python3
"""plain_commands.py BUILD: writes BUILD/plain/compile_commands.json, the build's own commands without
precompiled headers and with a command for each source of those that are compiled as one, for tools
that must see what a source itself includes."""

import json
import re
import shlex
import sys
from pathlib import Path

DROPPED = ("-Winvalid-pch", "-fpch-preprocess", "--param=ggc-min-heapsize=1048576")


def plain(words):
    """The words of a command with rte_config.h in the place of the precompiled header."""
    return ["rte_config.h" if word.endswith("/cmake_pch.hxx") else word
            for word in words if word not in DROPPED]


def sources_of(path):
    """What a file of the build stands for: itself, or the sources that it includes."""
    if "/Unity/" not in path:
        return [path]
    return re.findall(r'^#include "(.+)"$', Path(path).read_text(encoding="utf-8"), re.M)


def main():
    build = Path(sys.argv[1])
    kept = []
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        if "cmake_pch.hxx" in entry["file"]:
            continue
        words = plain(shlex.split(entry["command"]))
        for source in sources_of(entry["file"]):
            command = shlex.join(source if word == entry["file"] else word for word in words)
            kept.append(entry | {"file": source, "command": command})
    (build / "plain").mkdir(exist_ok=True)
    (build / "plain" / "compile_commands.json").write_text(json.dumps(kept, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
