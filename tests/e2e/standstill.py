"""A worker that stands still, while the rest of its process goes on."""

import contextlib
import ctypes
import os
from pathlib import Path

_PTRACE_SEIZE, _PTRACE_DETACH, _PTRACE_INTERRUPT = 0x4206, 17, 0x4207
_WALL = 0x40000000
_LIBC = ctypes.CDLL(None, use_errno=True)


def _ptrace(request, thread):
    if _LIBC.ptrace(ctypes.c_long(request), ctypes.c_long(thread), None, None):
        raise OSError(ctypes.get_errno(), f"ptrace {request:#x}")


@contextlib.contextmanager
def held_still(thread):
    """One thread of another process, while the others go on. A signal would stop them all."""
    _ptrace(_PTRACE_SEIZE, thread)
    _ptrace(_PTRACE_INTERRUPT, thread)
    os.waitpid(thread, _WALL)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            _ptrace(_PTRACE_DETACH, thread)


def has_ended(thread):
    """Of a thread that is held still. Its process has not ended for others before this one has looked."""
    with contextlib.suppress(ChildProcessError):
        return os.waitpid(thread, _WALL | os.WNOHANG)[0] == thread
    return True


def polling_thread(pid):
    """The thread of the first worker."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return {(task / "comm").read_text().strip(): int(task.name) for task in tasks}["rte-worker-1"]
