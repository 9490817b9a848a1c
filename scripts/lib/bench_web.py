"""The live page of 24 switches: script and layout of a picture in the browser, and what it costs an eddyd to be watched.

The page is eddyctl web's, the browser a headless Chromium, the switches sockets that answer as switches do, each time with other
numbers at every port. Of a trace, all that the page's main thread does for a picture counts but painting: scripts, style,
layout. For the cost, the control side of a real switch with as many ports as each of those has: the CPU time of all threads of eddyd
but its worker's, in periods that take turns. Units: ms; percent of a core.
"""

import collections
import contextlib
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from .bench_results import result
from .browser import Browser
from .fake_switches import FakeSwitches
from .netns import Trouble, World, wait_for

SPINES, LEAVES, HOSTS = 12, 12, 4
PICTURES = 30
APART = 300_000  # microseconds: what comes later is of another picture
COUNTED = {"EventDispatch", "FunctionCall", "FireAnimationFrame", "TimerFire", "ParseHTML", "UpdateLayoutTree", "Layout",
           "RecalculateStyles", "EvaluateScript", "RunMicrotasks", "V8.GC_SCAVENGER", "MinorGC", "MajorGC"}
ROUNDS, PERIOD = 6, 5.0  # of each kind; seconds
SWITCH = "bench-web"


def measure(binaries, say):
    rows = frame_rows(binaries)
    say("web: frames are measured")
    return rows + cost_rows(binaries)


@contextlib.contextmanager
def page(binaries, folder, *words):
    """The URL of a live page of the switches in a folder."""
    process = subprocess.Popen([binaries / "eddyctl", "--dir", folder, *words, "web", "--listen", "127.0.0.1:0"],
                               stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        if not line:
            raise Trouble("eddyctl web did not start")
        yield line.split()[0]
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def frame_rows(binaries):
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="eddy-bench-web-")))
        switches = FakeSwitches(folder, SPINES, LEAVES, HOSTS)
        stack.callback(switches.close)
        url = stack.enter_context(page(binaries, folder, "--all"))
        browser = stack.enter_context(Browser())
        browser.screen(1400, 1100)
        browser.visit(url)
        browser.wait("document.documentElement.dataset.ready === 'yes'", "the first picture")
        with browser.trace() as events:
            for _ in range(PICTURES):
                switches.stir()
                time.sleep(1)
        if browser.complaints():
            raise Trouble(f"the page complains: {browser.complaints()}")
        frames = frames_of(events)
        if len(frames) < PICTURES // 2:
            raise Trouble(f"web: {len(frames)} pictures of {PICTURES} were seen")
    return [result("web.frame.24switches", frames, "ms"), result("web.frame.24switches.most", [max(frames)], "ms")]


def frames_of(events):
    """Milliseconds of each picture: of what is counted the union, by clusters in time that have an animation frame, on
    the thread that has those."""
    thread = collections.Counter((event["pid"], event["tid"]) for event in events
                                 if event["name"] == "FireAnimationFrame").most_common(1)[0][0]
    spans = sorted((event["ts"], event["ts"] + event.get("dur", 0), event["name"]) for event in events
                   if event.get("ph") == "X" and event["name"] in COUNTED and (event["pid"], event["tid"]) == thread)
    frames, until, last = [], 0, None
    for start, end, name in spans:
        if last is None or start - last > APART:
            frames.append({"us": 0, "drawn": False})
            until = start
        frames[-1]["us"] += max(0, end - max(start, until))
        frames[-1]["drawn"] |= name == "FireAnimationFrame"
        until, last = max(until, end), max(last or 0, end)
    return [frame["us"] / 1000 for frame in frames if frame["drawn"]]


def cost_rows(binaries):
    """Percent of a core, beside nobody watching, and of nobody."""
    world = World("bench-web")
    try:
        path = world.directory / "switch.yaml"
        path.write_text(f"switch: {{name: {SWITCH}, id: 1, leaf: 1, idle: adaptive}}\n"
                        f"control: {{socket: {world.directory}/{SWITCH}.sock}}\nports:\n" +
                        "".join(f'  p{i}: {{device: "net_null{i},no-rx=1", speed: 1Gbps, role: {"host" if i < HOSTS else "fabric"}}}\n'
                                for i in range(HOSTS + SPINES)), encoding="utf-8")
        switch = world.spawn(None, binaries / "eddyd", "--config", path, log="eddyd")
        wait_for(lambda: (world.directory / f"{SWITCH}.sock").exists() or not switch.alive(), 20, "the switch")
        if not switch.alive():
            raise Trouble(f"eddyd: {switch.output()}")
        with page(binaries, world.directory, "--name", SWITCH) as url:
            samples = {"nobody": [], "watched": []}
            for number in range(ROUNDS):
                for kind in sorted(samples, reverse=number % 2 == 1):
                    samples[kind].append(share_of_a_core(switch.pid, url if kind == "watched" else None))
        added = [watched - bare for watched, bare in zip(samples["watched"], samples["nobody"])]
        return [result(f"web.eddyd.{kind}", values, "%") for kind, values in samples.items()] + [result("web.eddyd.added", added, "%")]
    finally:
        world.close()


def share_of_a_core(pid, url):
    """Of eddyd's threads that are no workers, over a period in which a stream of `url` is read, if there is one."""
    with contextlib.ExitStack() as stack:
        pictures = stack.enter_context(watched(url)) if url else None
        before, began = control_time(pid), time.monotonic()
        if pictures:
            seen = pictures(began + PERIOD)
            if seen < PERIOD / 2:
                raise Trouble(f"web: {seen} pictures in {PERIOD} s")
        else:
            time.sleep(PERIOD)
        return 100 * (control_time(pid) - before) / (time.monotonic() - began)


@contextlib.contextmanager
def watched(url):
    """A function that reads until a time and returns how many pictures came; the first has come already."""
    host, port = url.removeprefix("http://").rstrip("/").rsplit(":", 1)
    with socket.create_connection((host, int(port))) as client:
        client.sendall(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        client.settimeout(10)
        rest = b""
        while b"event: values" not in rest:
            rest += client.recv(1 << 16)

        def read(until):
            seen = 0
            while time.monotonic() < until:
                client.settimeout(max(0.001, until - time.monotonic()))
                with contextlib.suppress(TimeoutError):
                    seen += client.recv(1 << 20).count(b"event: values")
            return seen
        yield read


def control_time(pid):
    """Seconds."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        if "rte-worker" not in (task / "comm").read_text():
            total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9
