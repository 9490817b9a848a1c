"""The names of the path selection schemes, from lb/schemes.txt."""

from pathlib import Path

LIST = Path(__file__).resolve().parents[2] / "lb" / "schemes.txt"


def scheme_names():
    lines = (line.strip() for line in LIST.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line and not line.startswith("#")]
