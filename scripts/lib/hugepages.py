"""Hugepages of 2 MiB, which all processes of a machine share."""

from pathlib import Path

_TOTAL = Path("/proc/sys/vm/nr_hugepages")
_FREE = Path("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages")


def free_hugepages():
    """In MiB; 0 where the kernel has none of this size."""
    try:
        return 2 * int(_FREE.read_text())
    except OSError:
        return 0


def reserve_hugepages(mebibytes):
    """Raises their number until so many are free; returns how many are. Never lowers it: others may
    use some."""
    missing = (mebibytes - free_hugepages() + 1) // 2
    if missing > 0:
        try:
            _TOTAL.write_text(f"{total_hugepages() + missing}\n")
        except OSError:
            pass  # not ours to change: what is free has to do
    return free_hugepages()


def total_hugepages():
    """Their number, free or in use."""
    return int(_TOTAL.read_text())


def give_back_hugepages(total):
    """Lowers their number to what total_hugepages() was; those in use stay until their owner ends."""
    try:
        _TOTAL.write_text(f"{total}\n")
    except OSError:
        pass  # then it could not be raised either


def held_hugepages(pid):
    """What a process has mapped, in MiB."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as lines:
        return sum(int(line.split()[1]) for line in lines
                   if line.startswith(("Shared_Hugetlb:", "Private_Hugetlb:"))) >> 10
