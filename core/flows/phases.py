"""The traffic of a group with which its steps end: of FSDP the scatter of gradients, else all of it.

FSDP gathers its parameters before the forward and again before the backward pass, and scatters gradients behind it; its
longest silence is the backward pass, in the middle of a step. Gather and scatter are told apart by their connections,
or by the way that they go around the ring; in a group of two by what each of them sends, and the work in between.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from core.flows.boundaries import LONGER, Boundaries, find_boundaries
from core.flows.connections import Connections
from core.flows.groups import FlowGroup
from core.flows.table import Ints
from core.flows.transfers import Transfers, merge, of_lanes

Lanes = tuple[tuple[int, bool], ...]

TWICE, NEAR = 2.0, 0.1  # on connections of its own, twice as much is gathered as scattered, within a tenth (d07)
BOTH_WAYS = 0.2  # of the bytes that go around a ring one way, in those of the other: below it is no second phase
# Bursts a step, apart by a part of its length: FSDP gathers twice (2.0 of each set), with the forward pass in between,
# and scatters once; ZeRO does both once (1.0 to 1.5, docs/LOG.md)
SEVERAL, APART = 1.75, 0.1
SHORTER = 0.8  # of the scatter's silence, that the gather's is: in ZeRO both are nearly equal (docs/LOG.md)

# Of the steps of a group of two, in which both gathers send the same within a tenth, and the silences behind scatter,
# first and second gather grow: .6 and more in two jobs on a busy machine (docs/LOG.md)
MOSTLY = 0.5


def ending_lanes(connections: Connections, group: FlowGroup) -> Lanes:
    """Connections and directions (True: what b sends) of a group, with the last data of which a step ends."""
    everything = with_data(connections, group.connections)
    layer = _smaller_layer(connections, group)
    if layer:
        return with_data(connections, layer)
    ways = ways_of(connections, group, everything)
    if not ways:
        return everything
    once = [way for way in ways if _rounds(connections, way) < SEVERAL]
    if len(once) == 1:
        return once[0]  # gathered twice a step, scattered once
    silence = [_between(connections, way) for way in ways]
    if min(silence) <= 0 or min(silence) > SHORTER * max(silence):
        return everything
    return ways[int(np.argmax(silence))]


def with_data(connections: Connections, members: Sequence[int]) -> Lanes:
    """The lanes of some connections that carry data."""
    return tuple((member, back) for member in members for back in (False, True) if connections.sent[member, int(back)])


def _smaller_layer(connections: Connections, group: FlowGroup) -> tuple[int, ...]:
    """Of two connections between each pair that with half of the bytes."""
    layers: dict[tuple[int, int], list[int]] = {}
    for member in group.connections:
        layers.setdefault(connections.ends(member), []).append(member)
    pairs = [sorted(members, key=lambda item: (connections.sent[item].max(), item)) for members in layers.values()]
    if any(len(members) != 2 for members in pairs):
        return ()
    volume = [connections.sent[pair].max(axis=1) for pair in pairs]
    if all(abs(more / (TWICE * max(1, less)) - 1) < NEAR for less, more in volume):
        return tuple(sorted(less for less, _ in pairs))
    return ()


def ways_of(connections: Connections, group: FlowGroup, lanes: Lanes) -> tuple[Lanes, ...]:
    """What goes around a ring of three and more one way, and the other; nothing where all goes one way."""
    beside: dict[int, list[int]] = {nic: [] for nic in group.nics}
    for member in group.connections:
        a, b = connections.ends(member)
        if b not in beside[a]:
            beside[a].append(b)
            beside[b].append(a)
    if len(group.nics) < 3 or any(len(near) != 2 for near in beside.values()):
        return ()
    path = [group.nics[0]]
    while len(path) < len(group.nics):
        path.append(next((nic for nic in beside[path[-1]] if nic not in path), path[0]))
    place = {nic: turn for turn, nic in enumerate(path)}
    if len(place) != len(path):
        return ()  # several rings
    ways: tuple[list[tuple[int, bool]], list[tuple[int, bool]]] = ([], [])
    for member, back in lanes:
        a, b = place[int(connections.a[member])], place[int(connections.b[member])]
        forward = ((a - b) if back else (b - a)) % len(path) == 1
        ways[forward].append((member, back))
    volume = [sum(int(connections.sent[member, int(back)]) for member, back in way) for way in ways]
    return (tuple(ways[0]), tuple(ways[1])) if min(volume) > BOTH_WAYS * max(volume) else ()


def _rounds(connections: Connections, lanes: Lanes) -> float:
    """How many bursts a step has, that lie apart by a good part of it; 0 where no steps are seen."""
    bursts = of_lanes(connections, lanes)
    found = find_boundaries(bursts)
    if found is None:
        return 0.0
    period = float(np.median(np.diff(bursts[found.last, 1])))
    return len(merge(bursts, int(APART * period))) / len(found.last)


def _between(connections: Connections, lanes: Lanes) -> float:
    """The usual silence between two steps of some lanes; 0 where no steps are seen."""
    bursts = of_lanes(connections, lanes)
    found = find_boundaries(bursts)
    if found is None:
        return 0.0
    last = found.last[found.last < len(bursts) - 1]
    return float(np.median(bursts[last + 1, 0] - bursts[last, 1])) if len(last) else 0.0


def behind_scatter(bursts: Transfers, found: Boundaries) -> Boundaries:
    """The same steps of a group of two; where it is of FSDP they end with the scatter, not before the backward pass.

    Its steps seem to be scatter, first and second gather, with the backward pass between two of them.
    """
    silence = np.append(bursts[1:, 0] - np.maximum.accumulate(bursts[:, 1])[:-1], 0)
    scattered = [_scattered(bursts, silence, *of) for of in pairwise(found.last.tolist())]
    seen = [size for size in scattered if size]
    if len(seen) < MOSTLY * len(scattered):
        return found
    usual, total = float(np.median(seen)), np.cumsum(bursts[:, 2])
    before = np.append(-1 if total[found.last[0]] > found.size * (1 - NEAR) else [], found.last).astype(np.int64)
    since = np.where(before >= 0, total[before], 0)
    ends = [int(np.argmin(np.abs(total - start - usual))) for start in since]
    whole = total[ends] - since >= (1 - NEAR) * usual  # the capture may end before the last scatter does
    return replace(found, last=np.unique(np.array(ends)[whole]))


def _scattered(bursts: Transfers, silence: Ints, before: int, last: int) -> float:
    """Bytes before the first of two equal gathers between two bursts; 0 where they do not look so."""
    if last - before < len(("scatter", "gather", "gather")):
        return 0.0
    inner = np.arange(before + 1, last)
    first, second = np.sort(inner[np.argsort(-silence[inner], kind="stable")[:2]])
    sizes = [int(bursts[one + 1 : other + 1, 2].sum()) for one, other in pairwise((before, first, second, last))]
    apart = silence[second] > LONGER * silence[first] and silence[last] > LONGER * silence[second]
    alike = abs(sizes[1] / max(1, sizes[2]) - 1) < NEAR and sizes[0] > (1 - NEAR) * sizes[1]
    return float(sizes[0]) if apart and alike else 0.0
