"""One job of a capture: its groups, steps and findings. It needs no other job, so it may be judged anywhere."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from core.flows.answer import JobAnswer, Lane, NamedGroup
from core.flows.connections import Connections
from core.flows.findings import find_findings
from core.flows.groups import FlowGroup, Groups, find_groups
from core.flows.jobs import JobFlows
from core.flows.table import Ints
from core.flows.timeline import find_timeline
from core.flows.topology import Topology
from core.flows.transfers import transfers_of
from core.flows.twins import with_twins_joined
from core.model import Skipped

Judged = tuple[JobAnswer, tuple[Skipped, ...]]

_UNSEEN = (
    "nothing is sent behind the last data of a step, so it ends with that: what ranks did after it, as those of ZeRO-1"
    " which copy what they gathered, counts for the next one"
)


def judge(
    name: str, connections: Connections, flows: JobFlows, topology: Topology, last: int, *, with_lanes: bool
) -> Judged:
    """What is known of a job, and what could not be told of it.

    Args:
        connections: all that its NICs have.
        last: when the capture ended, microseconds since 1970.
        with_lanes: whether the traffic of each group is kept, to be drawn.
    """
    connections, flows = with_twins_joined(connections, flows)
    groups = find_groups(connections, flows)
    timeline = find_timeline(connections, topology, flows, groups)
    groups = in_order(connections, groups, timeline.start)
    named = _named(connections, groups, name)
    findings, left_out = find_findings(connections, topology, flows, groups, timeline, named, last)
    unknown = bool(groups.unknown)
    nics = tuple(connections.addresses[nic] for nic in flows.nics)
    job = JobAnswer(
        name,
        nics,
        tuple(sorted({topology.server_of(nic) for nic in nics})),
        named,
        _pairs(connections, groups),
        timeline,
        dp=_size(groups.of("dp"), unknown=unknown),
        pp=_size(groups.of("pp"), unknown=unknown),
        tp=_rails(connections, topology, flows, groups),
        findings=findings,
        lanes=find_lanes(connections, groups, named) if with_lanes else (),
    )
    skipped = []
    if groups.unknown:
        both = f"{name}: {len(groups.unknown)} connections go both ways"
        skipped.append(Skipped("groups", f"{both}, and no transfers are seen that tell groups of two from pipelines"))
    if timeline.why_not:
        skipped.append(Skipped("timeline", f"{name}: {timeline.why_not}"))
    if len(timeline) and not timeline.seen:
        skipped.append(Skipped("step ends", f"{name}: {_UNSEEN}"))
    skipped += [Skipped(step, f"{name}: {reason}") for step, reason in left_out]
    return job, tuple(skipped)


def _named(connections: Connections, groups: Groups, job: str) -> tuple[NamedGroup, ...]:
    counts: dict[str, int] = {}
    named = []
    for group in groups.groups:
        number = counts.setdefault(group.kind, 0)
        counts[group.kind] += 1
        nics = tuple(connections.addresses[nic] for nic in group.nics)
        named.append(NamedGroup(f"{job}.{group.kind}{number}", group.kind, nics))
    return tuple(named)


def _pairs(connections: Connections, groups: Groups) -> tuple[tuple[str, str, str], ...]:
    names = connections.addresses
    return tuple(
        sorted(
            {
                (names[connections.a[member]], names[connections.b[member]], kind)
                for member, kind in groups.kinds.items()
                if kind != "?"
            }
        )
    )


def _size(groups: Sequence[FlowGroup], *, unknown: bool) -> int | None:
    """How many NICs each group has; one where there is no group, None where they differ or are unknown."""
    if unknown:
        return None
    sizes = {len(group.nics) for group in groups} or {1}
    return sizes.pop() if len(sizes) == 1 else None


def _rails(connections: Connections, topology: Topology, flows: JobFlows, groups: Groups) -> int | None:
    """How many NICs of a server share its work over links that no switch sees: those that are in no group together."""
    together = {frozenset(pair) for group in groups.groups for pair in zip(group.nics, group.nics[1:], strict=False)}
    ring = {nic: number for number, group in enumerate(groups.of("dp")) for nic in group.nics}
    servers: dict[str, list[int]] = {}
    for nic in flows.nics:
        servers.setdefault(topology.server_of(connections.addresses[nic]), []).append(nic)
    sizes = {len(nics) for nics in servers.values()}
    apart = all(
        len({ring.get(nic, -1 - nic) for nic in nics}) == len(nics)
        and not any(frozenset((a, b)) in together for a in nics for b in nics if a < b)
        for nics in servers.values()
    )
    return sizes.pop() if apart and len(sizes) == 1 and not groups.unknown else None


def find_lanes(connections: Connections, groups: Groups, named: Sequence[NamedGroup]) -> tuple[Lane, ...]:
    """The lanes of a job, in the order of its groups; those without data are left out.

    Args:
        named: the same groups with their names.
    """
    found = [
        lane
        for group, names in zip(groups.groups, named, strict=True)
        for lane in (_stages(connections, group, names.id) if group.kind == "pp" else _whole(connections, group, names))
    ]
    return tuple(lane for lane in found if len(lane.transfers))


def _whole(connections: Connections, group: FlowGroup, named: NamedGroup) -> Iterator[Lane]:
    """A ring keeps all its connections in step: together they are one lane."""
    yield Lane(named.id, named.id, transfers_of(connections, group.connections))


def _stages(connections: Connections, group: FlowGroup, name: str) -> Iterator[Lane]:
    """What each stage sends to the next one (activations), and what comes back (gradients)."""
    place = {nic: number for number, nic in enumerate(group.nics)}
    pairs = sorted({tuple(sorted(connections.ends(member), key=place.__getitem__)) for member in group.connections})
    for near, far in sorted(pairs, key=lambda pair: place[pair[0]]):
        members = [member for member in group.connections if set(connections.ends(member)) == {near, far}]
        for back, (one, other) in ((near > far, (near, far)), (near < far, (far, near))):
            arrow = f"{connections.addresses[one]} → {connections.addresses[other]}"
            yield Lane(name, arrow, transfers_of(connections, members, back=back))


def in_order(connections: Connections, groups: Groups, start: Ints) -> Groups:
    """The same groups; each pipeline from the stage on that sends first in a step, as most of a job's show it.

    Differs: who speaks first after the longest silences is the second stage where that one is slow (docs/LOG.md).

    Args:
        start: (steps) microseconds since 1970; without steps nothing is changed.
    """
    if not len(start):
        return groups
    ordered = [_from_first(connections, group, start) if group.kind == "pp" else group for group in groups.groups]
    ring = {nic: number for number, group in enumerate(groups.of("dp")) for nic in group.nics}
    paths = Counter(tuple(ring.get(nic, -1) for nic in group.nics) for group in ordered if group.kind == "pp")
    return replace(groups, groups=tuple(_as_others(group, ring, paths) for group in ordered))


def _as_others(group: FlowGroup, ring: Mapping[int, int], paths: Mapping[tuple[int, ...], int]) -> FlowGroup:
    """A pipeline the other way round, where more of those through the same rings go that way: stages are rings."""
    path = tuple(ring.get(nic, -1) for nic in group.nics)
    turned = paths.get(path[::-1], 0) > paths.get(path, 0)
    return replace(group, nics=group.nics[::-1]) if group.kind == "pp" and turned else group


def _from_first(connections: Connections, group: FlowGroup, start: Ints) -> FlowGroup:
    """A pipeline whose stages follow each other from the first one on; one that does not stays as it is."""
    beside: dict[int, set[int]] = {nic: set() for nic in group.nics}
    for member in group.connections:
        a, b = connections.ends(member)
        beside[a].add(b)
        beside[b].add(a)
    path = list(_first_lane(connections, group, start))
    while len(path) < len(group.nics):
        following = sorted(beside[path[-1]] - set(path))
        if len(following) != 1:
            return group
        path += following
    return replace(group, nics=tuple(path))


def _first_lane(connections: Connections, group: FlowGroup, start: Ints) -> tuple[int, int]:
    """Who sends the first data of most steps, and to whom."""
    lanes: list[tuple[int, int]] = []
    begun = []
    for member in group.connections:
        rows = connections.rows(member)
        a, b = connections.ends(member)
        for back, lane in ((False, (a, b)), (True, (b, a))):
            own = connections.counted[rows] & connections.data[rows] & (connections.back[rows] == back)
            moments = np.append(connections.start[rows][own], np.iinfo(np.int64).max)
            lanes.append(lane)
            begun.append(moments[np.searchsorted(moments, start)])
    first = Counter(np.argmin(np.stack(begun), axis=0).tolist())
    most: int = max(sorted(first), key=first.__getitem__)
    return lanes[most]
