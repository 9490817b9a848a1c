#!/usr/bin/python3
"""scripts/demo: real Linux hosts talk through a leaf-spine fabric of four eddyd processes."""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from lib import display, watch  # noqa: E402
from lib.container_world import ContainerWorld, close_containers  # noqa: E402
from lib.demo_isolation import SCHEME as ISOLATED_SCHEME, Isolated, isolation_side_by_side  # noqa: E402
from lib.demo_report import Report  # noqa: E402
from lib.demo_roce import Roce  # noqa: E402
from lib.demo_stories import Everyday, Throttled  # noqa: E402
from lib.engine import KINDS  # noqa: E402
from lib.fabric import Fabric  # noqa: E402
from lib.netns import Trouble, World, close_state, owner_lives, put_ahead  # noqa: E402
from lib.release import programs, version  # noqa: E402
from lib.rlb_report import side_by_side  # noqa: E402
from lib.schemes import scheme_names  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
STATES = Path("/run/eddy")
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interruption:
    """A signal that ends the demo, as KeyboardInterrupt. Python loses one that comes in a hook of fork() or in a destructor,
    so a loop asks for it, too."""

    heard = False

    @classmethod
    def hear(cls, _number, _frame):
        cls.heard = True
        raise KeyboardInterrupt

    @classmethod
    def check(cls):
        if cls.heard:
            raise KeyboardInterrupt


RLB_PRESETS = ("default", "paper", "paper_star", "off")
COMPARE = "compare"  # --rlb alone: without and with, one after the other
COMPARED_SCHEME = "drill"


class Said(Exception):
    """A failure of which all has been said."""


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/demo",
        description="Brings up two leaves, two spines (four eddyd joined by memif) and four hosts in "
        "network namespaces (or containers), sends ping, TCP and UDP across, shows what the switches see, and takes "
        "everything down again. Needs root.")
    parser.add_argument("--scheme", metavar="NAME",
                        help="path selection on the leaves (default: letflow; with --rlb drill)")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--rlb", nargs="?", const=COMPARE, metavar="PRESET", choices=(*RLB_PRESETS, COMPARE),
                      help="slows one path down, without RLB and then with it, then has an incast without isolation and "
                      f"with it, and shows each pair side by side; with a preset that of RLB that alone: {', '.join(RLB_PRESETS)} (off: without RLB)")
    kind.add_argument("--roce", action="store_true",
                      help="RoCEv2 hosts that obey PFC (eddyhost) and an incast: nothing may be lost")
    parser.add_argument("--seconds", type=int, default=20, metavar="N",
                        help="how long the traffic runs, 4 (with --rlb 10) to 3600 (default: 20); four runs of --rlb share twice "
                        "that")
    parser.add_argument("--hosts", default="af_packet", choices=("af_packet", "af_xdp"),
                        help="how the hosts' veth pairs are attached (default: af_packet)")
    parser.add_argument("--containers", nargs="?", const="any", choices=("any", *KINDS), metavar="ENGINE",
                        help="switches and hosts are containers: docker or podman (default: what there is); builds the "
                        "images where they are missing, and starts a docker daemon where none runs")
    parser.add_argument("--build", action="store_true", help="install and build what it needs, and stop")
    parser.add_argument("--keep", action="store_true",
                        help="leave the fabric up and print how to look at it")
    parser.add_argument("--down", action="store_true", help="take down a fabric that was kept")
    parser.add_argument("--name", default="demo", metavar="NAME",
                        help="for a second fabric beside the first: begins its switches' names")
    parser.set_defaults(isolation=None)
    arguments = parser.parse_args()
    if not re.fullmatch(r"[a-z0-9]{1,10}", arguments.name):
        parser.error(f"--name {arguments.name}: valid are 1 to 10 of a to z and 0 to 9")
    if arguments.down:
        return arguments
    if arguments.containers and arguments.hosts != "af_packet":
        parser.error(f"--hosts {arguments.hosts}: with --containers valid is af_packet")
    arguments.scheme = arguments.scheme or (COMPARED_SCHEME if arguments.rlb else "letflow")
    shortest = Throttled.shortest if arguments.rlb else Everyday.shortest
    if not shortest <= arguments.seconds <= 3600:
        parser.error(f"--seconds {arguments.seconds}: valid is {shortest} to 3600")
    schemes = scheme_names()
    if arguments.scheme not in schemes:
        parser.error(f"--scheme {arguments.scheme}: valid are {', '.join(schemes)}")
    return arguments


def story_of(arguments, world, binaries):
    if arguments.isolation is not None:
        return Isolated(arguments, world, binaries)
    if arguments.roce:
        return Roce(arguments, world, binaries)
    return Throttled(arguments) if arguments.rlb else Everyday(arguments)


def state_path(name):
    return STATES / f"{name}.json"


def named(name):
    """What tells a demo of another name in a command line."""
    return "" if name == "demo" else f" --name {name}"


def take_down(name):
    path = state_path(name)
    if not path.exists():
        print("no demo fabric is up")
        return
    close_demo(path)
    print("the demo fabric is down")


def close_demo(path):
    """Takes down a demo from outside, however it was deployed."""
    state = json.loads(path.read_text(encoding="utf-8"))
    (close_containers if "engine" in state else close_state)(path)


def make_room(screen, name):
    """Refuses to run beside a demo of the same name; clears what a killed one left behind."""
    path = state_path(name)
    if not path.exists():
        return
    state = json.loads(path.read_text(encoding="utf-8"))
    if state["kept"] or owner_lives(state):
        raise Trouble(f"a demo fabric is up already; scripts/demo --down{named(name)} takes it down")
    screen.say("Taking down what an interrupted demo left behind.")
    close_demo(path)


def build(screen, arguments):
    """The directory of the programs: $EDDY_BIN, or preset release, built if it has changed."""
    began = time.monotonic()
    contained = bool(arguments.containers)
    hosts = ("eddyhost",) if (arguments.roce or arguments.rlb == COMPARE) and not contained else ()
    binaries = programs(("eddyd", "eddyctl", *hosts), ("--containers" if contained else "--demo",))
    if time.monotonic() - began > 5:
        screen.say(f"Installed and built in {time.monotonic() - began:.0f} s.")
    return binaries


def run_traffic(fabric, story, report, screen, seconds):
    """Runs the flows, shows a table once a second; returns their results."""
    story.start(fabric, seconds)
    first = last = watch.sample_fabric(fabric.switches)
    began = time.monotonic()
    second = 0
    while second < seconds:
        elapsed = time.monotonic() - began
        second = min(seconds, max(second + 1, int(elapsed) + 1))  # a machine that is busy leaves some out
        said = story.tick(fabric, elapsed, seconds)
        if said:
            screen.say("", *said)
        time.sleep(max(0.0, began + second - time.monotonic()))
        Interruption.check()
        fabric.check_alive()
        now = watch.sample_fabric(fabric.switches)
        for switch in fabric.switches:
            switch.note_gaps()
        screen.refresh(report.live(second, seconds, story.running(), last, now))
        last = now
    results = story.finish(fabric)
    story.tick(fabric, seconds, seconds)
    report.totals(first, watch.sample_fabric(fabric.switches))
    return results


def demo(arguments, screen):
    """Returns the exit status."""
    binaries = build(screen, arguments)
    if arguments.build:
        return 0
    put_ahead()  # its steps come when they are due
    make_room(screen, arguments.name)
    if arguments.rlb != COMPARE:
        return 1 if one_demo(arguments, screen, binaries)[0] else 0
    return compare(arguments, screen, binaries)


def compare(arguments, screen, binaries):
    """RLB's two runs and those of isolation, in the time of two; returns the exit status."""
    short = max(Roce.shortest, round(0.3 * arguments.seconds))
    of_rlb = {"seconds": max(Throttled.shortest, arguments.seconds - short)}
    of_isolation = {"seconds": short, "scheme": ISOLATED_SCHEME}
    runs = ((f"{arguments.scheme} alone", of_rlb | {"rlb": "off"}),
            (f"{arguments.scheme} with RLB", of_rlb | {"rlb": "default"}),
            ("an incast without isolation", of_isolation | {"isolation": False}),
            ("an incast with isolation", of_isolation | {"isolation": True}))
    failed, told = False, []
    for number, (name, what) in enumerate(runs, 1):
        screen.say("", screen.paint(f"{number} of {len(runs)}: {name}", "bold"))
        one = argparse.Namespace(**vars(arguments) | {"keep": arguments.keep and number == len(runs)} | what)
        failures, story = one_demo(one, screen, binaries)
        failed = failed or bool(failures)
        told.append((name, story))
    screen.say("", screen.paint("Side by side", "bold"), *side_by_side(told[:2]), "", *isolation_side_by_side(told[2:]))
    return 1 if failed else 0


def make_world(arguments):
    """Where the fabric is to be."""
    common = {"outlive": arguments.keep, "state_path": state_path(arguments.name)}
    if not arguments.containers:
        return World(f"eddy-{arguments.name}", **common)
    kind = None if arguments.containers == "any" else arguments.containers
    return ContainerWorld(f"eddy-{arguments.name}", version(), kind, **common)


def prepare(world, screen):
    """A container engine that runs, with the images."""
    for line in world.find_engine():
        screen.say(line)
    missing = world.missing_images()
    if not missing:
        return
    screen.say(f"There is no image {', '.join(missing)}: scripts/images builds them, which takes some minutes.")
    build = [ROOT / "scripts" / "images", "--engine", world.engine.kind, "--only", ",".join(sorted(
        name.split(":")[0] for name in missing))]
    if subprocess.run(build, check=False).returncode:
        raise Trouble("scripts/images failed")


def one_demo(arguments, screen, binaries):
    """Returns what failed, and the story."""
    world = make_world(arguments)
    kept = failed = False
    fabric = story = None
    try:
        if arguments.containers:
            prepare(world, screen)
        names = "" if arguments.name == "demo" else f"{arguments.name}-"
        story = story_of(arguments, world, binaries)
        plan = story.plan(names)
        began = time.monotonic()
        fabric = Fabric(world, plan, binaries)
        fabric.start()
        screen.say(f"Two leaves, two spines and four hosts are up ({time.monotonic() - began:.1f} s).",
                   f"Hosts on {plan.host_ports}, memif between the switches, scheme {arguments.scheme}.")
        if arguments.containers:
            screen.say("Meanwhile, in another terminal:", *world.how_to_look(fabric))
        screen.say(*story.traffic)
        report = Report(screen, plan)
        report.pings(story.pings(world, fabric.hosts))
        report.flows(run_traffic(fabric, story, report, screen, arguments.seconds))
        failures = report.summary(story)
        if failures:
            failed = True
            say_why(screen, fabric, story)
        if arguments.keep:
            world.leave()
            kept = True
            say_how_to_look(screen, world, fabric, binaries, arguments)
        return failures, story
    except Trouble as trouble:
        say_trouble(screen, trouble)
        failed = True
        if fabric:
            say_why(screen, fabric, story)
        raise Said from trouble
    finally:
        if not kept:
            for number in ENDINGS:
                signal.signal(number, signal.SIG_IGN)
            world.close(keep_files=failed)
            if failed:
                say_where(screen, world.directory)


def say_trouble(screen, trouble):
    screen.say(screen.paint("FAILED", "red", "bold") + f": {trouble}")


def say_why(screen, fabric, story):
    """The first thing to know of a failure: whether a worker came too late to its ports, which loses packets."""
    gaps = [(switch.name, *switch.poll_gaps()) for switch in fabric.switches]
    late = [name for name, was_late, _ in gaps if was_late]
    unknown = [name for name, was_late, _ in gaps if was_late is None]
    if late:
        screen.say(f"  A worker was beyond its poll gap on {', '.join(late)}: the machine was too busy, and that alone "
                   "loses packets.")
    else:
        screen.say("  No worker is known to have been beyond its poll gap: look for another cause."
                   if unknown else "  No worker was beyond its poll gap: the cause is another.")
    screen.say(*(f"  {line}" for _, _, line in gaps), *(f"  eddyhost: {note}" for note in story.notes()))


def say_where(screen, directory):
    """What a failed demo leaves: the logs, the configurations and results."""
    logs = sorted(path.name for path in directory.glob("*.log"))
    screen.say(f"  The logs are kept in {directory}:", f"    {' '.join(logs)}")


def say_how_to_look(screen, world, fabric, binaries, arguments):
    """Of a fabric that is kept."""
    screen.say("", "The fabric stays up. To look at it:")
    leaf = fabric.switches[0]
    if arguments.containers:
        screen.say(*world.how_to_look(fabric))
    else:
        say_commands(screen, fabric, binaries)
    screen.say(f"  less {leaf.process.log}        (and the configuration beside it, {leaf.path.name})",
               f"To take it down: scripts/demo --down{named(arguments.name)}")


def say_commands(screen, fabric, binaries):
    eddyctl = os.path.relpath(binaries / "eddyctl")
    leaf = fabric.switches[0]
    screen.say(
        f"  {eddyctl} --name {leaf.name} show ports        (and queues, pfc, paths, drops, ...)",
        *(() if not fabric.hosts else (
            f"  ip netns exec {fabric.hosts[0].namespace} ping {fabric.hosts[2].ipv4}",
            f"  ip netns exec {fabric.hosts[0].namespace} iperf3 -c {fabric.hosts[2].ipv4}"
            f"        (after iperf3 -s in {fabric.hosts[2].namespace})")),
        *((f"  dpdk-telemetry.py -f eddy-{leaf.name}",) if shutil.which("dpdk-telemetry.py") else ()))


def main():
    arguments = parse_arguments()
    screen = display.Screen()
    for number in ENDINGS:
        signal.signal(number, Interruption.hear)
    try:
        if arguments.down:
            take_down(arguments.name)
            return 0
        return demo(arguments, screen)
    except Trouble as trouble:
        say_trouble(screen, trouble)
        return 1
    except Said:
        return 1
    except KeyboardInterrupt:
        screen.say("", "Interrupted; everything is taken down.")
        return 130


if __name__ == "__main__":
    sys.exit(main())
