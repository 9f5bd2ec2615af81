"""Who waits for whom between two stages: of two sendings at one moment, the first is of the one that worked.

A stage that is done sends, and at once takes what its neighbour had ready: so does gloo, whose sender waits for its
receiver. Two neighbours that both look slow are told apart by who began first, in slow steps against the others.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from core.flows.connections import Bools, Connections
from core.flows.groups import Groups
from core.flows.jobs import Floats
from core.flows.signs import step_of
from core.flows.table import Ints
from core.flows.timeline import Timeline
from core.flows.transfers import MESSAGE_US, merge

MEET_US = 8_000  # microseconds between two sendings of one moment: three quarters are within .5 ms (docs/LOG.md)
MOVED = 0.15  # by which the share of those moves that one began: .24 to .36 between a slow stage and its neighbour
FEWEST = 8  # moments in the slow steps


@dataclass(frozen=True)
class Turns:
    """Moments at which both ends of a connection began to send.

    Attributes:
        a, b: the two NICs.
        met, led: (steps) how many, and how many of them a began.
    """

    a: int
    b: int
    met: Floats
    led: Floats


def find_turns(connections: Connections, groups: Groups, timeline: Timeline) -> tuple[Turns, ...]:
    """The turns of each pipeline connection, by the clock of one exporter alone."""
    found = []
    for group in groups.of("pp"):
        for member in group.connections:
            a, b = (_begun(connections, member, back=back) for back in (False, True))
            if not len(a) or not len(b):
                continue
            place = np.searchsorted(b, a)
            before, after = b[np.maximum(place - 1, 0)], b[np.minimum(place, len(b) - 1)]
            later = np.where(np.abs(before - a) < np.abs(after - a), before, after) - a
            step = step_of(timeline, a)
            met = (np.abs(later) < MEET_US) & (step >= 0)
            count, led = (np.bincount(step[which], minlength=len(timeline)) for which in (met, met & (later > 0)))
            ends = int(connections.a[member]), int(connections.b[member])
            found.append(Turns(*ends, count.astype(float), led.astype(float)))
    return tuple(found)


def _begun(connections: Connections, member: int, *, back: bool) -> Ints:
    """When an end began to send, as the exporter tells that saw most of the connection."""
    rows = connections.rows(member)
    data, switch = connections.data[rows], connections.switch[rows]
    if not data.any():
        return np.zeros(0, np.int64)
    seen = np.bincount(switch[data] + 1)
    own = data & (connections.back[rows] == back) & (switch == int(np.argmax(seen)) - 1)
    columns = (connections.start, connections.end, connections.bytes)
    return merge(np.stack([column[rows][own] for column in columns], 1), MESSAGE_US)[:, 0]


def followers(
    turns: Collection[Turns], homes: Mapping[int, str], servers: Collection[str], inside: Bools, outside: Bools
) -> set[str]:
    """Of some servers those that waited for another of them: it led more often than before, or they did less often."""
    waits = set()
    for turn in turns:
        one, other = homes[turn.a], homes[turn.b]
        met, usual = turn.met[inside].sum(), turn.met[outside].sum()
        if one == other or not {one, other} <= set(servers) or min(met, usual) < FEWEST:
            continue
        moved = turn.led[inside].sum() / met - turn.led[outside].sum() / usual
        if abs(moved) >= MOVED:
            waits.add(other if moved > 0 else one)
    return waits
