"""pcap files with nanosecond stamps, and frames as one line of text each."""

import ipaddress
import struct

FILE_HEADER = struct.pack("<IHHIIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)
ETHERTYPES = {0x0806: "arp", 0x22E7: "cnm", 0x88CC: "lldp"}
PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp", 58: "icmp6"}


def write(path, frames):
    """`frames`: pairs of (nanoseconds, octets)."""
    records = (struct.pack("<IIII", *divmod(at, 10**9), len(octets), len(octets)) + octets
               for at, octets in frames)
    path.write_bytes(FILE_HEADER + b"".join(records))


def read(path):
    data, frames, at = path.read_bytes(), [], 24
    unit = {0xA1B23C4D: 1, 0xA1B2C3D4: 1_000}[struct.unpack_from("<I", data)[0]]
    while at < len(data):
        seconds, fraction, length, _ = struct.unpack_from("<IIII", data, at)
        frames.append((seconds * 10**9 + fraction * unit, data[at + 16:at + 16 + length]))
        at += 16 + length
    return frames


def describe(octets):
    """ "78 B 02:.. > 02:.. ipv4 10.1.1.2 > 10.1.2.2 ttl 63 dscp 3 ecn 0 udp 1000 > 2000"."""
    if len(octets) < 14:
        return f"{len(octets)} B {octets.hex()}"
    out = [f"{len(octets)} B", octets[6:12].hex(":"), ">", octets[:6].hex(":")]
    at = 12
    while (ethertype := int.from_bytes(octets[at:at + 2], "big")) in (0x8100, 0x88A8):
        control = int.from_bytes(octets[at + 2:at + 4], "big")
        out.append(f"tag {control >> 13}/{control & 0xfff}")
        at += 4
    at += 2
    if ethertype == 0x88B5:
        _, _, source, target, path = struct.unpack_from("!BBHHH", octets, at)
        out.append(f"shim kind {octets[at] & 15} leaf {source} > {target} path {path:#06x}"
                   f" hops {octets[at + 12] >> 4}")
        ethertype = int.from_bytes(octets[at + 30:at + 32], "big")
        at += 32
    return " ".join(out + body(ethertype, octets[at:]))


def body(ethertype, octets):
    if ethertype == 0x0800 and len(octets) >= 20:
        identity = int.from_bytes(octets[4:6], "big")
        return network(octets[12:16], octets[16:20], octets[8], octets[1], octets[9],
                       octets[(octets[0] & 15) * 4:]) + ([f"id {identity}"] if identity else [])
    if ethertype == 0x86DD and len(octets) >= 40:
        return network(octets[8:24], octets[24:40], octets[7],
                       int.from_bytes(octets[:2], "big") >> 4 & 255, octets[6], octets[40:])
    if ethertype == 0x8808:
        return mac_control(octets)
    return [ETHERTYPES.get(ethertype, f"type {ethertype:#06x}"), octets.rstrip(b"\0").hex()]


def network(source, destination, ttl, traffic_class, protocol, rest):
    out = [str(ipaddress.ip_address(source)), ">", str(ipaddress.ip_address(destination)),
           f"ttl {ttl} dscp {traffic_class >> 2} ecn {traffic_class & 3}",
           PROTOCOLS.get(protocol, f"protocol {protocol}")]
    if protocol in (6, 17) and len(rest) >= 4:
        out.append("{} > {}".format(*struct.unpack_from("!HH", rest)))
    if protocol in (1, 58) and len(rest) >= 2:
        out.append(f"type {rest[0]} code {rest[1]}")
    return out


def mac_control(octets):
    opcode, enabled, *times = struct.unpack_from("!HH8H", octets)
    if opcode == 0x0001:
        return [f"pause {enabled}"]
    said = [f"{i}={time}" for i, time in enumerate(times) if enabled >> i & 1]
    return [f"pfc {' '.join(said)}" if opcode == 0x0101 else f"mac control {opcode:#06x}"]
