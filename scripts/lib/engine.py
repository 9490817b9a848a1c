"""A container engine: docker (a daemon that runs, or one of our own), or podman.

  with find_engine(own=FOLDER) as engine:
      engine.run("eddy:latest", "--config", "/etc/eddy/leaf1.yaml", options=("--name", "leaf1", *CONFINED))

A daemon of our own keeps images in FOLDER, which is reused by the next run; a lock sees to it that two runs do not
have it at once. It ends, by its pid and with all of its containers, when the engine is closed. Commands are lists of
words; nothing reaches a shell. What a person must mend is a Trouble of one line.
"""

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
from pathlib import Path

from lib.netns import Trouble, begin_child, process_start, wait_for

KINDS = ("docker", "podman")
DEFAULT_HOST = "unix:///var/run/docker.sock"
OLDEST_CLIENT = (18, 9)  # the first that builds by BuildKit
BUILDX_CLIENT = 23  # from here on a client builds by BuildKit only with the plugin buildx
# What every container of ours is started with; a port kind's capabilities are added to it.
CONFINED = ("--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--read-only")
_NO_BRIDGE = ("--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-forward=false")
_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_DAEMON_STARTS_IN = 20
_DAEMON_ENDS_IN = 20
_MOST_PROCESSES = 32_768  # and files; podman lowers its own limit to this


class NoEngine(Trouble):
    """No container can be started here: what is missing."""


class Engine:
    """A client and the daemon, or the storage, that it speaks to."""

    def __init__(self, kind, words, environment=None, daemon=None):
        self.kind = kind
        self.words = [str(word) for word in words]  # the client, with the options that name its daemon
        self.environment = dict(environment or {})  # for programs that start containers themselves
        self._daemon = daemon

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def is_own(self):
        """Whether nobody else reaches its images: those of a daemon that ends with this engine."""
        return self._daemon is not None

    def close(self):
        if self._daemon:
            self._daemon.close()
            self._daemon = None

    def leave(self):
        """A daemon of our own goes on, if it may outlive us; end_own_daemon() ends it."""
        self._daemon = None

    def environ(self, **more):
        return {**os.environ, **self.environment, **more}

    def call(self, *words, check=True, timeout=120, feed=None, **more):
        """Runs the client to its end; Trouble with its last line if it fails."""
        command = [*self.words, *(str(word) for word in words)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False,
                                  stdin=feed or subprocess.DEVNULL, env=self.environ(**more))
        except subprocess.TimeoutExpired:
            raise Trouble(f"'{self.kind} {words[0]}' took more than {timeout} s") from None
        if check and done.returncode:
            raise Trouble(f"'{self.kind} {words[0]}' failed: {last_line(done)}")
        return done

    def run(self, image, *command, options=(), timeout=120):
        """Starts a container that goes on; returns its id."""
        return self.call("run", "--detach", *options, image, *command, timeout=timeout).stdout.strip()

    def once(self, image, *command, options=(), check=False, timeout=120):
        """Runs a container to its end and removes it."""
        return self.call("run", "--rm", *options, image, *command, check=check, timeout=timeout)

    def exec(self, name, *command, options=(), check=True, timeout=60):
        return self.call("exec", *options, name, *command, check=check, timeout=timeout)

    def remove(self, *names):
        """Ends and removes containers; those that are gone already are no trouble."""
        if names:
            self.call("rm", "--force", "--volumes", *names, check=False)

    def inspect(self, name):
        return json.loads(self.call("inspect", name).stdout)[0]

    def pid(self, name):
        return self.inspect(name)["State"]["Pid"]

    def logs(self, name):
        """What a container has said on both streams."""
        done = self.call("logs", name)
        return done.stdout + done.stderr

    def wait(self, name, seconds=30):
        """The exit status of a container, once it has ended."""
        return int(self.call("wait", name, timeout=seconds).stdout)

    def has_image(self, name):
        return self.call("image", "inspect", name, check=False).returncode == 0

    def image_bytes(self, name):
        """Uncompressed."""
        return json.loads(self.call("image", "inspect", name).stdout)[0]["Size"]

    def load_root(self, tar, name, architecture=None):
        """Makes an image of a tar of a file system."""
        if architecture and self.kind == "docker":  # whose import calls all its own architecture
            with tempfile.TemporaryDirectory(prefix="eddy-root-", dir=Path(tar).parent) as folder:
                self.load(image_archive(tar, name, architecture, Path(folder)))
            return
        options = ("--arch", architecture) if architecture else ()
        with open(tar, "rb") as feed:
            self.call("import", *options, "-", name, feed=feed, timeout=300)

    def load(self, tar):
        """Takes images that were saved."""
        self.call("load", "--input", tar, timeout=300)


def image_archive(tar, name, architecture, folder):
    """What `docker save` would have written of an image of one layer."""
    digest = hashlib.sha256()
    with open(tar, "rb") as layer:
        for part in iter(lambda: layer.read(1 << 20), b""):
            digest.update(part)
    settings = {"architecture": architecture, "os": "linux", "config": {"Env": [_PATH]},
                "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest.hexdigest()}"]}}
    manifest = [{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
    for file, content in (("config.json", settings), ("manifest.json", manifest)):
        (folder / file).write_text(json.dumps(content), encoding="ascii")
    archive = folder / "image.tar"
    with tarfile.open(archive, "w") as out:
        for file in ("config.json", "manifest.json"):
            out.add(folder / file, file)
        out.add(tar, "layer.tar")
    return archive


def last_line(done):
    lines = (done.stderr.strip() or done.stdout.strip()).split("\n")
    lines = [line for line in lines if not line.startswith("See '")]
    return re.sub(r"^(docker|Error|Error response from daemon): ", "", lines[-1].strip() if lines else "")


def find_engine(kind=None, own=None, private=False, outlive=False):
    """An engine of that kind, or of any. docker: the daemon that DOCKER_HOST names or that listens where it usually
    does; otherwise, given a folder `own` and root, a daemon of our own. podman: with its usual images. `private`: always
    a daemon of our own, or podman with images of our own, which nobody else sees. `outlive`: a daemon of our own goes on
    after this process, if the engine is left with leave()."""
    if kind not in (None, *KINDS):
        raise Trouble(f"no container engine '{kind}': known are {', '.join(KINDS)}")
    if kind == "podman" or (kind is None and not docker_clients() and shutil.which("podman")):
        return _podman(own if private else None)
    return _docker(own, private, outlive)


# docker


def docker_clients():
    """Every client on PATH, the first first."""
    folders = [*os.environ.get("PATH", "").split(os.pathsep), "/usr/bin"]
    found = [Path(folder) / "docker" for folder in folders if folder]
    return list(dict.fromkeys(str(path) for path in found if os.access(path, os.X_OK)))


def client_version(client):
    """(major, minor), or (0, 0) where it says none."""
    done = subprocess.run([client, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"version (\d+)\.(\d+)", done.stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def choose_client(clients, version=client_version, has_buildx=None):
    """The first client that builds by BuildKit; what they lack if there is none."""
    has_buildx = has_buildx or _has_buildx
    lacking = []
    for client in clients:
        major, minor = version(client)
        if (major, minor) < OLDEST_CLIENT:
            lacking.append(f"{client} is {major}.{minor}, which is too old (18.09 or newer is needed)")
        elif major >= BUILDX_CLIENT and not has_buildx(client):
            lacking.append(f"{client} is {major}.{minor} without its plugin buildx")
        else:
            return client
    if lacking:
        raise NoEngine("docker cannot build images: " + "; ".join(lacking))
    raise NoEngine("docker is not installed: install docker.io (Debian) or docker-ce, or podman")


def _has_buildx(client):
    return subprocess.run([client, "buildx", "version"], capture_output=True, check=False).returncode == 0


def _docker(own, private, outlive):
    client = choose_client(docker_clients())
    named = None if private else os.environ.get("DOCKER_HOST")
    host = named or DEFAULT_HOST
    unreachable = "a docker daemon of our own is needed" if private else why_unreachable(client, host)
    if not unreachable:
        return Engine("docker", [client, "--host", host], {"DOCKER_HOST": host})
    why_not = _why_no_daemon_of_our_own(named, own)
    if why_not:
        raise NoEngine(unreachable + why_not)
    daemon = OwnDaemon(Path(own), client, outlive)
    return Engine("docker", [client, "--host", daemon.host], {"DOCKER_HOST": daemon.host}, daemon)


def why_unreachable(client, host):
    """A line, or nothing if the daemon answers."""
    try:
        done = subprocess.run([client, "--host", host, "version", "--format", "{{.Server.Version}}"],
                              capture_output=True, text=True, timeout=30, check=False)
    except subprocess.TimeoutExpired:
        return f"the docker daemon at {host} does not answer within 30 s"
    if not done.returncode:
        return ""
    said = done.stderr
    if "permission denied" in said:
        return f"no permission to use the docker daemon at {host}: run this as root, or join the group docker"
    if "too old" in said or "too new" in said:
        return f"{client} and the docker daemon at {host} do not fit: {last_line(done)}"
    if "Cannot connect" in said or "connection refused" in said or "no such file" in said:
        return f"no docker daemon answers at {host}"
    return f"the docker daemon at {host}: {last_line(done)}"


def _why_no_daemon_of_our_own(named, own):
    if named:
        return " (DOCKER_HOST names it)"
    if own is None:
        return ": start it, or set DOCKER_HOST"
    if os.geteuid() != 0:
        return ", and to start one needs root"
    return "" if shutil.which("dockerd") else ", and dockerd is not installed"


class OwnDaemon:
    """A dockerd without a network of its own (--network none or host), which ends with this process unless it is to
    outlive it."""

    def __init__(self, folder, client, outlive=False):
        folder = folder.resolve()
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._run = _run_folder(folder)
        self.host = f"unix://{self._run}/docker.sock"
        self._client = client
        self._outlive = outlive
        self._process = None
        self._lock = self._take_lock()
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _take_lock(self):
        lock = open(self._folder / "lock", "w", encoding="ascii")
        deadline = time.monotonic() + 600
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return lock
            except BlockingIOError:
                if time.monotonic() > deadline:
                    lock.close()
                    raise Trouble(f"{self._folder} is in use by another run for more than 10 minutes") from None
                time.sleep(0.2)

    def _end_predecessor(self):
        """A run that was killed leaves a daemon that is still ending its containers, or does not end at all."""
        _end_daemon_of(self._folder)

    def _start(self):
        self._end_predecessor()
        self._run.mkdir(mode=0o700, exist_ok=True)
        (self._run / "pid").unlink(missing_ok=True)
        log = self._folder / "dockerd.log"
        command = ["dockerd", "--data-root", self._folder / "data", "--exec-root", self._run / "exec",
                   "--pidfile", self._run / "pid", "--host", self.host, *_NO_BRIDGE]
        with open(log, "wb") as out:
            self._process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out,
                                             stderr=subprocess.STDOUT, start_new_session=True,
                                             preexec_fn=functools.partial(begin_child, self._outlive),
                                             pass_fds=(self._lock.fileno(),) if self._outlive else ())
        state = [self._process.pid, process_start(self._process.pid)]
        (self._folder / "daemon.json").write_text(json.dumps(state), encoding="ascii")
        try:
            wait_for(self._answers_or_ended, _DAEMON_STARTS_IN, "dockerd", pause=0.1)
        except Trouble as trouble:
            raise NoEngine(f"{trouble}; its log is {log}") from None
        if self._process.poll() is not None:
            raise NoEngine(f"dockerd does not start here: {_last_error(log)}")
        self._remove_leftovers()

    def _answers_or_ended(self):
        return self._process.poll() is not None or (
            (self._run / "docker.sock").exists() and not why_unreachable(self._client, self.host))

    def _words(self, *words):
        return subprocess.run([self._client, "--host", self.host, *words], capture_output=True, text=True, timeout=120,
                              check=False)

    def _remove_leftovers(self):
        """Of a run that was killed: the daemon is ours, so its containers and volumes are."""
        for listing, removing in ((("ps", "--all", "--quiet"), ("rm", "--force", "--volumes")),
                                  (("volume", "ls", "--quiet"), ("volume", "rm", "--force"))):
            names = self._words(*listing).stdout.split()
            if names:
                self._words(*removing, *names)

    def close(self):
        if self._process and self._process.poll() is None:
            self._remove_leftovers()
            containerd = self._containerd()
            self._process.terminate()
            try:
                self._process.wait(_DAEMON_ENDS_IN)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            _end(*containerd)
        if self._lock:
            _unmount_below(self._folder / "data", self._run)
            shutil.rmtree(self._run, ignore_errors=True)
            self._lock.close()
            self._lock = None

    def _containerd(self):
        return _containerd_of(self._run)


def end_own_daemon(folder):
    """Ends a daemon that was left, with its containers; its images stay."""
    folder = Path(folder).resolve()
    run = _run_folder(folder)
    containerd = _containerd_of(run)
    _end_daemon_of(folder)
    _end(*containerd)
    _unmount_below(folder, run)
    shutil.rmtree(run, ignore_errors=True)


def _run_folder(folder):
    """The path of a socket has at most 107 octets, so sockets do not stand below the folder."""
    return Path("/run") / f"eddy-docker-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:10]}"


def _containerd_of(run):
    """Its pid and start time."""
    try:
        pid = int((run / "exec/containerd/containerd.pid").read_text())
    except (OSError, ValueError):
        return None, None
    return pid, process_start(pid)


def _end_daemon_of(folder):
    state = folder / "daemon.json"
    with contextlib.suppress(OSError, ValueError):
        pid, started = json.loads(state.read_text(encoding="ascii"))
        _end(pid, started, patience=_DAEMON_ENDS_IN)
    state.unlink(missing_ok=True)


def _end(pid, started, patience=5):
    """Ends a process that outlives the one that started it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + patience
        while pid and process_start(pid) == started and started is not None and time.monotonic() < deadline:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
            time.sleep(0.05)


def _unmount_below(*folders):
    """What a daemon that was killed has left mounted, the innermost first: all within these folders, and the folders
    themselves where they are mounted on themselves. A disk that somebody has put there stays."""
    mounts = [line.split()[3:5] for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()]
    for root, mount in reversed(mounts):
        if any(folder in Path(mount).parents or (str(folder) == mount and root != "/") for folder in folders):
            subprocess.run(["umount", "--lazy", mount], capture_output=True, check=False)


def _last_error(log):
    lines = log.read_text(errors="replace").strip().split("\n")
    said = [line for line in lines if "level=" not in line or "level=fatal" in line or "level=error" in line]
    return (said or lines)[-1]


# podman


def _podman(own):
    client = shutil.which("podman")
    if not client:
        raise NoEngine("podman is not installed: install podman, or docker.io")
    words, environment = [client], {}
    if own is not None:
        folder = Path(own).resolve() / "podman"  # the names in it must stay the same from run to run
        folder.mkdir(parents=True, exist_ok=True)
        words += ["--root", folder / "root", "--runroot", folder / "run"]
        environment["CONTAINERS_CONF"] = str(_podman_settings(folder))
    engine = Engine("podman", words, environment)
    done = engine.call("info", "--format", "{{.Version.Version}}", check=False)
    if done.returncode:
        raise NoEngine(f"podman does not work here: {last_line(done)}")
    return engine


def _podman_settings(folder):
    """podman raises limits to numbers of its own, which takes a capability that root may lack; and crun refuses a
    kernel that has both kinds of control groups, which runc takes."""
    limits = []
    for name, number in (("nofile", resource.RLIMIT_NOFILE), ("nproc", resource.RLIMIT_NPROC)):
        high = resource.getrlimit(number)[1]
        high = _MOST_PROCESSES if high == resource.RLIM_INFINITY else min(high, _MOST_PROCESSES)
        limits.append(f'"{name}={high}:{high}"')
    text = f"[containers]\ndefault_ulimits = [{', '.join(limits)}]\n"
    if shutil.which("runc"):
        text += '[engine]\nruntime = "runc"\n'
    path = folder / "containers.conf"
    path.write_text(text, encoding="ascii")
    return path
