"""Exact search, held to a slow twin."""

import numpy as np
import pytest

from faultlib.index import NOTHING, ExactIndex, Snapshot, ranked
from tests.support.vectors import snapshot, unit


def slow(held: Snapshot, query: np.ndarray, limit: int) -> list[tuple[str, float]]:
    """Cosines by hand, in Python's own floats."""
    scores = []
    for name, row in zip(held.ids, held.matrix.tolist(), strict=True):
        dot = sum(one * other for one, other in zip(row, query.tolist(), strict=True))
        scores.append((-dot, name))
    return [(name, -score) for score, name in sorted(scores)[:limit]]


@pytest.mark.parametrize("limit", [0, 1, 5, 300, 1_000])
def test_the_most_similar_come_first(limit: int) -> None:
    """The same ids as the slow twin, in the same order, with the same cosines."""
    index, held = ExactIndex(), snapshot(300)
    index.load(held)
    for query in unit(5, seed=99):
        found, expected = index.nearest(query, limit), slow(held, query, limit)
        assert [name for name, _ in found] == [name for name, _ in expected]
        assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=1e-6)


def test_equal_ones_come_by_id() -> None:
    """The same question has the same answer, also where the limit cuts through equal ones."""
    assert ranked(("d", "b", "c", "a"), np.array([0.5, 0.5, 0.9, 0.5]), 3) == (("c", 0.9), ("a", 0.5), ("b", 0.5))


def test_an_empty_library_has_no_neighbours() -> None:
    """Nothing is similar when there is nothing."""
    index = ExactIndex()
    assert index.nearest(unit(1)[0], 5) == ()
    index.load(NOTHING)
    assert index.nearest(unit(1)[0], 5) == ()
    assert index.settle(0)
    index.close()


def test_a_stamp_tells_snapshots_apart() -> None:
    """Another pattern, version or model is another stamp; the same ones are the same."""
    assert snapshot(3).stamp == snapshot(3).stamp
    assert len({snapshot(3).stamp, snapshot(4).stamp, snapshot(3, version=2).stamp, NOTHING.stamp}) == 4
