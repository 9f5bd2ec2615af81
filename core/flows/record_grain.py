"""How fine the records are: it is taken from them, for a configured time-out is no promise (docs/how-to/flows.md)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.flows.connections import Connections
from core.flows.table import Ints

SAMPLED = 0.9  # of the records with data, that are one packet: samples; transfers have two and more
PACKET = 65_535  # bytes at most (RFC 791): of what is said to be one packet and holds more, nobody counted the packets
LONG = 0.9  # of the records with data are no longer than the long ones
# Of the silences between two records of one direction: what ends a record is no longer than that. Where only silence
# ends records all are as long as it asks for; a time-out cuts in the middle of a burst too (one in a hundred in d01)
SHORTEST = 0.001
CUT_US = 1_000  # microseconds: with less between two records a time-out cut what went on (2 ms at the message grain)


@dataclass(frozen=True)
class Grain:
    """The grain of some connections.

    Attributes:
        usual: microseconds that a record lasts, in the middle of the bytes.
        long: microseconds that nine records of ten do not exceed.
        silence: microseconds of silence that end a record; 0 where records end while more is sent.
        sampled: the records are single packets.
    """

    usual: float
    long: float
    silence: float
    sampled: bool

    @property
    def blur(self) -> float:
        """Microseconds within which it is not told when something was sent.

        A record that only silence ends is one transfer, however long that took: what came later is another record.
        """
        return min(self.long, self.silence) if self.silence else self.long


def find_grain(connections: Connections, members: Sequence[int]) -> Grain:
    """The grain of the records with data of some connections."""
    rows, lane = connections.all_rows(np.array(members, np.int64))
    used = np.flatnonzero(connections.counted[rows] & connections.data[rows])
    if not len(used):
        return Grain(0.0, 0.0, 0.0, sampled=False)
    start, end, sizes = connections.start[rows][used], connections.end[rows][used], connections.bytes[rows][used]
    length = end - start
    order = np.argsort(length, kind="stable")
    usual = length[order][np.searchsorted(np.cumsum(sizes[order]), sizes.sum() / 2)]
    single = float(((connections.packets[rows][used] == 1) & (sizes <= PACKET)).mean())
    silence = _silence(start, end, 2 * lane[used] + connections.back[rows][used])
    return Grain(float(usual), float(np.quantile(length, LONG)), silence, sampled=single > SAMPLED)


def _silence(start: Ints, end: Ints, lane: Ints) -> float:
    """The shortest silences between two records of one lane; 0 where there is none to speak of."""
    by_lane = np.argsort(lane.astype(np.min_scalar_type(lane.max())), kind="stable")  # few lanes are counted
    start, end, lane = start[by_lane], end[by_lane], lane[by_lane]
    silences = (start[1:] - end[:-1])[lane[1:] == lane[:-1]]
    shortest = float(np.quantile(silences, SHORTEST)) if len(silences) else 0.0
    return shortest if shortest >= CUT_US else 0.0
