"""Transfers: runs of data records of one direction, or of a whole group, with no silence in between."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from core.flows.connections import Connections
from core.flows.table import Ints

# Of the bytes, that come in transfers of the middle size, which are then no pieces of larger ones: .28 and .35 of
# stages beside a slow link, of which all others were whole multiples (docs/LOG.md)
ALONE = 0.2

Transfers = NDArray[np.int64]  # rows of start, end (microseconds), bytes; in time order

LONG_US = 1_000_000  # microseconds: longer than all silences and times to wait that are told apart here
MESSAGE_US = 2_000  # microseconds between two transfers of one lane: that is what ends a record at the message grain
SILENCE_US = 6_000  # microseconds between two transfers (docs/how-to/flows.md: bursts of 6 ms)


def transfers_of(
    connections: Connections, members: Iterable[int], *, back: bool | None = None, silence: int = SILENCE_US
) -> Transfers:
    """The transfers of some connections together; of one direction where ``back`` is given (True: what b sent)."""
    return of_lanes(connections, [(member, back) for member in members], silence=silence)


def of_lanes(
    connections: Connections, lanes: Iterable[tuple[int, bool | None]], *, silence: int = SILENCE_US
) -> Transfers:
    """The same of connections with a direction each, None for both."""
    parts = []
    for member, back in lanes:
        rows = connections.rows(member)
        wanted = connections.counted[rows] & connections.data[rows]
        if back is not None:
            wanted &= connections.back[rows] == back
        parts.append([column[rows][wanted] for column in (connections.start, connections.end, connections.bytes)])
    if not parts:
        return np.zeros((0, 3), np.int64)
    start, end, sizes = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
    return _joined(start, end, sizes, silence)


def each_of(
    connections: Connections, members: Sequence[int], silence: int = SILENCE_US, *, ways: int = 2
) -> list[Transfers]:
    """The transfers of each connection, from its first end and from the other: all are looked at together.

    Args:
        ways: 1 joins those from both ends.
    """
    if not members:
        return []
    rows, turn = connections.all_rows(np.array(members, np.int64))
    used = np.flatnonzero(connections.counted[rows] & connections.data[rows])
    lane, lanes = (2 * turn + connections.back[rows] if ways == 2 else turn)[used], ways * len(members)
    order = np.argsort(lane.astype(np.min_scalar_type(lanes)), kind="stable")  # few lanes are counted
    used, lane = used[order], lane[order]
    start, end, sizes = (column[rows][used] for column in (connections.start, connections.end, connections.bytes))
    first = int(start.min()) if len(start) else 0
    span = int(end.max(initial=0)) - first + LONG_US
    joined = _joined(start + lane * span, end + lane * span, sizes, silence)
    lane = (joined[:, 0] - first) // span
    joined[:, :2] -= (lane * span)[:, None]
    return np.split(joined, np.searchsorted(lane, np.arange(1, lanes)))


def laid_out(connections: Connections, members: Ints) -> tuple[slice | Ints, Ints, Ints]:
    """The records of some connections one behind the other.

    Of each also its place in ``members``; and of each member microseconds to add to the times of its records, with
    which they come long after those of the one before: so all are looked at together, and none is a neighbour of
    another's.
    """
    rows, turn = connections.all_rows(members)
    first = int(connections.start[rows].min()) if len(turn) else 0
    span = int(connections.end[rows].max()) - first + LONG_US if len(turn) else 0
    return rows, turn, np.arange(len(members)) * span - first


def merge(records: Transfers, silence: int) -> Transfers:
    """Records joined where less than ``silence`` microseconds lie between them."""
    start, end, sizes = records.T
    return _joined(start, end, sizes, silence)


def _joined(start: Ints, end: Ints, sizes: Ints, silence: int) -> Transfers:
    if not len(start):
        return np.zeros((0, 3), np.int64)
    if (start[1:] < start[:-1]).any():  # those of one connection are in order
        order = np.argsort(start, kind="stable")
        start, end, sizes = start[order], end[order], sizes[order]
    last = np.maximum.accumulate(end)
    behind = np.flatnonzero(start[1:] - last[:-1] > silence)
    joined = np.empty((len(behind) + 1, 3), np.int64)
    joined[0, 0], joined[-1, 1] = start[0], last[-1]
    joined[1:, 0], joined[:-1, 1] = start[behind + 1], last[behind]
    total = np.cumsum(sizes)
    joined[:-1, 2], joined[-1, 2] = total[behind], total[-1]
    joined[1:, 2] -= joined[:-1, 2].copy()
    return joined


def latest_before(start: Ints, values: Ints, moments: Ints, thing: Ints | int = 0, things: int = 1) -> Ints:
    """(things, moments) the highest value of each thing's records that start before some moments; -1 where none does.

    Args:
        values: of the records, not negative.
        thing: that each record is of.
    """
    order = np.argsort(moments, kind="stable")
    width = len(moments) + 1
    highest = np.full(things * width, -1)
    np.maximum.at(highest, thing * width + np.searchsorted(moments[order], start), values)
    latest = np.empty((things, len(moments)), np.int64)
    latest[:, order] = np.maximum.accumulate(highest.reshape(things, width), axis=1)[:, :-1]
    return latest


def together(one: Transfers, other: Transfers) -> float:
    """How simultaneous two series are: the time that both are busy, of the time that any is (0 to 1)."""
    if not len(one) or not len(other):
        return 0.0
    times = np.concatenate([one[:, 0], one[:, 1], other[:, 0], other[:, 1]])
    first = np.repeat([1, -1, 0, 0], [len(one), len(one), len(other), len(other)])
    second = np.repeat([0, 0, 1, -1], [len(one), len(one), len(other), len(other)])
    order = np.argsort(times, kind="stable")
    span = np.diff(times[order])
    busy, also = np.cumsum(first[order])[:-1] > 0, np.cumsum(second[order])[:-1] > 0
    either = int(span[busy | also].sum())
    return float(span[busy & also].sum() / either) if either else 0.0


def uniform(transfers: Transfers, tolerance: float, *, together: int = 0) -> float:
    """The share of the bytes that came in transfers of the usual size (0 to 1).

    Args:
        together: above 0 transfers may be joined: multiples count of the usual size, or of a part of it up to this one,
            and of that of the middle transfer.
    """
    if not len(transfers):
        return 0.0
    size = np.sort(transfers[:, 2])
    usual = size[np.searchsorted(np.cumsum(size), size.sum() / 2)]
    shares = [float(size[np.abs(size / usual - 1) < tolerance].sum() / size.sum())]
    units = [usual / parts for parts in range(1, together + 1)]
    middle = size[len(size) // 2]  # what a slow link holds up runs together: most bytes, but few of the transfers
    if together and size[np.abs(size / middle - 1) < tolerance].sum() >= ALONE * size.sum():
        units.append(middle)
    for unit in units:
        times = size / unit
        whole = (np.abs(times - np.round(times)) < tolerance) & (times > 1 - tolerance)
        shares.append(float(size[whole].sum() / size.sum()))
    return max(shares)


SOON_US = 1_000  # microseconds after data, in which its acknowledgement begins
ALONE_US = (
    40_000  # microseconds that a lone acknowledgement waits at most for data to go with (TCP_DELACK_MIN of Linux)
)
TRAIN = 3  # acknowledgements in a row: one or two tell that a program has read, which may be late (docs/LOG.md)


def trains(start: Ints, end: Ints, last: Ints, following: Ints) -> Ints:
    """Of each data record the end of the acknowledgements that still come one by one before the next data; else 0.

    A slow link lets pieces through with silences between them that end a record, so each is acknowledged in a record
    of its own.
    """
    if not len(start):
        return np.zeros(len(last), np.int64)
    apart = np.append(start[1:] - end[:-1] > ALONE_US, True)
    stop = np.flatnonzero(apart)  # the last ones of each train
    one = np.searchsorted(start, last, "right")
    behind = np.minimum(np.searchsorted(start, following), stop[np.searchsorted(stop, np.minimum(one, stop[-1]))] + 1)
    near = start[np.minimum(one, len(start) - 1)] - last <= ALONE_US
    long = near & (behind - one >= TRAIN)
    ends: Ints = np.where(long, end[np.maximum(behind - 1, 0)], 0)
    return ends
