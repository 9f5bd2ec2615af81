"""Which stage of a pipeline is the first: the one that sends first in a step, also where the pipeline closes.

Differs: who speaks first after the longest silences is the second stage where that one is slow (docs/LOG.md).
"""

from collections import Counter
from dataclasses import replace

import numpy as np

from core.flows.connections import Connections
from core.flows.groups import FlowGroup, Groups
from core.flows.table import Ints


def in_order(connections: Connections, groups: Groups, start: Ints) -> Groups:
    """The same groups; each pipeline from its first stage on, where its records show one.

    Args:
        start: (steps) microseconds since 1970; without steps nothing is changed.
    """
    if not len(start):
        return groups
    ordered = (_from_first(connections, group, start) if group.kind == "pp" else group for group in groups.groups)
    return replace(groups, groups=tuple(ordered))


def _from_first(connections: Connections, group: FlowGroup, start: Ints) -> FlowGroup:
    """A pipeline whose stages follow each other from the first one on; one that does not stays as it is."""
    beside: dict[int, set[int]] = {nic: set() for nic in group.nics}
    for member in group.connections:
        a, b = int(connections.a[member]), int(connections.b[member])
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
        a, b = int(connections.a[member]), int(connections.b[member])
        for back, lane in ((False, (a, b)), (True, (b, a))):
            own = connections.counted[rows] & connections.data[rows] & (connections.back[rows] == back)
            moments = np.append(connections.start[rows][own], np.iinfo(np.int64).max)
            lanes.append(lane)
            begun.append(moments[np.searchsorted(moments, start)])
    first = Counter(np.argmin(np.stack(begun), axis=0).tolist())
    most: int = max(sorted(first), key=first.__getitem__)
    return lanes[most]
