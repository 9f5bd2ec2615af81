"""Drain, made fast: the same clusters as drain3 itself, message by message."""

import random
import string

import pytest
from drain3.drain import Drain
from hypothesis import given, settings
from hypothesis import strategies as st

from core.parsing.drain import FastDrain

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


def fast_clusters(rows: list[str], drain: FastDrain) -> tuple[list[int], list[str]]:
    """The same by us."""
    clusters = [drain.add_log_message(row)[0].cluster_id for row in rows]
    return clusters, [drain.id_to_cluster[number + 1].get_template() for number in range(len(drain.clusters))]


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(TEXTS, st.data(), SIMILARITIES, CHILDREN, st.booleans())
def test_any_messages_get_the_clusters_of_drain3(
    texts: list[str], data: st.DataObject, similarity: float, children: int, digits: bool
) -> None:
    """Whatever comes in whatever order, every line gets the cluster that drain3 gives it, and the templates agree."""
    rows = data.draw(st.lists(st.sampled_from(texts), max_size=120))
    drain = FastDrain(similarity=similarity, children=children, digits_are_parameters=digits)

    found = fast_clusters(rows, drain)

    assert found == drain3_clusters(rows, similarity, children, digits=digits)


@pytest.mark.parametrize("similarity", [0.4, 0.7, 0.8])
@pytest.mark.parametrize("seed", range(4))
def test_large_leaves_give_the_clusters_of_drain3(similarity: float, seed: int) -> None:
    """Hundreds of clusters under one token are compared at once, and templates in them go on to change."""
    chance = random.Random(seed)
    words = string.ascii_lowercase[: chance.choice((4, 12, 26))]
    texts = [f"said: {' '.join(chance.choices(words, k=chance.choice((5, 8))))}" for _ in range(400)]
    rows = chance.choices(texts, k=2000)

    found = fast_clusters(rows, FastDrain(similarity=similarity))

    assert found == drain3_clusters(rows, similarity, 100, digits=True)
