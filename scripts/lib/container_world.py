"""A World whose switches and hosts are containers, for the same Fabric.

Each container is a client of the engine that runs it in the foreground: a Process like any other, which ends its container
on SIGTERM, and gets that when this program dies. What a killed client leaves is found by its labels. The network
namespaces of the containers get the names that a World gives to its own, so links, addresses and settings are made from
outside in the same way; programs of hosts run inside. Needs root, for the links.
"""

import json
import os
import shutil
from pathlib import Path

from .engine import CONFINED, KINDS, Engine, end_own_daemon, find_engine
from .netns import SOCKETS, Process, Trouble, World, close_state, remove_sockets, run, wait_for

ROOT = Path(__file__).resolve().parents[2]
STORE = ROOT / "build" / "containers"  # scripts/images has its images there, where no daemon runs
LABEL = "org.eddy.by=demo"
IMAGES = {"eddyd": "eddy", "eddyhost": "eddy-host"}
HOST_IMAGE = "eddy-host"
# ping asks for raw sockets, iperf3 for files of its own.
LINUX_HOST = ("--user", "0:0", "--cap-add", "NET_RAW", "--tmpfs", "/tmp")
UP_WITHIN = 30  # seconds
INTERFACES_WITHIN = "30s"
# Programs that poll ports come before others, as they do with a World, where control groups count. A container has 1024.
AHEAD = ("--cpu-shares", "10240")


class ContainerWorld(World):
    """`kind`: docker, podman, or None for what there is; `version`: of the images."""

    end_within = 15  # of a container on a busy machine

    def __init__(self, name, version, kind=None, outlive=False, state_path=None):
        super().__init__(name, outlive, state_path)
        self.fabric = name.removeprefix("eddy-")
        self._version = version
        self._containers = {}  # namespace -> container
        self._running = {}  # container -> its process, until start_switch() has asked for it
        self._kind = kind
        self.engine = None
        self._own_daemon = False

    def find_engine(self):
        """docker or podman, or a daemon of our own; returns what to say of it."""
        self.engine = find_engine(self._kind, STORE, outlive=self.outlive)
        os.environ.update(self.engine.environment)  # for its clients, and for scripts/images
        self._own_daemon = self.engine.is_own
        self.save()
        if self._own_daemon:
            end = "scripts/demo --down ends it" if self.outlive else "it ends with the demo"
            return [f"No docker daemon runs here: one is started for this demo, and {end}."]
        return []

    def image(self, name):
        return f"{name}:{self._version}"

    def missing_images(self):
        """Those that are not there; Trouble if one is of another version than its name says."""
        missing = []
        for name in sorted(set(IMAGES.values())):
            if not self.engine.has_image(self.image(name)):
                missing.append(self.image(name))
                continue
            labels = self.engine.inspect(self.image(name))["Config"].get("Labels") or {}
            version = labels.get("org.opencontainers.image.version", "unknown")
            if version != self._version:
                raise Trouble(f"image {self.image(name)} is of version {version}, this tree is {self._version}: "
                              f"scripts/images --engine {self.engine.kind} builds it anew")
        return missing

    # What Fabric asks for.

    def open(self, switches, hosts):
        """Starts all containers at once; their namespaces by the short names. A switch has none unless a link of the
        kernel ends there; it waits for its interfaces itself."""
        self._check_names([*switches, *hosts])
        spaces = dict.fromkeys((*switches, *hosts))
        for short, switch in switches.items():
            words = ("--wait", INTERFACES_WITHIN, "--config", switch.path)
            self.sockets.append(f"{SOCKETS}/{switch.name}.sock")
            self._running[self.container(short)] = self._run_switch(switch, words)
        for short in hosts:
            self._start(self.container(short), short, HOST_IMAGE, (), log=self.container(short), options=LINUX_HOST)
        wired = [short for short in spaces if short in hosts or _has_kernel_links(switches[short])]
        for short, pid in self._pids(wired).items():
            spaces[short] = f"{self.name}-{short}"
            run("ip", "netns", "attach", spaces[short], pid)
            self.namespaces.append(spaces[short])
            self._containers[spaces[short]] = self.container(short)
        self.save()
        return spaces

    def container(self, short):
        return f"{self.fabric}-{short}"

    def start_switch(self, switch):
        """The process that open() has started; a new one when that has ended."""
        return self._running.pop(self.container(switch.short), None) or self._run_switch(
            switch, ("--config", switch.path), append=True)

    def spawn(self, namespace, *command, log="process", append=False):
        """Of a host: its own program, in its container."""
        inside = self.engine.words + ["exec", self._containers[namespace]]
        return super().spawn(None, *inside, *command, log=log, append=append)

    def spawn_poller(self, namespace, program, *words, log="process", append=False):
        """eddyhost, in a container of its own."""
        name = Path(program).name
        return self._start(self.container(log), log, IMAGES[name], (name, *words), log=log, append=append, options=AHEAD)

    def _run_switch(self, switch, words, append=False):
        demand = capabilities_of(switch.program, switch.path)
        options = [word for name in demand for word in ("--cap-add", name)]
        return self._start(self.container(switch.short), switch.short, IMAGES["eddyd"], ("eddyd", *words),
                           log=switch.name, append=append, options=(*AHEAD, "--env", f"EDDY_SWITCH={switch.name}", *options))

    def _start(self, container, node, image, command, log, append=False, options=()):
        """`command`: the program first; empty: the image's own."""
        dpdk = self.directory / "dpdk"  # shared, as hugepages are counted under a lock that is there
        dpdk.mkdir(mode=0o700, exist_ok=True)
        Path(SOCKETS).mkdir(parents=True, exist_ok=True)
        mounts = ((self.directory, self.directory), (SOCKETS, SOCKETS), (dpdk, "/run/dpdk"))
        entry = ("--entrypoint", command[0]) if command else ()
        words = [*self.engine.words, "run", "--rm", "--pull=never", "--log-driver", "none", "--no-healthcheck", "--name",
                 container, "--hostname", node, "--label", f"org.eddy.fabric={self.fabric}", "--label",
                 f"org.eddy.node={node}", "--label", LABEL, "--network", "none", *CONFINED, *options, *entry]
        for source, target in mounts if command else ():
            words += ["--mount", f"type=bind,source={source},target={target}"]
        if command:
            words += ["--user", "0:0", "--env", "XDG_RUNTIME_DIR=/run"]
        process = Process([*words, self.image(image), *command[1:]], self.directory / f"{log}.log", self.outlive, append)
        self.processes.append(process)
        return process

    def _check_names(self, shorts):
        """Ours that a killed demo has left go; others' are in the way."""
        remove_containers(self.engine, self.fabric)
        wanted = {self.container(short) for short in shorts}
        found = self.engine.call("ps", "--all", "--format", "{{.Names}}").stdout.split()
        for name in sorted(wanted.intersection(found)):
            raise Trouble(f"a container named {name} is there already and is not this demo's; --name gives the demo "
                          f"another name, {self.engine.kind} rm -f {name} removes it")

    def _pids(self, shorts):
        """Of the first process in each container, by its short name; waits until they run."""
        names = {self.container(short): short for short in shorts}

        def found():
            self._check_processes()
            done = self.engine.call("inspect", "--type", "container", "--format", "{{.Name}} {{.State.Pid}}", *names,
                                    check=False)
            rows = [line.split() for line in done.stdout.splitlines() if line]  # empty: not made yet
            pids = {names[name.lstrip("/")]: int(pid) for name, pid in rows if int(pid)}
            return pids if len(pids) == len(names) else None

        return wait_for(found, UP_WITHIN, f"{len(names)} containers", pause=0.1) if names else {}

    def _check_processes(self):
        for process in self.processes:
            if not process.alive():
                said = process.output().strip().splitlines()
                raise Trouble(f"container {process.log.stem}: {said[-1] if said else 'it said nothing'}")

    def how_to_look(self, fabric):
        """Commands for a terminal."""
        client = " ".join([self.engine.kind, *self.engine.words[1:]]) if self._own_daemon else self.engine.kind
        leaf = self.container(fabric.switches[0].short)
        lines = [f"  {client} exec -it {leaf} eddyctl top", f"  {client} exec {leaf} eddyctl show ports        "
                 "(and queues, pfc, paths, drops, ...)"]
        if fabric.hosts:
            here, there = self.container(fabric.hosts[0].name), fabric.hosts[2]
            lines += [f"  {client} exec -it {here} ping {there.ipv4}",
                      f"  {client} exec {here} iperf3 -c {there.ipv4}        (after iperf3 -s in "
                      f"{self.container(there.name)})"]
        return lines

    # Its end.

    def state(self, kept):
        engine = self.engine
        return super().state(kept) | {"fabric": self.fabric} | ({} if engine is None else {"engine": {
            "kind": engine.kind, "words": engine.words, "environment": engine.environment, "own": self._own_daemon}})

    def close(self, keep_files=False):
        sockets = self.sockets
        super().close(keep_files)
        if self.engine:
            remove_containers(self.engine, self.fabric)
            remove_sockets(sockets)  # of those, too, that began while the rest was taken down
            self.engine.close()

    def leave(self):
        """Everything stays up; close_containers() takes it down."""
        self.save(kept=True)
        self.engine.leave()


def _has_kernel_links(switch):
    return any("iface=" in port["device"] for port in switch.config["ports"].values())


def capabilities_of(program, path):
    """What a switch needs with that configuration, and what it is better off with."""
    demand = json.loads(run(program, "--capabilities", "--json", "--config", path).stdout)
    return [*demand["needs"], *demand["comfort"]]


def remove_containers(engine, fabric):
    """Those of a demo of that name."""
    found = engine.call("ps", "--all", "--quiet", "--filter", f"label={LABEL}", "--filter",
                        f"label=org.eddy.fabric={fabric}", check=False)
    engine.remove(*found.stdout.split())


def close_containers(path):
    """Takes down the world whose state is in the file `path`, from outside."""
    state = json.loads(path.read_text(encoding="utf-8"))
    close_state(path, ContainerWorld.end_within)
    found = state["engine"]
    if found["kind"] not in KINDS:
        return
    engine = Engine(found["kind"], [shutil.which(found["kind"]) or found["kind"], *found["words"][1:]],
                    found["environment"])
    remove_containers(engine, state["fabric"])
    remove_sockets(state["sockets"])
    if found["own"]:
        end_own_daemon(STORE)
