"""How sure an answer is. This file is the rule.

``established`` (act on it) needs two independent kinds of evidence, at least two voices that were told apart, and no
rival that is not explained. One kind alone, however loud, is ``supported`` (verify before you act); less is ``weak``.
The paper's comparison of nodes is a second opinion: where it points to another node, it takes one kind away.
Of a job that completed nothing is established: its end contradicts what its logs complain of. Nor is the fault of a
node whose program raised an exception of its own: the same words come from a bad machine and from code that fails where
its data leads it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.model import Confidence
from core.nodes.sign import Sign, Suspicion

SUPPORTED = 0.55  # score of a suspicion from which on it is worth acting on after a look
RIVAL = 0.8  # a second suspect counts when it has this share of the first one's score


class Ground(StrEnum):
    """An independent kind of evidence: what produces one kind does not produce another."""

    WORDS = "its own words"
    OTHERS = "what others say of it"
    SILENCE = "its silence"
    ORDER = "the order of events"
    PLACE = "where its processes stood"
    NUMBERS = "its numbers"
    EXIT = "how its processes ended"
    SPREAD = "how many say it"
    PROGRESS = "progress until the end"
    STATUS = "what the scheduler says"
    NETWORK = "what the network saw"


# Which kind a channel of core.nodes belongs to. What only compares (contrast, the forest) grounds nothing by itself.
GROUND_OF = {
    "direct": Ground.WORDS,
    "named": Ground.OTHERS,
    "peers": Ground.OTHERS,
    "silence": Ground.SILENCE,
    "missing": Ground.SILENCE,
    "behind": Ground.SILENCE,
    "lacks": Ground.SILENCE,
    "no answer": Ground.SILENCE,
    "first": Ground.ORDER,
    "waits": Ground.PLACE,
    "stack": Ground.PLACE,
    "recorder": Ground.PLACE,
    "collective": Ground.PLACE,
    "votes": Ground.NUMBERS,
    "agreement": Ground.NUMBERS,
    "outside": Ground.NUMBERS,
    "odd": Ground.NUMBERS,
    "memory": Ground.NUMBERS,
    "own part": Ground.NUMBERS,
    "gauge": Ground.NUMBERS,
    "series": Ground.NUMBERS,
    "lag": Ground.NUMBERS,
    "device": Ground.WORDS,  # of its driver, by way of an exporter
    "metric": Ground.NUMBERS,
    "metric ends": Ground.SILENCE,
    "stubborn": Ground.EXIT,
    "exit": Ground.EXIT,
    "network": Ground.NETWORK,
}


@dataclass(frozen=True, slots=True)
class Support:
    """What an answer stands on.

    score: of the leading evidence, 0..1. grounds: independent kinds of evidence. voices: nodes or ranks that were told
    apart. rivals: suspects that are not part of the answer and nearly as suspicious. outlier: the node that the
    comparison of nodes points to, if it is another one. completed: the job did, by its status. of_program:
    a node is accused, of what its program raised (``core.failure_kinds``).
    """

    score: float
    grounds: frozenset[Ground]
    voices: int
    rivals: tuple[str, ...] = ()
    outlier: str | None = None
    completed: bool = False
    of_program: bool = False


def confidence(support: Support) -> Confidence:
    """How sure the answer is, by what supports it: the rule of docs/explain/confidence.md."""
    kinds = len(support.grounds) - (support.outlier is not None)
    if support.score < SUPPORTED or (support.outlier is not None and not kinds):
        return Confidence.WEAK
    doubtful = support.rivals or support.completed or support.of_program
    sure = kinds >= 2 and support.voices >= 2 and not doubtful
    return Confidence.ESTABLISHED if sure else Confidence.SUPPORTED


def grounds_of(signs: Collection[Sign]) -> frozenset[Ground]:
    """The independent kinds among some signs."""
    return frozenset(GROUND_OF[sign.channel] for sign in signs if sign.channel in GROUND_OF)


def rivals(accused: Sequence[Suspicion], suspicions: Sequence[Suspicion]) -> tuple[str, ...]:
    """Suspects beside the accused that are nearly as suspicious as the first of them."""
    named = {suspicion.node for suspicion in accused}
    level = RIVAL * accused[0].score if accused else SUPPORTED
    return tuple(suspicion.node for suspicion in suspicions if suspicion.node not in named and suspicion.score >= level)
