"""Drain (drain3; He et al., ICWS 2017), fast: the same clusters, found without walking through leaves line by line.

The only module that imports drain3.

``FastDrain`` compares a message with all clusters of a leaf at once.
"""

from collections.abc import Sequence

import numpy as np
from drain3.drain import Drain, LogCluster
from numpy.typing import NDArray

WILDCARD = "<*>"
NO_CLUSTER = -1
_FEW = 16  # clusters of a leaf that are walked through faster than compared at once


class FastDrain(Drain):  # type: ignore[misc]  # drain3 has no types
    """drain3's Drain; its tree chooses the leaf, and in a large leaf all clusters are compared at once."""

    def __init__(self, *, similarity: float = 0.4, children: int = 100, digits_are_parameters: bool = True) -> None:
        """Make a Drain that knows nothing; what is not said is as drain3 has it.

        Args:
            similarity: share of equal tokens from which on a message belongs to a cluster, above 0.
            children: of a node of the tree, at most.
            digits_are_parameters: whether the tree sends tokens with a digit to one branch.
        """
        super().__init__(
            sim_th=similarity,
            max_children=children,
            param_str=WILDCARD,
            parametrize_numeric_tokens=digits_are_parameters,
        )
        self._words: dict[str, int] = {}
        self._leaves: dict[int, _Leaf] = {}  # by the first cluster of each
        self._leaf_of: dict[int, _Leaf] = {}  # of each cluster that is in one of them

    def add_log_message(self, content: str) -> tuple[LogCluster, str]:
        """The cluster of a message, which is learnt, and what that changed."""
        cluster, change = super().add_log_message(content)
        if change == "cluster_template_changed" and (leaf := self._leaf_of.get(cluster.cluster_id)) is not None:
            leaf.put(cluster.cluster_id, self._numbers(cluster.log_template_tokens))
        return cluster, change

    def fast_match(
        self,
        cluster_ids: list[int],
        tokens: Sequence[str],
        sim_th: float,
        include_params: bool,  # noqa: FBT001  # as drain3 calls it
    ) -> LogCluster | None:
        """The most similar cluster of a leaf: of several the one with most wildcards, then the oldest."""
        leaf = self._leaves.setdefault(cluster_ids[0], _Leaf(cluster_ids[0], len(tokens)))
        leaf.ids += cluster_ids[1:]
        del cluster_ids[1:]  # the tree keeps one that stands for the leaf: it copies its list for each new cluster
        if len(leaf.ids) < _FEW or include_params:
            return super().fast_match(leaf.ids, tokens, sim_th, include_params)
        for cluster_id in leaf.ids[len(leaf) :]:
            leaf.put(cluster_id, self._numbers(self.id_to_cluster[cluster_id].log_template_tokens))
            self._leaf_of[cluster_id] = leaf
        return self.id_to_cluster.get(leaf.most_similar([self._words.get(token, 0) for token in tokens], sim_th))

    def _numbers(self, tokens: Sequence[str]) -> list[int]:
        words = self._words
        return [_ANY if token == WILDCARD else words.setdefault(token, len(words) + 1) for token in tokens]


_ANY = -1  # a wildcard in a cluster; a word that no cluster has is 0, and so is a wildcard in a message


class _Leaf:
    """Clusters of as many tokens each, as numbers: a row a place, a column a cluster."""

    def __init__(self, first: int, tokens: int) -> None:
        self.ids = [first]
        self._columns: dict[int, int] = {}
        self._words = np.zeros((tokens, _FEW), np.int32)
        self._wildcards = np.zeros(_FEW, np.int32)
        self._places = np.arange(tokens)  # those that tell most clusters apart first

    def __len__(self) -> int:
        return len(self._columns)

    def put(self, cluster_id: int, words: list[int]) -> None:
        """Add the next of its clusters, or say what one is now."""
        column = self._columns.setdefault(cluster_id, len(self._columns))
        if column == self._words.shape[1]:
            self._grow()
        self._words[:, column] = words
        self._wildcards[column] = words.count(_ANY)

    def most_similar(self, words: Sequence[int], similarity: float) -> int:
        """The cluster most similar to these words, NO_CLUSTER when none is similar enough."""
        tokens = len(words)
        differing = int(tokens * (1 - similarity) + 1e-9)
        # who differs in so many places shares a word in one more of any
        shares = np.zeros(len(self), np.bool_)
        for place in self._places[: differing + 1].tolist():
            shares |= self._words[place, : len(self)] == words[place]
        near = np.flatnonzero(shares)
        if not len(near):
            return NO_CLUSTER
        equal = (self._words[:, near] == np.array(words, np.int32)[:, None]).sum(axis=0)
        most = int(equal.max())
        return self._first(near[equal == most]) if most / tokens >= similarity else NO_CLUSTER

    def _first(self, columns: NDArray[np.intp]) -> int:
        """Of these clusters the oldest of those with most wildcards."""
        return self.ids[int(columns[self._wildcards[columns].argmax()])]

    def _grow(self) -> None:
        kinds = [len(np.unique(row)) for row in self._words]
        self._places = np.argsort([-kind for kind in kinds], kind="stable")
        self._words = np.concatenate([self._words, np.zeros_like(self._words)], axis=1)
        self._wildcards = np.concatenate([self._wildcards, np.zeros_like(self._wildcards)])
