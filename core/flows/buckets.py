"""Steps whose gradients go out in several bursts of equal bytes (DDP with few large buckets): one long silence a step.

A burst then looks like a step. That several are one shows in the silences: every k-th is long, all others are short.
"""

import numpy as np

from core.flows.boundaries import EQUAL, FEWEST, TURNS, Boundaries, silences
from core.flows.connections import Connections
from core.flows.jobs import Floats, JobFlows
from core.flows.table import Ints
from core.flows.topology import Topology
from core.flows.transfers import Transfers, of_lanes

# Of a step. Of two the silences may differ by less than core/flows/boundaries.py asks for; then they also need words
# between ranks behind nearly all of the long ones, and hardly any other: two kinds of work take turns as well
FEWEST_BURSTS, MOST_BURSTS = 2, 8
# Times as long as the short silences (tenth and ninetieth percentile), that the long ones are. With k buckets
# over the backward pass, twice as long as the forward, it is 1 + k / 2 and more: 2.5 of three
LONGER, SPREAD = 2.0, 0.1
# Of the short silences, that hold a word between ranks: then each burst ends a step, for the norm of the gradients and
# the like are sent once a step. And bytes to storage in most of the long ones: a checkpoint every so many steps
SPOKEN, STORED = 0.5, 1 << 20


def joined(
    connections: Connections, topology: Topology, job: JobFlows, bursts: Transfers, found: Boundaries
) -> Boundaries:
    """The same steps, or every k-th end where k bursts are one step."""
    behind = silences(bursts)[found.last[:-1]]
    for count in range(FEWEST_BURSTS, MOST_BURSTS + 1):
        long = _long(behind, count)
        if not len(long):
            continue
        begun, over = bursts[found.last[:-1], 1], bursts[found.last[:-1] + 1, 0]
        short = np.setdiff1d(np.arange(len(behind)), long)
        if _spoken(connections, job, begun[short], over[short]) or _stored(
            connections, topology, begun[long], over[long]
        ):
            return found
        places = np.append(long, len(behind)) if len(behind) - long[-1] == count else long
        last = found.last[places]
        sizes = np.diff(np.cumsum(bursts[:, 2])[last])
        size = float(np.median(sizes))
        return Boundaries(last, size, float((np.abs(sizes / size - 1) < EQUAL).mean()))
    return found


def _long(behind: Floats, count: int) -> Ints:
    """Places of the long ones among some silences, if every ``count``-th is long; else none."""
    if len(behind) <= count * FEWEST:
        return np.zeros(0, np.int64)
    ordered = np.sort(behind)
    cut = len(behind) - len(behind) // count
    short, long = float(np.quantile(ordered[:cut], 1 - SPREAD)), float(np.quantile(ordered[cut:], SPREAD))
    if long < LONGER * short:
        return np.zeros(0, np.int64)
    places: Ints = np.flatnonzero(behind > np.sqrt(short * long))
    return places if (np.diff(places) == count).mean() >= TURNS else np.zeros(0, np.int64)


def _spoken(connections: Connections, job: JobFlows, begun: Ints, over: Ints) -> float:
    """The share of some silences that hold a message of the job's control traffic."""
    said = [np.zeros(0, np.int64)]
    for member in job.light:
        rows = connections.rows(member)
        said.append(connections.start[rows][connections.counted[rows] & connections.messages(rows)])
    moments = np.sort(np.concatenate(said))
    return float((np.searchsorted(moments, over) > np.searchsorted(moments, begun)).mean())


def _stored(connections: Connections, topology: Topology, begun: Ints, over: Ints) -> bool:
    """Whether the job writes to storage in most of some silences."""
    storage = [topology.roles.get(address) == "storage" for address in connections.addresses]
    lanes = [
        (member, back)
        for member in range(len(connections))
        for back, receiver in ((False, int(connections.b[member])), (True, int(connections.a[member])))
        if storage[receiver]
    ]
    wrote = of_lanes(connections, lanes)
    total = np.append(0, np.cumsum(wrote[:, 2]))
    within = total[np.searchsorted(wrote[:, 0], over)] - total[np.searchsorted(wrote[:, 0], begun)]
    return bool((within > STORED).mean() > SPOKEN)
