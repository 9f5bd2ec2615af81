"""An Isolation Forest (Liu et al., ICDM 2008) with the numbers of scikit-learn's, without scikit-learn.

To import scikit-learn takes longer than all the rest of a small job's diagnosis, and to call it 140 ms of CPU, most of
it spent on checking what it is given. Each draw of ``IsolationForest(random_state=seed)`` is made here in the same
order, so that every score is the same: tests/core/test_isolation.py holds one against the other.

Differs: rows beyond ``SAMPLE`` are drawn by a permutation; scikit-learn has two other ways for 257 and 258 rows, and
from 25,600 on.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

TREES, SAMPLE = 100, 256  # scikit-learn's defaults, and those of the paper (section 5)
_LARGEST = np.iinfo(np.int32).max  # of what scikit-learn draws a seed or a threshold from

Values = NDArray[np.float32]
Rows = NDArray[np.integer[Any]]


def anomalies(values: Values, seed: int) -> NDArray[np.float64]:
    """The anomaly of each row of a table of at least two, 0..1; the same rows and seed always give the same numbers."""
    count = len(values)
    sampled = min(SAMPLE, count)
    depths = np.zeros(count)
    for tree_seed, state in _beginnings(seed):
        everybody: Rows = np.arange(count)
        sample = everybody if sampled == count else np.random.RandomState(tree_seed).permutation(count)[:sampled]
        depths += _Tree(values, state, int(np.ceil(np.log2(sampled)))).depths(sample)
    return np.asarray(2.0 ** -(depths / (TREES * _unsuccessful(sampled))))


@cache
def _beginnings(seed: int) -> tuple[tuple[int, int], ...]:
    """For each tree the seed of its sample, and the state from which it draws columns and thresholds."""
    seeds = np.random.RandomState(seed).randint(_LARGEST, size=TREES).tolist()
    own = [np.random.RandomState(tree_seed).randint(_LARGEST) for tree_seed in seeds]
    states = [int(np.random.RandomState(tree_seed).randint(_LARGEST)) or 1 for tree_seed in own]
    return tuple(zip(seeds, states, strict=True))


def _unsuccessful(count: int) -> float:
    """How deep a search among so many values goes in vain, on average: what a leaf that holds them would add."""
    if count <= 2:
        return float(count == 2)
    return float(2.0 * (np.log(count - 1.0) + np.euler_gamma) - 2.0 * (count - 1.0) / count)


class _Tree:
    """A tree over a table: each node is split at a random place of a random column, as long as one varies."""

    def __init__(self, values: Values, state: int, deepest: int) -> None:
        self._values, self._state, self._deepest = values, state, deepest
        self._columns = list(range(values.shape[1]))
        self._constant = self._columns.copy()  # in front those that do not vary in the node, in their order

    def depths(self, sample: Rows) -> NDArray[np.float64]:
        """How deep each row of the table lies in a tree of some of them."""
        depths = np.zeros(len(self._values))
        nodes: list[tuple[Rows, Rows, int, int]] = [(sample, np.arange(len(self._values)), 0, 0)]
        while nodes:
            inside, reached, depth, constant = nodes.pop()
            column = None
            if depth < self._deepest and len(inside) > 1:
                column, constant = self._varying_column(inside, constant)
            if column is None:
                depths[reached] = depth + _unsuccessful(len(inside))
                continue
            threshold = self._threshold(self._values[inside, column])
            lower, others = self._values[inside, column] <= threshold, self._values[reached, column] <= threshold
            nodes.append((inside[~lower], reached[~others], depth + 1, constant))
            nodes.append((inside[lower], reached[others], depth + 1, constant))
        return depths

    def _varying_column(self, inside: Rows, known: int) -> tuple[int | None, int]:
        """One at random, None where none varies; and how many are known not to, of which a parent knew ``known``."""
        columns = self._columns
        node = self._values[inside]
        varies = (node != node[0]).any(axis=0).tolist()
        last, found, drawn = len(columns), 0, 0
        column: int | None = None
        while column is None and last > known + found:
            place = drawn + self._draw() % (last - found - drawn)
            if place < known:
                columns[drawn], columns[place] = columns[place], columns[drawn]
                drawn += 1
                continue
            place += found
            other = known + found
            if varies[columns[place]]:
                column, other = columns[place], last - 1
            else:
                found += 1
            columns[other], columns[place] = columns[place], columns[other]
        columns[:known] = self._constant[:known]
        self._constant[known : known + found] = columns[known : known + found]
        return column, known + found

    def _threshold(self, values: Values) -> float:
        low, high = float(values.min()), float(values.max())
        threshold = (high - low) * self._draw() / _LARGEST + low
        return low if threshold == high else threshold

    def _draw(self) -> int:
        """Marsaglia's xorshift, of 31 bits."""
        state = self._state
        state ^= (state << 13) & 0xFFFFFFFF
        state ^= state >> 17
        state ^= (state << 5) & 0xFFFFFFFF
        self._state = state
        return state & 0x7FFFFFFF
