"""The share of time that was productive over a sliding window (ByteRobust, section 8.1.3: over an hour)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.history.accounting import Account

STEPS = 4  # windows that begin within the length of one
MOST = 2_000  # windows; a picture shows fewer


@dataclass(frozen=True, slots=True, eq=False)
class Sliding:
    """Windows in the order of their ends. length: milliseconds; ends: since the epoch; shares: productive, 0 to 1."""

    length: int
    ends: NDArray[np.int64]
    shares: NDArray[np.float64]


def sliding(run: Account, length: int) -> Sliding | None:
    """The shares of all windows of so many milliseconds; None where the run is shorter than one.

    What is productive of an iteration lies right before its end.
    """
    first = min((attempt.start for attempt in run.attempts), default=0)
    last = first + run.wall
    if length <= 0 or run.wall < length:
        return None
    ends, kept = (np.concatenate(arrays) for arrays in zip(*run.kept, strict=True))
    order = np.argsort(ends, kind="stable")
    ends, kept = ends[order], kept[order]
    done = np.cumsum(kept)
    knots = np.column_stack([ends - kept, ends]).ravel()
    heights = np.column_stack([done - kept, done]).ravel()
    step = max(1, length // STEPS, (run.wall - length) // MOST)
    at = np.unique(np.append(np.arange(first + length, last, step, dtype=np.int64), last))
    if not len(knots):
        return Sliding(length, at, np.zeros(len(at)))

    def until(moments: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(np.interp(moments, np.maximum.accumulate(knots), heights, left=0.0), np.float64)

    return Sliding(length, at, np.clip((until(at) - until(at - length)) / length, 0.0, 1.0))
