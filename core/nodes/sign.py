"""What points to a node, and how much of it there is."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.model import Line
from core.naming import natural


@dataclass(frozen=True, slots=True)
class Sign:
    """One thing that points to a node. weight: 0..1, chance that a node with this sign is the faulty one.

    says, check: what broke and what to look at, for the answer, where no event says it; ranks, lines: as in evidence.
    iteration: since when, where it tells. rows: of the event table, that show it. group: nodes that stand or fall with
    it, which are told together however many they are.
    """

    node: str
    channel: str
    weight: float
    because: str
    event: int | None = None
    says: str = ""
    check: str = ""
    ranks: tuple[int, ...] = ()
    lines: tuple[Line, ...] = ()
    iteration: int | None = None
    rows: tuple[int, ...] = ()
    group: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suspicion:
    """All that points to one node; score: 0..1, by noisy-or over the channels."""

    node: str
    score: float
    signs: tuple[Sign, ...]


def suspects(signs: Sequence[Sign]) -> tuple[Suspicion, ...]:
    """Nodes by how much points to them; within a channel only the strongest sign counts."""
    by_node: dict[str, list[Sign]] = defaultdict(list)
    for sign in signs:
        by_node[sign.node].append(sign)
    found = []
    for node, own in by_node.items():
        best: dict[str, Sign] = {}
        for sign in sorted(own, key=lambda sign: (-sign.weight, sign.because)):
            best.setdefault(sign.channel, sign)
        doubt = float(np.prod([1 - sign.weight for sign in best.values()]))
        found.append(
            Suspicion(node, 1 - doubt, tuple(sorted(best.values(), key=lambda sign: (-sign.weight, sign.channel))))
        )
    return tuple(sorted(found, key=lambda suspicion: (-suspicion.score, natural(suspicion.node))))


def short(text: str, length: int = 90) -> str:
    """A template cut for a sentence."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "\u2026"
