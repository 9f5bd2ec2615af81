"""Whether said likelihoods are what was right: the calibration error, in bins, and the least that can be seen."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

BINS = 10
DRAWN = 200  # perfect scores that are drawn: their mean error is known to .01


@dataclass(frozen=True, slots=True)
class Told:
    """An answer: how likely it was said to be right, and whether it was. weight: what it counts."""

    likely: float
    right: bool
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of about the same likelihood. said, right: their means; weight: their sum."""

    said: float
    right: float
    weight: float


def bins_of(told: Sequence[Told], bins: int = BINS) -> Sequence[Bin]:
    """Ten bins of equal width, those without an answer left out."""
    found = []
    for number in range(bins):
        inside = [one for one in told if min(int(one.likely * bins), bins - 1) == number]
        if weight := sum(one.weight for one in inside):
            said = sum(one.weight * one.likely for one in inside) / weight
            right = sum(one.weight * one.right for one in inside) / weight
            found.append(Bin(said, right, weight))
    return found


def calibration_error(told: Sequence[Told], bins: int = BINS) -> float:
    """Expected calibration error: how far the said likelihood is from the share that was right, on average."""
    found = bins_of(told, bins)
    return sum(one.weight * abs(one.said - one.right) for one in found) / (sum(one.weight for one in found) or 1)


def least_error(told: Sequence[Told], bins: int = BINS) -> float:
    """The error that as many answers have on average where each likelihood is true: less than that says nothing.

    An answer of small weight is a part of a job: it is right or wrong with the others of its bin, so the weights of a
    bin are drawn as whole answers.
    """
    draw = np.random.default_rng(0)
    found = bins_of(told, bins)
    total = sum(one.weight for one in found) or 1
    gaps = [
        sum(
            one.weight * abs(draw.binomial(max(round(one.weight), 1), one.said) / max(round(one.weight), 1) - one.said)
            for one in found
        )
        for _ in range(DRAWN)
    ]
    return float(np.mean(gaps)) / total
