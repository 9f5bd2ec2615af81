"""Where the steps of one group end: the bytes of a step are constant, its length is not.

A step ends at a long silence, and the segments between such silences hold equal bytes. First choose how many silences
make the segments most equal, then the best path over the long silences, so that a pause inside a step, a lost record or
bytes sent again cannot shift all later steps. No period is given, and none is assumed.

Differs: autocorrelation of the traffic finds the micro-batch, twice the step, or a mean of the good and the slow step
(docs/LOG.md).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.flows.jobs import Floats
from core.flows.transfers import Transfers

FEWEST = 5  # steps: of fewer, no size is usual
CLEAR = 0.5  # of the steps with equal bytes: below it the silences were none between steps
OTHERS, APART = 6, 0.1  # sizes that are tried, and how much they differ
EQUAL = 0.02  # of the usual bytes of a step, within which one is equal (docs/how-to/flows.md)
STRETCH = 1_500  # bursts at most that are asked for the bytes of a step; the search is quadratic

# Times as long as the silences in between, that every second one is, and how often long and short ones take turns: the
# silences of one kind differ by much less than three times (docs/LOG.md)
ALTERNATE, TURNS = 3.0, 0.9
# Times as long as the silence before it, that each of FSDP's is: behind the scatter, the first and the second gather
# come optimizer, forward and backward pass, and the last is about twice the one before it (1.4 at least, docs/LOG.md)
LONGER = 1.2

# Of the bytes of a step, within which as many as of two and more are two and more steps, and within which a burst ends
# one of them. Set by hand, for records are lost and sent again: no labelled set was looked at for it (docs/LOG.md)
NEARLY = 0.12

# Of the path, from the trials that docs/how-to/flows.md tells of: in units of the logarithm of a silence
_APART, _MOST_APART = 0.2, 3.0  # what it counts that the chosen silences are a class of their own
_UNEQUAL, _WORST = 6.0, 1.2  # cost of bytes that differ by a factor e, and the most that one step can cost
_BEGIN = 3.0  # the same for the first segment, which may be cut off
_SHORTEST = -3.0  # of a silence: what is shorter counts as this
# Longer ones are no better: beside a slow rank a ring falls silent inside each burst, for longer than between steps. Up
# to half of the longest silences are such ones, so that of the lower quarter is between steps (docs/LOG.md)
_LONGEST, _USUAL = 0.0, 0.25
_AGAIN, _SAME = 3, 0.005  # how often the size is taken from the path itself, and what is no other size
_STEP = 1.0  # gain of a step
_LEAST_BYTES, _MOST_BYTES = 0.45, 2.6  # times the bytes of a step, that a segment may have
_FIRST_BYTES, _LAST_BYTES = 1.5, 1.2


@dataclass(frozen=True)
class Boundaries:
    """Steps of one group.

    Attributes:
        last: places of the bursts with which a step ends.
        size: bytes of a step.
        equal: share of the steps with that many bytes, within ``EQUAL``.
    """

    last: NDArray[np.int64]
    size: float
    equal: float


def find_boundaries(bursts: Transfers) -> Boundaries | None:
    """The ends of steps among the bursts of a group; None where there are too few."""
    if len(bursts) <= FEWEST:
        return None
    silence = silences(bursts)
    middle = len(bursts) // 2
    stretch = slice(max(0, middle - STRETCH // 2), middle + STRETCH // 2)
    first = None
    for share, size in _sizes(bursts[stretch, 2].astype(float), silence[stretch]):
        found = _of_size(bursts, silence, share, size)
        if found is not None and found.equal >= CLEAR:
            return found
        first = first or found
    return first


def _of_size(bursts: Transfers, silence: Floats, share: float, size: float) -> Boundaries | None:
    """The ends of steps of about that many bytes."""
    steps = max(FEWEST, round(bursts[:, 2].sum() / size))
    total = np.cumsum(bursts[:, 2]).astype(float)
    path = _path(total, silence, size, steps)
    for _ in range(_AGAIN):  # the longest silences may have cut off pieces of steps, and with them the size is wrong
        if len(path) <= FEWEST:
            return None
        found = float(np.median(np.diff(total[path])))
        if abs(found / size - 1) < _SAME:
            break
        size, path = found, _path(total, silence, found, steps)
    if len(path) <= FEWEST:
        return None
    path = _split(_by_threes(_by_pairs(path, silence), silence), total)
    sizes = np.diff(np.cumsum(bursts[:, 2])[path])
    size = float(np.median(sizes))
    return Boundaries(path, size, float((np.abs(sizes / size - 1) < EQUAL).mean()) if size else share)


def _by_pairs(path: NDArray[np.int64], silence: Floats) -> NDArray[np.int64]:
    """The same ends, or every second one where long and short silences alternate.

    ZeRO scatters gradients, updates its part and gathers as many bytes: half a step each, with little in between.
    """
    behind = silence[path[:-1]]
    middles = [float(np.median(behind[turn::2])) for turn in (0, 1)]
    if len(path) <= 2 * FEWEST or max(middles) < ALTERNATE * min(middles):
        return path
    long: NDArray[np.bool_] = behind > np.sqrt(middles[0] * middles[1])
    if (long[1:] != long[:-1]).mean() < TURNS:
        return path
    second: NDArray[np.int64] = path[np.append(long, long[-2])]
    return second


def _by_threes(path: NDArray[np.int64], silence: Floats) -> NDArray[np.int64]:
    """The same ends, or every third one where silences grow twice and begin again.

    FSDP gathers, gathers and scatters as many bytes: a third of a step each, and the optimizer is the shortest work.
    """
    behind = silence[path[:-1]]
    if len(path) <= 3 * FEWEST:
        return path
    first = int(np.argmin([np.median(behind[turn::3]) for turn in range(3)]))
    turns = behind[first : first + (len(behind) - first) // 3 * 3].reshape(-1, 3)
    grow = (turns[:, 1:] > LONGER * turns[:, :-1]).all(axis=1)
    return path[first::3] if grow.mean() >= TURNS else path


def _split(path: NDArray[np.int64], total: Floats) -> NDArray[np.int64]:
    """The same ends, and those of bursts within what holds the bytes of several steps, for its silences were short."""
    sizes = np.diff(total[path])
    usual = float(np.median(sizes))
    times = np.round(sizes / usual) if usual else np.ones(len(sizes))
    more = []
    for place in np.flatnonzero((times > 1) & (np.abs(sizes / max(1.0, usual) - times) < NEARLY)).tolist():
        inner = np.arange(path[place] + 1, path[place + 1])
        if not len(inner):
            continue  # one burst: noise ran two steps together
        wanted = total[path[place]] + sizes[place] * np.arange(1, times[place]) / times[place]
        nearest = np.abs(total[inner][:, None] - wanted).argmin(axis=0)
        more += [
            end for end, want in zip(inner[nearest], wanted, strict=True) if abs(total[end] - want) < NEARLY * usual
        ]
    ends: NDArray[np.int64] = np.unique(np.append(path, np.array(more, np.int64)))
    return ends


def silences(bursts: Transfers) -> Floats:
    """Microseconds of silence behind each burst; the last one's is not known."""
    silence = np.append(bursts[1:, 0] - np.maximum.accumulate(bursts[:, 1])[:-1], 0).astype(float)
    behind: Floats = np.maximum(silence, 1.0)
    return behind


def _sizes(sizes: Floats, silence: Floats) -> list[tuple[float, float]]:
    """How equal the steps can be made, and the bytes of one; then other sizes, for the longest silences may be pauses.

    Checkpoints every so many steps leave equal bytes in between too.
    """
    count = len(sizes)
    order = np.argsort(-silence[:-1], kind="stable")
    longest = silence[order]
    total = np.append(0.0, np.cumsum(sizes))
    ends = np.zeros(count + 1)
    found = [(-1.0, 0.0, float(total[-1]) or 1.0)]
    for steps in range(FEWEST, count):
        ends[1:steps] = total[np.sort(order[: steps - 1]) + 1]
        ends[steps] = total[-1]
        segments = ends[1 : steps + 1] - ends[:steps]
        usual = _middle(np.sort(segments))
        equal = np.count_nonzero(np.abs(segments / usual - 1) < EQUAL) / steps if usual else 0.0
        apart = math.log(_middle(longest[: steps - 1]) / longest[min(steps, len(longest) - 1)])
        found.append((equal * (1 + _APART * min(max(apart, 0.0), _MOST_APART)), equal, usual))
    chosen: list[tuple[float, float]] = []
    for _, equal, usual in sorted(found, reverse=True):
        if len(chosen) < OTHERS and usual and all(abs(usual / size - 1) > APART for _, size in chosen):
            chosen.append((equal, usual))
    return chosen


def _middle(values: Floats) -> float:
    """The median of sorted values."""
    return float(values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def _path(total: Floats, silence: Floats, size: float, steps: int) -> NDArray[np.int64]:
    """The best path over the long silences: long ones, with the bytes of a step in between."""
    order = np.argsort(-silence[:-1], kind="stable")
    usual = float(np.quantile(silence[order[:steps]], _USUAL))
    silence = np.append(silence[:-1], usual)
    places = np.unique(np.append(order[: int(2.5 * steps) + FEWEST], len(total) - 1))
    sizes, gain = total[places], np.minimum(np.log(silence[places] / usual), _LONGEST)
    score = np.full(len(places), -np.inf)
    before = np.full(len(places), -1)
    start = np.searchsorted(sizes, sizes - _MOST_BYTES * size)
    stop = np.searchsorted(sizes, sizes - _LEAST_BYTES * size, "right")
    for place in range(len(places)):
        if sizes[place] < _FIRST_BYTES * size:
            score[place] = gain[place] - _BEGIN * abs(np.log(sizes[place] / size))
        reach = slice(int(start[place]), min(int(stop[place]), place))
        if reach.stop <= reach.start:
            continue
        apart = np.minimum(_WORST, np.abs(np.log((sizes[place] - sizes[reach]) / size)))
        value = score[reach] + max(gain[place], _SHORTEST) + _STEP - _UNEQUAL * apart
        at = int(np.argmax(value))
        if value[at] > score[place]:
            score[place], before[place] = value[at], reach.start + at
    at = int(np.argmax(np.where(sizes > sizes[-1] - _LAST_BYTES * size, score, -np.inf)))
    path = []
    while at >= 0:
        path.append(int(places[at]))
        at = int(before[at])
    return np.array(path[::-1], np.int64)
