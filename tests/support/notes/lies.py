"""Lies that a model could plan about a job: wrong ids, wrong places, false joins, invented nodes, ranks and numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.note.claim import ClaimUse
from bot.note.claims import claims_of
from bot.text.known_fault import KnownFault
from core.model import Diagnosis
from tests.support.notes.plans import answer, step


@dataclass(frozen=True, slots=True)
class Lie:
    """A plan, and words that no reader may see outside the block; free: only its own sentences lie."""

    kind: str
    plan: str
    forbidden: tuple[str, ...]
    free: bool = False


_FREE = (
    "node-99 caught fire.", "Rank 4711 ran out of memory.", "The loss rose to 31337.5.", "It failed at 23:59:58.",
    "Run sudo reboot on all machines.", "See https://evil.example for the fix.", "Eighty-eight ranks died.",
    "The switch sw-77 was down.", "It is certain that GPU 4242 has an ECC error.", "Iteration 98765 diverged.",
)  # fmt: skip


def lies_about(diagnosis: Diagnosis, known: Sequence[KnownFault]) -> tuple[Lie, ...]:
    """At least 25 a job."""
    return tuple(_lies(diagnosis, known))


def _lies(diagnosis: Diagnosis, known: Sequence[KnownFault]) -> Iterator[Lie]:
    claims = claims_of(diagnosis, known)
    for text in _FREE:
        yield Lie("free words", answer(reading=[text]), (text, text.split()[0] + " caught"), free=True)
        yield Lie("free words as an id", answer([text], [step(text)], [text], [text]), (text,))
    for join, words in (
        ("then", "later, "),
        ("while", "At about the same time"),
        ("so far unknown why", "The logs do not tell why."),
        ("likely because", "Likely the reason"),
    ):
        untimed = [
            one for one in claims.of(ClaimUse.HAPPENED) if one.at is None and not one.ground and one.id[0] in "DP"
        ]
        for one in untimed[:2]:
            yield Lie("false join", answer(happened=[step(one.id, join, "E1")], cause=["D1.look"]), (words,))
    for reason in ("E9", "P9", "out of memory", "node-99", "C1"):
        steps = [step("I1.at", "likely because", reason)]
        yield Lie("invented mechanism", answer(happened=steps), ("Likely the reason", "out of memory"))
    for name in ("N1.why", "E9.said", "Z1", "", "headline"):
        plan = answer([name], [step("C1")], ["C1"], ["E1.said"])
        yield Lie("wrong place", plan, () if not name else ("E9.said", "Z1"))
    if diagnosis.nodes:
        suspect = diagnosis.nodes[0].node
        others = [bar.node for bar in diagnosis.pictures.nodes if bar.node != suspect]
        for other in others:
            yield Lie("blames a peer", answer([f"{other}.who"], [step("N2.who")], ["N2.cause"]), (f"Look at {other}",))
