"""Programs of another processor, run by qemu-user: the kernel is told for as long as they are needed.

  with emulation("arm64"):
      ...                        # such programs start like others, in containers too

Where somebody has told the kernel already, nothing is changed. Needs root and qemu-user-static otherwise.
"""

import contextlib
import fcntl
import os
import shutil
from pathlib import Path

from lib.netns import Trouble, run

_BINFMT = Path("/proc/sys/fs/binfmt_misc")
_LOCK = Path("/run/eddy-emulation.lock")
# Debian's name of an architecture: qemu's name, and the machine in an ELF header.
_MACHINES = {"arm64": ("aarch64", 0xB7), "amd64": ("x86_64", 0x3E)}
NATIVE = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)


def rule(name, machine, program):
    """As the kernel's binfmt_misc takes it: 64-bit little-endian ELF, executable or shared, of that machine. F: the
    interpreter is opened now, so it need not be in a container."""
    head = [0x7F, *b"ELF", 2, 1, 1, *[0] * 9, 2, 0, machine, 0]
    mask = [0xFF] * 7 + [0] + [0xFF] * 8 + [0xFE, 0xFF, 0xFF, 0xFF]
    escaped = ["".join(f"\\x{octet:02x}" for octet in octets) for octets in (head, mask)]
    return f":{name}:M::{escaped[0]}:{escaped[1]}:{program}:F"


@contextlib.contextmanager
def emulation(architecture):
    if architecture == NATIVE:
        yield
        return
    if architecture not in _MACHINES:
        raise Trouble(f"no emulation of {architecture} is known: only of {', '.join(_MACHINES)}")
    emulated, machine = _MACHINES[architecture]
    name = f"qemu-{emulated}"
    with _mounted():
        if (_BINFMT / name).exists():
            yield
            return
        program = shutil.which(f"{name}-static")
        if not program:
            raise Trouble(f"programs for {architecture} cannot run here: install qemu-user-static")
        (_BINFMT / "register").write_text(rule(name, machine, program), encoding="ascii")
        try:
            yield
        finally:
            (_BINFMT / name).write_text("-1", encoding="ascii")


@contextlib.contextmanager
def _mounted():
    """binfmt_misc, by one process at a time, and as it was before."""
    if os.geteuid() != 0:
        if not (_BINFMT / "status").exists():
            raise Trouble("programs of another processor cannot run here: install binfmt-support, or run this as root")
        yield
        return
    with open(_LOCK, "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        mounts = not (_BINFMT / "register").exists()
        if mounts:
            run("mount", "-t", "binfmt_misc", "binfmt_misc", _BINFMT)
        try:
            yield
        finally:
            if mounts:
                run("umount", _BINFMT, check=False)
