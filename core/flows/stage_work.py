"""Whose own work took longer, seen from pipelines: what each stage sends, and what it had to wait for before.

A stage works on a micro-batch from the later of two moments on: when it sent what came before, and when it received
what it needs. Differs: the time since the last receipt is not that, for in a busy pipeline inputs wait for the stage.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from core.flows.connections import Bools, Connections
from core.flows.groups import FlowGroup, Groups
from core.flows.jobs import Floats
from core.flows.signs import FlowSign, rises, step_of
from core.flows.table import Ints
from core.flows.timeline import Timeline
from core.flows.transfers import MESSAGE_US, transfers_of

RISEN = (
    0.15  # of its level before, by which a lane rose: lanes between healthy NICs moved by less than .07 (d01, d05, d10)
)
PART = 0.1  # of what a step became slower by, at least


def stage_work(connections: Connections, groups: Groups, timeline: Timeline) -> FlowSign:
    """By NIC and neighbour that it sends to: the time of a step that went into what it sends there."""
    columns: dict[tuple[int, ...], Floats] = {}
    for group in groups.of("pp"):
        columns |= _of_pipeline(connections, group, timeline)
    lanes = tuple(sorted(columns))
    values = np.stack([columns[lane] for lane in lanes], 1) if lanes else np.zeros((len(timeline), 0))
    return FlowSign(lanes, values)


def _of_pipeline(connections: Connections, group: FlowGroup, timeline: Timeline) -> dict[tuple[int, ...], Floats]:
    """The work of each stage: forward to the next, backward to the one before."""
    sent: dict[tuple[int, ...], Floats] = {}
    received: dict[tuple[int, ...], Floats] = {}
    for member in group.connections:
        ends = connections.ends(member)
        for back, lane in ((False, ends), (True, ends[::-1])):
            transfers = transfers_of(connections, [member], back=back, silence=MESSAGE_US)
            sent[lane] = by_batch(transfers[:, 0], transfers[:, 0], timeline)
            received[lane] = by_batch(transfers[:, 1], transfers[:, 0], timeline)
    path = group.nics
    work: dict[tuple[int, ...], Floats] = {}
    for stage, nic in enumerate(path):
        lanes = [(nic, other) for other in path if (nic, other) in sent]
        own = np.concatenate([sent[lane] for lane in lanes], 1)
        after, before = path[stage + 1 : stage + 2], path[max(0, stage - 1) : stage]
        activations = received.get((*before, nic))
        gradients = received.get((*after, nic))
        for lane in lanes:
            forward = lane[1] in after
            needed = activations if forward else gradients
            if needed is None and forward:  # the first stage works on gradients in between, and sends them nowhere
                needed = _latest_needed(sent[lane], gradients)
            elif needed is None:  # the last stage needs the activation alone
                needed = activations
            work[lane] = _time(sent[lane], own, needed)
    return work


def by_batch(moments: Ints, begun: Ints, timeline: Timeline) -> Floats:
    """(steps, micro-batches) moments of the transfers; NaN in steps that have another number of them than most."""
    step = step_of(timeline, begun)
    moments, step = moments[step >= 0], step[step >= 0]
    count = np.bincount(step, minlength=len(timeline))
    usual = int(np.median(count))
    table = np.full((len(timeline), usual), np.nan)
    whole: Bools = np.equal(count, usual)
    if usual and whole.any():
        table[whole] = moments[whole[step]].reshape(-1, usual)
    return table


def _latest_needed(sent: Floats, gradients: Floats | None) -> Floats | None:
    """The gradient that has to be there before each activation, as late as all sendings of the job allow."""
    if gradients is None or not sent.size or not gradients.size:
        return None
    there: Ints = np.sum(gradients[:, None, :] <= sent[:, :, None], axis=2)
    whole = np.isfinite(gradients.sum(axis=1))
    good = np.isfinite(sent) & whole[:, None] & (there > 0)
    if not good.any():
        return None
    behind = int(np.max((np.arange(sent.shape[1]) - there + 1)[good]))
    needed = np.full(sent.shape, -np.inf)
    for batch in range(max(0, behind), sent.shape[1]):
        if 0 <= batch - behind < gradients.shape[1]:
            needed[:, batch] = gradients[:, batch - behind]
    return needed


def _time(sent: Floats, own: Floats, needed: Floats | None) -> Floats:
    """(steps) the time of work behind some sendings; the first of a step has no beginning, and is left out."""
    if not sent.size:
        return np.zeros(len(sent))
    earlier = np.where(own[:, None, :] < sent[:, :, None], own[:, None, :], -np.inf)
    begun = earlier.max(axis=2)
    if needed is not None and needed.shape == sent.shape:
        begun = np.maximum(begun, np.where(needed <= sent, needed, -np.inf))
    spent = np.where(np.isfinite(begun), sent - begun, 0.0)
    return np.where(np.isfinite(sent).all(axis=1), spent.sum(axis=1), np.nan)


def slow_workers(
    sign: FlowSign, homes: Mapping[int, str], inside: Bools, outside: Bools, more: float
) -> dict[str, Floats]:
    """The servers of which every sending to every neighbour came later, and what each took: (steps) microseconds.

    A server whose NICs only send to such servers may have waited for them to be ready: it is left out where one of
    those also sends to others.

    Args:
        sign: of ``stage_work``, by sender and receiver.
        homes: the server of each NIC. NICs of a server share its work, so all of them have to be late.
        more: microseconds that a step became slower by.
    """
    rise, before = rises(sign, inside, outside)[:2]
    lanes = _lanes(sign, homes)
    work = all_workers(sign, homes)
    slow = {
        server: own
        for server, own in sorted(lanes.items())
        if all(rise[place] >= max(RISEN * before[place], PART * more / len(own)) for place in own)
    }
    to = {server: {homes[sign.things[place][1]] for place in own} for server, own in slow.items()}
    beyond = {server for server, receivers in to.items() if receivers - slow.keys()}
    return {server: work[server] for server in slow if server in beyond or not to[server] & beyond}


def all_workers(sign: FlowSign, homes: Mapping[int, str]) -> dict[str, Floats]:
    """What the work of each server took, slow or not: (steps) microseconds a NIC."""
    return {
        server: sign.values[:, own].sum(axis=1) / len({sign.things[place][0] for place in own})
        for server, own in _lanes(sign, homes).items()
    }


def _lanes(sign: FlowSign, homes: Mapping[int, str]) -> dict[str, list[int]]:
    """The places of what each server sends."""
    lanes: dict[str, list[int]] = {}
    for place, (sender, _) in enumerate(sign.things):
        lanes.setdefault(homes[sender], []).append(place)
    return lanes


def summed(columns: Mapping[str, Floats], nics: Mapping[str, Sequence[int]], steps: int) -> FlowSign:
    """Sums of servers as a sign, each thing all the NICs of a server."""
    names = sorted(columns)
    values = np.stack([columns[name] for name in names], 1) if names else np.zeros((steps, 0))
    return FlowSign(tuple(tuple(nics[name]) for name in names), values)
