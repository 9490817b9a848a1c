"""The programs of preset release: what they need installed, and built if anything has changed."""

import os
import re
import subprocess
from pathlib import Path

from .netns import Trouble

ROOT = Path(__file__).resolve().parents[2]


def version():
    """Of this tree."""
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(\s*eddy\s+VERSION\s+([\d.]+)", text)[1]


def programs(targets, setup=()):
    """The directory of the programs: $EDDY_BIN, or preset release, built if it has changed."""
    return Path(os.environ["EDDY_BIN"]) if "EDDY_BIN" in os.environ else build_release(targets, setup)


def build_release(targets, setup=()):
    """The directory of the programs. `setup`: words for scripts/setup; with those of the demo, what tests need is neither
    installed nor configured."""
    tests = "OFF" if {"--demo", "--containers"} & set(setup) else "ON"
    if subprocess.run([ROOT / "scripts" / "setup", *setup], check=False).returncode:
        raise Trouble("scripts/setup failed")
    for command in (("cmake", "--preset", "release", f"-DEDDY_TESTS={tests}"),
                    ("cmake", "--build", "--preset", "release", "--target", *targets)):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Trouble(f"'{' '.join(command)}' failed:\n{done.stdout}{done.stderr}")
    return ROOT / "build" / "release" / "bin"
