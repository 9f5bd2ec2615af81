"""Drain, made fast: the same clusters as drain3 itself, message by message."""

import random
import string

import numpy as np
import pytest
from drain3.drain import Drain
from hypothesis import given, settings
from hypothesis import strategies as st

from core.parsing.drain import NO_CLUSTER, FastDrain, StreamingDrain

# Few words, so that templates merge and change; digits and wildcards, which drain3 treats in ways of their own.
WORDS = st.sampled_from(["a", "b", "c", "up", "d1", "7", "<NUM>", "<*>"])
TEXTS = st.lists(st.lists(WORDS, max_size=8).map(" ".join), min_size=1, max_size=40)
SIMILARITIES = st.sampled_from([0.2, 0.4, 0.5, 0.7, 0.8, 1.0])
CHILDREN = st.sampled_from([2, 3, 5, 100])


def drain3_clusters(rows: list[str], similarity: float, children: int, *, digits: bool) -> tuple[list[int], list[str]]:
    """The cluster of each row, and all templates at the end, by drain3 itself, fed line by line."""
    drain = Drain(sim_th=similarity, max_children=children, parametrize_numeric_tokens=digits)
    clusters = [drain.add_log_message(row)[0].cluster_id for row in rows]
    return clusters, [drain.id_to_cluster[number + 1].get_template() for number in range(len(drain.clusters))]


def streamed(rows: list[str], stream: StreamingDrain, *, parts: int = 1) -> tuple[list[int], list[str]]:
    """The same by us, in so many parts."""
    clusters = []
    for part in np.array_split(np.array(rows, object), parts):
        numbers = stream.number(part.tolist())
        clusters += stream.feed(numbers, np.ones(len(part), np.bool_)).tolist()
    known = range(1, len(stream.drain.clusters) + 1)
    return clusters, [stream.template(cluster) for cluster in known]


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(TEXTS, st.data(), SIMILARITIES, CHILDREN, st.booleans())
def test_streaming_gives_the_clusters_of_drain3(
    texts: list[str], data: st.DataObject, similarity: float, children: int, digits: bool
) -> None:
    """Whatever comes in whatever order, every line gets the cluster that drain3 gives it, and the templates agree."""
    rows = data.draw(st.lists(st.sampled_from(texts), max_size=120))
    stream = StreamingDrain(FastDrain(similarity=similarity, children=children, digits_are_parameters=digits))

    found = streamed(rows, stream, parts=data.draw(st.integers(1, 4)))

    assert found == drain3_clusters(rows, similarity, children, digits=digits)


@pytest.mark.parametrize("similarity", [0.4, 0.7, 0.8])
@pytest.mark.parametrize("seed", range(4))
def test_large_leaves_give_the_clusters_of_drain3(similarity: float, seed: int) -> None:
    """Hundreds of clusters under one token are compared at once, and templates in them go on to change."""
    chance = random.Random(seed)
    words = string.ascii_lowercase[: chance.choice((4, 12, 26))]
    texts = [f"said: {' '.join(chance.choices(words, k=chance.choice((5, 8))))}" for _ in range(400)]
    rows = chance.choices(texts, k=2000)

    found = streamed(rows, StreamingDrain(FastDrain(similarity=similarity)))

    assert found == drain3_clusters(rows, similarity, 100, digits=True)


def test_what_comes_again_is_not_compared_again() -> None:
    """Drain sees a text twice until its answer holds, and again only after something changed that it may depend on."""
    asked: list[str] = []

    class Told(FastDrain):
        def add_log_message(self, content: str) -> tuple[object, str]:
            asked.append(content)
            return super().add_log_message(content)

    stream = StreamingDrain(Told())
    streamed(["one two", *["a b c"] * 1000, "x y", *["a b c"] * 1000, "d e f", *["a b c"] * 1000], stream)

    assert asked == ["one two", "a b c", "a b c", "x y", "d e f", "a b c"]


def test_rows_that_continue_a_message_are_not_fed() -> None:
    """The rows of a traceback count once, and all have the cluster of the first."""
    stream = StreamingDrain()
    numbers = stream.number(["boom in <NUM>", "boom out <NUM>"])
    rows = np.array([0, 0, 0, 1, 1, 0], np.intp)

    clusters = stream.feed(numbers[rows], np.array([True, False, False, True, False, False]))

    assert clusters.tolist() == [1, 1, 1, 1, 1, 1]
    assert [cluster.size for cluster in stream.drain.clusters] == [2]


def test_who_asks_teaches_nothing() -> None:
    """What a good job says is placed among the clusters of the job without changing one."""
    stream = StreamingDrain()
    streamed(["link of port one is up now"], stream)

    assert stream.last("link of port two is up now") == 1
    assert stream.last("something else") == NO_CLUSTER
    assert stream.template(1) == "link of port one is up now"
