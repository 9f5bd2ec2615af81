"""Datagrams that exporters sent to a collector, found in a capture of packets: NetFlow, IPFIX and sFlow."""

import mmap
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sources.flows.addresses import address
from sources.flows.headers import Packets
from sources.flows.netflow import NetFlow, is_netflow
from sources.flows.records import Records
from sources.flows.sflow import Samples, is_sflow

MOST = 0.5  # of the packets are datagrams of exporters, in a capture that was made of them
_UDP, _ROCE = 17, 4_791  # a protocol of IP, and the destination port of RoCEv2 (IANA)


def records_of(capture: mmap.mmap, pieces: Sequence[tuple[Packets, NDArray[np.int64]]]) -> Records | None:
    """What the exporters in a capture tell; None where most of it is other traffic.

    Args:
        pieces: its packets, and where the payload of each begins in the file.
    """
    suspects = [(packets.proto == _UDP) & (packets.dport != _ROCE) for packets, _ in pieces]
    total = sum(len(packets.time) for packets, _ in pieces)
    if not total or sum(int(entry.sum()) for entry in suspects) < MOST * total:
        return None
    flows, samples, seen = NetFlow(), Samples(), 0
    for (packets, at), suspect in zip(pieces, suspects, strict=True):
        for row in np.flatnonzero(suspect).tolist():
            data = capture[int(at[row]) : int(at[row] + packets.captured[row])]
            if is_netflow(data):
                flows.add(data, address(int(packets.source[row, 0]), int(packets.source[row, 1])))
            elif is_sflow(data):
                samples.add(data, int(packets.time[row]))
            else:
                continue
            seen += 1
    if seen < MOST * total:
        return None
    return samples.records() or flows.records()
