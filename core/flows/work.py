"""Whose own work took longer, seen from pipeline connections: who waits for a slow receiver looks slow on that lane only."""

from collections.abc import Mapping, Sequence

import numpy as np

from core.flows.connections import Bools
from core.flows.jobs import Floats
from core.flows.signs import Sign

RISEN = 0.15  # of its level before, by which a lane rose: lanes between healthy NICs moved by less than .07 (d01, d05, d10)
PART = 0.1  # of what a step became slower by, at least


def slow_workers(
    sign: Sign, homes: Mapping[int, str], inside: Bools, outside: Bools, more: float
) -> dict[str, Floats]:
    """The servers of which every sending to every neighbour came later, and what each took: (steps) microseconds.

    A server whose NICs only send to such servers may have waited for them: it is left out where one of those also sends
    to others.

    Args:
        sign: of ``thinking``, by sender and receiver.
        homes: the server of each NIC. NICs of a server share its work, so all of them have to be late.
        more: microseconds that a step became slower by.
    """
    rise, before = rises(sign, inside, outside)[:2]
    lanes: dict[str, list[int]] = {}
    for place, (sender, _) in enumerate(sign.things):
        lanes.setdefault(homes[sender], []).append(place)
    slow = {
        server: own
        for server, own in sorted(lanes.items())
        if all(rise[place] >= max(RISEN * before[place], PART * more / len(own)) for place in own)
    }
    to = {server: {homes[sign.things[place][1]] for place in own} for server, own in slow.items()}
    beyond = {server for server, receivers in to.items() if receivers - slow.keys()}
    return {
        server: sign.values[:, own].sum(axis=1) / len({sign.things[place][0] for place in own})
        for server, own in slow.items()
        if server in beyond or not to[server] & beyond
    }


def rises(sign: Sign, inside: Bools, outside: Bools) -> tuple[Floats, Floats, Floats]:
    """Of each thing the rise of its median, its median outside, and the robust deviation of that median."""
    if not sign.things:
        return np.zeros(0), np.zeros(0), np.zeros(0)
    within, without = (np.where(np.isfinite(sign.values), sign.values, 0.0)[rows] for rows in (inside, outside))
    before = np.median(without, axis=0)
    spread = np.median(np.abs(without - before), axis=0) / np.sqrt(max(1, len(within)))
    return np.median(within, axis=0) - before, before, spread


def summed(columns: Mapping[str, Floats], nics: Mapping[str, Sequence[int]], steps: int) -> Sign:
    """Sums of servers as a sign, each thing all the NICs of a server."""
    names = sorted(columns)
    values = np.stack([columns[name] for name in names], 1) if names else np.zeros((steps, 0))
    return Sign(tuple(tuple(nics[name]) for name in names), values)
