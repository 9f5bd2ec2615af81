"""Headers of many packets at once: from the first bytes of each to its addresses, ports and flags."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sources.flows.addresses import MAPPED

HEADERS = 128  # bytes: Ethernet with two tags, IPv6 and TCP with its options
LINKS = {0: 4, 1: 14, 101: 0, 113: 16, 276: 20}  # link types (tcpdump.org/linktypes.html): bytes before the IP header
_ETHERNET, _COOKED, _COOKED_2 = 1, 113, 276  # of these, those whose headers tell what is inside
_TAGS = (0x8100, 0x88A8)  # types of Ethernet that begin a tag of a VLAN (IEEE 802.1Q and 802.1ad)
_TCP, _UDP = 6, 17  # protocols of IP (IANA)

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
Halves = NDArray[np.uint64]


@dataclass(frozen=True)
class Packets:
    """Packets as columns of one length.

    Attributes:
        time: microseconds since 1970.
        source, target: (packets, 2) addresses in two halves (sources/flows/addresses.py).
        length: bytes on the wire.
        payload: bytes before what TCP or UDP carries, from the packet's first one on.
        captured: bytes of that payload that were.
    """

    time: Ints
    source: Halves
    target: Halves
    sport: Ints
    dport: Ints
    proto: Ints
    flags: Ints
    length: Ints
    payload: Ints
    captured: Ints

    def frame(self) -> pl.DataFrame:
        """The columns that make a flow of packets."""
        return pl.DataFrame(
            {
                "time": self.time,
                "high_src": self.source[:, 0], "low_src": self.source[:, 1],
                "high_dst": self.target[:, 0], "low_dst": self.target[:, 1],
                "sport": self.sport.astype(np.uint16), "dport": self.dport.astype(np.uint16),
                "proto": self.proto.astype(np.uint8), "flags": self.flags.astype(np.uint8), "length": self.length,
            }
        )  # fmt: skip


def packets_of(heads: Bytes, time: Ints, captured: Ints, length: Ints, link: Ints) -> tuple[Packets, Ints]:
    """The packets that carry IP and whose headers were captured, and their places among all.

    Args:
        heads: (packets, HEADERS) the first bytes of each.
        captured, length: bytes that the file holds, and that were sent.
    """
    at, kind = _network(heads, link)
    version = _byte(heads, at) >> 4
    ip4 = (version == 4) & np.isin(kind, (0, 0x0800))
    ip6 = (version == 6) & np.isin(kind, (0, 0x86DD))
    behind = at + np.where(ip4, (_byte(heads, at) & 15) * 4, 40)
    proto = np.where(ip4, _byte(heads, at + 9), _byte(heads, at + 6))
    later = ip4 & ((_word(heads, at + 6) & 0x1FFF) > 0)  # a later fragment has no ports
    tcp, udp = (proto == _TCP) & ~later, (proto == _UDP) & ~later
    ports = tcp | udp
    whole = np.isin(link, list(LINKS)) & (captured >= behind + np.where(tcp, 14, np.where(udp, 8, 0)))
    kept = np.flatnonzero((ip4 | ip6) & whole)
    zero = np.zeros(len(at), np.int64)
    payload = behind + np.where(tcp, (_byte(heads, behind + 12) >> 4) * 4, np.where(udp, 8, 0))
    columns = (
        np.where(ports, _word(heads, behind), zero), np.where(ports, _word(heads, behind + 2), zero), proto,
        np.where(tcp, _byte(heads, behind + 13), zero), length, payload, np.maximum(captured - payload, 0),
    )  # fmt: skip
    source, target = _address(heads, at, ip4, 12, 8), _address(heads, at, ip4, 16, 24)
    return Packets(time[kept], source[kept], target[kept], *(column[kept] for column in columns)), kept


def _network(heads: Bytes, link: Ints) -> tuple[Ints, Ints]:
    """Where the IP header of each packet begins, and its kind by the header before it (0 where that tells none)."""
    at = np.zeros(len(link), np.int64)
    for of, size in LINKS.items():
        at[link == of] = size
    kind = np.zeros(len(link), np.int64)
    framed = np.isin(link, (_ETHERNET, _COOKED))
    kind[framed] = _word(heads, at - 2)[framed]
    second = link == _COOKED_2
    kind[second] = _word(heads, np.zeros(len(link), np.int64))[second]
    for _ in range(2):
        tagged = framed & np.isin(kind, _TAGS)
        at = np.where(tagged, at + 4, at)
        kind = np.where(tagged, _word(heads, at - 2), kind)
    return at, kind


def _address(heads: Bytes, at: Ints, ip4: NDArray[np.bool_], short: int, long: int) -> Halves:
    low4 = (_word(heads, at + short) << 16 | _word(heads, at + short + 2)) | MAPPED << 32
    halves = [number(heads, at + long + half, 8) for half in (0, 8)]
    return np.stack([np.where(ip4, np.uint64(0), halves[0]), np.where(ip4, low4.astype(np.uint64), halves[1])], axis=1)


def number(heads: Bytes, at: Ints, size: int) -> Halves:
    """The unsigned number of ``size`` bytes that begins at a place of each row."""
    value = np.zeros(len(at), np.uint64)
    for place in range(size):
        value = value << np.uint64(8) | _byte(heads, at + place).astype(np.uint64)
    return value


def _byte(heads: Bytes, at: Ints) -> Ints:
    return heads[np.arange(len(at)), np.clip(at, 0, heads.shape[1] - 1)].astype(np.int64)


def _word(heads: Bytes, at: Ints) -> Ints:
    return _byte(heads, at) << 8 | _byte(heads, at + 1)
