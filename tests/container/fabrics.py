"""Fabrics that eddylab has exported, as containers: what their tests share."""

import datetime
import json
import os
import re
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from support import BINARIES, ROOT, Trouble, last_line, run, wait_for
from lib import watch
from lib.netns import World
from lib.traffic import Flow, Host, Traffic

LOSSLESS = 3  # DSCP


def export(folder, *words):
    """What `eddylab export` writes there, for a busy machine: a switch that gets no time for a while has room for what comes
    meanwhile, and what it pauses is no storm."""
    patience = ("--set", "watchdog.detection_time=5s", "--set", "switches.poll_gap=100ms")
    done = subprocess.run([BINARIES / "eddylab", "export", *words, *patience, "--out", folder], capture_output=True, text=True,
                          check=False, cwd=ROOT)
    if done.returncode:
        raise Trouble(f"eddylab export: {last_line(done)}")
    return folder


class Compose:
    """docker-compose in a folder, against the engine of the tests."""

    def __init__(self, engine, folder, prefix):
        self.words = [shutil.which("docker-compose")] if shutil.which("docker-compose") else [*engine.words, "compose"]
        self.folder = folder
        self.environment = engine.environ(EDDY_PREFIX=prefix, COMPOSE_PROJECT_NAME=prefix.strip("-"))

    def call(self, *words, **more):
        done = subprocess.run([*self.words, *words], cwd=self.folder, env=self.environment | more, capture_output=True,
                              text=True, check=False, timeout=120)
        if done.returncode:
            raise Trouble(f"docker-compose {' '.join(words)}: {done.stderr[-800:]}")
        return done.stdout


class Switch:
    """One of a fabric, asked by eddyctl in its container."""

    def __init__(self, engine, container, short):
        self.engine, self.container, self.short = engine, container, short

    def show(self, report):
        done = self.engine.exec(self.container, "eddyctl", "--json", "show", report, check=False)
        try:
            return json.loads(done.stdout)
        except ValueError:
            raise Trouble(f"eddyctl show {report} of {self.short}: {last_line(done)}") from None

    def answers(self):
        return self.engine.exec(self.container, "eddyctl", "show", "ports", check=False).returncode == 0

    def all_up(self):
        try:
            return all(row["oper"] == "up" for row in self.show("ports")["rows"])
        except Trouble:
            return False


class Fabric:
    """The demo's, in containers whose names begin with `prefix`: switches, and Linux hosts as traffic.py wants them.

    The tools of traffic are this machine's, in the hosts' network namespaces, which get names for it.
    """

    SWITCHES = ("leaf1", "leaf2", "spine1", "spine2")
    HOSTS = {"leaf1-host1": "10.0.1.1", "leaf1-host2": "10.0.1.2", "leaf2-host1": "10.0.2.1", "leaf2-host2": "10.0.2.2"}

    def __init__(self, engine, prefix):
        self.engine, self.prefix = engine, prefix
        self.switches = [Switch(engine, prefix + name, name) for name in self.SWITCHES]
        self.world = None
        self.hosts = []

    def switch(self, short):
        return next(each for each in self.switches if each.short == short)

    def wait_until_up(self, seconds=20):
        wait_for(lambda: all(each.all_up() for each in self.switches), seconds, "every port of every switch up", 0.1)

    def enter(self):
        """Gives the hosts' namespaces names."""
        self.world = World(f"eddy-c{os.getpid()}")
        for host, address in self.HOSTS.items():
            name = f"{self.world.name}-{host}"
            run("ip", "netns", "attach", name, self.engine.pid(self.prefix + host))
            self.world.namespaces.append(name)
            self.hosts.append(Host(host, name, address, ""))

    def leave(self):
        if self.world:
            self.world.close()
        self.world, self.hosts = None, []

    def pings(self, count=3):
        """Every host pings every other, from within the containers: {(from, to): what ping said} of those that fail."""
        def one(pair):
            done = self.engine.exec(self.prefix + pair[0], "ping", "-n", "-c", count, "-i", "0.2", "-W", "2",
                                    self.HOSTS[pair[1]], check=False)
            return done.stdout + done.stderr
        pairs = [(a, b) for a in self.HOSTS for b in self.HOSTS if a != b]
        with ThreadPoolExecutor(4) as pool:
            said = dict(zip(pairs, pool.map(one, pairs)))
        return {pair: text for pair, text in said.items() if f"{count} received" not in text}

    def run_traffic(self):
        """TCP both ways and an incast of the lossless class; FlowResults, and how the switches' counters have grown.

        Hosts of Linux do not obey pauses, so that TCP beside the incast loses what finds its class stopped, and a lost
        SYN takes seconds. The incast ends halfway, and what TCP tries after that arrives.
        """
        seconds = 8
        h1, h2, h3, h4 = self.hosts
        incast = {"udp": True, "rate": 70_000_000, "dscp": LOSSLESS, "length": seconds / 2}
        traffic = Traffic(self.world, [
            Flow("tcp", h1, h4, streams=4), Flow("tcp-back", h4, h2, streams=4),
            Flow("tcp-lossless", h2, h3, streams=4, dscp=LOSSLESS),
            Flow("incast-1", h1, h3, **incast), Flow("incast-2", h2, h3, **incast)])
        traffic.start()
        before = watch.sample_fabric(self.switches)
        traffic.tick(0, seconds)
        results = traffic.finish(seconds + 15)
        return results, watch.port_rows(before, watch.sample_fabric(self.switches))


class Stopwatch:
    """A ping that goes on, in the background, to see how long a fabric was away."""

    REPLY = re.compile(r"^\[([\d.]+)\] \d+ bytes from", re.M)

    def __init__(self, fabric, source, target):
        self._world = fabric.world
        self._ping = fabric.world.spawn(source.namespace, "ping", "-n", "-D", "-i", "0.05", "-W", "1", target.ipv4,
                                        log=f"stopwatch-{time.monotonic_ns()}")
        wait_for(self.replies, 10, "a first reply")

    def replies(self):
        """When each came, in seconds of the system's clock."""
        return [float(each) for each in self.REPLY.findall(self._ping.output())]

    def first_after(self, moment, seconds):
        """The first reply after a moment."""
        return wait_for(lambda: next((each for each in self.replies() if each > moment), None), seconds,
                        "a reply", 0.02)

    def end(self):
        self._ping.kill()
        self._world.forget(self._ping)


def started(engine, name):
    """When a container was started last, in seconds of the system's clock."""
    text = engine.inspect(name)["State"]["StartedAt"]
    return datetime.datetime.fromisoformat(re.sub(r"\.(\d{6})\d*Z$", r".\1+00:00", text)).timestamp()
