"""Network namespaces, veth pairs and processes in them, all of which go away again.

A World owns every namespace and process it made, and nothing else: close() ends the processes by
their pids and deletes the namespaces by their names. Needs root.
"""

import atexit
import contextlib
import ctypes
import functools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

SOCKETS = "/run/eddy"  # of eddyctl; in containers, too

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


class Trouble(Exception):
    """Something that a person should read: one line, no traceback."""


def end_like_ctrl_c():
    """From now on SIGTERM and SIGHUP end this program as Ctrl-C does, so that it closes its worlds; a second one does not
    stop it from that."""
    def end(*_):
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)


def run(*command, check=True, timeout=30):
    """Runs a command to its end; Trouble with its last line if it fails."""
    words = [str(w) for w in command]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=timeout, check=False)
    except FileNotFoundError:
        raise Trouble(f"{words[0]} is not installed; scripts/setup installs it") from None
    except subprocess.TimeoutExpired:
        raise Trouble(f"'{' '.join(words)}' took more than {timeout} s") from None
    if check and done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).split("\n")[-1]
        raise Trouble(f"'{' '.join(words)}' failed: {said}")
    return done


AHEAD = -10  # nice value
_usual = None  # this process's own, before it was put ahead


def put_ahead():
    """The processor comes to this process, and to what it asks from now on, as readily as to the pollers that it starts,
    where that is allowed: who watches busy pollers would else wait for seconds. What a World starts stays as usual."""
    global _usual
    if _usual is not None:
        return
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    try:
        os.setpriority(os.PRIO_PROCESS, 0, AHEAD)
    except PermissionError:
        return
    _usual = usual
    before = session_nice(os.getpid())
    if before is not None:
        atexit.register(put_session, os.getpid(), before)  # it may be the session of a shell
        put_session(os.getpid(), AHEAD)


def session_nice(pid):
    """The nice value of a process's session, which counts where the kernel schedules sessions as groups: that of a
    process counts within its own only. None where it does not."""
    try:
        return int(Path(f"/proc/{pid}/autogroup").read_text(encoding="ascii").rsplit(" ", 1)[1])
    except (OSError, IndexError, ValueError):
        return None


def put_session(pid, nice):
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text(str(nice), encoding="ascii")


def wait_for(condition, seconds, what, pause=0.02):
    """Waits until condition() is true and returns its value; Trouble after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise Trouble(f"{what}: not within {seconds:g} s")
        time.sleep(pause)


def process_start(pid):
    """The kernel's start time of a process, which tells it from a later one of the same pid."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19])
    except (OSError, IndexError, ValueError):
        return None


class Process:
    """A child that logs to a file, which is kept and continued if `append`."""

    def __init__(self, command, log, outlive, append):
        self.command = [str(w) for w in command]
        self.log = Path(log)
        with open(log, "ab" if append else "wb") as out:
            self.popen = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=out,
                                          stderr=subprocess.STDOUT, start_new_session=True,
                                          preexec_fn=functools.partial(begin_child, outlive))
        self.started = process_start(self.popen.pid)

    @property
    def pid(self):
        return self.popen.pid

    def alive(self):
        return self.popen.poll() is None

    def output(self):
        return self.log.read_text(errors="replace")

    def kill(self):
        self.popen.kill()
        self.popen.wait()

    def wait(self, seconds):
        """The exit status, or None if it still runs."""
        try:
            return self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            return None


def begin_child(outlive):
    """In a child, before its program."""
    if not outlive:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if _usual is not None:
        os.setpriority(os.PRIO_PROCESS, 0, _usual)


class World:
    """A set of namespaces and processes with names of its own.

    `name` begins every namespace's name; `outlive` keeps the processes when this one ends; what
    close_state() needs is kept up to date in the file `state_path`.
    """

    end_within = 3  # seconds from SIGTERM on

    def __init__(self, name, outlive=False, state_path=None):
        if os.geteuid() != 0:
            raise Trouble("network namespaces need root: run this as root")
        self.name = name
        self.outlive = outlive
        self._state_path = state_path
        self.namespaces = []
        self.sockets = []  # of switches
        self.processes = []
        self.directory = Path(tempfile.mkdtemp(prefix=f"{name}-"))

    def namespace(self, short):
        """A new namespace with its loopback up; returns its full name."""
        full = f"{self.name}-{short}"
        run("ip", "netns", "add", full)
        self.namespaces.append(full)
        self.save()
        run("ip", "-n", full, "link", "set", "lo", "up")
        return full

    def open(self, switches, hosts):
        """Makes a namespace for each of these short names; returns the full ones by the short ones."""
        return {short: self.namespace(short) for short in (*switches, *hosts)}

    def start_switch(self, switch):
        """Runs a switch of open() with its configuration; returns its process."""
        socket = f"{SOCKETS}/{switch.name}.sock"
        if socket not in self.sockets:  # it may be started again
            self.sockets.append(socket)
        return self.spawn_poller(switch.namespace, switch.program, "--config", switch.path, log=switch.name, append=True)

    def veth(self, end, peer):
        """A veth pair; each end is (namespace, device)."""
        run("ip", "link", "add", end[1], "netns", end[0], "type", "veth",
            "peer", "name", peer[1], "netns", peer[0])

    def spawn(self, namespace, *command, log="process", append=False):
        """Starts a command in a namespace (None = ours); what it prints goes to <log>.log."""
        inside = ("ip", "netns", "exec", namespace) if namespace else ()
        process = Process([*inside, *command], self.directory / f"{log}.log", self.outlive,
                          append)
        self.processes.append(process)
        self.save()
        return process

    def print_last_lines(self, program, count=5):
        """Of what each process of the program has said."""
        for process in self.processes:
            if program in " ".join(process.command):
                print(f"-- {process.log}", *process.output().splitlines()[-count:], sep="\n")

    def spawn_poller(self, namespace, *command, **options):
        """spawn() of a program whose threads poll ports: ahead of whatever else the machine does. A worker that waits
        for its core behind others is later than its poll gap, and a lossless class then loses packets. It is no
        real-time policy: busy pollers would leave nothing to whoever asks them, and the kernel's limit on such
        policies holds them up for 50 ms in every second."""
        process = self.spawn(namespace, "nice", "-n", AHEAD, *command, **options)
        put_session(process.pid, AHEAD)
        return process

    def run(self, namespace, *command, **options):
        return run("ip", "netns", "exec", namespace, *command, **options)

    def forget(self, process):
        """For a process that has ended and was looked at."""
        self.processes.remove(process)

    def save(self, kept=False):
        """Writes what close_state() needs to take this world down from another process."""
        if not self._state_path:
            return
        state = self.state(kept)
        self._state_path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._state_path.with_suffix(".new")
        fresh.write_text(json.dumps(state), encoding="utf-8")
        fresh.replace(self._state_path)

    def state(self, kept):
        return {"name": self.name, "directory": str(self.directory), "kept": kept,
                "owner": [os.getpid(), process_start(os.getpid())],
                "namespaces": self.namespaces, "sockets": self.sockets,
                "processes": [[p.pid, p.started] for p in self.processes if p.alive()]}

    def leave(self):
        """Everything stays up; close_state() takes it down."""
        self.save(kept=True)

    def close(self, keep_files=False):
        """Ends the processes and removes the namespaces, and the directory unless its files are kept; of those the
        sockets go."""
        for process in self.processes:
            if process.alive():
                process.popen.terminate()
        deadline = time.monotonic() + self.end_within
        for process in self.processes:
            if process.wait(max(0.0, deadline - time.monotonic())) is None:
                process.kill()
        delete_namespaces(self.namespaces)
        remove_sockets(self.sockets)
        if keep_files:
            for path in self.directory.iterdir():
                if path.is_socket():
                    path.unlink()
        else:
            shutil.rmtree(self.directory, ignore_errors=True)
        self.processes, self.namespaces, self.sockets = [], [], []
        if self._state_path:
            self._state_path.unlink(missing_ok=True)


def remove_sockets(paths):
    """A switch that ends removes its own; one that was killed does not."""
    for path in paths:
        Path(path).unlink(missing_ok=True)


def delete_namespaces(names):
    for name in reversed(names):
        run("ip", "netns", "del", name, check=False)


def owner_lives(state):
    pid, started = state["owner"]
    return process_start(pid) == started


def close_state(path, end_within=World.end_within):
    """Takes down the world whose state is in the file `path`, from outside."""
    state = json.loads(path.read_text(encoding="utf-8"))
    remaining = [(pid, started) for pid, started in state["processes"]]
    for pid, started in remaining:
        if process_start(pid) == started:
            os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + end_within
    for pid, started in remaining:
        while process_start(pid) == started and time.monotonic() < deadline:
            time.sleep(0.05)
        if process_start(pid) == started:
            os.kill(pid, signal.SIGKILL)
    delete_namespaces(state["namespaces"])
    remove_sockets(state.get("sockets", ()))
    shutil.rmtree(state["directory"], ignore_errors=True)
    path.unlink(missing_ok=True)
