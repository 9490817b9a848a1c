"""A systemd that boots: as pid 1 of namespaces of its own, on an overlay of this machine's files.

What it writes goes to memory, what it runs is ours to see, and it ends with this process. Needs root, an installed
systemd, overlayfs, and a hierarchy of control groups. Nothing of the machine's own systemd, if it runs, is touched.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from lib.netns import run, wait_for  # noqa: E402

SYSTEMD = Path("/lib/systemd/systemd")
GROUPS = Path("/sys/fs/cgroup")

# Words: the folder that is made a root, the folder of control groups, which kind they are of. The shell becomes pid 1.
BOOT = r"""
set -eu
base=$1; kind=$2
mount -t tmpfs -o mode=755 none "$base"
mkdir "$base/upper" "$base/work" "$base/root"
mount -t overlay -o "lowerdir=/,upperdir=$base/upper,workdir=$base/work" overlay "$base/root"
cd "$base/root"
mount -t proc proc proc
mount -t sysfs sysfs sys
if [ "$kind" = v1 ]; then
  mount -t tmpfs -o mode=755 none sys/fs/cgroup
  mkdir sys/fs/cgroup/systemd
  mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
else
  mount -t cgroup2 cgroup sys/fs/cgroup
fi
mount -t tmpfs -o mode=755 none run
mount -t tmpfs -o mode=1777 none tmp
mount -t tmpfs -o mode=755 none dev
for node in null zero full random urandom tty net/tun; do
  mkdir -p "dev/$(dirname $node)"; : > dev/$node; mount --bind /dev/$node dev/$node
done
mkdir dev/shm dev/pts dev/mqueue; mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts; ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
rm -rf etc/systemd/system etc/fstab var/lib/systemd
mkdir -p etc/systemd/system etc/eddy
echo 0123456789abcdef0123456789abcdef > etc/machine-id
printf '[Unit]\nDefaultDependencies=no\n' > etc/systemd/system/nothing.target
grep -q '^eddy:' etc/group || echo 'eddy:x:6480:' >> etc/group
grep -q '^eddy:' etc/passwd || echo 'eddy:x:6480:6480::/nonexistent:/usr/sbin/nologin' >> etc/passwd
exec env -i container=eddy PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot . /lib/systemd/systemd \
  --unit=nothing.target --log-target=null --show-status=no
"""


class CannotBoot(Exception):
    """Why not, in one line."""


def _find_groups():
    """The hierarchy that systemd can have a part of, and its kind."""
    if (GROUPS / "systemd" / "cgroup.procs").exists():
        return GROUPS / "systemd", "v1"
    if (GROUPS / "cgroup.procs").exists():
        return GROUPS, "v2"
    raise CannotBoot(f"no hierarchy of control groups that systemd could use below {GROUPS}")


class Booted:
    """with Booted() as machine: machine.call("systemctl", ...)"""

    def __init__(self):
        if os.geteuid() != 0:
            raise CannotBoot("needs root")
        if not SYSTEMD.exists():
            raise CannotBoot(f"{SYSTEMD} is not installed")
        groups, self.kind = _find_groups()
        self.group = groups / f"eddy-test-{os.getpid()}"
        self.base = Path(tempfile.mkdtemp(prefix="eddy-boot-"))
        self.log = self.base.with_suffix(".log")
        self.outer = None
        self.pid = None

    def __enter__(self):
        try:
            self.group.mkdir()
            self._boot()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *ignored):
        self.close()

    def _boot(self):
        into_group = 'echo 0 > "$0/cgroup.procs"; exec unshare --cgroup --pid --mount --uts --ipc --net --fork ' \
                     '--kill-child --propagation private sh -c "$@"'
        with open(self.log, "wb") as log:
            self.outer = subprocess.Popen(["sh", "-c", into_group, self.group, BOOT, "boot", self.base, self.kind],
                                          stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        children = Path(f"/proc/{self.outer.pid}/task/{self.outer.pid}/children")

        def up():
            if self.outer.poll() is not None:
                said = self.log.read_text(errors="replace").strip().split("\n")[-1]
                raise CannotBoot(f"systemd does not boot: {said}")
            self.pid = int((children.read_text().split() or ["0"])[0])
            return self.pid and Path(f"/proc/{self.pid}/root/run/systemd/private").exists()
        wait_for(up, 20, "systemd as pid 1")

    def call(self, *command, timeout=60):
        """A command in there, to its end; whatever its end is."""
        words = ["nsenter", "--target", self.pid, "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root", "--wd=/",
                 "--", *command]
        return run(*words, check=False, timeout=timeout)

    def path(self, path):
        """Of a file in there, from here."""
        return Path(f"/proc/{self.pid}/root/{path}")

    def outer_pid(self, inner):
        """The number that a process of there has here."""
        for status in Path("/proc").glob("[0-9]*/status"):
            with contextlib.suppress(OSError):
                numbers = next(line for line in status.read_text().splitlines() if line.startswith("NSpid:")).split()[1:]
                same = os.readlink(status.parent / "ns" / "pid") == os.readlink(f"/proc/{self.pid}/ns/pid")
                if same and numbers[-1] == str(inner):
                    return int(numbers[0])
        raise ProcessLookupError(inner)

    def close(self):
        if self.outer and self.outer.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid or self.outer.pid, signal.SIGKILL)  # pid 1 of a namespace takes all of it along
            self.outer.wait(10)
        for folder in sorted((path for path in self.group.rglob("*") if path.is_dir()), reverse=True):
            with contextlib.suppress(OSError):
                folder.rmdir()
        with contextlib.suppress(OSError):
            self.group.rmdir()
        shutil.rmtree(self.base, ignore_errors=True)
        self.log.unlink(missing_ok=True)
