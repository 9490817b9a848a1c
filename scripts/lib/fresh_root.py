"""A root of Debian of its own, to install packages in: nothing of this machine is touched, and nothing of it is left.

  with FreshRoot(base_tar) as root:
      root.run("apt-get", "install", "--yes", "/packages/eddy.deb")
      switch = root.start("eddyd", "--config", "/etc/eddy/leaf1.yaml")

A command runs with this root, and processes and mounts of its own, which end with it. Needs root.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from lib.netns import Trouble

MEMORY = Path("/dev/shm")
MEMORY_NEEDED = 1 << 30
SHOWN_LINES = 15
_ENTER = ('mount -t proc proc "$1/proc" && mount -t sysfs sys "$1/sys" && mount --rbind /dev "$1/dev" && '
          'root=$1 && shift && exec chroot "$root" "$@"')
_ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
                "DEBIAN_FRONTEND": "noninteractive", "TERM": "dumb"}
_PASSED_ON = ("http_proxy", "https_proxy", "no_proxy")


def roomy_folder():
    """In memory where there is room: a root is many small files."""
    return MEMORY if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > MEMORY_NEEDED else None


class FreshRoot:
    """Made of a tar, removed in the end."""

    def __init__(self, tar):
        if os.geteuid() != 0:
            raise Trouble("a fresh root needs root")
        self._folder = tempfile.TemporaryDirectory(prefix="eddy-root-", dir=roomy_folder())
        self.path = Path(self._folder.name)
        self._running = []
        try:
            self._unpack(tar)
        except BaseException:
            self._folder.cleanup()
            raise

    def _unpack(self, tar):
        done = subprocess.run(["tar", "--extract", "--preserve-permissions", "--file", str(tar), "--directory", str(self.path)],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise Trouble(f"{tar} cannot be unpacked: {done.stderr.strip().splitlines()[-1]}")
        self.path.chmod(0o755)
        shutil.copyfile("/etc/resolv.conf", self.path / "etc/resolv.conf")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for process in self._running:
            if process.poll() is None:
                process.kill()
            process.wait()
        self._folder.cleanup()

    def place(self, path):
        """Where a path of the root is for us."""
        return self.path / str(path).lstrip("/")

    def _command(self, words):
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private",
                "sh", "-c", _ENTER, "sh", str(self.path), *map(str, words)]

    def _environment(self):
        return _ENVIRONMENT | {name: os.environ[name] for name in _PASSED_ON if name in os.environ}

    def run(self, *words, check=True, timeout=300):
        """A command to its end; Trouble with its last lines where it fails."""
        done = subprocess.run(self._command(words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              env=self._environment(), timeout=timeout, errors="replace")
        if check and done.returncode:
            tail = "\n".join(done.stdout.splitlines()[-SHOWN_LINES:])
            raise Trouble(f"{' '.join(map(str, words))} exited with {done.returncode}:\n{tail}")
        return done

    def start(self, *words, log):
        """A command that goes on; what it says goes to `log`."""
        with open(log, "w", encoding="utf-8") as file:
            process = subprocess.Popen(self._command(words), stdout=file, stderr=subprocess.STDOUT, env=self._environment())
        self._running.append(process)
        return process

    @staticmethod
    def stop(process, seconds=20):
        """Asks it to end, as a service manager does; its exit code."""
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="utf-8").split()
        for child in children:
            os.kill(int(child), signal.SIGTERM)
        return process.wait(timeout=seconds)

    def files(self):
        """Every file and folder, but for what only says what was done here."""
        told = ("var/lib/dpkg", "var/lib/apt", "var/cache", "var/log", "proc", "sys", "dev", "tmp")
        found = set()
        for folder, folders, names in os.walk(self.path):
            here = os.path.relpath(folder, self.path)
            folders[:] = [name for name in folders if os.path.normpath(os.path.join(here, name)) not in told]
            found |= {os.path.normpath(os.path.join(here, name)) for name in [*folders, *names]}
        return found
