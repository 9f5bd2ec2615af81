"""How anomalous an Isolation Forest may find the rows of a small table, without growing one.

A tree cuts its rows at a uniform place of a uniform column, again and again, until each is alone (Liu et al., ICDM
2008, algorithm 2), and a row is the more anomalous the shorter its paths are. Few rows can be cut into few sets, so
mean and spread of a path follow from all cuts with their probabilities, and from these the range of a mean over trees.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

TREES = 100  # scikit-learn's default, as in core.l4.method
SAMPLES = 256  # its default too: of more rows each tree sees others
ERRORS = 4.0  # standard errors of a mean over all trees: of a normal one, one in 30,000 is further down
MOST_STEPS = 1 << 19  # .13 s; the forest takes .25, and to load scikit-learn two seconds more

_Levels = Sequence[tuple[int, int]]  # of a column, its values in order, each with the rows that have it, as bits


class _TooLong(Exception):
    """There are too many sets into which the rows can be cut."""


class Paths:
    """The paths that rows of a table have in trees."""

    def __init__(self, counts: NDArray[np.int64]) -> None:
        self._counts, self._size, self._steps = counts, len(counts), 0

    def anomaly(self, row: int) -> tuple[float, float]:
        """The lowest and the highest anomaly, 0..1, that a forest gives a row; (0, 1) where it takes long to tell."""
        if self._size > SAMPLES:
            return 0.0, 1.0
        try:
            mean, square = self._moments(row, (1 << self._size) - 1, math.ceil(math.log2(max(self._size, 2))), {})
        except _TooLong:
            return 0.0, 1.0
        error = ERRORS * math.sqrt(max(0.0, square - mean**2) / TREES)
        usual = _usual_path(self._size)
        return 2 ** (-(mean + error) / usual), 2 ** (-(mean - error) / usual)

    @cached_property
    def _columns(self) -> list[tuple[int, _Levels]]:
        """The columns that differ, with how many are the same."""
        columns, times = np.unique(self._counts, axis=1, return_counts=True)
        return [(int(weight), _levels(column)) for column, weight in zip(columns.T, times, strict=True)]

    def _moments(
        self, row: int, rows: int, cuts: int, known: dict[tuple[int, int], tuple[float, float]]
    ) -> tuple[float, float]:
        """Mean and mean square of what is left of a row's path behind a node with these rows, and so many cuts left."""
        if (rows, cuts) in known:
            return known[rows, cuts]
        self._steps += len(self._columns) * self._size
        if self._steps > MOST_STEPS:
            raise _TooLong
        total = mean = square = 0.0
        for weight, levels in self._columns if cuts else ():
            here = [(value, held) for value, among in levels if (held := among & rows)]
            lower, total = 0, total + weight * (len(here) > 1)  # a column is drawn among those that differ
            for (value, held), (above, _) in pairwise(here):
                lower |= held
                share = weight * (above - value) / (here[-1][0] - here[0][0])
                one, two = self._moments(row, lower if lower >> row & 1 else rows & ~lower, cuts - 1, known)
                mean, square = mean + share * (1 + one), square + share * (1 + 2 * one + two)
        rest = _usual_path(rows.bit_count())
        known[rows, cuts] = (mean / total, square / total) if total else (rest, rest**2)
        return known[rows, cuts]


def _levels(column: NDArray[np.int64]) -> _Levels:
    found: dict[int, int] = {}
    for row, value in enumerate(column.tolist()):
        found[value] = found.get(value, 0) | 1 << row
    return sorted(found.items())


def _usual_path(rows: int) -> float:
    """The mean path in a tree of so many rows that is never cut short (equation 1 of the same paper)."""
    if rows <= 2:
        return float(max(0, rows - 1))
    return float(2 * (math.log(rows - 1) + np.euler_gamma) - 2 * (rows - 1) / rows)
