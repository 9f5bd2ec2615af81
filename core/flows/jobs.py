"""Which NICs are a job: union-find over heavy connections, then clusters that share servers and a clock (algorithm 1).

Differs: the paper joins clusters that share servers; that joins two tenants on different NICs of one server. Here they
also have to be busy at the same times.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from core.flows.connections import Bools, Connections
from core.flows.table import Ints
from core.flows.topology import Topology
from core.flows.transfers import transfers_of

Floats = NDArray[np.float64]

LIGHT = 0.01  # of the smaller of its ends' heaviest connection: below it is control traffic (docs/how-to/flows.md)
BIN_US = 10_000  # microseconds of a bin of activity (docs/how-to/flows.md)
BINS = 4_096  # at most: a long run is compared in coarser bins
# Correlation of the activity of two clusters of one job. Differs: flows.md has .5; rails of one job had .27 and more on
# machines that were busy, and 46 pairs of tenants on the same servers .05 at most (docs/LOG.md)
SAME_CLOCK = 0.2
# The same of all that is sent within so long, for rails on a machine that has more ranks than processors keep time by
# tens of milliseconds only: .47 to .8 in 31 of 35 pairs of rails, tenants .27 at most at any shift (docs/LOG.md)
PACE_US, SAME_PACE = 50_000, 0.35
# Less is enough for clusters on the same servers that send as many bytes, within a hundredth: rails of six servers
# under load had .26, tenants on shared servers .12 at most (docs/LOG.md)
SAME_RAILS, AS_MUCH = 0.2, 0.01
# Of that at the best shift: where steps are all alike it is as high a step later. Seven rails of two servers had .44 to
# .56, and .46 to .58 at the best shift (docs/LOG.md)
OF_SHIFTED = 0.8
# Of the bursts of the cluster that has fewer, beyond chance: that many begin with one of the other. Of two rails of a
# job one may be slow, and busy for ten times as long; both still begin at once: .39 to 1.0, tenants -.01 (docs/LOG.md)
SAME_TURNS, TURN_US = 0.3, 5_000
SHIFTS = 8  # parts of a usual time between two bursts, by which all are shifted to see what chance does
FEWEST_BINS = 20  # of activity; with fewer no clock can be compared
SMALL = 0.01  # of the bytes a NIC of the largest cluster: what is smaller trains nothing


@dataclass(frozen=True)
class JobFlows:
    """A job: its NICs and its connections.

    Attributes:
        nics: places in ``addresses``, sorted.
        heavy: connections that carry its data, sorted.
        light: connections between its NICs that carry control traffic, sorted.
    """

    nics: tuple[int, ...]
    heavy: tuple[int, ...]
    light: tuple[int, ...]


@dataclass(frozen=True)
class CaptureJobs:
    """The jobs of a capture, and whether clusters were joined without a look at their clocks."""

    jobs: tuple[JobFlows, ...]
    blind: bool


def find_jobs(connections: Connections, topology: Topology) -> CaptureJobs:
    """Jobs by their lowest address; infrastructure is no part of any."""
    many = len(connections.addresses)
    outside = np.array([address in topology.roles for address in connections.addresses] or [False])
    inside = ~outside[connections.a] & ~outside[connections.b] & (connections.a != connections.b) if many else None
    if inside is None or not inside.any():
        return CaptureJobs((), blind=False)
    heavy = _heavy(connections, inside)
    cluster = _clusters(connections, heavy, many)
    names, blind = _join(connections, topology, heavy, cluster)
    jobs = []
    home = cluster.copy()
    for place, name in names.items():
        home[cluster == place] = name
    for name in sorted(set(names.values())):
        nics = np.flatnonzero(home == name)
        own = np.isin(connections.a, nics) & np.isin(connections.b, nics) & inside
        jobs.append((nics, np.flatnonzero(own & heavy), np.flatnonzero(own & ~heavy)))
    volume = [connections.sent[mine].sum() / len(nics) for nics, mine, _ in jobs]
    return CaptureJobs(
        tuple(
            JobFlows(*(tuple(map(int, part)) for part in job))
            for job, bytes_of in zip(jobs, volume, strict=True)
            if bytes_of >= SMALL * max(volume)
        ),
        blind,
    )


def part_of(connections: Connections, job: JobFlows) -> tuple[Connections, JobFlows]:
    """The connections of the NICs of a job, to whomever they are, and the job in them."""
    chosen = np.flatnonzero(np.isin(connections.a, job.nics) | np.isin(connections.b, job.nics))
    heavy, light = (tuple(np.searchsorted(chosen, members).tolist()) for members in (job.heavy, job.light))
    return connections.only(chosen), JobFlows(job.nics, heavy, light)


def _heavy(connections: Connections, inside: Bools) -> Bools:
    """Connections that are no control traffic of their ends."""
    volume = np.where(inside, connections.sent.sum(axis=1), 0)
    most = np.zeros(len(connections.addresses), np.int64)
    np.maximum.at(most, connections.a, volume)
    np.maximum.at(most, connections.b, volume)
    heavy: Bools = (volume > 0) & (volume >= LIGHT * np.minimum(most[connections.a], most[connections.b]))
    return heavy


def _clusters(connections: Connections, heavy: Bools, many: int) -> Ints:
    """(addresses) the cluster of each, named after its lowest member; -1 for those without a heavy connection."""
    a, b = connections.a[heavy], connections.b[heavy]
    alone = np.ones(many, bool)
    alone[a] = alone[b] = False
    return np.where(alone, -1, joined_ends(a, b, many))


def joined_ends(a: Ints, b: Ints, many: int) -> Ints:
    """(addresses) the lowest one that each is joined to by some connections between ``a`` and ``b``, or itself."""
    joined: Ints = np.arange(many)
    before = np.full(many, -1)
    while (joined != before).any():  # scipy's, which nothing else here needs, takes .25 s to load
        before, lowest = joined, np.minimum(joined[a], joined[b])
        joined = joined.copy()
        for end in (a, b):
            np.minimum.at(joined, before[end], lowest)
        while (joined[joined] != joined).any():
            joined = joined[joined]
    return joined


def _join(connections: Connections, topology: Topology, heavy: Bools, cluster: Ints) -> tuple[dict[int, int], bool]:
    """Of each cluster the job that it is in, and whether any were joined although nothing could be compared."""
    job = {int(name): int(name) for name in np.unique(cluster) if name >= 0}
    servers: dict[str, set[int]] = {}
    for address, name in zip(connections.addresses, cluster.tolist(), strict=True):
        if name >= 0:
            servers.setdefault(topology.server_of(address), set()).add(name)
    neighbours = sorted({pair for shared in servers.values() for pair in pairwise(sorted(shared))})
    neighbours += sorted(
        {(x, y) for shared in servers.values() for x in shared for y in shared if x < y} - set(neighbours)
    )
    activity, width = _activity(connections, heavy, cluster, sorted({name for pair in neighbours for name in pair}))
    sizes = {name: _size(connections, topology, heavy, cluster, name) for name in activity}
    blind = False
    for x, y in neighbours:
        if job[x] == job[y]:
            continue
        busy = activity[x].any() and activity[y].any() and len(activity[x]) >= FEWEST_BINS
        alike = busy and np.corrcoef(activity[x], activity[y])[0, 1] > SAME_CLOCK
        if busy and not alike:
            begun = (_begun(connections, heavy, cluster, name) for name in (x, y))
            limits = (SAME_RAILS, OF_SHIFTED) if _as_large(sizes[x], sizes[y]) else (SAME_PACE, 1.0)
            paces = activity[x], activity[y], PACE_US // width
            if _in_turn(*begun) <= SAME_TURNS and not _same_pace(*paces, *limits):
                continue
        blind |= not busy
        old, new = max(job[x], job[y]), min(job[x], job[y])
        job = {name: new if of == old else of for name, of in job.items()}
    return job, blind


def _begun(connections: Connections, heavy: Bools, cluster: Ints, name: int) -> Ints:
    """When the bursts of a cluster began."""
    members = np.flatnonzero(heavy & (cluster[connections.a] == name))
    return transfers_of(connections, members.tolist())[:, 0]


def _in_turn(one: Ints, other: Ints) -> float:
    """The share of the bursts of the one with fewer that begin with one of the other, beyond what chance would do."""
    few, many = sorted((one, other), key=len)
    if len(few) < FEWEST_BINS:
        return 0.0
    period = int(np.median(np.diff(few)))
    near = [_near(few + period * turn // SHIFTS, many) for turn in range(SHIFTS)]
    chance = float(np.mean(near[1:]))
    return (near[0] - chance) / (1 - chance) if chance < 1 else 0.0


def _near(moments: Ints, others: Ints) -> float:
    place = np.searchsorted(others, moments)
    before, after = others[np.maximum(place - 1, 0)], others[np.minimum(place, len(others) - 1)]
    return float((np.minimum(np.abs(moments - before), np.abs(after - moments)) < TURN_US).mean())


def _size(
    connections: Connections, topology: Topology, heavy: Bools, cluster: Ints, name: int
) -> tuple[frozenset[str], int]:
    """The servers of a cluster and the bytes that it sent."""
    nics = np.flatnonzero(cluster == name).tolist()
    servers = frozenset(topology.server_of(connections.addresses[nic]) for nic in nics)
    return servers, int(connections.sent[heavy & (cluster[connections.a] == name)].sum())


def _as_large(one: tuple[frozenset[str], int], other: tuple[frozenset[str], int]) -> bool:
    """Whether two clusters are on the same servers and send as much, as rails of one job."""
    return one[0] == other[0] and abs(one[1] - other[1]) <= AS_MUCH * max(one[1], other[1])


def _same_pace(one: Floats, other: Floats, bins: int, least: float, shifted: float) -> bool:
    """Whether two clusters are busy at the same times, more than if one were shifted: both hurry and wait together.

    Tenants with steps of one length are as much so at another shift, but by chance.

    Args:
        bins: that are taken together.
        least: correlation of the two.
        shifted: of their correlation at any other shift, that it has to be above as well.
    """
    if bins < 2 or len(one) < 4 * bins:  # of coarser bins the noise of their servers is alike
        return False
    smooth = np.stack([np.convolve(of, np.ones(bins), "same") for of in (one, other)])
    smooth -= smooth.mean(axis=1, keepdims=True)
    first, second = np.fft.rfft(smooth)
    alike = np.fft.irfft(first * second.conj(), smooth.shape[1]) / np.prod(np.linalg.norm(smooth, axis=1))
    near = float(np.roll(alike, bins)[: 2 * bins + 1].max())  # one rail may begin somewhat later than another
    return near > max(least, shifted * float(alike[2 * bins : 1 - 2 * bins].max()))


def _activity(connections: Connections, heavy: Bools, cluster: Ints, names: list[int]) -> tuple[dict[int, Floats], int]:
    """Bytes a bin of some clusters over the whole capture, and how wide one is: as a usual record is long, or more."""
    if not names:
        return {}, BIN_US
    of_rows = connections.of_rows()
    rows = np.flatnonzero(heavy[of_rows] & connections.counted & connections.data)
    start, end = connections.start[rows], connections.end[rows]
    span = int(end.max() - start.min()) + 1
    width = max(BIN_US, span // BINS, int(np.median(end - start)))
    of = cluster[connections.a]
    turn = np.where(np.isin(of, names), np.searchsorted(names, of), len(names))  # of a connection
    place = ((start + end) // 2 - start.min()) // width
    bins = span // width + 1
    total = np.bincount(turn[of_rows[rows]] * bins + place, connections.bytes[rows], (len(names) + 1) * bins)
    return dict(zip(names, total.reshape(-1, bins).astype(float), strict=False)), width
