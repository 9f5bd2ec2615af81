"""The steps of a job, from the bursts of its data-parallel groups.

A step ends when its last group's burst ends and the last NIC has gone on (core/flows/departures.py). The optimizer
behind it is not seen: a step of ours ends with its communication, a constant before the trainer's.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.flows.boundaries import CLEAR, find_boundaries
from core.flows.buckets import joined
from core.flows.connections import Connections
from core.flows.departures import last_departure
from core.flows.groups import Groups
from core.flows.jobs import Floats, JobFlows
from core.flows.phases import Lanes, behind_scatter, ending_lanes
from core.flows.table import Ints
from core.flows.topology import Topology
from core.flows.transfers import SOON_US, laid_out, latest_before, merge, of_lanes, trains

LEAST = 8  # steps: the 100 first records of a job have six bursts that are alike (d08)
RECORDS = 9  # lengths of a record that a step has at least (flows.md: 1/9 carries the timeline, 1/4 does not)
# The same of records that silence alone ends: each is one transfer; those of a ring of 13 lasted a quarter of a step
TRANSFERS = 2
# Or times as long as a usual record, that the silence between two steps is: a record keeps its own first and last time,
# so where a time-out cuts within bursts alone, it hides no end of a step (made-up jobs: 6.5, and .04 where records of a
# minute hold many steps; docs/LOG.md)
QUIET = 2.0
# Of the bytes of a usual step, with which a step is more than one. Set by hand: what is sent again adds some, and twice
# the bytes are two steps
MORE = 1.1


@dataclass(frozen=True)
class Timeline:
    """The steps of a job.

    Attributes:
        start, end: microseconds since 1970; a step starts where the one before ends, the first with its first traffic.
        period: median length of a step in microseconds.
        why_not: why there are none, empty if there are.
        sizes: (steps) data of each in that of a usual one; the least of its groups.
        quiet: microseconds without data that usually lie between two steps of a group, in that with the least.
        seen: NICs of which a message tells when they have gone on from a step; with none it ends with its last data.
    """

    start: Ints
    end: Ints
    period: float
    why_not: str = ""
    sizes: Floats | None = None
    quiet: float = 0.0
    seen: int = 0

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.end)

    @property
    def durations(self) -> Floats:
        """Microseconds; the first one's is not known, and is that of the second."""
        lengths = (self.end - self.start).astype(float)
        if len(lengths) > 1:
            lengths[0] = lengths[1]
        return lengths

    @property
    def paces(self) -> Floats:
        """The same of as many bytes as a usual step has: what holds more was not told apart, and is several."""
        if self.sizes is None:
            return self.durations
        return self.durations / np.where(self.sizes > MORE, self.sizes, 1.0)


def find_timeline(connections: Connections, topology: Topology, job: JobFlows, groups: Groups) -> Timeline:
    """The steps that the records of a job's groups show, or why they show none."""
    grain = groups.grain
    if grain.sampled:
        return _none("the records are samples of single packets, which do not add up to the bytes of a step")
    found, sizes, quiet = [], [], []
    for group in groups.of("dp"):
        lanes = ending_lanes(connections, group)
        bursts = of_lanes(connections, lanes)
        boundaries = find_boundaries(bursts)
        if boundaries is not None and boundaries.equal >= CLEAR:
            boundaries = behind_scatter(bursts, boundaries) if len(group.nics) == 2 else boundaries
            boundaries = joined(connections, topology, job, bursts, boundaries)
            following = np.append(bursts[1:, 0], bursts[-1, 1] + SOON_US)
            total = np.cumsum(bursts[:, 2])[boundaries.last]
            sizes.append(np.append(1.0, np.diff(total) / boundaries.size))
            quiet.append(float(np.median((following - bursts[:, 1])[boundaries.last])))
            found.append(_arrived(connections, lanes, bursts[boundaries.last, 1], following[boundaries.last]))
    if not found:
        lasts = f"; its records last {grain.usual / 1e6:.2g} s"
        return _none(
            f"no group of it shows steps of equal bytes{lasts}" if groups.of("dp") else "no data-parallel group is seen"
        )
    end = latest(found)
    if len(end) < LEAST:
        return _none(f"only {len(end)} bursts of equal bytes are seen, which may be the start of a job")
    period = float(np.median(np.diff(end)))
    hidden = period < (TRANSFERS if grain.silence else RECORDS) * grain.usual
    if hidden and min(quiet) < QUIET * grain.usual:
        return _none(f"records last {grain.usual / 1e6:.2g} s, a step would be {period / 1e6:.2g} s")
    first = _first(connections, job, end)
    end, seen = last_departure(connections, topology, job, groups, end)
    start = np.append(first, end[:-1])
    least = np.min([of for of in sizes if len(of) == len(end)], axis=0)
    return Timeline(start, end, float(np.median(np.diff(end))), sizes=least, quiet=min(quiet), seen=seen)


def _none(why_not: str) -> Timeline:
    return Timeline(np.zeros(0, np.int64), np.zeros(0, np.int64), 0.0, why_not)


def _arrived(connections: Connections, lanes: Lanes, end: Ints, following: Ints) -> Ints:
    """When the last data of each step had arrived: every exporter on its path and the receiver's acknowledgement count.

    Args:
        end, following: when the last data of each step was sent, and the first data after it.
    """
    queued = _queued(connections, lanes, end)
    middle = np.maximum(end, (end + following) // 2)  # exporters' clocks differ: at another the next may begin earlier
    members, turn = np.unique([member for member, _ in lanes], return_inverse=True)
    wanted = np.zeros((len(members), 2), bool)
    wanted[turn, [int(back) for _, back in lanes]] = True
    rows, turn = connections.all_rows(members)
    start, last, data = connections.start[rows], connections.end[rows], connections.data[rows]
    own = wanted[turn, connections.back[rows].astype(np.int8)]
    sent, told = data & own, ~data | own
    end = np.maximum(end, latest_before(start[sent], last[sent], middle)[0])
    arrived: Ints = latest_before(start[told], last[told], end + SOON_US)[0]
    return np.maximum(arrived, np.maximum(end, queued))


def _queued(connections: Connections, lanes: Lanes, end: Ints) -> Ints:
    """When the last data of each step had come through a slow link, as its acknowledgements tell; else 0."""
    way = np.array([back for _, back in lanes])
    rows, turn, shift = laid_out(connections, np.array([member for member, _ in lanes]))
    apart = shift[turn]
    counted, mine = connections.counted[rows], connections.back[rows] == way[turn]
    data = np.flatnonzero(counted & connections.data[rows])
    sent = data[mine[data]]
    bare = np.flatnonzero(counted & ~mine & ~connections.data[rows] & ~connections.messages(rows))
    start, last = connections.start[rows] + apart, connections.end[rows] + apart
    place = np.searchsorted(start[sent], end + shift[:, None], "right") - 1
    seen = (place >= 0) & (turn[sent][place] == np.arange(len(lanes))[:, None])
    since = np.maximum.accumulate(last[sent])[place]
    another = start[data]  # of either way: what comes behind it is acknowledged too
    following = np.append(another, np.iinfo(np.int64).max)[np.searchsorted(another, since, "right")]
    through = trains(start[bare], last[bare], since.ravel(), following.ravel()).reshape(since.shape)
    queued: Ints = np.where(seen & (through > 0), through - shift[:, None], 0).max(axis=0)
    return queued


def latest(found: Sequence[Ints]) -> Ints:
    """The end of each step: the latest of all groups that have the usual number of steps."""
    usual = max(sorted(Counter(map(len, found)).items()), key=lambda of: of[1])[0]
    same = [ends for ends in found if abs(len(ends) - usual) <= 1]
    first = next(ends for ends in same if len(ends) == usual)
    half = float(np.median(np.diff(first))) / 2
    end = first.copy()
    for ends in same:
        if len(ends) == len(first) and np.median(np.abs(ends - first)) < 2 * half:
            end = np.maximum(end, ends)  # step by step: beside a slow ring that of the next step may be nearer
            continue
        near = ends[np.clip(np.searchsorted(ends, first - half), 0, len(ends) - 1)]
        end = np.where(np.abs(near - first) < half, np.maximum(end, near), end)
    return end


def _first(connections: Connections, job: JobFlows, end: Ints) -> int:
    """When the first traffic of the first step was sent: behind the last long silence before its end."""
    rows = connections.all_rows(np.array(job.heavy))[0]
    before = connections.counted[rows] & connections.data[rows] & (connections.start[rows] <= end[0])
    records = np.stack([column[rows][before] for column in (connections.start, connections.end, connections.bytes)], 1)
    return int(merge(records, int(np.median(np.diff(end)) / 2))[-1, 0])
