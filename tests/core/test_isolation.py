"""The Isolation Forest of ``core.l4`` has the numbers of scikit-learn's."""

import numpy as np
import pytest

from core.l4.isolation import anomalies


@pytest.mark.slow  # scikit-learn takes a second to import
@pytest.mark.parametrize(("nodes", "events", "odd"), [(2, 3, 4), (5, 1, 2), (8, 40, 6), (40, 12, 400), (300, 5, 900)])
def test_it_has_the_scores_of_scikit_learn(nodes: int, events: int, odd: int) -> None:
    """Alike but for some cells, as nodes are; also of more nodes than a tree is made of, and of counts in millions."""
    from sklearn.ensemble import IsolationForest  # noqa: PLC0415 as above

    random = np.random.default_rng(nodes)
    counts = np.tile(random.poisson(3, events), (nodes, 1))
    counts[random.integers(0, nodes, odd), random.integers(0, events, odd)] += random.integers(1, 4_000_000, odd)

    theirs = -IsolationForest(random_state=0).fit(counts).score_samples(counts)

    assert anomalies(counts.astype(np.float32), 0) == pytest.approx(theirs, abs=1e-12)


def test_who_differs_is_isolated_first() -> None:
    """Its score is the highest, and those of the others are equal."""
    counts = np.full((6, 4), 5, np.float32)
    counts[2] = 9

    scores = anomalies(counts, 0)

    assert scores.argmax() == 2
    assert len(set(np.delete(scores, 2).tolist())) == 1
