"""A loss that turned: it had fallen, and rose again until the end, so that what was learned is lost."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.model import Series

LOSS = "loss"  # the series that rules/iterations.toml calls so
WINDOW = 5  # printed values whose median is a level: a single batch may be hard
LEAST = 20  # printed values
LOST = 0.5  # of what it had fallen by, that it rose again; warm restarts and new data come to less
NOISE = 4.0  # times what one value differs from the next, as a rule; the median of five noisy ones moves by less
BACK = 0.1  # of its rise: what is no nearer to its lowest level has left it
RISE = 1.3  # times its lowest level; near zero half of nothing is nothing


@dataclass(frozen=True, slots=True)
class Divergence:
    """The last printed iteration at which a loss was near its best, its lowest level, and the one at the end."""

    iteration: int
    lowest: float
    last: float


def find_divergence(series: Sequence[Series]) -> Divergence | None:
    """The divergence of the loss; None where it ended near the best that it had reached, or told too little."""
    for item in series:
        values = np.asarray(item.values, np.float64)
        if item.name != LOSS or len(values) < LEAST or not np.isfinite(values).all():
            continue
        levels = np.median(np.lib.stride_tricks.sliding_window_view(values, WINDOW), axis=1)
        lowest = int(np.argmin(levels))
        first, best, last = float(levels[: lowest + 1].max()), float(levels[lowest]), float(levels[-1])
        noise = float(np.median(np.abs(np.diff(values))))
        if best <= 0 or last < RISE * best or last - best < max(LOST * (first - best), NOISE * noise):
            continue
        below = int(np.flatnonzero(levels < best + BACK * (last - best))[-1])
        if len(levels) - below > WINDOW:  # else it may yet come down
            return Divergence(item.iterations[below + WINDOW - 1], best, last)
    return None
