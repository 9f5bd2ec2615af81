"""Attempts of a run of which only times and iterations are known, as an export of a dashboard has them."""

from collections.abc import Sequence

import numpy as np

from core.history.attempt import Attempt, End

MOST_ATTEMPTS = 2_000  # BLOOM-176B had a hundred in four months
CONTRADICTS = 1.5  # times the pace that was told: points that are a day off differ by less


def attempts_of_points(
    points: Sequence[tuple[int, int]], seconds: float | None = None
) -> tuple[tuple[Attempt, ...], tuple[str, ...]]:
    """Attempts, and sentences about points that were left out.

    An iteration that is lower than the one before it begins an attempt. Points at the start that no run of the told
    pace could have reached are left out.

    Args:
        points: milliseconds since the epoch and iteration, by time.
        seconds: an iteration takes, where points are too sparse to tell.
    """
    kept = sorted(points)
    problems = []
    if seconds:
        while len(kept) > 1 and _too_fast(kept[0], kept[1], seconds):
            kept = kept[1:]
        if len(kept) < len(points):
            problems.append(
                f"The points before iteration {kept[0][1]:,} go faster than {seconds:g} s an iteration: the account "
                "begins there."
            )
    numbers, times = np.array([point[1] for point in kept]), np.array([point[0] for point in kept])
    cuts = np.flatnonzero(np.diff(numbers) <= 0) + 1
    if len(cuts) >= MOST_ATTEMPTS:
        problems.append(f"Iterations go back {len(cuts):,} times: only the last {MOST_ATTEMPTS:,} parts are told.")
        first = int(cuts[-MOST_ATTEMPTS])
        numbers, times, cuts = numbers[first:], times[first:], cuts[1 - MOST_ATTEMPTS :] - first
    attempts, end = [], int(times[0])
    parts = zip(np.split(numbers, cuts), np.split(times, cuts), strict=True)
    for place, (own, when) in enumerate(parts):
        start = max(end, int(when[0]) - _step(own, when)) if place else int(when[0])
        end = int(when[-1])
        last = place == len(cuts)
        attempts.append(
            Attempt(
                f"part {place + 1}", start, end, own, when, ended=End.RUNNING if last else End.FAILED, clock="points"
            )
        )
    return tuple(attempts), tuple(problems)


def _too_fast(item: tuple[int, int], following: tuple[int, int], seconds: float) -> bool:
    return (following[1] - item[1]) * seconds * 1000 > CONTRADICTS * (following[0] - item[0])


def _step(numbers: np.ndarray, times: np.ndarray) -> int:
    """Milliseconds from one point to the next."""
    return int(np.median(np.diff(times))) if len(numbers) > 1 else 0
