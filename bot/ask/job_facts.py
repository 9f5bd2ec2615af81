"""All that is known of a job, a fact each: what a question may be answered from when no intent answers it whole."""

from collections.abc import Iterator

from bot.ask.fact import Fact
from bot.ask.facts_course import facts_of_addresses, facts_of_course, facts_of_ends
from bot.ask.facts_errors import facts_of_errors
from bot.ask.facts_progress import facts_of_progress
from bot.ask.facts_settings import facts_of_settings
from bot.ask.facts_units import facts_of_units
from bot.ask.question import Question
from bot.ask.subject import Subject
from bot.note.claim import Claim

_OTHERS = (
    "good", "healthy", "ok", "success", "succeed", "worked", "complete", "baseline", "other", "compare", "finish",
    "usual", "normal",
)  # fmt: skip


def sheet(subject: Subject, question: Question) -> Iterator[Fact]:
    """The facts that may answer a question, the more telling kinds first."""
    yield from facts_of_errors(subject)
    yield from facts_of_course(subject)
    yield from facts_of_progress(subject)
    yield from facts_of_ends(subject)
    yield from facts_of_units(subject, question)
    yield from facts_of_addresses(subject)
    yield from (_of_claim(claim) for claim in subject.claims.every if claim.id[:2] not in ("C1", "C2", "C3", "C4"))
    yield from facts_of_settings(subject, beside=question.says(*_OTHERS))


def _of_claim(claim: Claim) -> Fact:
    return Fact(claim.says, claim.cites)
