"""The whole process against OVS-DPDK: what a packet costs beyond its ports, and the ratio."""

import random
import socket
import struct

from .bench_pollers import PREFIXES, SWITCH_MAC, Eddyd, Ovs, Testpmd
from .hugepages import give_back_hugepages, reserve_hugepages, total_hugepages
from .bench_results import result
from .netns import World

FLOWS = {"1flow": 1, "10kflows": 10_000}
FRAME = 64  # octets without FCS
LOSSLESS_DSCP, ECT0 = 3, 2
UNIT = "cycles/packet"
STARTS = 3  # of the processes: where their memory lies differs, and with it OVS's cost by a sixth


def compare(binaries, tsc_hz, rounds, say):
    """Results of both cases, of several starts of the three processes each."""
    rows = []
    for case, flows in FLOWS.items():
        samples = {}
        for start in range(STARTS):
            say(f"{case}, start {start + 1} of {STARTS}")
            for name, values in measure_start(case, flows, binaries, tsc_hz, rounds, say).items():
                samples.setdefault(name, []).extend(values)
        rows += rows_of(case, samples)
    return rows


def measure_start(case, flows, binaries, tsc_hz, rounds, say):
    """Cycles a packet of each process, in interleaved rounds of one start."""
    world = World(f"bench-{case}")
    pollers = []
    hugepages = total_hugepages()
    try:
        pcap = world.directory / "f.pcap"
        write_pcap(pcap, flows)
        pollers = [Testpmd(world, pcap), Eddyd(world, pcap, binaries), Ovs(world, pcap)]
        reserve_hugepages(sum(poller.memory for poller in pollers))
        for poller in pollers:
            poller.start()
        samples = {poller.name: [] for poller in pollers}
        for number in range(rounds):
            for poller in pollers[number % 3:] + pollers[:number % 3]:
                samples[poller.name].append(poller.cycles_per_packet(1, tsc_hz))
            say("  " + ", ".join(f"{name} {values[-1]:.1f}" for name, values in samples.items()))
        if losses := pollers[1].losses():
            say(f"  eddyd dropped packets: {losses}")
        return samples
    finally:
        for poller in pollers:
            poller.stop()
        give_back_hugepages(hugepages)
        world.close()


def rows_of(case, samples):
    ours = [a - io for a, io in zip(samples["eddyd"], samples["io"])]
    theirs = [a - io for a, io in zip(samples["ovs"], samples["io"])]
    return [
        result(f"ovs.ratio.{case}", [b / a for a, b in zip(ours, theirs)], "ratio"),
        result(f"process.eddyd.{case}", ours, UNIT),
        result(f"process.ovs.{case}", theirs, UNIT),
        result(f"process.io.{case}", samples["io"], UNIT),
    ]


def write_pcap(path, flows):
    """One frame a flow, in an order drawn at random; a burst's worth of them at least."""
    order = list(range(flows)) * (1 if flows >= 32 else 32)
    random.Random(1).shuffle(order)
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for flow in order:
            frame = udp_frame(flow)
            out.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


def udp_frame(flow):
    """Flow number -> one of the 16 prefixes, and a source port of its own."""
    ethernet = bytes.fromhex(SWITCH_MAC.replace(":", "")) + bytes.fromhex("02aa00000101") + b"\x08\x00"
    length = FRAME - len(ethernet)
    fields = [0x45, LOSSLESS_DSCP << 2 | ECT0, length, 0, 0, 64, socket.IPPROTO_UDP, 0,
              socket.inet_aton("10.1.1.2"), socket.inet_aton(f"10.{flow % PREFIXES + 2}.1.2")]
    fields[7] = checksum(struct.pack("!BBHHHBBH4s4s", *fields))
    udp = struct.pack("!HHHH", 1024 + flow, 4000, length - 20, 0)
    return (ethernet + struct.pack("!BBHHHBBH4s4s", *fields) + udp).ljust(FRAME, b"\0")


def checksum(header):
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
