"""Sentences that code alone may write: no model says the cause of a job whose scope is unknown or that did not fail."""

from bot.note.clauses import take_apart
from bot.note.draft import Sentence
from bot.note.evidence import EvidenceList
from bot.note.form import bad_form, bad_quote
from core.model import Diagnosis, Scope

SCOPES = (Scope.UNKNOWN, Scope.NONE)
HINT = "A hint, no more: "  # before what a weak diagnosis says
NOT_SHOWN = "The evidence does not show the cause."
_CAUSE = {
    Scope.UNKNOWN: "The cause is unknown: the logs do not tell what is at fault.",
    Scope.NONE: "There is no cause to find: nothing of the job is at fault.",
}
_HEADLINE = {
    Scope.NODE: "A part of the job is at fault.",
    Scope.JOB: "No node is special: it is the code, the settings or shared storage.",
    Scope.NONE: "Nothing of the job is at fault.",
    Scope.UNKNOWN: "Nothing conclusive: the logs do not tell what is at fault.",
}


def headline(evidence: EvidenceList, diagnosis: Diagnosis) -> Sentence:
    """The diagnosis' own headline, or its scope in words when it cannot be shown as it is."""
    return Sentence(text=allowed("headline", evidence, diagnosis)[0], cites=verdict(evidence))


def cause(evidence: EvidenceList, diagnosis: Diagnosis) -> Sentence:
    """What is said of the cause when no model may."""
    return Sentence(text=_CAUSE.get(diagnosis.scope, NOT_SHOWN), cites=verdict(evidence))


def allowed(field: str, evidence: EvidenceList, diagnosis: Diagnosis) -> tuple[str, ...]:
    """The sentences that may stand in a field, the best first."""
    if field == "cause":
        return (_CAUSE.get(diagnosis.scope, NOT_SHOWN),)
    told = evidence.find("D1")
    own = (told.claims[0],) if told and diagnosis.headline.strip() and _shows(told.claims[0]) else ()
    return (*own, _HEADLINE[diagnosis.scope])


def _shows(text: str) -> bool:
    parts = take_apart(text)
    reasons = [*bad_form(parts.bare, text), *(reason for quote in parts.quotes for reason in bad_quote(quote, ""))]
    return not reasons and not parts.unbalanced and len(text) <= MAX_HEADLINE


MAX_HEADLINE = 300  # characters; as bot.wording.first_line


def verdict(evidence: EvidenceList) -> list[str]:
    """What these sentences cite: the verdict, which is always shown."""
    return [item.id for item in evidence.items[:1]]
