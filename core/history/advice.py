"""How often to save, and how many nodes to hold ready."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, expm1

import numpy as np
from scipy.special import bdtr

ENOUGH = 0.99  # of the times there are standbys enough (ByteRobust, section 6.2)
LONG = 60.0  # days of faults of nodes, from which on a run's own percentile is better than the binomial
BATCH = 1 / 24  # of a day: faults of one class that come so close have one cause (StepFun's trace: variance 3.5 times)
_LARGEST = 700.0  # e to that is near the largest float
_LONGEST = 20.0  # MTBFs: no best interval is longer


@dataclass(frozen=True, slots=True)
class Interval:
    """How long to train between two checkpoints, in seconds, and the ETTR of that."""

    seconds: float
    ettr: float


def ettr_of(seconds: float, *, mtbf: float, saving: float, restart: float) -> float:
    """ETTR of a save interval under exponential failures, also during restarts (Daly 2006); all in seconds."""
    exponent = (seconds + saving) / mtbf
    if max(exponent, restart / mtbf) > _LARGEST:
        return 0.0
    return seconds / (mtbf * exp(restart / mtbf) * expm1(exponent))


def best_interval(*, mtbf: float, saving: float, restart: float) -> Interval:
    """The interval with the highest ETTR; Young's square root is near it where failures are rare.

    Args:
        mtbf: seconds from failure to failure.
        saving: seconds that a checkpoint stops the training.
        restart: seconds from a failure to the first iteration.
    """
    from scipy.optimize import minimize_scalar  # noqa: PLC0415 takes a second to load, and few runs ask

    found = minimize_scalar(
        lambda seconds: -ettr_of(seconds, mtbf=mtbf, saving=saving, restart=restart),
        bounds=(1e-3, _LONGEST * mtbf),
        method="bounded",
        options={"xatol": 1e-3},
    )
    return Interval(float(found.x), -float(found.fun))


def standbys(nodes: int, rate: float, hours: float) -> int:
    """The smallest number that holds with 99 %.

    Args:
        nodes: of the job.
        rate: failures a node-day.
        hours: until a standby that was used is replaced.
    """
    each = -expm1(-rate * hours / 24)
    return next(number for number in range(nodes + 1) if bdtr(number, nodes, each) >= ENOUGH)


@dataclass(frozen=True, slots=True)
class OwnStandbys:
    """Standbys by the faults that there were, no model of them: what sufficed in 99 % of all spans.

    days: of history. all: each node that failed counted; apart: nodes that failed within an hour with one class counted
    once. batches: how often several nodes did, and the most that did at once.
    """

    days: float
    all: int
    apart: int
    batches: int
    largest: int


def own_standbys(faults: Sequence[tuple[float, str, str]], hours: float) -> OwnStandbys | None:
    """The 99th percentile of the nodes that failed within so many hours; None of a history shorter than 60 days.

    Args:
        faults: day, node and class of each, in any order.
        hours: until a standby that was used is replaced.
    """
    ordered = sorted(faults)
    span = ordered[-1][0] - ordered[0][0] if ordered else 0.0
    if span < LONG:
        return None
    batches = _batches(ordered)
    several = [len({node for _, node, _ in batch}) for batch in batches]
    return OwnStandbys(
        span,
        _percentile([day for day, _, _ in ordered], hours),
        _percentile([batch[0][0] for batch in batches], hours),
        sum(count > 1 for count in several),
        max(several),
    )


def _batches(ordered: Sequence[tuple[float, str, str]]) -> list[list[tuple[float, str, str]]]:
    """Faults of one class, of which each comes within an hour of the first of them."""
    open_ones: dict[str, list[tuple[float, str, str]]] = {}
    found = []
    for fault in ordered:
        batch = open_ones.get(fault[2])
        if batch is None or fault[0] - batch[0][0] > BATCH:
            batch = open_ones[fault[2]] = []
            found.append(batch)
        batch.append(fault)
    return found


def _percentile(days: Sequence[float], hours: float) -> int:
    """The number that was not exceeded in 99 % of the spans of so many hours, one after the other."""
    spans = np.floor(np.asarray(days, np.float64) * 24 / hours).astype(np.int64)
    return int(np.quantile(np.bincount(spans - spans.min()), ENOUGH, method="inverted_cdf"))
