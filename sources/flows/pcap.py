"""Captures of packets, pcap and pcapng: packets to message flows, or the datagrams that exporters sent to a collector.

A message ends with 2 ms of silence on its connection, as in the finest records of docs/how-to/flows.md.
"""

import mmap
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from struct import Struct

import numpy as np
import polars as pl
from numpy.typing import NDArray

from core.errors import UnreadableFlows
from sources.flows.addresses import named
from sources.flows.datagrams import records_of
from sources.flows.headers import HEADERS, LINKS, Packets, packets_of
from sources.flows.records import Records, none_of

MAGIC = {
    b"\xd4\xc3\xb2\xa1": ("<", 1_000),
    b"\xa1\xb2\xc3\xd4": (">", 1_000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}  # of pcap: byte order, and nanoseconds of a unit of its times
MAGIC_NG = b"\x0a\x0d\x0d\x0a"
SILENCE_US = 2_000  # microseconds that end a message (docs/how-to/flows.md)
FRAME = 9_216  # bytes of the largest packet on a wire: what a host shows as one, its card cuts into several
MAX_PACKETS = 30_000_000  # chosen, not measured: of 9 kB each some 270 GB of traffic
LATEST = 1 << 62  # microseconds: a broken time, which is left out later
PIECE = 500_000  # packets whose headers are held at once
_HEAD, _BLOCK, _PACKET_HEAD = 24, 12, 32  # bytes of a file's head, of any block, of a packet's without the packet
_INTERFACE, _SIMPLE, _PACKET, _RESOLUTION = 1, 3, 6, 9  # blocks of pcapng, and an option of interfaces


@dataclass(frozen=True)
class _Index:
    """Where each packet of a file is: (packets) microseconds, offset, captured and original bytes, link type."""

    time: NDArray[np.int64]
    offset: NDArray[np.int64]
    captured: NDArray[np.int64]
    length: NDArray[np.int64]
    link: NDArray[np.int64]
    remarks: tuple[str, ...]


def is_capture(head: bytes) -> bool:
    """Whether a file begins as a capture of packets does."""
    return head[:4] in MAGIC or head.startswith(MAGIC_NG)


def read_capture(path: Path) -> Records:
    """The flows of a capture: its messages, or what exporters tell where it holds their datagrams.

    Raises:
        UnreadableFlows: it holds no packets that can be read.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as capture:
        index = _walk_ng(capture) if capture[:4] == MAGIC_NG else _walk(capture)
        if not len(index.time):
            if index.remarks:
                raise UnreadableFlows(f"{path} holds no whole packet", "docs/how-to/flows.md tells what to capture.")
            return none_of("packets")
        data = np.frombuffer(capture, np.uint8)
        try:
            pieces = list(_pieces(data, index))
            exported = records_of(capture, pieces)
        finally:
            del data
    if exported is not None:
        return Records(exported.frame, (*index.remarks, *exported.remarks))
    frame = messages([piece for piece, _ in pieces])
    strange = len(index.time) - sum(len(piece.time) for piece, _ in pieces)
    sentences = (f"{strange:,} of {len(index.time):,} packets are neither IPv4 nor IPv6, or cut off in their headers",)
    return Records(frame, index.remarks + (sentences if strange else ()))


def _pieces(data: NDArray[np.uint8], index: _Index) -> Iterator[tuple[Packets, NDArray[np.int64]]]:
    """The packets of a capture, piece by piece, and where the payload of each begins in the file."""
    padded = np.append(data[-HEADERS:], np.zeros(HEADERS, np.uint8))  # the last packets' headers reach beyond the end
    edge = max(0, len(data) - HEADERS)
    whole = np.lib.stride_tricks.sliding_window_view(data, HEADERS) if len(data) >= HEADERS else None
    tail = np.lib.stride_tricks.sliding_window_view(padded, HEADERS)
    for first in range(0, len(index.time), PIECE):
        rows = slice(first, first + PIECE)
        offset = index.offset[rows]
        heads = np.empty((len(offset), HEADERS), np.uint8)
        inside = offset < edge
        if whole is not None:
            heads[inside] = whole[offset[inside]]
        heads[~inside] = tail[np.clip(offset[~inside] - edge, 0, len(tail) - 1)]
        packets, kept = packets_of(heads, index.time[rows], index.captured[rows], index.length[rows], index.link[rows])
        yield packets, offset[kept] + packets.payload


def messages(pieces: list[Packets]) -> pl.DataFrame:
    """Packets as records in the contract: one a run of packets of a direction with less than 2 ms between them."""
    key = ["high_src", "low_src", "high_dst", "low_dst", "sport", "dport", "proto"]
    packets = pl.concat([piece.frame() for piece in pieces]).sort([*key, "time"], maintain_order=True)
    fresh = pl.any_horizontal(pl.col(name) != pl.col(name).shift(1) for name in key)
    fresh |= pl.col("time") - pl.col("time").shift(1) > SILENCE_US
    sizes = pl.col("length")
    records = packets.group_by(fresh.fill_null(value=True).cum_sum().alias("record"), maintain_order=True).agg(
        pl.col("time").first().alias("start_us"),
        pl.col("time").last().alias("end_us"),
        *(pl.col(name).first() for name in key),
        sizes.sum().alias("bytes"),
        ((sizes + FRAME - 1) // FRAME).clip(1).sum().alias("packets"),
        pl.col("flags").bitwise_or().alias("tcp_flags"),
    )
    return named(records.drop("record"))


class _Columns:
    """Grows while a file is walked; five numbers a packet, no object."""

    def __init__(self) -> None:
        self.numbers = array("q")

    def index(self, sentences: tuple[str, ...]) -> _Index:
        columns = np.frombuffer(self.numbers, np.int64).reshape(-1, 5) if self.numbers else np.zeros((0, 5), np.int64)
        if unknown := sorted({int(link) for link in np.unique(columns[:, 4])} - LINKS.keys()):
            sentences += (f"packets of link type {', '.join(map(str, unknown))} are left out",)
        time, offset, captured, length, link = columns.T
        return _Index(time, offset, captured, length, link, sentences)


def _walk(capture: mmap.mmap) -> _Index:
    order, unit = MAGIC[capture[:4]]
    link = Struct(f"{order}I").unpack_from(capture, 20)[0] & 0xFFFF if len(capture) >= _HEAD else 0
    read, at, end, columns = Struct(f"{order}IIII"), _HEAD, len(capture), _Columns()
    sentences: tuple[str, ...] = ()
    add = columns.numbers.extend
    while at < end:
        seconds, part, captured, length = read.unpack_from(capture, at) if at + 16 <= end else (0, 0, 0, 0)
        at += 16
        if at + captured > end:
            sentences = ("the capture is cut off in its last packet",)
            break
        add((seconds * 1_000_000 + part * unit // 1_000, at, captured, length, link))
        _bounded(columns)
        at += captured
    return columns.index(sentences)


def _walk_ng(capture: mmap.mmap) -> _Index:
    order, at, end, columns = "<", 0, len(capture), _Columns()
    sentences: tuple[str, ...] = ()
    interfaces: list[tuple[int, int]] = []  # link type, units of time a second
    while at + _BLOCK <= end:
        if capture[at : at + 4] == MAGIC_NG:
            order, interfaces = ("<" if capture[at + 8 : at + 12] == b"\x4d\x3c\x2b\x1a" else ">"), []
        kind, size = Struct(f"{order}II").unpack_from(capture, at)
        if size < _BLOCK or at + size > end:
            sentences = ("the capture is cut off in its last block",)
            break
        if kind == _INTERFACE:
            interfaces.append(_interface(capture, at, size, order))
        elif kind == _PACKET and size >= _PACKET_HEAD:
            name, high, low, captured, length = Struct(f"{order}IIIII").unpack_from(capture, at + 8)
            if name < len(interfaces) and captured <= size - _PACKET_HEAD:
                link, units = interfaces[name]
                time = min((high << 32 | low) * 1_000_000 // units, LATEST)
                columns.numbers.extend((time, at + 28, captured, length, link))
                _bounded(columns)
        elif kind == _SIMPLE:
            sentences = ("packets without a time (simple blocks of pcapng) are left out",)
        at += size
    return columns.index(sentences)


def _interface(capture: mmap.mmap, at: int, size: int, order: str) -> tuple[int, int]:
    """The link type of an interface, and how many units of its times make a second."""
    link = int(Struct(f"{order}H").unpack_from(capture, at + 8)[0])
    option, units = at + 16, 1_000_000
    while option + 4 <= at + size - 4:
        code, length = Struct(f"{order}HH").unpack_from(capture, option)
        if code == _RESOLUTION and length:
            value = capture[option + 4]
            units = 2 ** (value & 0x7F) if value & 0x80 else 10 ** min(value, 18)
        if not code:
            break
        option += 4 + (length + 3) // 4 * 4
    return link, units


def _bounded(columns: _Columns) -> None:
    if len(columns.numbers) > 5 * MAX_PACKETS:
        raise UnreadableFlows(f"The capture holds more than {MAX_PACKETS:,} packets", "Cut it by time or by port.")
