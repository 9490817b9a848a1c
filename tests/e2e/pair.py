"""Two switches, a leaf and a spine, joined by memif, whose sockets stand in a folder of their own.

Their ports to hosts need no network: one of the leaf is a null device, the other a memif to which nobody comes.
"""

import ctypes
import os
import subprocess
from pathlib import Path

from support import BINARIES, Trouble, wait_for

CONFIG = """
switch: {{name: {name}-{process}, id: {id}, idle: adaptive, poll_gap: 20ms, workers: {workers}}}
control: {{socket: {folder}/{name}.sock}}
ports:
"""
FABRIC_PORT = '  {port}: {{device: "net_memif1,role={role},id=0,socket={folder}/line.memif,socket-abstract=no", role: fabric, speed: 1Gbps}}\n'
HOST_PORTS = """  lone: {{device: "net_null0,no-rx=1", speed: 1Gbps, worker: 1}}
  nobody: {{device: "net_memif2,role=server,id=0,socket={folder}/nobody.memif,socket-abstract=no", speed: 1Gbps, worker: 1}}
"""


class Pair:
    """`leaf` with two workers, of which the second has the ports to hosts, and `spine`."""

    def __init__(self, world, folder):
        self._world = world
        self.folder = Path(folder)
        self.processes = {}
        self._write("leaf", "to-spine", "server", 2, HOST_PORTS)
        self._write("spine", "to-leaf", "client", 1, "")

    def _write(self, name, port, role, workers, more):
        text = (CONFIG + FABRIC_PORT + more).format(name=name, process=os.getpid(), id=1 + (name == "spine"), role=role,
                                                    port=port, workers=workers, folder=self.folder)
        self.file(name).write_text(text, encoding="utf-8")

    def file(self, name):
        return self.folder / f"{name}.yaml"

    def start(self, name):
        process = self._world.spawn(None, BINARIES / "eddyd", "--config", self.file(name), log=name, append=True)
        self.processes[name] = process
        wait_for(lambda: self.eddyctl("--name", name, "show", "ports").returncode == 0 or not process.alive(), 20, name)
        if not process.alive():
            raise Trouble(f"{name}: {process.output()}")

    def start_both(self):
        for name in ("leaf", "spine"):
            self.start(name)
        wait_for(lambda: self.eddyctl("healthy", "--all").returncode == 0, 20, "both switches healthy")

    def stop(self):
        for process in self.processes.values():
            process.kill()

    def eddyctl(self, *words, **environment):
        return subprocess.run([BINARIES / "eddyctl", "--dir", self.folder, *words], capture_output=True, text=True,
                              timeout=60, check=False, stdin=subprocess.DEVNULL,
                              env={k: v for k, v in os.environ.items() if k != "EDDY_SWITCH"} | environment)

    def worker_thread(self, name, number):
        """The thread id of a worker of the switch."""
        tasks = Path(f"/proc/{self.processes[name].pid}/task")
        (found,) = (task for task in tasks.iterdir() if (task / "comm").read_text().strip() == f"rte-worker-{number + 1}")
        return int(found.name)


class HeldThread:
    """One thread of another process stands still; the others of that process go on. A debugger's way."""

    SEIZE, INTERRUPT, DETACH, ANY_KIND = 0x4206, 0x4207, 17, 0x40000000

    def __init__(self, thread):
        self._thread = thread

    def __enter__(self):
        self._trace(self.SEIZE)
        self._trace(self.INTERRUPT)
        os.waitpid(self._thread, self.ANY_KIND)
        return self

    def __exit__(self, *_):
        self._trace(self.DETACH)

    def _trace(self, request):
        call = ctypes.CDLL(None, use_errno=True).ptrace
        call.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        if call(request, self._thread, None, None) != 0:
            raise OSError(ctypes.get_errno(), f"ptrace {request:#x} of thread {self._thread}")
