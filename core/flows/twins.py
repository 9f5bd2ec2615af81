"""Two connections between the same two NICs, one for each way: to the groups they are one connection.

NCCL has a queue pair for what a rank sends to another, and one for what it receives. Rings of three and more go around
both ways too, on connections of their own; they close, and stay as they are.
"""

from dataclasses import replace

import numpy as np

from core.flows.connections import Connections
from core.flows.groups import EVEN, UNEVEN
from core.flows.jobs import JobFlows, joined_ends
from core.flows.table import Ints


def with_twins_joined(connections: Connections, job: JobFlows) -> tuple[Connections, JobFlows]:
    """The connections of a job and the job, each two that are one as one: the first of them has the records of both."""
    twins = _open(connections, _twins(connections, job))
    if not len(twins):
        return connections, job
    home = np.arange(len(connections))
    home[twins[:, 1]] = twins[:, 0]
    kept = np.unique(home)
    place = np.searchsorted(kept, home)
    of_rows = place[connections.of_rows()]
    order = np.lexsort((connections.start, of_rows))  # stable: equal ones stay in their order
    sent = np.zeros((len(kept), 2), np.int64)
    np.add.at(sent, place, connections.sent)
    rows = {
        column: getattr(connections, column)[order]
        for column in ("start", "end", "back", "bytes", "packets", "flags", "switch", "counted", "data")
    }
    ends = {column: getattr(connections, column)[kept] for column in ("a", "b", "aport", "bport")}
    offset = np.searchsorted(of_rows[order], np.arange(len(kept) + 1))
    heavy, light = (tuple(np.unique(place[list(members)]).tolist()) for members in (job.heavy, job.light))
    return replace(connections, **ends, **rows, offset=offset, sent=sent), replace(job, heavy=heavy, light=light)


def _twins(connections: Connections, job: JobFlows) -> Ints:
    """(pairs, 2) connections of the same two NICs that send as much one way and the other."""
    ways: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
    for member in job.heavy:
        there, back = connections.sent[member].tolist()
        if min(there, back) < UNEVEN * max(there, back):
            ends = connections.ends(member)
            ways.setdefault(ends, ([], []))[back > there].append(member)
    found = []
    for one, other in ways.values():
        for pair in zip(
            *(sorted(way, key=lambda member: _volume(connections, member)) for way in (one, other)), strict=False
        ):
            less, more = sorted(_volume(connections, member) for member in pair)
            if less >= UNEVEN * more:
                found.append(sorted(pair))
    return np.array(sorted(found), np.int64).reshape(-1, 2)


def _volume(connections: Connections, member: int) -> int:
    return int(connections.sent[member].max())


def _open(connections: Connections, twins: Ints) -> Ints:
    """Those twins that close no ring with others that send as much."""
    volume = connections.sent[twins].sum(axis=(1, 2)).astype(float)
    order = np.argsort(volume, kind="stable")
    alike = np.append(0, np.cumsum(volume[order][1:] * EVEN > volume[order][:-1]))
    kept = []
    for name in range(int(alike[-1]) + 1) if len(twins) else ():
        own = twins[np.sort(order[alike == name])]
        a, b = connections.a[own[:, 0]], connections.b[own[:, 0]]
        many = len(connections.addresses)
        label = joined_ends(a, b, many)
        nics = np.bincount(label)
        edges = np.bincount(label[np.unique(np.stack([a, b], 1), axis=0)[:, 0]], minlength=len(nics))
        kept.append(own[edges[label[a]] < nics[label[a]]])
    joined: Ints = np.concatenate(kept) if kept else twins
    return joined
