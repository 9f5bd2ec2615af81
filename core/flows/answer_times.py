"""Whose own work took longer, seen from pipelines: the time between the last receipt and the next sending.

Beside ``core/flows/stage_work.py``, which fails where a sender waits for its receiver to be ready (gloo); this one
fails where inputs wait for a busy stage. Where both name somebody, and not the same, nobody is named.
"""

import numpy as np

from core.flows.connections import Connections
from core.flows.groups import Groups
from core.flows.jobs import Floats
from core.flows.signs import FlowSign, step_of
from core.flows.table import Ints
from core.flows.timeline import Timeline
from core.flows.transfers import transfers_of


def answer_times(connections: Connections, groups: Groups, timeline: Timeline) -> FlowSign:
    """By NIC and neighbour that it sends to: what a step's work takes, as the time between receiving and sending.

    On pipeline connections, the middle one of a step times how often it sends: the sum would change with the order in
    which things arrive, for only some sendings follow a receipt at once.
    """
    members: dict[int, list[int]] = {}
    for member in (member for member, kind in groups.kinds.items() if kind == "pp"):
        for nic in sorted({int(connections.a[member]), int(connections.b[member])}):
            members.setdefault(nic, []).append(member)
    columns: dict[tuple[int, int], Floats] = {}
    for nic in sorted(members):
        lanes = {member: _lanes(connections, member, nic) for member in members[nic]}
        into = np.sort(np.concatenate([received for _, received in lanes.values()]))
        for member, (sent, _) in lanes.items():
            a, b = int(connections.a[member]), int(connections.b[member])
            if len(sent):
                columns[nic, b if nic == a else a] = _work(sent, into, timeline)
    lanes_seen = tuple(sorted(columns))
    values = np.stack([columns[lane] for lane in lanes_seen], 1) if lanes_seen else np.zeros((len(timeline), 0))
    return FlowSign(lanes_seen, values)


def _lanes(connections: Connections, member: int, nic: int) -> tuple[Ints, Ints]:
    """When a NIC began to send on a connection, and when it had received."""
    b = int(connections.b[member])
    sent = transfers_of(connections, [member], back=nic == b)
    received = transfers_of(connections, [member], back=nic != b)
    return sent[:, 0], received[:, 1]


def _work(sent: Ints, into: Ints, timeline: Timeline) -> Floats:
    """(steps) the middle time from the last receipt to a sending, times the sendings of a usual step."""
    before = np.searchsorted(into, sent, "right") - 1
    step = step_of(timeline, sent)
    if not len(into) or not (step >= 0).any():
        return np.zeros(len(timeline))
    first = np.append(True, before[1:] != before[:-1])
    good = (before >= 0) & first & (step >= 0)
    good &= step_of(timeline, into[np.maximum(before, 0)]) == step
    waited, own = (sent - into[np.maximum(before, 0)])[good], step[good]
    order = np.lexsort((waited, own))
    waited, own = waited[order].astype(float), own[order]
    begin, end = np.searchsorted(own, np.arange(len(timeline))), np.searchsorted(own, np.arange(len(timeline)), "right")
    often = float(np.median(np.bincount(step[step >= 0], minlength=len(timeline))))
    middle = np.zeros(len(timeline))
    seen = end > begin
    middle[seen] = waited[(begin[seen] + end[seen] - 1) // 2]
    return middle * often
