"""Medians and percentiles of a few numbers, asked for a hundred thousand times: those of numpy, in a tenth of the time.

numpy's own take 12 and 30 us of anything, most of it for what a short row of numbers has none of: axes, weights, kinds.
"""

import math

import numpy as np
from numpy.typing import NDArray


def median(values: NDArray[np.float64]) -> float:
    """What ``np.median`` gives; nan of nothing."""
    return median_of_sorted(np.sort(values))


def median_of_sorted(ordered: NDArray[np.float64]) -> float:
    """The same of numbers in order."""
    count = len(ordered)
    if not count or math.isnan(ordered[-1]):
        return math.nan
    half = count // 2
    return float(ordered[half] if count % 2 else (ordered[half - 1] + ordered[half]) / 2)


def percentile_of_sorted(ordered: NDArray[np.float64], percent: float) -> float:
    """What ``np.percentile`` gives of numbers in order that are finite, one at least."""
    place = (len(ordered) - 1) * (percent / 100)
    before = int(place)
    part = place - before
    low, high = float(ordered[before]), float(ordered[min(before + 1, len(ordered) - 1)])
    apart = high - low
    return high - apart * (1 - part) if part >= 0.5 else low + apart * part
