#!/usr/bin/python3
"""scripts/soak chaos: a fabric of real switches under traffic, to which whatever can happen happens at random.

Rounds of a minute. In each, hosts talk (ping, and UDP of a lossy and of the lossless class) while acts are drawn by a seed: a
switch is killed and started again, stopped for a moment, reconfigured, a host's link is cut, a host sends frames that are
hostile. At the end of a round traffic stops, every switch must answer, have nothing left and account for every frame
that came in or was made, and every host must reach every other. Memory and open files of switches that lived
through the round must not have grown since their first. Needs root; the programs are those of preset release, or of $EDDY_BIN.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from lib.fabric import Fabric, Plan  # noqa: E402
from lib.netns import Trouble, World, end_like_ctrl_c, put_ahead, wait_for  # noqa: E402
from lib.release import programs  # noqa: E402
from lib.schemes import scheme_names  # noqa: E402
from lib.traffic import ping_command, ping_mesh  # noqa: E402

PRESETS = ("off", "default", "paper")
ROUND = 60  # seconds
HOSTILE = Path(__file__).with_name("hostile_frames.py")


class Chaos:
    """One fabric, and what is done to it."""

    def __init__(self, fabric, world, seed):
        self.fabric = fabric
        self.world = world
        self.random = random.Random(seed)
        self.first = {}  # pid of a switch -> its memory and open files after its first round
        self.acts = (self.kill, self.stop, self.reload, self.cut, self.hostile)
        self.done = {act.__name__: 0 for act in self.acts}

    def round(self):
        flows = self.start_traffic()
        end = time.monotonic() + ROUND
        while time.monotonic() < end:
            act = self.random.choice(self.acts)
            act()
            self.done[act.__name__] += 1
            time.sleep(self.random.uniform(0.2, 2.0))
        for flow in flows:
            if flow.alive():
                flow.kill()
            self.world.forget(flow)
        self.check()

    def start_traffic(self):
        hosts, flows = self.fabric.hosts, []
        for i, source in enumerate(hosts):
            target = hosts[(i + 2) % len(hosts)]
            tos = "0x0c" if i % 2 else "0x00"  # DSCP 3 is the lossless class
            server = ("iperf", "-s", "-u", "-p", "5001")
            flows.append(self.world.spawn(target.namespace, *server, log=f"udp-server-{target.name}"))
            flows.append(self.world.spawn(source.namespace, "iperf", "-c", target.ipv4, "-u", "-p", "5001", "-b", "4M",
                                          "-l", "1200", "-t", ROUND, "-S", tos, log=f"udp-{source.name}"))
            flows.append(self.world.spawn(source.namespace, "ping", "-q", "-i", "0.05", target.ipv6,
                                          log=f"ping-{source.name}"))
        return flows

    def kill(self):
        switch = self.random.choice(self.fabric.switches)
        switch.process.kill()
        time.sleep(self.random.uniform(0, 0.5))
        switch.start()
        self.wait_up(switch)

    def stop(self):
        switch = self.random.choice(self.fabric.switches)
        pid = switch.process.pid
        os.kill(pid, signal.SIGSTOP)
        time.sleep(self.random.uniform(0.01, 1.0))
        os.kill(pid, signal.SIGCONT)

    def reload(self):
        switch = self.random.choice(self.fabric.switches)
        switch.config["load_balancer"] = {"scheme": self.random.choice(scheme_names())}
        switch.config["rlb"] = self.random.choice(PRESETS)
        switch.config["wred"]["default"]["kmax"] = f"{self.random.randint(400, 900)}KiB"
        switch.reload()

    def cut(self):
        host = self.random.choice(self.fabric.hosts)
        device = ("ip", "-n", host.namespace, "link", "set", "eth0")
        subprocess.run((*device, "down"), check=True)
        time.sleep(self.random.uniform(0.05, 1.0))
        subprocess.run((*device, "up"), check=True)
        self.world.run(host.namespace, "ip", "route", "replace", "default", "via", host.gateway(4))
        subprocess.run(("ip", "-n", host.namespace, "-6", "addr", "replace", f"{host.ipv6}/64", "dev", "eth0", "nodad"),
                       check=True)
        subprocess.run(("ip", "-n", host.namespace, "-6", "route", "replace", "default", "via", host.gateway(6)), check=True)

    def hostile(self):
        host = self.random.choice(self.fabric.hosts)
        self.world.run(host.namespace, sys.executable, HOSTILE, "eth0", self.random.randrange(2**32), 2000, timeout=60)

    def wait_up(self, switch):
        wait_for(switch.ports_up, 20, f"every port of {switch.name} up")

    def check(self):
        self.fabric.check_alive()
        for switch in self.fabric.switches:
            self.wait_up(switch)
        for switch in self.fabric.switches:
            wait_for(lambda s=switch: self.unaccounted(s) == 0, 12, f"every frame of {switch.name} accounted for")
            self.check_growth(switch)
        self.introduce_hosts()
        before = self.drops()
        failed = [f"{p.source} to {p.target} ({p.received} of {p.sent})"
                  for p in ping_mesh(self.world, self.fabric.hosts) if not p.ok]
        if failed:
            dropped = [f"{now - before.get(where, 0)} {where}" for where, now in self.drops().items()
                       if now != before.get(where, 0)]
            raise Trouble("after a round these did not reach each other: " + ", ".join(failed) +
                          "; dropped meanwhile: " + (", ".join(dropped) or "nothing"))

    def introduce_hosts(self):
        """A hostile host may have claimed its own address for a MAC that nobody has: it asks its gateway, which learns
        the right one from that."""
        for host in self.fabric.hosts:
            subprocess.run(("ip", "-n", host.namespace, "neigh", "flush", "dev", "eth0"), check=True)
            for version in (4, 6):
                self.world.run(host.namespace, *ping_command(host.gateway(version), count=1), check=False)

    def drops(self):
        return {f"{switch.name} {row['port']} {row['reason']}": row["dropped_packets"]
                for switch in self.fabric.switches for row in switch.show("drops")["rows"]}

    @staticmethod
    def unaccounted(switch):
        """Frames that came in or were made less those that left, were used up or dropped."""
        ports, drops = switch.show("ports")["rows"], switch.show("drops")["rows"]
        total = {name: sum(row[name] for row in ports)
                 for name in ("rx_packets", "originated_packets", "tx_packets", "consumed_packets")}
        dropped = sum(row["dropped_packets"] for row in drops)
        return (total["rx_packets"] + total["originated_packets"] - total["tx_packets"] -
                total["consumed_packets"] - dropped)

    def check_growth(self, switch):
        pid = switch.process.pid
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
        memory = int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))
        files = len(os.listdir(f"/proc/{pid}/fd"))
        first = self.first.setdefault(pid, (memory, files))
        if memory > first[0] * 1.1 + 8192 or files > first[1] + 2:
            raise Trouble(f"{switch.name} grew: {first[0]} to {memory} KiB, {first[1]} to {files} open files")


def parse_arguments():
    parser = argparse.ArgumentParser(prog="scripts/soak chaos", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=int, default=60, metavar="N", help="how long (default: 60)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of what is drawn (default: 1)")
    arguments = parser.parse_args()
    if not 1 <= arguments.minutes <= 10_000:
        parser.error(f"--minutes {arguments.minutes}: valid is 1 to 10000")
    return arguments


def main():
    arguments = parse_arguments()
    end_like_ctrl_c()
    binaries = programs(("eddyd", "eddyctl"))
    put_ahead()
    world = World(f"eddy-chaos-{os.getpid()}")
    try:
        fabric = Fabric(world, Plan(host_ports="af_packet", scheme="letflow", names=f"c{os.getpid()}-"), binaries)
        fabric.start()
        chaos = Chaos(fabric, world, arguments.seed)
        for minute in range(1, arguments.minutes + 1):
            chaos.round()
            acts = ", ".join(f"{count} x {name}" for name, count in chaos.done.items())
            print(f"{minute} of {arguments.minutes}: all accounted for; {acts}", flush=True)
        return 0
    except Trouble as trouble:
        print(f"FAILED (seed {arguments.seed}): {trouble}")
        world.print_last_lines("eddyd")
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        world.close()


if __name__ == "__main__":
    sys.exit(main())
