"""The paper's comparison as a second opinion: heard where it matters, and not computed where it cannot."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from core.job import Status
from core.l4 import opinion
from core.l4.expected_path import Paths
from core.l4.method import Vectors, forest
from core.l4.opinion import LEAD, _like_nobody, find_outlier
from core.parsed import Parsed
from tests.support.jobs import at, four_nodes, parse

USUAL = tuple(at(second, f"INFO step {second}") for second in range(3))


def job_with(said: dict[int, list[str]]) -> Parsed:
    """Four nodes, of which some say more than those of a good job."""
    return parse(four_nodes(said, usual=USUAL), four_nodes({}, usual=USUAL, job_id="good", status=Status.COMPLETED))


def no_forest(_: NDArray[np.int64]) -> NDArray[np.float64]:
    raise AssertionError("a forest was grown")


ODD = [at(9 + second, f"ERROR {what} failed on port {second}") for second, what in enumerate(("link", "cable", "lane"))]


def test_a_node_that_differs_from_all_is_told() -> None:
    """By plain counts, with no word read."""
    assert find_outlier(job_with({2: ODD})) == "node-2"


def test_no_forest_is_grown_for_a_node_that_the_answer_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its opinion could only agree; so it is where each node says what another one says."""
    monkeypatch.setattr(opinion, "forest", no_forest)

    assert find_outlier(job_with({2: ODD}), {"node-2"}) is None
    assert find_outlier(job_with({})) is None


def test_a_forest_is_grown_only_where_its_trees_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who alone says all things stands apart in all trees, who says one of eight in few, and between lies chance."""
    monkeypatch.setattr(opinion, "forest", no_forest)

    def told(own: int) -> int | None:
        counts = np.ones((4, 8), np.int64)
        counts[2, :own] = 5
        counts[[0, 1, 3], range(5, 8)] = 3
        return opinion._leader(SimpleNamespace(memory=None), counts, range(4))  # type: ignore[arg-type]

    assert told(8) == 2
    assert told(1) is None
    with pytest.raises(AssertionError, match="forest"):
        list(map(told, range(8)))


@pytest.mark.parametrize("seed", range(4))
def test_a_forest_finds_each_row_as_anomalous_as_was_expected(seed: int) -> None:
    """The range is that of a mean over its trees, and no range is known of a table that can be cut in too many ways."""
    counts = np.random.default_rng(seed).integers(0, 3, (4 + seed, 9)) ** 2
    paths = Paths(counts)

    for row, anomaly in enumerate(forest(counts)):
        low, high = paths.anomaly(row)
        assert low - 1e-9 <= anomaly <= high + 1e-9
        assert high - low < 0.2
    assert Paths(np.arange(300)[:, None]).anomaly(0) == (0.0, 1.0)
    assert Paths(np.random.default_rng(seed).integers(0, 99, (40, 40))).anomaly(0) == (0.0, 1.0)


@pytest.mark.parametrize("seed", range(6))
def test_who_says_what_another_node_says_never_stands_apart(seed: int) -> None:
    """What is left out is what a forest says nothing about: its first is like nobody, or leads by nothing."""
    rows = np.random.default_rng(seed).integers(0, 40, (5, 7))
    vectors = Vectors(tuple(f"n{n}" for n in range(9)), tuple(range(7)), np.concatenate([rows, rows[:4]]))
    anomaly = forest(vectors.counts)
    first, second = np.sort(anomaly)[:-3:-1]

    assert _like_nobody(vectors) == [4]
    assert first - second < LEAD or int(anomaly.argmax()) == 4


def test_nobody_is_like_nobody_where_all_say_the_same() -> None:
    """And all are, where each says something of its own."""
    same = SimpleNamespace(nodes=("a", "b"), counts=np.ones((2, 3), np.int64))
    own = SimpleNamespace(nodes=("a", "b"), counts=np.eye(2, dtype=np.int64))

    assert _like_nobody(same) == []  # type: ignore[arg-type]  # no more of them is asked for
    assert _like_nobody(own) == [0, 1]  # type: ignore[arg-type]  # as above
