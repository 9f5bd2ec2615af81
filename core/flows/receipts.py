"""Whose data takes longer to come in, and whether it queues before its receiver or is sent slowly.

Congestion control may keep the queue of a slow link so short that acknowledgements are hardly late. The transfers to
its NIC then last longer, and no others: those that wait for them wait between transfers.
"""

import numpy as np

from core.flows.connections import Bools, Connections
from core.flows.jobs import Floats, JobFlows
from core.flows.signs import FlowSign, by_step, leaf_of, step_of
from core.flows.table import Ints
from core.flows.timeline import Timeline
from core.flows.topology import Topology
from core.flows.transfers import MESSAGE_US, transfers_of

QUARTER = 0.75  # of the time that a NIC received: that much in transfers that were acknowledged sooner


def long_receipts(connections: Connections, job: JobFlows, timeline: Timeline) -> FlowSign:
    """By receiver: how long its transfers of a step lasted, of each connection by itself."""
    return _lengths(connections, job, timeline, sender=False)


def long_sendings(connections: Connections, job: JobFlows, timeline: Timeline) -> FlowSign:
    """By sender: the same."""
    return _lengths(connections, job, timeline, sender=True)


def _lengths(connections: Connections, job: JobFlows, timeline: Timeline, *, sender: bool) -> FlowSign:
    found: dict[int, list[tuple[Ints, Floats]]] = {}
    for member, back, receiver in _lanes(connections, job):
        transfers = transfers_of(connections, [member], back=back, silence=MESSAGE_US)
        other = int(connections.b[member] if back else connections.a[member])
        length = (transfers[:, 1] - transfers[:, 0]).astype(float)
        found.setdefault(other if sender else receiver, []).append((transfers[:, 1], length))
    return by_step(found, timeline)


def queued_before(
    connections: Connections, topology: Topology, job: JobFlows, timeline: Timeline, nic: int, inside: Bools
) -> float:
    """Microseconds by which acknowledgements end behind data at the last switch, in the transfers that are latest.

    They were received in a quarter of the time of the steps ``inside``. What a sender sends slowly waits nowhere behind
    a switch: it is acknowledged within the time that a packet takes there and back.
    """
    late, weight = [np.zeros(0)], [np.zeros(0)]
    for member, back, receiver in _lanes(connections, job):
        if receiver != nic:
            continue
        rows = connections.rows(member)
        start, end = connections.start[rows], connections.end[rows]
        sent = connections.data[rows] & (connections.back[rows] == back)
        near = sent & (connections.switch[rows] == leaf_of(connections, topology, nic))
        sent = near if near.any() else sent & connections.counted[rows]
        answers = connections.counted[rows] & (connections.back[rows] != back)
        step = step_of(timeline, (start + end) // 2)
        sent &= (step >= 0) & inside[step]
        place = np.searchsorted(start[answers], end[sent], "right") - 1
        seen = place >= 0
        late.append((end[answers][place[seen]] - end[sent][seen]).astype(float))
        weight.append((end[sent][seen] - start[sent][seen]).astype(float))
    values, weights = np.concatenate(late), np.concatenate(weight)
    if not weights.sum():
        return 0.0
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, QUARTER * total[-1])])


def _lanes(connections: Connections, job: JobFlows) -> list[tuple[int, bool, int]]:
    """Connections and directions (True: what b sends) with most of the data of a connection, and who receives it."""
    return [
        (member, back, int(connections.a[member] if back else connections.b[member]))
        for member in job.heavy
        for back in (False, True)
        if connections.sent[member, int(back)] >= connections.sent[member].max() / 2
    ]
