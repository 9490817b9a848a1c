#!/usr/bin/python3
"""scripts/soak reloads: real switches are reconfigured again and again under the full traffic of RoCEv2 hosts, and lose nothing.

On the demo's RoCEv2 fabric. First a signal brings thresholds that workers take up where they are; then
eddyctl brings another scheme and another preset of RLB each time, so that path sets, flow tables and warnings are
built anew. Reloads go round the switches, one after the other. All holds when each took effect, every flow ended, no packet
was lost, and hosts and spines were paused meanwhile. Needs root; the programs are those of preset release, or of $EDDY_BIN.
"""

import argparse
import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from lib.demo_roce import LONGEST_DRAIN, Roce  # noqa: E402
from lib.fabric import Fabric  # noqa: E402
from lib.netns import Trouble, World, end_like_ctrl_c, put_ahead, wait_for  # noqa: E402
from lib.release import programs  # noqa: E402

SCHEMES = ("ecmp", "letflow", "conga", "hermes")
PRESETS = ("off", "default", "paper")


def generation(switch):
    return switch.show("ports")["generation"]


def thresholds(switch, turn):
    switch.config["wred"]["default"]["kmin"] = f"{10 + turn % 80}KiB"
    switch.write()
    os.kill(switch.process.pid, signal.SIGHUP)


def scheme(switch, turn):
    switch.config["load_balancer"] = {"scheme": SCHEMES[turn % len(SCHEMES)]}
    switch.config["rlb"] = PRESETS[turn % len(PRESETS)]
    switch.reload()


class Screen:
    """What a story says goes to the output as it is."""

    @staticmethod
    def say(*lines):
        print(*lines, sep="\n", flush=True)


def reload_all(fabric, story, change, left):
    """Reloads as long as there is traffic, `left` times at most; returns how often."""
    for number in range(left):
        if "eddyhost" not in story.running():
            return number
        switch = fabric.switches[number % len(fabric.switches)]
        before = generation(switch)
        change(switch, 1 + number // len(fabric.switches))
        wait_for(lambda s=switch, g=before: generation(s) == g + 1, 20, f"reload {number + 1} of {switch.name}")
    return left


def run(change, left, seconds, binaries):
    """One fabric and its traffic; returns how many reloads it saw, and what did not hold, a line each."""
    world = World(f"eddy-reloads-{os.getpid()}")
    try:
        story = Roce(SimpleNamespace(scheme="ecmp"), world, binaries)
        fabric = Fabric(world, story.plan(f"r{os.getpid()}-"), binaries)
        fabric.start()
        story.start(fabric, seconds)
        done = reload_all(fabric, story, change, left)
        wait_for(lambda: not story.running(), seconds + 2 * LONGEST_DRAIN, "end of the traffic")
        story.finish(fabric)
        return done, story.verdict(Screen)
    except Trouble:
        world.print_last_lines("eddyd")
        raise
    finally:
        world.close()


def run_all(name, change, arguments, binaries):
    """Fabrics, until they have seen all reloads together; what did not hold, a line each."""
    done, failed = 0, []
    while done < arguments.count and not failed:
        more, failed = run(change, arguments.count - done, arguments.seconds, binaries)
        done += more
        print(f"{done} of {arguments.count} reloads: {name}", flush=True)
    return failed


def parse_arguments():
    parser = argparse.ArgumentParser(prog="scripts/soak reloads", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--count", type=int, default=1000, metavar="N", help="of each kind (default: 1000)")
    parser.add_argument("--seconds", type=int, default=60, metavar="N",
                        help="of traffic; another fabric then takes the rest (default: 60)")
    arguments = parser.parse_args()
    for option, most in (("count", 1_000_000), ("seconds", 86_400)):
        if not 1 <= getattr(arguments, option) <= most:
            parser.error(f"--{option} {getattr(arguments, option)}: valid is 1 to {most}")
    return arguments


def main():
    arguments = parse_arguments()
    end_like_ctrl_c()
    binaries = programs(("eddyd", "eddyctl", "eddyhost"))
    put_ahead()
    try:
        failed = [line for name, change in (("thresholds, by signal", thresholds), ("schemes, by eddyctl", scheme))
                  for line in run_all(name, change, arguments, binaries)]
    except Trouble as trouble:
        failed = [str(trouble)]
    except KeyboardInterrupt:
        return 130
    print(*(f"FAILED: {line}" for line in failed), sep="\n") if failed else print("nothing was lost")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
