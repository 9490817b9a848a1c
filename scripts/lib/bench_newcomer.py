"""How long a newcomer waits for scripts/demo: in a fresh Debian, with nothing compiled before.

A root of Debian 12's smallest set of packages is made, and this commit is put there. Then, in namespaces of its own for
mounts and processes, so that all of it ends and is unmounted with the step: packages are installed, the programs compiled,
and the demo is run. Wall time is what the newcomer sees; CPU time is the fairer measure on a machine that others use.
"""

import os
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from .bench_results import result
from .netns import Trouble

ROOT = Path(__file__).resolve().parents[2]
TREE = "eddy"  # in the home of root
SUITE = "bookworm"
BOUND_S = 240
STEPS = {"install": "scripts/setup --demo", "compile": "scripts/demo --build", "run": "scripts/demo"}
VERDICT = "OK: "
LAST_LINES = 15
# What is mounted is seen by the step alone, and gone with it. The root is a mount of its own, as `ip netns` wants / to be.
MOUNTS = """set -e
mount --bind "$0" "$0"
mount -t proc proc "$0/proc"
mount -t sysfs sysfs "$0/sys"
mount --rbind /dev "$0/dev"
mount -t tmpfs tmpfs "$0/run"
mount -t tmpfs tmpfs "$0/tmp"
exec chroot "$0" /bin/sh -c "$1"
"""
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8", "TERM": "dumb"}


def measure(say):
    if os.geteuid() != 0:
        raise Trouble("newcomer needs root: it makes a fresh Debian and runs the demo there")
    if not shutil.which("mmdebstrap"):
        raise Trouble("mmdebstrap is missing; scripts/setup installs it")
    # Not below /tmp: that may be in memory.
    folder = Path(tempfile.mkdtemp(prefix="eddy-newcomer-", dir="/var/tmp"))
    try:
        root = folder / "root"
        fresh_debian(root, say)
        check_out(root)
        return rows_of({name: step(root, name, command, say) for name, command in STEPS.items()}, say)
    finally:
        remove(folder)


def fresh_debian(root, say):
    began = time.monotonic()
    # The policies of those who run this do not reach into it, so its own scripts alone keep services from starting.
    finished(["mmdebstrap", "--quiet", "--variant=minbase", "--include=ca-certificates", SUITE, root])
    shutil.copy("/etc/resolv.conf", root / "etc" / "resolv.conf")
    say(f"a fresh Debian {SUITE} ({time.monotonic() - began:.0f} s, not counted)")


def check_out(root):
    """What is committed, without its history: nothing of what was built here."""
    tree = root / "root" / TREE
    tree.mkdir()
    archive = root / "eddy.tar"
    finished(["git", "-C", ROOT, "archive", "--output", archive, "HEAD"])
    finished(["tar", "-xf", archive, "-C", tree])
    archive.unlink()


def step(root, name, command, say):
    """Its wall and CPU seconds."""
    before = enabled(root)
    words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private",
             "sh", "-c", MOUNTS, root, f"cd /root/{TREE} && exec {command}"]
    began, used = time.monotonic(), cpu_s()
    done = subprocess.run(words, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False)
    wall, cpu = time.monotonic() - began, cpu_s() - used
    if done.returncode or (name == "run" and VERDICT not in done.stdout):
        raise Trouble(f"'{command}' failed in a fresh Debian:\n" + last_lines(done.stdout))
    if enabled(root) - before:
        raise Trouble(f"'{command}' left services enabled: {', '.join(sorted(enabled(root) - before))}")
    say(f"{command}: {wall:.0f} s, {cpu:.0f} s of CPU time")
    return wall, cpu


def rows_of(times, say):
    total = sum(wall for wall, _ in times.values())
    say(f"in all {total:.0f} s, at most {BOUND_S} s on two idle cores" + ("" if total <= BOUND_S else ": TOO LONG"))
    rows = [result(f"newcomer.{name}", [wall], "s") for name, (wall, _) in times.items()]
    return [*rows, result("newcomer.total", [total], "s"),
            *(result(f"newcomer.{name}.cpu", [times[name][1]], "s") for name in ("install", "compile"))]


def enabled(root):
    """The services that start with the machine."""
    units = (root / "etc" / "systemd" / "system").glob("*.*/*")
    scripts = (root / "etc").glob("rc[2345S].d/S*")
    return {path.name for path in (*units, *scripts)}


def cpu_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def finished(command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    if done.returncode:
        raise Trouble(f"{command[0]} failed:\n" + last_lines(done.stdout))


def last_lines(text):
    return "\n".join(text.splitlines()[-LAST_LINES:])


def remove(folder):
    """Never through a mount: everything of this machine would be gone with it."""
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        if any(line.split()[1].startswith(f"{folder}/") for line in mounts):
            raise Trouble(f"something is mounted below {folder}; it is left as it is")
    shutil.rmtree(folder)
