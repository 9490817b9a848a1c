"""The names of the path selection schemes and of the laws of hosts that choose or make ways, from the lists of the registries."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def names_in(file):
    lines = (line.strip() for line in (ROOT / file).read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def scheme_names():
    return names_in("lb/schemes.txt")


def host_laws():
    """Entropies and pacings but the first of each, which leaves packets as they are; sorted."""
    return sorted({*names_in("host/entropy.txt")[1:], *names_in("host/pacing.txt")[1:]})
