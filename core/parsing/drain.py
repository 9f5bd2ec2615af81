"""Drain (drain3; He et al., ICWS 2017), fast: the same clusters, found without walking through leaves line by line.

The only module that imports drain3.

``FastDrain`` compares a message with all clusters of a leaf at once. ``StreamingDrain`` feeds every line of a log in
its order (L4, section 4.2), but Drain sees a text only where its answer may have changed: an answer that changed
nothing is given again until a cluster of as many tokens is made or changed, because Drain compares messages of equal
length only.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from drain3.drain import Drain, LogCluster
from numpy.typing import NDArray

WILDCARD = "<*>"
NO_CLUSTER = -1
_FEW = 16  # clusters of a leaf that are walked through faster than compared at once
_WINDOW = 1 << 8  # rows that are looked at together, at least; more while nothing changes
_LONGEST_WINDOW = 1 << 16  # rows: what is looked at together must fit into a cache


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

    def nearest(self, content: str) -> LogCluster | None:
        """The cluster that a message would join; nothing is learnt."""
        return self.tree_search(self.root_node, self.get_content_as_tokens(content), self.sim_th, False)  # noqa: FBT003

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


class StreamingDrain:
    """Streaming Drain over numbers of texts: the cluster of every row, as if Drain had been fed them all."""

    def __init__(self, drain: FastDrain | None = None) -> None:
        self.drain = FastDrain() if drain is None else drain
        self._numbers: dict[str, int] = {}
        self._texts: list[str] = []
        self._given = np.zeros(0, np.int32)  # cluster that a text was given last
        self._holds = np.zeros(0, np.bool_)  # whether it would be given again
        self._held: dict[int, list[int]] = defaultdict(list)  # texts of so many tokens whose answer holds

    def number(self, texts: Iterable[str]) -> NDArray[np.intp]:
        """The number of each of these texts, in this stream."""
        numbers = self._numbers
        found = np.array([numbers.setdefault(text, len(numbers)) for text in texts], np.intp)
        self._texts += list(numbers)[len(self._texts) :]
        new = len(numbers) - len(self._given)
        self._given = np.concatenate([self._given, np.full(new, NO_CLUSTER, np.int32)])
        self._holds = np.concatenate([self._holds, np.zeros(new, np.bool_)])
        return found

    def feed(self, texts: NDArray[np.intp], heads: NDArray[np.bool_]) -> NDArray[np.int32]:
        """The cluster of each row, whose texts have these numbers.

        Args:
            texts: number of the text of each row.
            heads: True on rows that are fed; the others continue a row of the same text.
        """
        clusters = np.empty(len(texts), np.int32)
        at, window = 0, _WINDOW
        while at < len(texts):
            rows = texts[at : at + window]
            open_ones = np.flatnonzero(~self._holds[rows] & heads[at : at + window])
            settled = int(open_ones[0]) if len(open_ones) else len(rows)
            clusters[at : at + settled] = self._given[rows[:settled]]
            at += settled
            window = max(_WINDOW, settled) if len(open_ones) else min(2 * window, _LONGEST_WINDOW)
            if len(open_ones):
                clusters[at] = self._ask(int(rows[settled]))
                at += 1
        return clusters

    def last(self, text: str) -> int:
        """The cluster that a text was given last, or that it would join; NO_CLUSTER when it would make a new one."""
        if text in self._numbers and (given := int(self._given[self._numbers[text]])) != NO_CLUSTER:
            return given
        near = self.drain.nearest(text)
        return NO_CLUSTER if near is None else int(near.cluster_id)

    def template(self, cluster: int) -> str:
        """Constant part of a cluster's messages, as it is now."""
        return str(self.drain.id_to_cluster[cluster].get_template())

    def _ask(self, number: int) -> int:
        cluster, change = self.drain.add_log_message(self._texts[number])
        of_length = self._held[len(cluster.log_template_tokens)]
        if change == "none":
            self._holds[number] = True
            of_length.append(number)
        else:
            self._holds[of_length] = False
            of_length.clear()
        self._given[number] = cluster.cluster_id
        return int(cluster.cluster_id)
