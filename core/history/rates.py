"""How often a run fails and how soon it is back, with intervals that say how little few failures tell."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv

from core.history.accounting import Account
from core.history.attempt import Attempt, End

HOUR = 3_600_000  # milliseconds
FEW = 5  # failures below which the interval is told first
_LEVEL = 0.95  # of the interval: what is usual for rates of failures
_RULE_OF_THREE = 3.0  # nothing in a time T: a rate of 3/T would have shown one with 95 %


@dataclass(frozen=True, slots=True)
class Mtbf:
    """Hours under way for each unplanned end, with the exact Poisson interval of 95 %.

    hours: None without a failure. low, high: hours; high is None without a failure.
    """

    failures: int
    under_way: float
    hours: float | None
    low: float
    high: float | None


def mtbf(hours: float, failures: int) -> Mtbf:
    """Mean time between failures from the hours under way; without a failure at least a third of them."""
    if not failures:
        return Mtbf(0, hours, None, hours / _RULE_OF_THREE, None)
    tail = (1 - _LEVEL) / 2
    # 2T/chi2(.975, 2k+2) to 2T/chi2(.025, 2k); scipy.stats has the same and takes a second to load
    low, high = hours / gammaincinv(failures + 1, 1 - tail), hours / gammaincinv(failures, tail)
    return Mtbf(failures, hours, hours / failures, float(low), float(high))


def mtbf_of(run: Account) -> Mtbf:
    """Mean time between the failures of a run, from its hours under way."""
    return mtbf(run.under_way / HOUR, len(failed(run.attempts)))


def failed(attempts: Sequence[Attempt]) -> list[int]:
    """Places of the attempts that ended unplanned."""
    return [place for place, attempt in enumerate(attempts) if attempt.ended is End.FAILED]


def recoveries(attempts: Sequence[Attempt]) -> list[int]:
    """Milliseconds from each unplanned end to the next iteration that is new; none where none came."""
    found, reached, back = [], 0, 0
    for place, attempt in enumerate(attempts):
        reached = max(reached, int(attempt.numbers[-1]) if len(attempt.numbers) else 0)
        if attempt.ended is not End.FAILED:
            continue
        back = max(back, place + 1)  # what was passed over is not beyond a higher iteration either
        while back < len(attempts) and _first_beyond(attempts[back], reached) is None:
            back += 1
        if back < len(attempts):
            found.append(max(0, (_first_beyond(attempts[back], reached) or 0) - attempt.end))
    return found


def _first_beyond(attempt: Attempt, reached: int) -> int | None:
    place = int(np.searchsorted(attempt.numbers, reached, side="right"))
    return int(attempt.times[place]) if place < len(attempt.numbers) else None
