"""How fine the records are: it is taken from them, for a configured time-out is no promise (docs/how-to/flows.md)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.flows.connections import Connections

SAMPLED = 0.9  # of the records with data, that are one packet: samples; transfers have two and more
LONG = 0.9  # of the records with data are no longer than the long ones


@dataclass(frozen=True)
class Grain:
    """The grain of some connections.

    Attributes:
        usual: microseconds that a record lasts, in the middle of the bytes.
        long: microseconds that nine records of ten do not exceed.
        sampled: the records are single packets.
    """

    usual: float
    long: float
    sampled: bool


def find_grain(connections: Connections, members: Sequence[int]) -> Grain:
    """The grain of the records with data of some connections."""
    parts = [np.arange(connections.offset[one], connections.offset[one + 1]) for one in members]
    rows = np.concatenate(parts) if parts else np.zeros(0, np.int64)
    rows = rows[connections.counted[rows] & connections.data[rows]]
    if not len(rows):
        return Grain(0.0, 0.0, sampled=False)
    length, held = connections.end[rows] - connections.start[rows], connections.bytes[rows]
    order = np.argsort(length, kind="stable")
    usual = length[order][np.searchsorted(np.cumsum(held[order]), held.sum() / 2)]
    single = float((connections.packets[rows] == 1).mean())
    return Grain(float(usual), float(np.quantile(length, LONG)), sampled=single > SAMPLED)
