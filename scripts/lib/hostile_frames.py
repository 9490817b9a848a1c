#!/usr/bin/python3
"""Frames that a hostile or broken host may send, drawn by a seed: hostile_frames.py DEVICE SEED COUNT. Needs root."""

import random
import socket
import struct
import sys

US = bytes.fromhex("02ed00000100")
MAC_CONTROL = bytes.fromhex("0180c2000001")
ETHERTYPES = (0x0800, 0x86DD, 0x0806, 0x8808, 0x88CC, 0x22E7, 0x88B5, 0x8100, 0x0000)


def frame(draw):
    kind = draw.randrange(6)
    if kind == 0:  # noise
        return draw.randbytes(draw.randint(14, 1500))
    if kind == 1:  # noise behind a good Ethernet header
        return US[:5] + bytes([draw.randrange(5)]) + draw.randbytes(5) + b"\x02" + struct.pack(
            ">H", draw.choice(ETHERTYPES)) + draw.randbytes(draw.randint(0, 200))
    if kind == 2:  # PFC for all priorities, and other opcodes of MAC control
        times = struct.pack(">8H", *(draw.choice((0, 1, 65535)) for _ in range(8)))
        head = struct.pack(">HHH", 0x8808, draw.choice((0x0101, 0x0101, 0x0001, 0x0102)), draw.randrange(256))
        return MAC_CONTROL + b"\x02" + draw.randbytes(5) + head + times + bytes(28)
    if kind == 3:  # ARP that claims an address at random
        own = draw.randbytes(5)
        body = struct.pack(">HHBBH", 1, 0x0800, 6, 4, draw.choice((1, 2, 3)))
        addresses = b"\x02" + own + bytes((10, 0, draw.randrange(6), draw.randrange(256)))
        return b"\xff" * 6 + b"\x02" + own + b"\x08\x06" + body + addresses + bytes(6) + bytes(
            (10, 0, draw.randrange(6), draw.randrange(256)))
    if kind == 4:  # IPv4 whose lengths may lie
        total = draw.choice((20, 28, 40, 1500, draw.randrange(65536)))
        head = struct.pack(">BBHHHBBH", draw.choice((0x45, 0x46, 0x4F, 0x44)), draw.randrange(256), total, 0, 0,
                           draw.randrange(4), draw.choice((1, 6, 17, 0)), 0)
        return US + b"\x02" + draw.randbytes(5) + b"\x08\x00" + head + bytes(
            (10, 0, 1, 2, 10, 0, draw.randrange(6), draw.randrange(256))) + draw.randbytes(draw.randint(0, 100))
    return b"\x33\x33" + draw.randbytes(4) + b"\x02" + draw.randbytes(5) + b"\x86\xdd\x60" + draw.randbytes(
        draw.randint(3, 120))  # IPv6 and ND cut anywhere


def main():
    device, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    draw = random.Random(seed)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as line:
        line.bind((device, 0))
        for _ in range(count):
            try:
                line.send(frame(draw))
            except OSError:
                pass  # the queue of the device is full
    return 0


if __name__ == "__main__":
    sys.exit(main())
