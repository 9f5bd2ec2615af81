"""Packets and captures of them, byte by byte."""

import struct
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path

TCP, UDP = 6, 17


def packet(
    src: str = "10.0.0.1", dst: str = "10.0.0.2", payload: bytes = b"", *, ports: tuple[int, int] = (4000, 5000),
    proto: int = UDP, tags: int = 0, flags: int = 0x18,
) -> bytes:  # fmt: skip
    """A frame of Ethernet."""
    if proto == UDP:
        inner = struct.pack(">HHHH", *ports, 8 + len(payload), 0) + payload
    else:
        inner = struct.pack(">HHIIBBHHH", *ports, 0, 0, 5 << 4, flags, 0, 0, 0) + payload
    ends = ip_address(src).packed + ip_address(dst).packed
    if ":" in src:
        kind, ip = 0x86DD, struct.pack(">IHBB", 6 << 28, len(inner), proto, 64) + ends
    else:
        kind, ip = 0x0800, struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(inner), 0, 0, 64, proto, 0) + ends
    return bytes(12) + b"\x81\x00\x00\x07" * tags + struct.pack(">H", kind) + ip + inner


def pcap(
    path: Path, packets: Sequence[tuple[float, bytes]], *, order: str = "<", nanoseconds: bool = False,
    held: int = 65_535, link: int = 1,
) -> Path:  # fmt: skip
    """A capture of packets at their times."""
    unit = 1_000 if nanoseconds else 1
    parts = [struct.pack(f"{order}IHHiIII", 0xA1B23C4D if nanoseconds else 0xA1B2C3D4, 2, 4, 0, 0, held, link)]
    for at, frame in packets:
        kept = frame[:held]
        seconds, part = divmod(round(at * 1e6), 1_000_000)
        parts += [struct.pack(f"{order}IIII", seconds, part * unit, len(kept), len(frame)), kept]
    path.write_bytes(b"".join(parts))
    return path


def pcapng(path: Path, packets: Sequence[tuple[float, bytes]], *, order: str = "<", resolution: int = 6) -> Path:
    """The same in blocks, with times in powers of ten of a second."""

    def block(kind: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        size = struct.pack(f"{order}I", len(body) + 12)
        return struct.pack(f"{order}I", kind) + size + body + size

    option = struct.pack(f"{order}HHB3x", 9, 1, resolution) + bytes(4)
    parts = [
        block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1)),
        block(1, struct.pack(f"{order}HHI", 1, 0, 0) + option),
    ]
    for at, frame in packets:
        units = round(at * 1e6) * 10 ** (resolution - 6)
        head = struct.pack(f"{order}IIIII", 0, units >> 32, units & 0xFFFFFFFF, len(frame), len(frame))
        parts.append(block(6, head + frame))
    path.write_bytes(b"".join(parts))
    return path
