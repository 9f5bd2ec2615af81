"""What tells who is slow: late acknowledgements, delays between switches, late entry into a burst.

Each is an array (steps, things) of microseconds, NaN where nothing was seen. Own work: core/flows/own_work.py where
receivers are seen to call; else by data alone, core/flows/stage_work.py and core/flows/exchange_work.py.

Differs: transfer rates name nobody, for a ring keeps all its edges in step and a rate limiter sends at line rate.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from core.flows.connections import Bools, Connections
from core.flows.groups import Groups
from core.flows.jobs import Floats, JobFlows
from core.flows.phases import Lanes, ending_lanes, with_data
from core.flows.table import UNKNOWN, Ints
from core.flows.timeline import Timeline
from core.flows.topology import Topology
from core.flows.transfers import SOON_US, trains

WAITS = 0.9  # of its own lateness, that a receiver has: then the sender waited for it


@dataclass(frozen=True)
class FlowSign:
    """One kind of evidence.

    Attributes:
        things: NICs, by their place in ``addresses``, or links between two switches, sorted.
        values: (steps, things) microseconds a step.
    """

    things: tuple[tuple[int, ...], ...]
    values: Floats


def rises(sign: FlowSign, inside: Bools, outside: Bools) -> tuple[Floats, Floats, Floats]:
    """Of each thing the rise of its median, its median outside, and the robust deviation of that median."""
    count = len(sign.things)
    within, without = sign.values[inside], sign.values[outside]
    seen = np.isfinite(within).any(axis=0) & np.isfinite(without).any(axis=0)
    rise, before, spread = np.zeros(count), np.zeros(count), np.zeros(count)
    if seen.any():
        before[seen] = np.nanmedian(without[:, seen], axis=0)
        rise[seen] = np.nanmedian(within[:, seen], axis=0) - before[seen]
        apart = np.nanmedian(np.abs(without[:, seen] - before[seen]), axis=0)
        spread[seen] = apart / np.sqrt(max(1, len(within)))
    return rise, before, spread


def without(sign: FlowSign, nics: set[int]) -> FlowSign:
    """A sign of NICs without some of them."""
    kept = [place for place, (nic, *_) in enumerate(sign.things) if nic not in nics]
    return FlowSign(tuple(sign.things[place] for place in kept), sign.values[:, kept])


def moved(sign: FlowSign, outside: Bools) -> FlowSign:
    """How far each value is from the usual one of its thing; where nothing was usual, NaN."""
    usual = [
        float(np.median(seen)) if len(seen := column[np.isfinite(column)]) else np.nan
        for column in sign.values[outside].T
    ]
    return FlowSign(sign.things, np.abs(sign.values - np.array(usual)))


def late_answers(connections: Connections, topology: Topology, job: JobFlows, timeline: Timeline) -> FlowSign:
    """By receiver: how long acknowledgements go on after the data has passed the last switch before it."""
    found: dict[int, list[tuple[Ints, Floats]]] = {}
    for member in job.heavy:
        rows = connections.rows(member)
        start, end, back = connections.start[rows], connections.end[rows], connections.back[rows]
        data, switch = connections.data[rows], connections.switch[rows]
        bare = ~data & ~connections.messages(rows)
        for direction, receiver in ((False, int(connections.b[member])), (True, int(connections.a[member]))):
            sent = data & (back == direction)
            if connections.sent[member, int(direction)] < connections.sent[member].max() / 2:
                continue
            near = sent & (switch == leaf_of(connections, topology, receiver))
            sent = near if near.any() else sent & connections.counted[rows]
            answers = (back != direction) & connections.counted[rows]
            found.setdefault(receiver, []).append(_tails(start, end, sent, answers, bare & answers))
    return by_step(found, timeline)


def _tails(start: Ints, end: Ints, sent: Bools, answers: Bools, bare: Bools) -> tuple[Ints, Floats]:
    """Of each data record when it ended, and how much longer its acknowledgements took; at most until the next data.

    Args:
        bare: answers that hold nothing but an acknowledgement.
    """
    first, last = start[sent], end[sent]
    if not answers.any() or not len(first):
        return last, np.zeros(len(last))
    answered = np.maximum.accumulate(end[answers])
    place = np.searchsorted(start[answers], last + SOON_US, "right") - 1
    until = np.where(place >= 0, answered[place], last)
    following = np.append(first[1:], np.iinfo(np.int64).max)
    until = np.maximum(until, trains(start[bare], end[bare], last, following))
    return last, np.clip(np.minimum(until, following) - last, 0, None).astype(float)


def leaf_of(connections: Connections, topology: Topology, nic: int) -> int:
    """The exporter that a NIC is attached to, as a place in ``switches``; none of them where it is not known."""
    name = topology.leaf.get(connections.addresses[nic], "")
    return connections.switches.index(name) if name in connections.switches else UNKNOWN - 1


def link_delays(connections: Connections, topology: Topology, job: JobFlows, timeline: Timeline) -> FlowSign:
    """By link, from one exporter of a flow to the next: how much later the same bytes were seen, on average.

    The mean time of a step's bytes at one exporter, taken from that at the next one: what queues in between.
    """
    sums: dict[tuple[int, int], tuple[Floats, Floats]] = {}
    steps = len(timeline)
    for member in job.heavy:
        rows = connections.rows(member)
        used = connections.data[rows] & (connections.switch[rows] != UNKNOWN)
        # by their middle: what begins at the end of a step would be in one step here and in the next one there
        step = step_of(timeline, (connections.start[rows] + connections.end[rows]) // 2)
        for direction in (False, True):
            mine = used & (connections.back[rows] == direction) & (step >= 0)
            exporters = np.unique(connections.switch[rows][mine])
            if len(exporters) < 2 or connections.sent[member, int(direction)] < connections.sent[member].max() / 2:
                continue
            means: dict[int, tuple[Floats, Floats]] = {}
            for exporter in exporters.tolist():
                here = mine & (connections.switch[rows] == exporter)
                sizes = connections.bytes[rows][here].astype(float)
                middle = (connections.start[rows][here] + connections.end[rows][here]) / 2 - timeline.start[0]
                weight: Floats = np.bincount(step[here], sizes, steps).astype(float)
                with np.errstate(invalid="ignore", divide="ignore"):
                    means[exporter] = np.bincount(step[here], sizes * middle, steps) / weight, weight
            path = _path(connections, rows, mine, means)
            for near, far in pairwise(path):
                if not _linked(connections, topology, near, far):
                    continue
                delay, weight = means[far][0] - means[near][0], means[near][1]
                good = np.isfinite(delay)
                total, heavy = sums.setdefault((near, far), (np.zeros(steps), np.zeros(steps)))
                total[good] += (delay * weight)[good]
                heavy[good] += weight[good]
    links = tuple(sorted(sums))
    with np.errstate(invalid="ignore", divide="ignore"):
        columns = [sums[link][0] / sums[link][1] for link in links]
    return FlowSign(links, np.stack(columns, 1) if columns else np.zeros((steps, 0)))


def _path(
    connections: Connections, rows: slice, mine: NDArray[np.bool_], means: Mapping[int, tuple[Floats, Floats]]
) -> list[int]:
    """The exporters of a lane, from the sender's own on."""
    own = connections.switch[rows][mine & connections.counted[rows]]
    first = int(own[0]) if len(own) else UNKNOWN
    reference = means.get(first, next(iter(means.values())))[0]
    later = {exporter: float(np.nanmedian(mean - reference)) for exporter, (mean, _) in means.items()}
    return sorted(means, key=lambda exporter: (exporter != first, later[exporter], exporter))


def _linked(connections: Connections, topology: Topology, near: int, far: int) -> bool:
    one, other = sorted((connections.switches[near], connections.switches[far]))
    return (one, other) in topology.trunks


def late_entries(connections: Connections, groups: Groups, timeline: Timeline, *, last: bool = False) -> FlowSign:
    """By NIC of a ring: how much later than others of its group it began to send in a step.

    Who sends to a NIC that is not ready waits with it: a lateness that the receiver has as well is the receiver's.

    Args:
        last: asks for the traffic with which steps end, of groups that send other traffic before (FSDP's scatter: what
            is slow within a step is late there); else for all of it.
    """
    columns: dict[int, Floats] = {}
    for group in groups.of("dp"):
        lanes = with_data(connections, group.connections)
        if last:
            ending = ending_lanes(connections, group)
            lanes = () if set(ending) == set(lanes) else ending
        begun, receiver = {}, {}
        for nic in group.nics if lanes else ():
            begun[nic], receiver[nic] = _first_sent(connections, lanes, nic, timeline)
        late = _later(begun, timeline)
        for nic in begun:
            columns[nic] = late[nic]
            if receiver[nic] in late:
                waits = (late[receiver[nic]] >= WAITS * late[nic]) & (late[nic] > 0)
                columns[nic] = np.where(waits, 0.0, late[nic])
    return sign_of(columns, len(timeline))


def late_starts(connections: Connections, groups: Groups, timeline: Timeline) -> FlowSign:
    """By NIC of the first stages: how much later than the others it sent its first activation of a step."""
    begun = {}
    for group in groups.of("pp"):
        lanes = with_data(connections, group.connections)
        begun[group.nics[0]], _ = _first_sent(connections, lanes, group.nics[0], timeline)
    return sign_of(_later(begun, timeline) if len(begun) > 1 else {}, len(timeline))


def _first_sent(connections: Connections, lanes: Lanes, nic: int, timeline: Timeline) -> tuple[Floats, int]:
    """When a NIC first sent data in each step, NaN where it did not, and to whom in most steps (-1: it never sent)."""
    starts, receivers = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for member, back in lanes:
        a, b = connections.ends(member)
        if nic != (b if back else a):
            continue
        rows = connections.rows(member)
        own = connections.data[rows] & connections.counted[rows] & (connections.back[rows] == back)
        starts.append(connections.start[rows][own])
        receivers.append(np.full(len(starts[-1]), a if back else b))
    start, receiver = np.concatenate(starts), np.concatenate(receivers)
    order = np.argsort(start, kind="stable")
    start, receiver = np.append(start[order], np.iinfo(np.int64).max), receiver[order]
    place = np.searchsorted(start, timeline.start)
    first = start[place]
    seen = first <= timeline.end
    most = int(np.bincount(receiver[place[seen]]).argmax()) if seen.any() else -1
    return np.where(seen, first.astype(float), np.nan), most


def _later(begun: Mapping[int, Floats], timeline: Timeline) -> dict[int, Floats]:
    """How much later each was than the last of the earliest third.

    Differs: the middle of a group of three is late itself, for who sends to a late one waits with it (docs/LOG.md).
    """
    if not begun:
        return {}
    table = np.stack([moment - timeline.start for moment in begun.values()], 1)
    seen = np.isfinite(table).sum(axis=1)
    early = np.sort(table, axis=1)[np.arange(len(table)), np.maximum(seen - 1, 0) // 3]  # what was not seen is last
    return {nic: table[:, place] - early for place, nic in enumerate(begun)}


def step_of(timeline: Timeline, moments: Ints) -> Ints:
    """The step that each moment is in, -1 outside of all."""
    step = np.searchsorted(timeline.end, moments)
    outside = (step >= len(timeline)) | (moments < timeline.start[0])
    return np.where(outside, -1, step)


def by_step(found: Mapping[int, Sequence[tuple[Ints, Floats]]], timeline: Timeline) -> FlowSign:
    """By NIC the sum of its values in each step, by the moment of each."""
    columns = {}
    for nic, parts in found.items():
        moments = np.concatenate([moment for moment, _ in parts])
        values = np.concatenate([value for _, value in parts])
        step = step_of(timeline, moments)
        columns[nic] = np.bincount(step[step >= 0], values[step >= 0], len(timeline)).astype(float)
    return sign_of(columns, len(timeline))


def sign_of(columns: Mapping[int, Floats], steps: int) -> FlowSign:
    """Columns of NICs as a sign, in their order."""
    nics = sorted(columns)
    values = np.stack([columns[nic] for nic in nics], 1) if nics else np.zeros((steps, 0))
    return FlowSign(tuple((nic,) for nic in nics), values)
