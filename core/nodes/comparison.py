"""The paper's comparison of nodes as a second opinion: an Isolation Forest over event count vectors (L4, 4.2 and 4.3).

It sees no words, no order and no absence of a single line, only how often each node says what good jobs do not often
say. That makes it independent of everything else here. It must always accuse somebody, so it is heard only where one
node stands clearly apart.
"""

import numpy as np

from core.l4 import SUSPICIOUS, comparable, count_vectors, cross_job, spatial
from core.parsing.parsed import Parsed

LEAD = 0.08  # of anomaly between the first and the second node; identical nodes differ by none (docs/LOG.md)


def find_outlier(parsed: Parsed) -> str | None:
    """The node that differs clearly from all others by what it says how often; None where nobody stands out."""
    vectors = count_vectors(parsed.table, cross_job(parsed))
    if not comparable(vectors) or not np.ptp(vectors.counts, axis=0).any():
        return None
    order = spatial(vectors)
    if not order or order[0].anomaly <= SUSPICIOUS:
        return None
    if not parsed.profiles and order[0].node in _leaders(parsed):
        return None
    second = order[1].anomaly if len(order) > 1 else SUSPICIOUS
    return order[0].node if order[0].anomaly - second >= LEAD else None


def _leaders(parsed: Parsed) -> frozenset[str]:
    """Nodes of the first and the last rank: they differ in every job, and only good jobs tell by how much."""
    ranks = parsed.table.ranks
    ends = {ranks[0], ranks[-1]} if ranks else {0}
    homes = {origin.node for origin in parsed.table.origins if origin.rank in ends and origin.node}
    listed = {node for node, own in parsed.job.manifest.node_ranks.items() if ends & set(own)}
    return frozenset(homes | listed)
