"""Whose own work took longer, seen from experts: the time between what a NIC received in one exchange and the next.

Experts exchange tokens all to all several times a step, and each time all wait for the last one: it enters the ring of
gradients no later than the others. No data flows between two of them before both are there, so who is last begins all
of its exchanges late, and of the others each has begun one before.
"""

import numpy as np

from core.flows.connections import Connections
from core.flows.groups import FlowGroup, Groups
from core.flows.jobs import Floats
from core.flows.signs import FlowSign, sign_of
from core.flows.stage_work import by_batch
from core.flows.table import Ints
from core.flows.timeline import Timeline
from core.flows.transfers import MESSAGE_US, SOON_US, Transfers, transfers_of


def exchange_work(connections: Connections, groups: Groups, timeline: Timeline) -> FlowSign:
    """By NIC of a group of experts: the time of a step between its exchanges, NaN in steps of another number of them.

    Before the first exchange of a step there is none to measure from: that part is left out.
    """
    columns: dict[int, Floats] = {}
    for group in groups.of("ep"):
        columns |= _of_group(connections, group, timeline)
    return sign_of(columns, len(timeline))


def _of_group(connections: Connections, group: FlowGroup, timeline: Timeline) -> dict[int, Floats]:
    begun: dict[int, list[Floats]] = {nic: [] for nic in group.nics}
    received: dict[int, list[Floats]] = {nic: [] for nic in group.nics}
    for member in group.connections:
        a, b = connections.ends(member)
        for back, sender, receiver in ((False, a, b), (True, b, a)):
            transfers = transfers_of(connections, [member], back=back, silence=MESSAGE_US)
            start = by_batch(transfers[:, 0], transfers[:, 0], timeline)
            begun[sender].append(start)
            begun[receiver].append(start)
            arrived = _arrived(connections, member, transfers, back=back)
            received[receiver].append(by_batch(arrived, transfers[:, 0], timeline))
    sizes = {lane.shape[1] for lanes in begun.values() for lane in lanes}
    if len(sizes) != 1 or sizes.pop() < 2:
        return {}
    return {
        nic: (np.min(begun[nic], axis=0)[:, 1:] - np.max(received[nic], axis=0)[:, :-1]).sum(axis=1)
        for nic in group.nics
    }


def _arrived(connections: Connections, member: int, transfers: Transfers, *, back: bool) -> Ints:
    """When the receiver had acknowledged each transfer of a direction, which is later where its link is slow."""
    rows = connections.rows(member)
    own = connections.counted[rows] & (connections.back[rows] != back)
    start = connections.start[rows][own]
    if not len(start):
        return transfers[:, 1]
    latest = np.maximum.accumulate(connections.end[rows][own])
    place = np.searchsorted(start, transfers[:, 1] + SOON_US, "right") - 1
    arrived: Ints = np.maximum(transfers[:, 1], np.where(place >= 0, latest[place], 0))
    return arrived
