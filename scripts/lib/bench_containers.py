"""The demo's fabric in containers: its images, how soon it is up and down, its memory, and what it costs in delay.

Images are built from the packages of preset release in a daemon that has none, base included. Then the fabric of four
switches and four Linux hosts is brought up in network namespaces and in containers by turns; each time hosts under
different leaves ping each other. Both are placed by the same code (fabric.py) and wired in the same way.
"""

import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from . import images
from .bench_memory import MEBIBYTE, resident, send
from .bench_results import result
from .container_world import ContainerWorld
from .engine import find_engine
from .fabric import Fabric, Plan
from .netns import Trouble, World, put_ahead, wait_for
from .release import version

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 3
PINGS = 100
INTERVAL_S = 0.02
MEGABYTE = 1_000_000
REACHED_S = 30
# What a person is promised; docs/performance.md has the same.
BOUNDS = {"images.build": 90, "image.eddy": 160, "up": 5, "down": 3, "rss.switch": 160, "rtt.ratio": 1.5}


def measure(binaries, say):
    if os.geteuid() != 0:
        raise Trouble("containers needs root: it starts a docker daemon, and links containers")
    put_ahead()
    folder = Path(tempfile.mkdtemp(prefix="eddy-bench-", dir="/var/tmp"))
    try:
        with find_engine("docker", own=folder / "engine", private=True) as engine:
            rows = [*build(engine, folder, say), *fabrics(engine, binaries, say)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for row in rows:
        bound = BOUNDS.get(row["name"].removeprefix("containers."))
        if bound is not None:
            verdict = ": TOO MUCH" if row["value"] > bound else ""
            say(f"{row['name']}: {row['value']:.3g} {row['unit']}, at most {bound}{verdict}")
    return rows


def build(engine, folder, say):
    """The images, with nothing there: the base, too."""
    packages = folder / "packages"
    done = subprocess.run([ROOT / "scripts" / "package", "--out", packages, "--no-lint"], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise Trouble(f"scripts/package failed:\n{done.stdout[-500:]}{done.stderr[-500:]}")
    began = time.monotonic()
    images.build_images(engine, packages, store=folder / "engine")
    took = time.monotonic() - began
    say(f"images from packages: {took:.0f} s")
    sizes = {name: engine.image_bytes(f"{name}:{version()}") / MEGABYTE for name in images.IMAGES}
    return [result("containers.images.build", [took], "s"),
            *(result(f"containers.image.{name}", [size], "MB") for name, size in sizes.items())]


def fabrics(engine, binaries, say):
    taken = {kind: [] for kind in ("namespaces", "containers")}
    for number in range(1, ROUNDS + 1):
        for kind, rounds in taken.items():
            loaded = kind == "containers" and number == ROUNDS
            rounds.append(one_fabric(make_world(kind, engine), binaries, loaded))
            said = ", ".join(f"{name} {value:.3g}" for name, value in rounds[-1].items())
            say(f"round {number} of {ROUNDS}, {kind}: {said}")
    inside = taken["containers"]
    ratios = [one["rtt"] / other["rtt"] for one, other in zip(inside, taken["namespaces"])]
    return [result("containers.up", [each["up"] for each in inside], "s"),
            result("containers.down", [each["down"] for each in inside], "s"),
            result("containers.rss.switch", [inside[-1]["rss"]], "MiB"),
            *(result(f"containers.rtt.{kind}", [each["rtt"] for each in rounds], "us") for kind, rounds in taken.items()),
            result("containers.rtt.ratio", ratios, "ratio")]


class Lent(ContainerWorld):
    """In an engine that is there, and stays."""

    def __init__(self, engine):
        super().__init__("eddy-benchc", version())
        self.engine = engine
        os.environ.update(engine.environment)  # for its clients

    def pid_of(self, switch):
        return self.engine.pid(self.container(switch.short))

    def close(self, keep_files=False):
        lent, self.engine = self.engine, _Kept(self.engine)
        try:
            super().close(keep_files)
        finally:
            self.engine = lent


class _Kept:
    """An engine whose close() is left to its owner."""

    def __init__(self, engine):
        self._engine = engine

    def __getattr__(self, name):
        return getattr(self._engine, name)

    def close(self):
        pass


def make_world(kind, engine):
    return World("eddy-benchn") if kind == "namespaces" else Lent(engine)


def one_fabric(world, binaries, loaded):
    """Seconds up and down, microseconds there and back; `loaded`: MiB of the largest switch, once its packets are used."""
    began = time.monotonic()
    taken = {}
    try:
        fabric = Fabric(world, Plan(names="bench-", scheme="letflow"), binaries)
        fabric.start()
        taken["up"] = time.monotonic() - began
        taken["rtt"] = ping(world, fabric.hosts[0], fabric.hosts[2])
        if loaded:
            send(world, fabric.hosts)
            taken["rss"] = max(resident(world.pid_of(switch)) for switch in fabric.switches) / MEBIBYTE
        began = time.monotonic()
    finally:
        world.close()
    return taken | {"down": time.monotonic() - began}


def ping(world, source, target):
    """The median: one that met a busy core says nothing of the deployment."""
    once = ("ping", "-n", "-c", 1, "-W", 1, target.ipv4)
    wait_for(lambda: world.run(source.namespace, *once, check=False).returncode == 0, REACHED_S,
             f"{source.name} reaches {target.name}")
    said = world.run(source.namespace, "ping", "-n", "-c", PINGS, "-i", INTERVAL_S, target.ipv4).stdout
    times = [float(word) * 1000 for word in re.findall(r"time=([\d.]+) ms", said)]
    if len(times) < PINGS * 9 // 10:
        raise Trouble(f"only {len(times)} of {PINGS} pings were answered")
    return statistics.median(times)
