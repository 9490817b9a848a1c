"""Frames as text: what a golden case's frames.txt says, as octets with their times and ports.

Independent of net/: every octet, length and checksum here is made from the standards once more.
The language is in README.md.
"""

import ipaddress
import re
import struct
from dataclasses import dataclass, field

TYPES = {"ipv4": 0x0800, "ipv6": 0x86DD, "arp": 0x0806, "lldp": 0x88CC, "control": 0x8808,
         "cnm": 0x22E7, "shim": 0x88B5}
UNITS_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
PAUSE_MAC = "01:80:c2:00:00:01"
MINIMUM = 60


class Mistake(Exception):
    """A line that cannot be understood."""


@dataclass(frozen=True)
class Frame:
    """One frame: when its last bit has arrived, where, and its octets without FCS."""

    at_ns: int
    port: str
    octets: bytes


@dataclass
class Words:
    """The words of a line: positional ones, and those with a value. `turn` counts repetitions."""

    turn: int
    plain: list = field(default_factory=list)
    named: dict = field(default_factory=dict)
    patches: list = field(default_factory=list)

    def text(self, name, default=None):
        return self.named.pop(name, default)

    def number(self, name, default):
        """ "7", "0x10", or "1000+1": 1 more with each repetition."""
        start, _, step = self.named.pop(name, str(default)).partition("+")
        return int(start, 0) + self.turn * int(step or "0", 0)

    def next(self):
        if not self.plain:
            raise Mistake("a word is missing")
        return self.plain.pop(0)


def read_frames(text):
    """All frames of a frames.txt, by (time, port), ports in the order of their `port` lines."""
    frames, ports = [], {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        try:
            if line.startswith("port "):
                name, macs = parse_port(line)
                ports[name] = macs
            else:
                frames.extend(parse_line(line, ports))
        except (Mistake, ValueError, KeyError, TypeError, IndexError) as trouble:
            raise Mistake(f"frames.txt:{number}: {trouble}: {line}") from trouble
    order = list(ports)
    frames.sort(key=lambda frame: (frame.at_ns, order.index(frame.port)))
    check_times(frames)
    return order, frames


def check_times(frames):
    seen = set()
    for frame in frames:
        if (frame.at_ns, frame.port) in seen:
            raise Mistake(f"two frames on {frame.port} at {frame.at_ns} ns")
        seen.add((frame.at_ns, frame.port))


def parse_port(line):
    _, name, *words = line.split()
    macs = dict(word.split("=", 1) for word in words)
    return name, (macs["switch"], macs["peer"])


def parse_line(line, ports):
    when, port, *words = line.split()
    start, step, count = parse_times(when)
    if port not in ports:
        raise Mistake(f"no port {port}")
    for turn in range(count):
        yield Frame(start + turn * step, port, build(sort_words(words, turn), *ports[port]))


def parse_times(when):
    match = re.fullmatch(r"(\d+)(ns|us|ms|s)(?:\+(\d+)(ns|us|ms|s)\*(\d+))?", when)
    if not match:
        raise Mistake(f"not a time: {when}")
    start, unit, step, step_unit, count = match.groups()
    if count is None:
        return int(start) * UNITS_NS[unit], 0, 1
    return int(start) * UNITS_NS[unit], int(step) * UNITS_NS[step_unit], int(count)


def sort_words(words, turn):
    out = Words(turn)
    for word in words:
        name, equals, value = word.partition("=")
        if word.startswith("@"):
            out.patches.append((int(name[1:], 0), bytes.fromhex(value)))
        elif equals:
            out.named[name] = value
        elif word != ">":
            out.plain.append(word)
    return out


def build(words, switch_mac, peer_mac):
    kind = words.next()
    if kind not in KINDS:
        raise Mistake(f"no kind of frame {kind}")
    destination, ethertype, payload = KINDS[kind](words)
    destination = mac(words.text("dmac", destination or switch_mac))
    source = mac(words.text("smac", peer_mac))
    if kind == "raw":
        octets = payload
    else:
        ethertype = words.number("type", ethertype)
        between, ethertype = shim_before(words, ethertype)
        octets = destination + source + tags(words) + struct.pack("!H", ethertype) + between + payload
        octets = octets.ljust(words.number("pad", MINIMUM), b"\0")
    for place, new in words.patches:
        octets = octets[:place] + new + octets[place + len(new):]
    octets = octets[:words.number("cut", len(octets))]
    if words.named or words.plain:
        raise Mistake(f"not understood: {' '.join([*words.named, *words.plain])}")
    return octets


def tags(words):
    """ "tag=3" a priority tag, "tag=3/100" with a VLAN id, "tag=s5/7,3" a service tag outside."""
    out = b""
    for tag in filter(None, words.text("tag", "").split(",")):
        tpid = 0x88A8 if tag.startswith("s") else 0x8100
        pcp, _, vlan = tag.lstrip("s").partition("/")
        out += struct.pack("!HH", tpid, int(pcp) << 13 | int(vlan or 0))
    return out


def shim_before(words, ethertype):
    """ "shim=1>2" a data shim from leaf 1 to leaf 2, with "path=0x01ff"."""
    leaves = words.text("shim")
    if leaves is None:
        return b"", ethertype
    return shim(0, leaves, words, ethertype), TYPES["shim"]


def shim(kind, leaves, words, inner):
    source, destination = leaves.split(">")
    return struct.pack("!BBHHHHBBBBHIIIBBH", 1 << 4 | kind, words.number("flags", 0), int(source),
                       int(destination), words.number("path", 0x01FF), 0xFFFF, 0, 0,
                       words.number("hops", 0) << 4, words.number("tc", 0) << 4, 0xFFFF,
                       0, 0, 0, 0, 0, inner)


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


def checksum(octets):
    if len(octets) % 2:
        octets += b"\0"
    total = sum(struct.unpack(f"!{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def pseudo(source, destination, protocol, length):
    if source.version == 4:
        return source.packed + destination.packed + struct.pack("!BBH", 0, protocol, length)
    return source.packed + destination.packed + struct.pack("!IxxxB", length, protocol)


def ip_packet(words, protocol, transport):
    """`transport` makes its octets from (source, destination, room for payload)."""
    source, destination = (ipaddress.ip_address(words.next()) for _ in range(2))
    v4 = source.version == 4
    before = 14 + 4 * len(list(filter(None, words.named.get("tag", "").split(","))))
    header = 20 if v4 else 40
    frame_length = words.number("len", MINIMUM if v4 else 0)
    payload = transport(source, destination, frame_length - before - header)
    traffic_class = words.number("dscp", 0) << 2 | words.number("ecn", 0)
    ttl = words.number("ttl", 64)
    if v4:
        fixed = struct.pack("!BBHHHBBH", 0x45, traffic_class, 20 + len(payload), words.number("id", 0),
                            words.number("fragment", 0), ttl, protocol, 0)
        fixed += source.packed + destination.packed
        fixed = fixed[:10] + struct.pack("!H", checksum(fixed)) + fixed[12:]
        return None, TYPES["ipv4"], fixed + payload
    fixed = struct.pack("!IHBB", 6 << 28 | traffic_class << 20, len(payload), protocol, ttl)
    return None, TYPES["ipv6"], fixed + source.packed + destination.packed + payload


def udp(words):
    ports = words.number("sport", 1000), words.number("dport", 2000)

    def transport(source, destination, room):
        length = max(8, room)
        bare = struct.pack("!HHHH", *ports, length, 0) + bytes(length - 8)
        total = checksum(pseudo(source, destination, 17, length) + bare) or 0xFFFF
        return bare[:6] + struct.pack("!H", total) + bare[8:]

    return ip_packet(words, 17, transport)


def tcp(words):
    ports = words.number("sport", 1000), words.number("dport", 80)
    sequence = words.number("seq", 0)

    def transport(source, destination, room):
        bare = struct.pack("!HHIIBBHHH", *ports, sequence, 0, 5 << 4, 0x10, 512, 0, 0)
        bare += bytes(max(0, room - 20))
        total = checksum(pseudo(source, destination, 6, len(bare)) + bare)
        return bare[:16] + struct.pack("!H", total) + bare[18:]

    return ip_packet(words, 6, transport)


def ping(words):
    """An echo request, ICMP or ICMPv6."""
    identity = words.number("ident", 1), words.number("seq", 1)

    def transport(source, destination, room):
        kind = 8 if source.version == 4 else 128
        body = struct.pack("!HH", *identity) + b"golden!!".ljust(max(0, room - 8), b".")
        bare = struct.pack("!BBH", kind, 0, 0) + body
        before = b"" if source.version == 4 else pseudo(source, destination, 58, len(bare))
        return bare[:2] + struct.pack("!H", checksum(before + bare)) + body

    version = ipaddress.ip_address(words.plain[0]).version
    return ip_packet(words, 1 if version == 4 else 58, transport)


def ip(words):
    """ "ip 10.1.1.2 > 10.1.2.2 proto=17 hex=03e8": any transport octets, right or wrong."""
    octets = bytes.fromhex(words.text("hex", ""))
    return ip_packet(words, words.number("proto", 17), lambda *_: octets)


def arp(words):
    """ "arp request 10.1.1.2 > 10.1.1.1 from=MAC", "arp reply ... to=MAC"."""
    operation = {"request": 1, "reply": 2}[words.next()]
    sender, target = (ipaddress.ip_address(words.next()).packed for _ in range(2))
    payload = struct.pack("!HHBBH", 1, 0x0800, 6, 4, operation) + mac(words.text("from")) + sender
    payload += mac(words.text("to", "00:00:00:00:00:00")) + target
    return ("ff:ff:ff:ff:ff:ff" if operation == 1 else None), TYPES["arp"], payload


def neighbor(kind, option, flags):
    """ "solicit fd00::2 > fd00::1 mac=MAC": the target is the last address, unless target=."""

    def make(words):
        source, target = words.plain[0], ipaddress.ip_address(words.plain[1])
        link = mac(words.text("mac"))
        asked = ipaddress.ip_address(words.text("target", str(target)))
        if kind == 135:
            words.plain[1] = str(ipaddress.ip_address(
                ipaddress.ip_address("ff02::1:ff00:0").packed[:13] + target.packed[13:]))
        else:
            asked = ipaddress.ip_address(source)
        words.named.setdefault("ttl", "255")

        def transport(sender, receiver, _):
            bare = struct.pack("!BBHI", kind, 0, 0, flags) + asked.packed + bytes([option, 1]) + link
            total = checksum(pseudo(sender, receiver, 58, len(bare)) + bare)
            return bare[:2] + struct.pack("!H", total) + bare[4:]

        group = words.plain[1]
        _, ethertype, packet = ip_packet(words, 58, transport)
        low = ipaddress.ip_address(group).packed[12:].hex(":")
        return (f"33:33:{low}" if kind == 135 else None), ethertype, packet

    return make


def pfc(words):
    """ "pfc 3=65535 4=0": the pause times of the priorities it is about."""
    times, enabled = [0] * 8, 0
    for priority in [name for name in words.named if name.isdigit()]:
        times[int(priority)] = int(words.named.pop(priority), 0)
        enabled |= 1 << int(priority)
    return PAUSE_MAC, TYPES["control"], struct.pack("!HH8H", 0x0101, enabled, *times)


def pause(words):
    return PAUSE_MAC, TYPES["control"], struct.pack("!HH", 0x0001, int(words.next(), 0))


def cnm(words):
    """A warning of 802.1Qau with our TLV, as reference vector I-20."""
    message = struct.pack("!H6sHhhH6sH", words.number("feedback", 34), mac("02:00:00:00:00:10"), 5,
                          346, 125, 3 << 13, mac("02:00:00:00:00:99"), 24)
    message += struct.pack("!HHBBIIIIH", 16, 2, 1, 0, 7, 5536, 24000, 240000, 0)
    return None, TYPES["cnm"], message


def shim_control(words):
    """ "shim feedback 1>2"."""
    kind = {"feedback": 1, "probe": 2, "reply": 3, "notify": 4}[words.next()]
    body = struct.pack("!BI", 1, 0) if kind == 4 else b""
    return None, TYPES["shim"], shim(kind, words.next(), words, 0) + body


def lldp(words):
    chassis, port = words.text("chassis"), words.text("port").encode()
    parts = [(1, b"\4" + mac(chassis)), (2, b"\5" + port), (3, struct.pack("!H", words.number("ttl", 10))),
             (0, b"")]
    body = b"".join(struct.pack("!H", kind << 9 | len(value)) + value for kind, value in parts)
    return "01:80:c2:00:00:0e", TYPES["lldp"], body


def other(words):
    """ "other type=0x1234 len=60": nothing that anybody knows."""
    return None, 0, bytes(words.number("len", MINIMUM) - 14)


def raw(words):
    """ "raw hex=0180c2...": all its octets, nothing added."""
    return None, 0, bytes.fromhex(words.text("hex"))


KINDS = {"udp": udp, "tcp": tcp, "ping": ping, "ip": ip, "arp": arp, "solicit": neighbor(135, 1, 0),
         "advertise": neighbor(136, 2, 0x60000000), "pfc": pfc, "pause": pause, "cnm": cnm,
         "shim": shim_control, "lldp": lldp, "other": other, "raw": raw}
