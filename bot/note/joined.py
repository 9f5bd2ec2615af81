"""How the parts of a sentence hang together, and what of it only leads in."""

import re
from collections.abc import Iterator, Sequence

from bot.note.clauses import Parts, unmarked
from bot.note.words import words

ADVICE = ("check_first", "fix")
_LEAD = re.compile(
    r"(?i)^\s*(?:please\s+)?(?:check|look at|look into|inspect|examine|see|verify|read|compare)\b(?:\s+that\b)?:?"
)
_ASKS = re.compile(
    r"(?i)^\s*(?:it is unknown whether|did|do|does|was|were|is|are|has|have)\b"
    r"(?:\s+there\b)?(?:\s+anything\b)?(?:\s+in\b)?"
)
_NO_MORE = re.compile(
    r"(?i)\b(?:did|do|does|had|has|have|was|were|is|are|could|would)(?:\s+not|n['\u2019]t)?"
    r"(?:,?\s+(?:too|so))?\s*[.;,]?\s*$"
)


def loosely_joined(parts: Parts, clauses: Sequence[str]) -> Iterator[str]:
    """Why parts that are held each by itself may not stand in one sentence: together they would say more."""
    for clause in map(unmarked, clauses):
        if elliptical(clause):
            yield f"\u201c{clause.strip()[:60]}\u201d leaves open what was done"
    if len(clauses) < 2:
        return
    order = words().order
    if match := order.links.search(parts.joints):
        yield f"\u201c{match[0]}\u201d joins what no cited item joins"
    for clause in clauses[1:]:
        if match := order.back.search(unmarked(clause)):
            yield f"\u201c{match[0]}\u201d may point to another one in this sentence"


def elliptical(text: str) -> bool:
    """Whether a text ends with a verb that repeats another one: "the other nodes never did"."""
    return _NO_MORE.search(text) is not None


def without_lead(text: str, field: str) -> Iterator[str]:
    """The text, and without "check whether" of an advice or "did" of a question."""
    yield text
    if field in ADVICE and (match := _LEAD.search(text)):
        yield text[match.end() :]
    if field == "open_questions" and (match := _ASKS.search(text)):
        yield text[match.end() :]
        yield f"whether {text[match.end() :]}"
