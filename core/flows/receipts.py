"""Whose data takes longer to come in, and whether it queues before its receiver or is sent slowly.

Congestion control may keep the queue of a slow link so short that acknowledgements are hardly late. The transfers to
its NIC then last longer, and no others: those that wait for them wait between transfers.
"""

import numpy as np

from core.flows.connections import Bools, Connections
from core.flows.jobs import JobFlows
from core.flows.signs import FlowSign, by_nic, leaf_of, step_of
from core.flows.table import Ints
from core.flows.timeline import Timeline
from core.flows.topology import Topology
from core.flows.transfers import MESSAGE_US, SILENCE_US, laid_out, merge, trains

# Packets of a record, of which some are acknowledged at once: of a lone one or two that may wait for data to go with
AT_ONCE = 3
NEVER = np.iinfo(np.int64).max


def long_receipts(connections: Connections, job: JobFlows, timeline: Timeline) -> FlowSign:
    """By receiver: how long its transfers of a step lasted, of each connection by itself."""
    return _lengths(connections, job, timeline, sender=False)


def long_sendings(connections: Connections, job: JobFlows, timeline: Timeline) -> FlowSign:
    """By sender: how long its transfers of a step lasted, of each connection by itself."""
    return _lengths(connections, job, timeline, sender=True)


def _lengths(connections: Connections, job: JobFlows, timeline: Timeline, *, sender: bool) -> FlowSign:
    members = np.array(job.heavy, np.int64)
    rows, turn, shift = laid_out(connections, members)
    apart = shift[turn]
    records = np.stack([connections.start[rows] + apart, connections.end[rows] + apart, connections.bytes[rows]], 1)
    used = connections.data[rows] & connections.counted[rows]
    most = connections.sent[members] >= connections.sent[members].max(axis=1, keepdims=True) / 2
    # a limit at the sender lets pieces of 64 kB go one by one: 2 ms apart at 260 Mbit/s
    silence = SILENCE_US if sender else MESSAGE_US
    parts = []
    for way, (near, far) in enumerate(((connections.a, connections.b), (connections.b, connections.a))):
        nics = (near if sender else far)[members]
        mine = np.flatnonzero(used & (connections.back[rows] == way) & most[turn, way])
        transfers = merge(records[mine], silence)
        first = mine[np.searchsorted(records[mine, 0], transfers[:, 0])]
        length = (transfers[:, 1] - transfers[:, 0]).astype(float)
        parts.append((nics[most[:, way]], nics[turn[first]], transfers[:, 1] - apart[first], length))
    return by_nic(parts, timeline)


def fed_by(connections: Connections, job: JobFlows, nic: int) -> set[int]:
    """Who receives the data that a NIC sends."""
    return {
        receiver
        for member, back, receiver in _lanes(connections, job)
        if nic == int(connections.b[member] if back else connections.a[member])
    }


def queued_before(
    connections: Connections, topology: Topology, job: JobFlows, timeline: Timeline, nic: int, inside: Bools
) -> float:
    """Microseconds from data at the last switch to its acknowledgement, in the middle of the bytes that a NIC received.

    In the steps ``inside``. What a sender sends slowly waits nowhere behind a switch: it is acknowledged within the
    time that a packet takes there and back.
    """
    late, weight = [np.zeros(0)], [np.zeros(0)]
    for member, back, receiver in _lanes(connections, job):
        if receiver != nic:
            continue
        rows = connections.rows(member)
        start, end = connections.start[rows], connections.end[rows]
        sent = connections.data[rows] & (connections.back[rows] == back) & (connections.packets[rows] >= AT_ONCE)
        near = sent & (connections.switch[rows] == leaf_of(connections, topology, nic))
        sent = near if near.any() else sent & connections.counted[rows]
        step = step_of(timeline, (start + end) // 2)
        sent &= (step >= 0) & inside[step]
        answers = connections.counted[rows] & (connections.back[rows] != back)
        bare = answers & ~connections.data[rows] & ~connections.messages(rows)
        answered = np.minimum(_next(end[bare], end[sent]), _next(end[answers & ~bare], end[sent] + 1))
        following = np.append(start[sent][1:], NEVER)
        answered = np.maximum(answered, trains(start[bare], end[bare], end[sent], following))
        seen = answered < NEVER
        late.append((answered - end[sent])[seen].astype(float))
        weight.append(connections.bytes[rows][sent][seen].astype(float))
    values, weights = np.concatenate(late), np.concatenate(weight)
    if not len(values):
        return 0.0
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, total[-1] / 2)])


def _next(ends: Ints, since: Ints) -> Ints:
    """The first of some ends that is not before each moment, in the order of their starts; NEVER: there is none."""
    latest = np.append(np.maximum.accumulate(ends), NEVER)
    following: Ints = latest[np.searchsorted(latest, since)]
    return following


def _lanes(connections: Connections, job: JobFlows) -> list[tuple[int, bool, int]]:
    """Connections and directions (True: what b sends) with most of the data of a connection, and who receives it."""
    return [
        (member, back, int(connections.a[member] if back else connections.b[member]))
        for member in job.heavy
        for back in (False, True)
        if connections.sent[member, int(back)] >= connections.sent[member].max() / 2
    ]
