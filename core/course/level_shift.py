"""Where a series of durations left its level for good: the onset of a slowdown."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MIN_RATIO = 2.0  # a level at least doubled: host noise in good lab jobs stays below (docs/LOG.md)
LONG, LONG_RATIO = 8, 1.5  # values on either side, of which a smaller rise is no noise: of 300 labelled jobs that were
# well those with so many rose to 1.29 at most (docs/LOG.md)
# Still less where nearly all values keep to their side, and the levels lie that many deviations apart: of 240 labelled
# jobs none that was well has such a level at all, and 21 slow ones do, of 1.28 to 1.59 (docs/LOG.md)
CLEAR_RATIO, CLEAR_DEVIATIONS, CLEAR_MOST = 1.2, 10.0, 0.9
DRIFT, LONG_DRIFT = 1.5, 1.25  # a smaller rise counts where the numbers of one rank explain it
MIN_BEFORE = 3  # values at the old level: of two, one may be the first step, which compiles
MIN_AFTER = 3  # values at the new level: of two, one may be a checkpoint,
FEW_AFTER, FEW_RATIO = 2, 2.5  # unless both are far longer: then two are enough
MOST = 0.75  # share of the values on either side that keep to their level; evaluation is longer, clocks count seconds
DEVIATIONS = 3.0  # robust deviations of either side between the levels (three-sigma, L4 4.4): a busy machine drifts
MAD_TO_SIGMA = 1.4826  # of a normal distribution
BETWEEN = 1.5  # times the old level at most: what is above belongs to the new one, in the middle of one and two
BLOCKS = (4, 8, 12, 16, 24)  # steps a block: a shard or a prefetch buffer lasts for some, a second for a few
LAST_BLOCKS = 2  # that are slow, of what lasts until the end
MIN_GROWING, MOST_BLOCKS = 5, 24  # values of a series that grows; of four in order one in 24 is so by chance
MIN_TAU = 0.8  # nine in ten pairs are in order: of five values at most one pair is not
SETTLED = 4  # values, of which MOST are above where a new level begins: one pause is not
REACH = 4.0  # octaves around the median that count: one long pause must not look like a level


@dataclass(frozen=True, slots=True)
class Shift:
    """A series left its level at a place and stayed away: medians before and from there on."""

    place: int
    before: float
    after: float


def find_shift(
    values: NDArray[np.float64],
    ratio: float = MIN_RATIO,
    *,
    coarse: bool = False,
    long: float | None = None,
    each: float = 1.0,
) -> Shift | None:
    """The place from which on a series of positive numbers keeps to a level at least ``ratio`` times the one before.

    The split is where the means of both sides differ most for their number of values (CUSUM statistic).

    Args:
        coarse: the clock counts no finer than the values: each is averaged with the one behind it, for one is too long
            when the next is too short.
        long: the ratio that is enough where both sides have LONG values, as steps of a whole job may; for levels that
            are clear CLEAR_RATIO is.
        each: steps that a value is the mean of: of fewer values than LONG as many steps do.
    """
    if coarse and len(values) > 1:
        values = np.append((values[:-1] + values[1:]) / 2, values[-1])
    if len(values) < MIN_BEFORE + MIN_AFTER or not (values > 0).all() or not np.isfinite(values).all():
        return None
    octaves = np.log2(values)
    middle = np.median(octaves)
    octaves = np.clip(octaves, middle - REACH, middle + REACH)
    count, split = len(values), np.arange(MIN_BEFORE, len(values) - FEW_AFTER + 1)
    sums = np.cumsum(octaves)[split - 1]
    apart = (octaves.sum() - sums) / (count - split) - sums / split
    statistic = np.where(apart > 0, apart**2 * split * (count - split), 0.0)
    place = int(split[np.argmax(statistic)])
    before, after = float(np.median(values[:place])), float(np.median(values[place:]))
    few = count - place < MIN_AFTER
    is_long = long is not None and min(place, count - place) >= max(LONG / each, SETTLED)
    ratio = min(ratio, long) if long is not None and is_long else ratio
    if few and coarse:
        return None
    is_clear = is_long and after < ratio * before
    ratio = min(ratio, CLEAR_RATIO) if is_clear else ratio
    if after < ratio * before or (few and values[place:].min() < FEW_RATIO * before):
        return None
    spread = _spread(octaves[:place]) if few else max(_spread(octaves[:place]), _spread(octaves[place:]))
    if np.log2(after / before) < (CLEAR_DEVIATIONS if is_clear else DEVIATIONS) * spread:
        return None
    between, most = min((before + after) / 2, BETWEEN * before), CLEAR_MOST if is_clear else MOST
    if min((values[:place] < between).mean(), (values[place:] > between).mean()) < most:
        return None
    place = _settled(values > between, place)
    return Shift(place + 1 if coarse else place, before, after)  # each was averaged with the one behind it


def _settled(above: NDArray[np.bool_], place: int) -> int:
    """The first place from this one on from which the next values keep to the new level.

    A single pause before it, for an evaluation or a checkpoint, is so long that the split was made there.
    """
    count = np.convolve(above, np.ones(SETTLED), "valid")
    kept = np.flatnonzero(above[: len(count)] & (count >= MOST * SETTLED))
    later = kept[kept >= place]
    return int(later[0]) if len(later) and not above[place : int(later[0])].all() else place


def find_uneven_shift(values: NDArray[np.float64], ratio: float = MIN_RATIO) -> tuple[Shift, int] | None:
    """The same of a series whose single values say little, by the means of blocks, and how many values those have.

    Where every sixth step waits for a shard, most steps are as fast as ever; where steps are shorter than the clock's
    second, each is a rounding. The shortest blocks that tell are taken, and within the first slow one the first value
    above both levels.
    """
    for size in BLOCKS:
        blocks = len(values) // size
        means = values[len(values) - blocks * size :].reshape(blocks, size).mean(axis=1)  # the end counts: it lasts
        shift = find_shift(means, ratio)
        if shift is not None:
            if means[-LAST_BLOCKS:].mean() < (shift.before + shift.after) / 2:
                continue  # it was over before the end
            place = len(values) - (blocks - shift.place) * size
            near = np.arange(max(1, place - size), min(len(values), place + size))
            first = near[values[near] > min(shift.after, ratio * shift.before)]
            return Shift(int(first[0]) if len(first) else place, shift.before, shift.after), size
    return None


def find_growth(values: NDArray[np.float64]) -> Shift | None:
    """A series that rises from value to value until its end; the first may be longer, for it compiles.

    Nearly every later block of values is longer than every earlier one (Kendall's tau), and the last quarter is at
    least ``MIN_RATIO`` times the first.
    """
    values = values[1:]
    if len(values) < MIN_GROWING or not (values > 0).all() or not np.isfinite(values).all():
        return None
    size = -(-len(values) // MOST_BLOCKS)
    blocks = len(values) // size
    means = values[len(values) - blocks * size :].reshape(blocks, size).mean(axis=1)
    signs = np.sign(means[None, :] - means[:, None])[np.triu_indices(blocks, 1)]
    quarter = max(1, blocks // 4)
    before, after = float(means[:quarter].mean()), float(means[-quarter:].mean())
    if signs.mean() < MIN_TAU or after < MIN_RATIO * before:
        return None
    grown = np.flatnonzero(means > BETWEEN * before)
    return Shift(1 + len(values) - (blocks - int(grown[0])) * size, before, after)


def _spread(octaves: NDArray[np.float64]) -> float:
    """Standard deviation of the values, from the median of their deviations."""
    return float(np.median(np.abs(octaves - np.median(octaves)))) * MAD_TO_SIGMA
