"""The paper's comparison of nodes as a second opinion: an Isolation Forest over event count vectors (L4, 4.2 and 4.3).

It sees no words, no order and no absence of a single line, only how often each node says what good jobs do not often
say. That makes it independent of everything else here. It must always accuse somebody, so it is heard only where one
node stands clearly apart.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from core.l4.expected_path import Paths
from core.l4.method import SUSPICIOUS, Vectors, comparable, count_vectors, cross_job, forest
from core.parsed import Parsed

LEAD = 0.08  # of anomaly between the first and the second node; identical nodes differ by none (docs/LOG.md)


def find_outlier(parsed: Parsed, ours: Collection[str] = ()) -> str | None:
    """The node that differs clearly from all others by what it says how often; None where nobody or one of ours does.

    Nodes that say the same are as anomalous, so only who is like nobody can stand apart, and only by short paths.
    Where none of these would be told, no forest is grown: that and scikit-learn take half of a small diagnosis.

    Args:
        ours: nodes that the answer names, of which no opinion is needed.
    """
    vectors = count_vectors(parsed.table, cross_job(parsed))
    if not comparable(vectors):
        return None
    untold = {*ours, *(() if parsed.profiles else _leaders(parsed))}
    asked = [row for row in _like_nobody(vectors) if vectors.nodes[row] not in untold]
    leader = _leader(parsed, vectors.counts, asked) if asked else None
    return None if leader is None or vectors.nodes[leader] in untold else vectors.nodes[leader]


def _like_nobody(vectors: Vectors) -> list[int]:
    """Places of the nodes that say something as often as no other node does."""
    rows = [blake2b(row.tobytes(), digest_size=20).digest() for row in vectors.counts]
    times = Counter(rows)
    return [place for place, row in enumerate(rows) if times[row] == 1]


def _leader(parsed: Parsed, counts: NDArray[np.int64], asked: Sequence[int]) -> int | None:
    """The row that a forest finds clearly more anomalous than all others; None where it is none of these."""
    paths = Paths(counts)
    ranges = np.array([paths.anomaly(row) for row in range(len(counts))])
    may_lead = [row for row in asked if _leads(ranges[row, 1], np.delete(ranges[:, 0], row))]
    leads = [row for row in may_lead if _leads(ranges[row, 0], np.delete(ranges[:, 1], row))]
    if leads or not may_lead:
        return next(iter(leads), None)
    anomaly = _anomaly(parsed, counts)
    first = int(anomaly.argmax())
    return first if _leads(anomaly[first], np.delete(anomaly, first)) else None


def _leads(anomaly: float, others: NDArray[np.float64]) -> bool:
    return anomaly - max(SUSPICIOUS, float(others.max())) >= LEAD


def _anomaly(parsed: Parsed, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Anomaly of each row of counts, 0..1; of a large job remembered, for a forest of it takes seconds."""
    if parsed.memory is None:
        return forest(counts)
    question = f"forest {counts.shape} {blake2b(counts.tobytes(), digest_size=20).hexdigest()}"
    return parsed.memory.arrays(question, lambda: (forest(counts),))[0]


def _leaders(parsed: Parsed) -> frozenset[str]:
    """Nodes of the first and the last rank: they differ in every job, and only good jobs tell by how much."""
    ranks = parsed.table.ranks
    ends = {ranks[0], ranks[-1]} if ranks else {0}
    homes = {origin.node for origin in parsed.table.origins if origin.rank in ends and origin.node}
    listed = {node for node, own in parsed.job.manifest.node_ranks.items() if ends & set(own)}
    return frozenset(homes | listed)
