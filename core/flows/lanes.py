"""The traffic of each group, to be drawn: a lane a ring, and two between neighbours of a pipeline."""

from collections.abc import Iterator, Sequence

from core.flows.answer import Lane, NamedGroup
from core.flows.connections import Connections
from core.flows.groups import FlowGroup, Groups
from core.flows.transfers import transfers_of


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
    pairs = sorted({tuple(sorted(_ends(connections, member), key=place.__getitem__)) for member in group.connections})
    for near, far in sorted(pairs, key=lambda pair: place[pair[0]]):
        members = [member for member in group.connections if set(_ends(connections, member)) == {near, far}]
        for back, (one, other) in ((near > far, (near, far)), (near < far, (far, near))):
            arrow = f"{connections.addresses[one]} → {connections.addresses[other]}"
            yield Lane(name, arrow, transfers_of(connections, members, back=back))


def _ends(connections: Connections, member: int) -> tuple[int, int]:
    return int(connections.a[member]), int(connections.b[member])
