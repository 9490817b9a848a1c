#!/usr/bin/python3
"""Says what a program lacks of the release preset's guards: every symbol bound before it starts (BIND_NOW) and its table
read-only, canaries on stacks (__stack_chk_fail), and calls of the C library that know their buffer's size (..._chk).

  scripts/lib/hardened.py PROGRAM...

Prints program: what is missing, for each; exits 1 if there is one.
"""

import re
import subprocess
import sys

CHECKED_CALL = re.compile(r"\b__\w+_chk(@|$|\s)")


def readelf(option, program):
    return subprocess.run(["readelf", "--wide", option, program], capture_output=True, text=True, check=True).stdout


def lacks(program):
    """What is missing, as texts."""
    dynamic = readelf("--dynamic", program)
    symbols = readelf("--dyn-syms", program)
    out = []
    if not re.search(r"\bBIND_NOW\b|\bFlags:.*\bNOW\b", dynamic):
        out.append("no BIND_NOW: link with -Wl,-z,now")
    if "GNU_RELRO" not in readelf("--program-headers", program):
        out.append("no GNU_RELRO: link with -Wl,-z,relro")
    if "__stack_chk_fail" not in symbols:
        out.append("no __stack_chk_fail: compile with -fstack-protector-strong")
    if not any(CHECKED_CALL.search(line) and "__stack_chk" not in line for line in symbols.splitlines()):
        out.append("no call of a checked function (__..._chk): compile with -D_FORTIFY_SOURCE=2")
    return out


def main():
    found = [f"{program}: {what}" for program in sys.argv[1:] for what in lacks(program)]
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
