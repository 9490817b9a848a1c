"""eddyhost and one eddyd on a core each: RDMA WRITE packets of 1,024 octets of payload over memif and back.

Two hosts of one process, one flow after the other between them, through the switch. The sender's windows
keep the switch's queue short, so nobody is paused for long. Both poll all the time; their polling threads
are put ahead of others.
"""

import json
import os
import time
from pathlib import Path

from .bench_results import result
from .netns import Trouble, World, run, wait_for

RUNS = 3
SWITCH = "bench-leaf1"
EXPERIMENT = """
id: bench-hosts
title: eddyhost to itself, through one switch
topology: {kind: leaf_spine, leaves: 1, spines: 1, hosts_per_leaf: 2, host_rate: 100Gbps, host_delay: 0ns}
buffer: {size: 32MiB}
switches: {poll_gap: 50us}
host: {congestion_control: none, bdp: 256KiB, ack_every: 16, rto: 100ms}
traffic:
  - {type: long_flow, size: %s, count: 8, sources: [leaf1.host1], destinations: [leaf1.host2]}
run: {seeds: [1], warmup: 0us, duration: 1ms, drain: %s}
sizes: {ci: {}}
"""


def measure(binaries, say):
    samples = {}
    for number in range(RUNS):
        for name, value in one_run(binaries).items():
            samples.setdefault(name, []).append(value)
        say(f"hosts, run {number + 1} of {RUNS}: " +
            ", ".join(f"{name} {values[-1]:.4g}" for name, values in samples.items()))
    units = {"mpps": "Mpps", "cycles": "cycles/packet"}
    return [result(f"hosts.{name}", values, units[name.split(".")[-1]]) for name, values in samples.items()]


def one_run(binaries):
    """Packets a second and cycles a packet, received and sent ones counted each, of both sides."""
    world = World("bench-hosts")
    try:
        path = write_experiment(world, "3GB", 60)  # longer than what is looked at, on any machine so far
        switch = start_switch(world, binaries, path)
        hosts = start_hosts(world, binaries, path)
        for process in (switch, hosts):
            put_ahead(process)
        time.sleep(1.8)  # of it, the last second or so is in the switch's reports
        forwarded = ask(binaries, "ports", "rx_pps")
        busy = ask(binaries, "workers", "busy_percent") / 100
        if hosts.wait(120) != 0:
            raise Trouble(f"eddyhost ended: {hosts.output().strip()}")
        done = json.loads((world.directory / "bench-hosts/ci/only/seed1/run.json").read_text())["run"]
        counters = done["counters"]
        packets = counters["nic_tx_packets"] + counters["nic_rx_packets"]
        hertz = counters["host_cycles_per_second"]
        return {"eddyhost.mpps": packets / done["fct_max_us"],
                "eddyhost.cycles": counters["host_busy_cycles"] / packets,
                "eddyd.mpps": forwarded / 1e6,
                "eddyd.cycles": busy * hertz / forwarded}
    finally:
        world.close()


def write_experiment(world, size, seconds):
    """The file of eight flows of `size` each, one after the other, for which they have `seconds`."""
    path = world.directory / "bench-hosts.yaml"
    path.write_text(EXPERIMENT % (size, f"{seconds}s"), encoding="utf-8")
    return path


def start_hosts(world, binaries, experiment):
    """On the first of our cores; returns when packets may flow."""
    hosts = world.spawn(
        None, binaries / "eddyhost", experiment, "--size", "ci", "--idle", "busy", "--name", "bench-hosts",
        "--port", f"*=net_memif{{n}},socket={world.directory}/{{host}}.memif", "--out", world.directory,
        "--", f"--lcores=0@({cpus()}),1@{min(os.sched_getaffinity(0))}", log="eddyhost")
    wait_for(lambda: "hosts are up" in hosts.output() or not hosts.alive(), 30, "eddyhost up")
    return hosts


def start_switch(world, binaries, experiment, prometheus="none", eal=()):
    """On the last core, where eddyd seats its first busy worker. `eal`: words for DPDK."""
    text = run(binaries / "eddylab", "config", experiment, "leaf1", "--size", "ci", "--sockets",
               world.directory).stdout
    path = world.directory / "leaf1.yaml"
    for old, new in (("name: leaf1", f"name: {SWITCH}"), ("idle: adaptive", "idle: busy"),
                     ("prometheus: none", f"prometheus: {prometheus}")):
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    return world.spawn(None, binaries / "eddyd", "--config", path, "--", *eal, log="eddyd")


def put_ahead(process):
    """Its polling threads before those of others on the same core."""
    for task in Path(f"/proc/{process.pid}/task").iterdir():
        if "rte-worker" in (task / "comm").read_text():
            os.sched_setscheduler(int(task.name), os.SCHED_FIFO, os.sched_param(10))


def cpus():
    return ",".join(str(cpu) for cpu in sorted(os.sched_getaffinity(0)))


def ask(binaries, report, key):
    rows = json.loads(run(binaries / "eddyctl", "--json", "--name", SWITCH, "show", report).stdout)["rows"]
    return sum(row.get(key, 0) for row in rows)
