"""A job that fell silent with its connections open, and who fell silent first."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.flows.connections import Bools, Connections
from core.flows.jobs import JobFlows
from core.flows.timeline import Timeline

PERIODS = 6  # of silence, after which a job hangs (docs/flows.md)
FIN_RST = 0b101  # TCP flags that end a connection
PUSH = 0b1000
BARE = (
    80  # bytes a packet at most without anything of the program in it: headers of Ethernet, IPv6 and TCP with options
)
APART = 0.1  # of a step, that the first one fell silent before all others
UNTOLD = "no record carries TCP flags, so a job that hangs looks like one that has ended"


@dataclass(frozen=True)
class Silence:
    """A hang.

    Attributes:
        start: microseconds since 1970, when the last data was sent.
        end: when the connections were closed, or the capture ended.
        nic: place in ``addresses`` of the one that fell silent first, None where nobody is first.
        before: microseconds by which it was first.
    """

    start: int
    end: int
    nic: int | None
    before: int


def find_silence(connections: Connections, job: JobFlows, timeline: Timeline, last: int) -> Silence | str | None:
    """The silence at the end of a job; None where there is none, a text where the records cannot tell.

    Args:
        last: when the capture ended.
    """
    rows = np.concatenate([np.arange(connections.offset[one], connections.offset[one + 1]) for one in job.heavy])
    counted = rows[connections.counted[rows]]
    data = counted[connections.data[counted]]
    start = int(connections.end[data].max())
    closed = counted[(connections.flags[counted] & FIN_RST) > 0]
    closed = closed[connections.end[closed] > start]
    end = int(connections.start[closed].min()) if len(closed) else last
    if end - start < PERIODS * timeline.period:
        return None
    if not connections.flags[counted].any():
        return UNTOLD
    if not len(closed) and (connections.flags[counted] & FIN_RST).any():
        return None  # closed in the record that holds the last data
    nic, before = _first_silent(connections, job, int(timeline.end[-1] - timeline.period))
    return Silence(start, end, nic if before >= APART * timeline.period else None, before)


def _first_silent(connections: Connections, job: JobFlows, since: int) -> tuple[int | None, int]:
    """Who sent the last message of its program before all others did, and by how much."""
    latest: dict[int, int] = dict.fromkeys(job.nics, since)
    for member in (*job.heavy, *job.light):
        rows = connections.rows(member)
        says = connections.counted[rows] & (
            (connections.bytes[rows] > BARE * connections.packets[rows]) | _pushed(connections, rows)
        )
        says &= (connections.flags[rows] & FIN_RST) == 0
        for back, nic in ((False, int(connections.a[member])), (True, int(connections.b[member]))):
            own = says & (connections.back[rows] == back)
            if own.any():
                latest[nic] = max(latest[nic], int(connections.end[rows][own].max()))
    order: Sequence[int] = sorted(latest, key=lambda nic: (latest[nic], nic))
    if len(order) < 2:
        return None, 0
    return order[0], latest[order[1]] - latest[order[0]]


def _pushed(connections: Connections, rows: slice) -> Bools:
    """Records with a packet that its program pushed."""
    return (connections.flags[rows] & PUSH) > 0
