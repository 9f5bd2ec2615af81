"""When the last rank has gone on from the last data of a step, as the next message of each NIC shows it.

Data has arrived before its rank goes on: on a busy machine by many milliseconds, which no packet of the data marks. The
next message of the NIC does: the norm of the gradients, a tied embedding, a call for the next data. What usually comes
later than at once follows other work, and is not asked.

Differs: the end of the data alone was off by .3 to 1.2 % of a step on busy machines (docs/LOG.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.flows.connections import FIN_RST, Bools, Connections
from core.flows.groups import Groups
from core.flows.jobs import JobFlows
from core.flows.table import Ints
from core.flows.topology import Topology
from core.flows.transfers import latest_before

# Microseconds between the last data and a message that is usually the next thing its NIC does: two silences that end a
# record at the message grain. With 1 to 10 ms the sets d01 to d12 come out alike (docs/LOG.md)
SOON_US = 4_000
# Of a usual step, after which a message is one of the next step, that a stall or a checkpoint held up: all seven of .2
# and more in 27,500 steps were such, and late departures had .14 at most (docs/LOG.md)
LATEST = 0.2
NEVER = np.iinfo(np.int64).max // 4


@dataclass(frozen=True)
class _Records:
    """What the NICs of a job sent, each record once.

    Attributes:
        sender, receiver: places in the NICs of the job; a receiver outside of it is -1.
        lane: connection and direction, as one number; of what goes to machines outside of the job (storage, a service)
            the NIC and the machine, for a program may open a new connection each time.
        start, end: microseconds since the first of them.
        ring: data of the groups with which steps end.
        message: something of a program, and no such data.
    """

    sender: Ints
    receiver: Ints
    lane: Ints
    start: Ints
    end: Ints
    ring: Bools
    message: Bools


def last_departure(
    connections: Connections, topology: Topology, job: JobFlows, groups: Groups, end: Ints
) -> tuple[Ints, int]:
    """When the last NIC had gone on from each step, ``end`` where no message tells; and of how many NICs one does.

    Args:
        end: (steps) when the last data had arrived, microseconds since 1970.
    """
    rings = np.array(sorted({member for group in groups.of("dp") for member in group.connections}), np.int64)
    origin = int(connections.start.min())
    records = _records(connections, job, rings, origin)
    began, arrived = _last_data(records, len(job.nics), end - origin)
    if not records.message.any():
        return end, 0
    sender, first = _first_messages(records, rings, began, arrived)
    later = first - (end - origin)
    # of the last data of its server, or of the job, where its rank waits for others
    own = _of_servers(arrived, [topology.server_of(connections.addresses[nic]) for nic in job.nics])
    apart = np.minimum(np.median(np.abs(first - own[sender]), axis=1), np.median(np.abs(later), axis=1))
    soon = apart < SOON_US
    later[later >= LATEST * float(np.median(np.diff(end)))] = NEVER
    by_nic = np.full((len(job.nics), len(end)), NEVER)
    np.minimum.at(by_nic, sender[soon], later[soon])
    return end + np.where(by_nic < NEVER, np.maximum(by_nic, 0), 0).max(axis=0), len(np.unique(sender[soon]))


def _records(connections: Connections, job: JobFlows, rings: Ints, origin: int) -> _Records:
    nics, many = np.array(job.nics, np.int64), len(connections)
    ends = np.stack([connections.a, connections.b], 1)
    place = np.minimum(np.searchsorted(nics, ends), len(nics) - 1)
    place[nics[place] != ends] = -1
    outside = (place < 0).any(axis=1) & (place >= 0).any(axis=1)
    members = np.union1d(np.array((*job.heavy, *job.light), np.int64), np.flatnonzero(outside))
    rows, turn = connections.all_rows(members)
    member, back = members[turn], connections.back[rows].astype(np.int64)
    own = np.flatnonzero(connections.counted[rows] & (place >= 0)[member, back])
    member, back = member[own], back[own]
    sender, receiver = place[member, back], place[member, 1 - back]
    lanes = np.arange(2 * many).reshape(-1, 2)
    lanes[outside] = 2 * many + place[outside] * len(connections.addresses) + ends[outside][:, ::-1]
    lane = lanes[member, back]
    ring = connections.data[rows][own] & np.isin(np.arange(many), rings)[member]
    message = (connections.messages(rows) & ((connections.flags[rows] & FIN_RST) == 0))[own] & ~ring
    start, end = connections.start[rows][own] - origin, connections.end[rows][own] - origin
    return _Records(sender, receiver, lane, start, end, ring, message)


def _last_data(records: _Records, nics: int, end: Ints) -> tuple[Ints, Ints]:
    """(nics, steps) of the last data of each NIC in each step: when what it received began, and when any of it ended.

    A rank goes on when it has received all: what it sends may still leave its kernel then.
    """
    start, last = records.start[records.ring], records.end[records.ring]
    receiver, sender = records.receiver[records.ring], records.sender[records.ring]
    began = latest_before(start, start, end, receiver, nics)
    arrived = latest_before(np.tile(start, 2), np.tile(last, 2), end, np.append(sender, receiver), nics)
    return np.where(began < 0, NEVER, began), np.where(arrived < 0, NEVER, np.minimum(arrived, end))


def _of_servers(arrived: Ints, servers: Sequence[str]) -> Ints:
    """(nics, steps) the last data of all NICs of each one's server: their ranks wait for each other."""
    place = np.unique(servers, return_inverse=True)[1]
    latest = np.zeros((place.max() + 1, arrived.shape[1]), np.int64)
    np.maximum.at(latest, place, np.where(arrived < NEVER, arrived, 0))
    own: Ints = latest[place]
    return own


def _first_messages(records: _Records, rings: Ints, began: Ints, arrived: Ints) -> tuple[Ints, Ints]:
    """(lanes) the NIC that sends each, and (lanes, steps) its first message behind the NIC's last data.

    A record of data may end with acknowledgements, so a message counts from the beginning of that record on. On the
    connections of the data itself calls for more of it go before, so there it counts from the end on.
    """
    start = records.start[records.message]
    lanes, distinct, code = np.unique(records.lane[records.message], return_index=True, return_inverse=True)
    sender = records.sender[records.message][distinct]
    span = int(start.max()) + 1
    order = np.argsort(code * span + start)
    code, start = code[order], start[order]
    since = np.where(np.isin(lanes // 2, rings)[:, None], arrived[sender], began[sender])
    turn = np.arange(len(lanes))[:, None]
    place = np.searchsorted(code * span + start, turn * span + np.minimum(since, span - 1))
    there = np.minimum(place, len(code) - 1)
    seen = (place < len(code)) & (code[there] == turn) & (since < span)
    return sender, np.where(seen, start[there], NEVER)
