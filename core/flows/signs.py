"""What tells who is slow: late acknowledgements, delays between switches, late entry into a burst.

Each is an array (steps, things) of microseconds, NaN where nothing was seen. Own work: core/flows/own_work.py where
receivers are seen to call; else by data alone, core/flows/stage_work.py and core/flows/exchange_work.py.

Differs: transfer rates name nobody, for a ring keeps all its edges in step and a rate limiter sends at line rate.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from core.flows.connections import Bools, Connections
from core.flows.groups import Groups
from core.flows.jobs import Floats, JobFlows
from core.flows.phases import Lanes, ending_lanes, with_data
from core.flows.table import UNKNOWN, Ints
from core.flows.timeline import Timeline
from core.flows.topology import Topology
from core.flows.transfers import SOON_US, laid_out, trains

CELLS = 1 << 22  # of connections, exporters and steps that are looked at together: 64 MB
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
    members = np.array(job.heavy, np.int64)
    rows, turn, shift = laid_out(connections, members)
    apart = shift[turn]
    start, end = connections.start[rows] + apart, connections.end[rows] + apart
    data, switch, back, counted = (
        column[rows] for column in (connections.data, connections.switch, connections.back, connections.counted)
    )
    main = (connections.sent[members] >= connections.sent[members].max(axis=1, keepdims=True) / 2).ravel()
    receiver = np.stack([connections.b[members], connections.a[members]], 1).ravel()
    nics, of_nic = np.unique(receiver, return_inverse=True)
    leaf = np.array([leaf_of(connections, topology, nic) for nic in nics.tolist()])[of_nic]
    lane = 2 * turn + back
    sent = data & main[lane]
    near = sent & (switch == leaf[lane])
    seen = np.bincount(lane[near], minlength=len(main)) > 0
    sent = np.where(seen[lane], near, sent & counted)
    answers = counted & main[lane ^ 1]
    bare = answers & ~data & ~connections.messages(rows)
    parts = []
    for way in (0, 1):
        mine = back == way
        own = np.flatnonzero(sent & mine)
        last, late = _tails(start, end, own, *(np.flatnonzero(of & ~mine) for of in (answers, bare)))
        parts.append((receiver[way::2][main[way::2]], receiver[lane[own]], last - apart[own], late))
    return by_nic(parts, timeline)


def _tails(start: Ints, end: Ints, sent: Ints, answers: Ints, bare: Ints) -> tuple[Ints, Floats]:
    """Of each data record when it ended, and how much longer its acknowledgements took; at most until the next data.

    Args:
        start, end: of connections one behind the other (core/flows/transfers.py).
        sent: places of the data.
        bare: of answers that hold nothing but an acknowledgement.
    """
    first, last = start[sent], end[sent]
    if not len(answers) or not len(first):
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
    if not topology.trunks or not connections.switches:
        return FlowSign((), np.zeros((steps, 0)))
    many = max(1, CELLS // max(1, 2 * steps * len(connections.switches)))
    for first in range(0, len(job.heavy), many):
        members = np.array(job.heavy[first : first + many], np.int64)
        for path, means, weights in _along_paths(connections, members, timeline):
            for near, far in pairwise(path):
                if not _linked(connections, topology, near, far):
                    continue
                delay, weight = means[far] - means[near], weights[near]
                good = np.isfinite(delay)
                total, heavy = sums.setdefault((near, far), (np.zeros(steps), np.zeros(steps)))
                total[good] += (delay * weight)[good]
                heavy[good] += weight[good]
    links = tuple(sorted(sums))
    with np.errstate(invalid="ignore", divide="ignore"):
        columns = [sums[link][0] / sums[link][1] for link in links]
    return FlowSign(links, np.stack(columns, 1) if columns else np.zeros((steps, 0)))


def _along_paths(
    connections: Connections, members: Ints, timeline: Timeline
) -> Iterator[tuple[list[int], Floats, Floats]]:
    """Of each lane that several exporters saw its path, from the sender's own on.

    Also by exporter and step the mean time of its bytes, and their number.
    """
    rows, turn = connections.all_rows(members)
    sent = connections.sent[members]
    most = (sent >= sent.max(axis=1, keepdims=True) / 2).ravel()
    # by their middle: what begins at the end of a step would be in one step here and in the next one there
    step = step_of(timeline, (connections.start[rows] + connections.end[rows]) // 2)
    way = 2 * turn + connections.back[rows]
    used = np.flatnonzero(connections.data[rows] & (connections.switch[rows] != UNKNOWN) & (step >= 0) & most[way])
    way, step = way[used], step[used]
    start, end, size = (column[rows][used] for column in (connections.start, connections.end, connections.bytes))
    switch, counted = connections.switch[rows][used], connections.counted[rows][used]
    shape = len(most), len(connections.switches), len(timeline)
    cell = np.ravel_multi_index((way, switch, step), shape)
    middle = (start + end) / 2 - timeline.start[0]
    weights = np.bincount(cell, size, int(np.prod(shape))).reshape(shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.bincount(cell, size * middle, int(np.prod(shape))).reshape(shape) / weights
    own = np.full(len(most), UNKNOWN)
    own[way[counted]] = switch[counted]
    seen = weights.max(axis=2, initial=0.0) > 0
    lanes = np.arange(len(own))
    first = np.where(seen[lanes, own] & (own != UNKNOWN), own, seen.argmax(axis=1))
    apart = means - means[lanes, first][:, None]
    apart[~seen] = 0.0  # is not asked
    later = np.nanmedian(apart, axis=2).tolist()
    for lane in np.flatnonzero(seen.sum(axis=1) > 1).tolist():
        exporters = np.flatnonzero(seen[lane]).tolist()
        order = [(exporter != first[lane], later[lane][exporter], exporter) for exporter in exporters]
        yield [exporter for _, _, exporter in sorted(order)], means[lane], weights[lane]


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


def by_nic(parts: Iterable[tuple[Ints, Ints, Ints, Floats]], timeline: Timeline) -> FlowSign:
    """By NIC the sum of its values in each step.

    Args:
        parts: NICs that have a column at any rate; of each value its NIC, its moment, and itself.
    """
    every, nics, moments, values = (np.concatenate(column) for column in zip(*parts, strict=True))
    things = np.unique(every)
    step = step_of(timeline, moments)
    inside = step >= 0
    place = np.searchsorted(things, nics[inside]) * len(timeline) + step[inside]
    total = np.bincount(place, values[inside], len(things) * len(timeline)).reshape(len(things), -1)
    return FlowSign(tuple((nic,) for nic in things.tolist()), total.T.astype(float))


def sign_of(columns: Mapping[int, Floats], steps: int) -> FlowSign:
    """Columns of NICs as a sign, in their order."""
    nics = sorted(columns)
    values = np.stack([columns[nic] for nic in nics], 1) if nics else np.zeros((steps, 0))
    return FlowSign(tuple((nic,) for nic in nics), values)
