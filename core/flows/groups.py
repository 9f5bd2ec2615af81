"""Which groups a job has: data-parallel rings, pipelines, expert pairs and tied embeddings, by connection.

A ring sends in one direction, at any grain. What goes both ways is told apart by its transfers: a pipeline's are all
alike, several a step, and the two directions take turns.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from core.flows.connections import Connections
from core.flows.jobs import JobFlows, joined_ends
from core.flows.record_grain import Grain, find_grain
from core.flows.transfers import MESSAGE_US, SILENCE_US, Transfers, each_of, together, uniform

ONE_WAY = 0.3  # of one direction in the other: below it is a ring (docs/how-to/flows.md)
# The same of a ring that scatters one way and gathers the other: .5 where it sends twice as much. What stages, experts
# and tied embeddings send comes back: .979 and more of 1,700 connections (docs/LOG.md)
UNEVEN = 0.8
ALIKE, TOLERANCE = (
    0.9,
    0.1,
)  # share of the bytes in transfers of one size, within a tenth: rings of several buckets have less
# Activations of which the usual transfer may be made where records end with 5 to 8 ms of silence, and the share of the
# bytes in whole ones: 1.00 in twelve pipelines, .92 in a ring of two whose slow link cuts its transfers (docs/LOG.md)
JOINED, WHOLE = 3, 0.98
TURNS = 0.6  # of the busy time that is busy both ways: pipelines of d01 to d08 have .12 to .50, rings of two .66 to .83
# Of the busy time, for a ring that closes: those of ZeRO have .68, on a busy machine .28; those of interleaved
# pipelines .17 at most (docs/LOG.md)
AT_ONCE = 0.25
# Of the busy time, for experts beside a group of two with more bytes: .47 to .53, stages .16 to .24 (docs/LOG.md)
EXPERTS = 0.35
# In most parts of the run, for a slow link keeps one connection of a ring busy alone as long as it lasts: .17 of the
# whole run in a ring of three (docs/LOG.md)
PARTS, MOSTLY = 12, 0.75
# And of the bytes of its fullest connection that the emptiest has: in a ring all carry the same (.995 and more in 29
# rings of the lab), what closes a pipeline of c chunks a stage carries (c - 1) / c of the others' (docs/LOG.md)
EVEN = 0.95
# Of the bytes of a pipeline's fullest connection: a tied embedding of three micro-batches has a third, also where slots
# cut it into more transfers; what closes interleaved stages has half and more
CLOSING = 0.45
SEVERAL = 2.5  # transfers a step in a job without rings: two are a bucket's reduce-scatter and all-gather (flows.md)
# The same of stages with several chunks of layers and nothing beside them, which are at once for .63 of their time in
# records of 5 ms (20 transfers to one of their groups of two), and of their bytes in whole ones (.97; docs/LOG.md)
CHUNKS, MOSTLY_WHOLE = 10, 0.95
# Of the time, for the two ways of stages in most parts of the run, whose transfers one way run together in coarse
# records: 0 in twelve such; of 200 groups of two at least .24 (docs/LOG.md)
NEVER_AT_ONCE = 0.12
# Between two connections of one kind in the bytes they send; and of those the part whose kind is that of all: of four
# rails of a pipeline in records of 8 ms three were told (docs/LOG.md)
AS_MUCH, MOST = 0.01, 2 / 3
WAITS = 20  # silences of a pipeline connection that are asked who speaks first after them
VISIBLE = 0.5  # of the time that a connection is busy: above it the records are longer than the transfers


@dataclass(frozen=True)
class FlowGroup:
    """A group of a job.

    Attributes:
        kind: dp, pp, ep or emb.
        nics: places in ``addresses``; of a pipeline the first stage first, else sorted.
        connections: those that carry it.
    """

    kind: str
    nics: tuple[int, ...]
    connections: tuple[int, ...]


@dataclass(frozen=True)
class Groups:
    """All groups of a job; ``unknown`` are connections of which the records do not tell what they are.

    Attributes:
        grain: of the records that they were told by.
    """

    groups: tuple[FlowGroup, ...]
    kinds: Mapping[int, str]
    unknown: tuple[int, ...]
    grain: Grain

    def of(self, kind: str) -> tuple[FlowGroup, ...]:
        """The groups of a kind."""
        return tuple(group for group in self.groups if group.kind == kind)


def is_open(connections: Connections, groups: Groups) -> bool:
    """Whether a ring of three and more has ends: then some of its NICs were not captured."""
    for group in groups.of("dp"):
        ends = {connections.ends(member) for member in group.connections}
        near = Counter(nic for pair in ends for nic in pair)
        if len(group.nics) > 2 and min(near.values()) < 2:
            return True
    return False


def find_groups(connections: Connections, job: JobFlows) -> Groups:
    """The groups of a job, rings first."""
    sent = connections.sent[list(job.heavy)]
    grain = find_grain(connections, job.heavy)
    sampled = grain.sampled  # of a few samples more may be of one way by chance
    one_way = sent.min(axis=1) < (ONE_WAY if sampled else UNEVEN) * sent.max(axis=1)
    rings = [connection for connection, ring in zip(job.heavy, one_way, strict=True) if ring]
    both = [connection for connection, ring in zip(job.heavy, one_way, strict=True) if not ring]
    lanes = _lanes(connections, both)
    told = not sampled and all(map(_visible, lanes.values()))
    if not rings and told:
        rings = _closed_rings(connections, both)
        both = [connection for connection in both if connection not in set(rings)]
    kinds = dict.fromkeys(rings, "dp")
    if rings:
        ring_of = _components(connections, rings)
        often = SEVERAL * min(map(len, each_of(connections, rings, ways=1)))
        kinds |= {number: _beside_rings(connections, number, ring_of, lanes[number], often) for number in both}
    elif told:
        kinds |= _without_rings(connections, {connection: lanes[connection] for connection in both})
    else:
        kinds |= dict.fromkeys(both, "?")
    _tied_embeddings(connections, kinds, lanes)
    groups = []
    for kind in ("dp", "pp", "ep", "emb"):
        members = [connection for connection, of in sorted(kinds.items()) if of == kind]
        groups += _groups(connections, kind, members)
    unknown = tuple(connection for connection, kind in sorted(kinds.items()) if kind == "?")
    return Groups(tuple(groups), kinds, unknown, grain)


def _lanes(
    connections: Connections, members: Sequence[int], silence: int = SILENCE_US
) -> dict[int, tuple[Transfers, Transfers]]:
    parts = each_of(connections, members, silence)
    return dict(zip(members, zip(parts[::2], parts[1::2], strict=True), strict=True))


def _beside_rings(
    connections: Connections,
    connection: int,
    ring_of: Mapping[int, int],
    lanes: tuple[Transfers, Transfers],
    often: float,
) -> str:
    """What goes both ways in a job with rings.

    Args:
        often: more transfers than a tied embedding has, which is sent once a step: several to one of a ring.
    """
    a, b = connections.ends(connection)
    if ring_of.get(a, -1) == ring_of.get(b, -2):
        return "ep"
    stages = _alike(lanes) or min(map(len, lanes)) > often or together(*lanes) < TURNS
    return "pp" if stages or not _visible(lanes) else "emb"


def _without_rings(connections: Connections, lanes: Mapping[int, tuple[Transfers, Transfers]]) -> dict[int, str]:
    """What goes both ways in a job whose data-parallel groups, if it has any, are of two.

    Stages with several small chunks of layers send so often that only the finest transfers are one activation each.
    """
    steps = min(len(transfers) for lane in lanes.values() for transfers in lane)
    beside = Counter(connections.ends(connection) for connection in lanes)
    finest = _lanes(connections, tuple(lanes), MESSAGE_US)
    kinds = {}
    for connection, lane in lanes.items():
        several = min(map(len, lane)) > SEVERAL * steps
        alike = _alike(lane) or _alike(finest[connection])
        turns = together(*lane) < TURNS
        pipeline = (several or turns) if alike else several and turns and _multiples(lane)
        most = SEVERAL if beside[connections.ends(connection)] > 1 else CHUNKS  # experts are beside their gradients
        often = min(map(len, lane)) > most * steps and _multiples(lane, MOSTLY_WHOLE)
        kinds[connection] = "pp" if pipeline or often or _one_then_other(lane, SEVERAL * steps) else "dp"
    kinds = _as_most(connections, kinds, lanes)
    return kinds | dict.fromkeys(_beside_gradients(connections, kinds, lanes), "ep")


def _as_most(
    connections: Connections, kinds: Mapping[int, str], lanes: Mapping[int, tuple[Transfers, Transfers]]
) -> dict[int, str]:
    """The same kinds; what sends as many bytes as others, about as often, is what most of them are: rails are alike.

    Where they come out even and have no NIC in common they are stages: what is not told from gradients passes as those.
    """
    members = sorted(kinds)
    volume = connections.sent[members].sum(axis=1)
    often = np.array([min(map(len, lanes[connection])) for connection in members])
    found = dict(kinds)
    for place, connection in enumerate(members):
        near = (np.abs(volume - volume[place]) <= AS_MUCH * volume[place]) & (often <= SEVERAL * often[place])
        near &= often[place] <= SEVERAL * often
        alike = [members[other] for other in np.flatnonzero(near).tolist()]
        most, many = Counter(map(kinds.__getitem__, alike)).most_common(1)[0]
        if many >= MOST * len(alike):
            found[connection] = most
        elif len({nic for other in alike for nic in connections.ends(other)}) == 2 * len(alike):
            found[connection] = "pp"
    return found


def _beside_gradients(
    connections: Connections, kinds: Mapping[int, str], lanes: Mapping[int, tuple[Transfers, Transfers]]
) -> list[int]:
    """What was taken for stages and is experts: it is between two that reduce gradients with each other.

    A stage and the next one are in no group with each other, but they may share a tied embedding, which is less than
    the gradients of either. Where each NIC reduces gradients with one and has a stage beside it without, nothing else
    is left; else how much both ways are at once tells, of the middle of the pairs, which are alike in a job.
    """
    reduced: dict[tuple[int, int], int] = {}
    most: dict[int, int] = {}
    for connection, kind in kinds.items():
        if kind == "dp":
            ends, volume = connections.ends(connection), int(connections.sent[connection].sum())
            reduced[ends] = max(volume, reduced.get(ends, 0))
            most |= {nic: max(volume, most.get(nic, 0)) for nic in ends}
    found = [
        connection
        for connection, kind in kinds.items()
        if kind == "pp"
        and (ends := connections.ends(connection)) in reduced
        and all(most[nic] == reduced[ends] for nic in ends)
    ]
    if not found:
        return []
    if all(len({nic for ends in map(connections.ends, kinds) if own in ends for nic in ends}) == 2 for own in most):
        return [one for one in found if connections.sent[one].sum() < reduced[connections.ends(one)]]
    stages = any(kind == "pp" and connections.ends(connection) not in reduced for connection, kind in kinds.items())
    if stages and all(nic in most for connection in kinds for nic in connections.ends(connection)):
        return found
    usual = float(np.median([together(*lanes[connection]) for connection in found]))
    return found if usual >= EXPERTS else []


def _alike(lanes: tuple[Transfers, Transfers]) -> bool:
    return min(uniform(transfers, TOLERANCE) for transfers in lanes) >= ALIKE


def _multiples(lanes: tuple[Transfers, Transfers], least: float = WHOLE) -> bool:
    """Whether nearly all bytes come in whole activations, several of which may be one transfer in coarser records."""
    return min(uniform(transfers, TOLERANCE, together=JOINED) for transfers in lanes) >= least


def _one_then_other(lanes: tuple[Transfers, Transfers], several: float) -> bool:
    """Whether one way sends whole activations again and again, and never while the other does."""
    whole = max(uniform(transfers, TOLERANCE, together=JOINED) for transfers in lanes) >= WHOLE
    return whole and max(map(len, lanes)) > several and _mostly_together(*lanes) < NEVER_AT_ONCE


def _visible(lanes: tuple[Transfers, Transfers]) -> bool:
    """Whether silences are seen between transfers."""
    for transfers in lanes:
        span = transfers[-1, 1] - transfers[0, 0] if len(transfers) else 0
        if len(transfers) < WAITS or (transfers[:, 1] - transfers[:, 0]).sum() > VISIBLE * span:
            return False
    return True


def _closed_rings(connections: Connections, both: Sequence[int]) -> list[int]:
    """Of what goes both ways, the connections that close to rings of three and more whose members all send at once.

    FSDP and ZeRO scatter one way around a ring and gather the other way. An interleaved pipeline closes too; its last
    stage has fewer chunks to send on than the others, and its stages take turns, as a ring and a pipeline do that share
    a NIC.
    """
    busy = dict(zip(both, each_of(connections, both, ways=1), strict=True))
    at: dict[int, list[int]] = {}
    for number in both:
        for nic in connections.ends(number):
            at.setdefault(nic, []).append(number)
    pairs = {(x, y) for own in at.values() for x in own for y in own if x < y}
    of = {number: number for number in both}
    for x, y in sorted(pairs):
        if of[x] != of[y] and _mostly_together(busy[x], busy[y]) >= AT_ONCE:
            low, high = min(of[x], of[y]), max(of[x], of[y])
            of = {number: low if name == high else name for number, name in of.items()}
    found = [ring for name in sorted(set(of.values())) if (ring := _ring(connections, of, name))]
    rails = _components(connections, both)  # a rail with a slow link is at once less than the others
    by_rail = {number: rails[int(connections.a[number])] for number in both}
    closed = [ring for name in sorted(set(by_rail.values())) if (ring := _ring(connections, by_rail, name))]
    found += [ring for ring in closed if ring not in found and any(_same(connections, ring, other) for other in found)]
    # experts send all to all, so any three of a ring close to one among themselves
    return sorted(
        number for ring in found if not any(_among(connections, ring, other) for other in found) for number in ring[1]
    )


def _ring(connections: Connections, of: Mapping[int, int], name: int) -> tuple[set[int], list[int]] | None:
    """The NICs and connections of one name, if they are a ring of three and more that sends as much on all of them."""
    own = [number for number, other in of.items() if other == name]
    near = Counter(int(nic) for number in own for nic in (connections.a[number], connections.b[number]))
    volume = connections.sent[own].sum(axis=1)
    even = len(near) > 2 and set(near.values()) == {2} and volume.min() >= EVEN * volume.max()
    return (set(near), own) if even else None


def _same(connections: Connections, ring: tuple[set[int], list[int]], other: tuple[set[int], list[int]]) -> bool:
    """Whether a ring has as many NICs as another and sends as much."""
    less, more = sorted(connections.sent[of[1]].sum() for of in (ring, other))
    return len(ring[0]) == len(other[0]) and bool(less >= EVEN * more)


def _among(connections: Connections, ring: tuple[set[int], list[int]], other: tuple[set[int], list[int]]) -> bool:
    """Whether a ring is one of experts of another ring: of some of its NICs, or it sends less, and far more often."""
    if ring[0] != other[0]:
        return ring[0] < other[0]
    size, most = (connections.sent[of[1]].sum() for of in (ring, other))
    often, seldom = (np.mean([len(lane) for lane in each_of(connections, of[1])]) for of in (ring, other))
    return bool(size < most and often > SEVERAL * seldom)


def _mostly_together(one: Transfers, other: Transfers) -> float:
    """How simultaneous two series are in most parts of the time that both have, each part by itself."""
    if not len(one) or not len(other):
        return 0.0
    first, last = max(one[0, 0], other[0, 0]), min(one[-1, 1], other[-1, 1])
    bounds = np.linspace(first, last, PARTS + 1)
    parts = [
        together(*(series[(series[:, 0] >= low) & (series[:, 0] < high)] for series in (one, other)))
        for low, high in pairwise(bounds)
    ]
    return float(np.quantile(parts, MOSTLY))


def _tied_embeddings(
    connections: Connections, kinds: dict[int, str], lanes: Mapping[int, tuple[Transfers, Transfers]]
) -> None:
    """What keeps the first and the last embedding of a pipeline equal, between two ends that are one pipeline without.

    It looks data-parallel; or like a stage that sends far less often than the others, or far less: once a step. Where
    layers are interleaved, what closes a pipeline of chunks sends at least half as often and as much as the rest of it.
    """
    often = {number: min(map(len, lanes[number])) for number, kind in kinds.items() if kind == "pp"}
    sent = {number: int(connections.sent[number].sum()) for number in often}
    seldom = {number for number, count in often.items() if SEVERAL * count < max(often.values())}
    seldom |= {number for number, volume in sent.items() if volume < CLOSING * max(sent.values())}
    chain = _components(connections, [number for number in often if number not in seldom])
    for connection, kind in kinds.items():
        a, b = connections.ends(connection)
        if (kind == "dp" or connection in seldom) and a in chain and chain[a] == chain.get(b):
            kinds[connection] = "emb"


def _components(connections: Connections, members: Sequence[int]) -> dict[int, int]:
    """The component of each NIC at the ends of some connections, named after its lowest NIC."""
    own = np.array(members, np.int64)
    a, b = connections.a[own], connections.b[own]
    nics = np.union1d(a, b)
    joined = joined_ends(a, b, len(connections.addresses))
    return dict(zip(nics.tolist(), joined[nics].tolist(), strict=True))


def _groups(connections: Connections, kind: str, members: Sequence[int]) -> list[FlowGroup]:
    nics: dict[int, list[int]] = {}
    own: dict[int, list[int]] = {}
    component = _components(connections, members)
    for nic, name in sorted(component.items()):
        nics.setdefault(name, []).append(nic)
    for member in members:
        own.setdefault(component[int(connections.a[member])], []).append(member)
    return [_group(connections, kind, tuple(nics[name]), tuple(own[name])) for name in sorted(own)]


def _group(connections: Connections, kind: str, nics: tuple[int, ...], members: tuple[int, ...]) -> FlowGroup:
    return FlowGroup(kind, _chain(connections, nics, members) if kind == "pp" else nics, members)


def _chain(connections: Connections, nics: tuple[int, ...], members: tuple[int, ...]) -> tuple[int, ...]:
    """A pipeline from its first stage on; one that is no path stays sorted."""
    beside: dict[int, list[int]] = {nic: [] for nic in nics}
    for member in members:
        a, b = connections.ends(member)
        if b not in beside[a]:
            beside[a].append(b)
            beside[b].append(a)
    ends = [nic for nic in nics if len(beside[nic]) == 1]
    if len(ends) != 2 or any(len(near) > 2 for near in beside.values()):
        return nics
    path = [ends[0]]
    while len(path) < len(nics):
        path.append(next(nic for nic in beside[path[-1]] if nic not in path[-2:]))
    place = {nic: stage for stage, nic in enumerate(path)}
    forward = 0
    for member in members:
        a, b = connections.ends(member)
        forward += _first_speaker(connections, member) * (1 if place[a] < place[b] else -1)
    return tuple(path if forward >= 0 else reversed(path))


def _first_speaker(connections: Connections, member: int) -> int:
    """Who sends first after long silences: above 0 a, below 0 b. An activation comes before its gradient."""
    rows = connections.rows(member)
    used = connections.counted[rows] & connections.data[rows]
    start, back = connections.start[rows][used], connections.back[rows][used]
    last = np.maximum.accumulate(connections.end[rows][used])
    after = np.argsort(-(start[1:] - last[:-1]), kind="stable")[:WAITS] + 1
    return int((~back[after]).sum() - back[after].sum())
