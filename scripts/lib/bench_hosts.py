"""eddyhost and one eddyd on a core each: RDMA WRITE packets of 1,024 octets of payload over memif and back.

Two hosts of one process, one flow after the other between them, through the switch. The sender's windows
keep the switch's queue short, so nobody is paused for long. Both poll all the time; their polling threads
are put ahead of others.
"""

import json
import os
import statistics
import time
from pathlib import Path

from .bench_results import result
from .bench_worker import Worker, free_port, put_us_ahead
from .netns import Trouble, World, run, wait_for

RUNS = 3
WARM, PERIOD, PERIODS = 0.5, 0.4, 4  # seconds: until buffers and caches are as they will be; what is looked at
OWN_CORE = 0.8  # share of a period; the kernel gives a twentieth of it to others where they want it
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
        address = f"127.0.0.1:{free_port()}"
        switch = start_switch(world, binaries, path, address)
        hosts = start_hosts(world, binaries, path)
        put_us_ahead(switch)
        for process in (switch, hosts):
            put_ahead(process)
        cycles, forwarded = loaded_worker(Worker(switch, f"http://{address}/metrics"), hosts)
        if hosts.wait(120) != 0:
            raise Trouble(f"eddyhost ended: {hosts.output().strip()}")
        done = json.loads((world.directory / "bench-hosts/ci/only/seed1/run.json").read_text())["run"]
        counters = done["counters"]
        packets = counters["nic_tx_packets"] + counters["nic_rx_packets"]
        return {"eddyhost.mpps": packets / done["fct_max_us"],
                "eddyhost.cycles": counters["host_busy_cycles"] / packets,
                "eddyd.mpps": forwarded / 1e6,
                "eddyd.cycles": cycles}
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        world.close()


def loaded_worker(worker, hosts):
    """Busy cycles a packet and packets a second: medians of the periods in which the worker had its core."""
    wait_for(lambda: worker.counts()[1] > 0 or not hosts.alive(), 30, "packets")
    time.sleep(WARM)
    periods = []
    for _ in range(PERIODS):
        before = worker.counts()
        time.sleep(PERIOD)
        cycles, forwarded, share = worker.since(before)
        if share > OWN_CORE and hosts.alive():
            periods.append((cycles, forwarded))
    if not periods:
        raise Trouble("hosts: in no period did the worker have its core and the flows last")
    return [statistics.median(values) for values in zip(*periods)]


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
