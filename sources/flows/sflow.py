"""sFlow version 5 (sflow.org/sflow_version_5.txt): headers of single packets, one of N, as records of one packet."""

from array import array
from dataclasses import dataclass, field
from ipaddress import ip_address
from struct import error, unpack_from

import numpy as np
import polars as pl

from sources.flows.addresses import named
from sources.flows.headers import HEADERS, packets_of
from sources.flows.records import Records

_FLOW, _EXPANDED = 1, 3  # samples of packets; all others are counters
_RAW = 1  # a record that holds the first bytes of a packet
_LINK = {1: 1, 11: 101, 12: 101}  # sFlow's protocols of headers: Ethernet, IPv4, IPv6; as link types
TOLD = "samples of sFlow have the time when their datagram arrived"


@dataclass
class Samples:
    """Samples of packets, of all agents."""

    heads: list[bytes] = field(default_factory=list)
    numbers: "array[int]" = field(default_factory=lambda: array("q"))  # time, captured, length, link, agent of each
    agents: dict[str, int] = field(default_factory=dict)
    rates: set[int] = field(default_factory=set)
    broken: int = 0

    def add(self, data: bytes, time: int) -> None:
        """Take the samples of a datagram that arrived at a time (microseconds since 1970)."""
        try:
            self._add(data, time)
        except error:
            self.broken += 1

    def records(self) -> Records | None:
        """All samples as records; None where there are none."""
        if not self.heads:
            return None
        time, captured, length, link, agent = np.frombuffer(self.numbers, np.int64).reshape(-1, 5).T
        heads = np.frombuffer(b"".join(self.heads), np.uint8).reshape(-1, HEADERS)
        packets, kept = packets_of(heads, time, captured, length, link)
        names = pl.Series("switch", [str(ip_address(text)) for text in self.agents], pl.String)
        frame = packets.frame().rename({"time": "start_us", "length": "bytes", "flags": "tcp_flags"})
        frame = frame.with_columns(
            end_us=pl.col("start_us"), packets=pl.lit(1, pl.Int64), switch=names.gather(agent[kept])
        )
        sentences = [TOLD]
        if max(self.rates) > 1:
            sentences.append(f"one packet of {max(self.rates):,} was sampled: bytes are as sampled")
        if self.broken:
            sentences.append(f"{self.broken:,} datagrams of sFlow are broken or cut off")
        return Records(named(frame), tuple(sentences))

    def _add(self, data: bytes, time: int) -> None:
        size = 4 if unpack_from(">I", data, 4)[0] == 1 else 16
        agent = self.agents.setdefault(ip_address(data[8 : 8 + size]).compressed, len(self.agents))
        at = 8 + size + 16  # behind the agent: part of it, number of the datagram, uptime, samples
        for _ in range(min(unpack_from(">I", data, at - 4)[0], len(data))):
            kind, length = unpack_from(">II", data, at)
            if kind in (_FLOW, _EXPANDED):
                wide = kind == _EXPANDED
                rate = unpack_from(">I", data, at + (20 if wide else 16))[0]
                # its own bytes alone: records that reach beyond them would be read again with each sample
                self._sample(data[at : at + 8 + length], 52 if wide else 40, time, agent, rate)
            at += 8 + length

    def _sample(self, data: bytes, at: int, time: int, agent: int, rate: int) -> None:
        """The packets of a sample, whose records begin behind their number at ``at - 4``."""
        for _ in range(min(unpack_from(">I", data, at - 4)[0], len(data))):
            kind, length = unpack_from(">II", data, at)
            if kind == _RAW:
                protocol, frame, _, size = unpack_from(">IIII", data, at + 8)
                head = data[at + 24 : at + 24 + min(size, HEADERS)]
                self.heads.append(head.ljust(HEADERS, b"\0"))
                self.numbers.extend((time, len(head), frame, _LINK.get(protocol, -1), agent))
                self.rates.add(rate)
            at += 8 + length


def is_sflow(data: bytes) -> bool:
    """Whether a datagram is of sFlow version 5."""
    return len(data) >= 28 and data[:4] == b"\0\0\0\5" and data[4:8] in (b"\0\0\0\1", b"\0\0\0\2")
