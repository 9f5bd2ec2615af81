"""The note that code writes from the evidence alone: when no model is there, or when what it wrote was refused."""

import re
from collections.abc import Iterable, Iterator

from bot.note import fixed
from bot.note.check import Court, check, falls
from bot.note.draft import MAX_TEXT, Category, Draft, Sentence
from bot.note.evidence import EvidenceList, Item, Kind
from bot.note.words import mechanisms_in
from core.model import Confidence, Diagnosis, Role, Scope

MAX_STORY = 5  # sentences of what happened
MAX_PEERS = 1  # of them from peers that only waited
MAX_CHECKS = 3
MAX_GAPS = 2
QUOTE = 90  # characters of a log line, as the core quotes
_SHORTEST_QUOTE = 12
_TELLING_QUOTE = 30
# What a quote must not hold, and source files in brackets, which say nothing at 3 a.m.
_UNQUOTABLE = re.compile("[<>`\"'\u201c\u201d\u2018\u2019|\u2026\ufffd]+|\\[[^\\]\\s]*/[^\\]\\s]*\\]:?\\s")
_TORN = re.compile(r"\S*\s?\u2026\s?\S*")  # words on both sides of where a line was cut
_CLOCK = re.compile(r"^\S*\d{1,2}:\d{2}:\d{2}\S*\s+")


def draft_by_code(evidence: EvidenceList, diagnosis: Diagnosis) -> Draft:
    """A draft of which every sentence passes the check."""
    court = Court(evidence, diagnosis)
    draft = Draft(
        headline=fixed.headline(evidence, diagnosis),
        cause=_first(court, "cause", _causes(evidence, diagnosis)) or fixed.cause(evidence, diagnosis),
        happened=_passing(court, "happened", _story(evidence), MAX_STORY),
        check_first=_passing(court, "check_first", ([_of(item)] for item in evidence.of(Kind.CHECK)), MAX_CHECKS),
        fix=_passing(court, "fix", _fixes(evidence), 1),
        category=category_of(evidence, diagnosis),
        open_questions=_passing(court, "open_questions", _gaps(evidence), MAX_GAPS),
    )
    return without(draft, evidence, diagnosis)


def without(draft: Draft, evidence: EvidenceList, diagnosis: Diagnosis) -> Draft:
    """The draft without the sentences of its lists that are refused."""
    refused = check(draft, evidence, diagnosis)
    kept = {
        field: [one for one in getattr(draft, field) if not falls(one, field, refused)]
        for field in ("happened", "check_first", "fix", "open_questions")
    }
    return draft.model_copy(update=kept)


def category_of(evidence: EvidenceList, diagnosis: Diagnosis) -> Category:
    """Whose fault it is: as a matching pattern says, or as what the leading root event names, or unknown."""
    if diagnosis.scope is Scope.UNKNOWN:
        return Category.UNKNOWN
    exact = next((item.known for item in evidence.of(Kind.PATTERN) if item.known and item.known.exact), None)
    if exact and exact.category in set(Category):
        return Category(exact.category)
    root = next((item for item in evidence.of(Kind.EVENT) if item.role is Role.ROOT), None)
    told = {one.category for one in mechanisms_in(" ".join(root.claims)) if one.category} if root else set()
    return Category(told.pop()) if len(told) == 1 else Category.UNKNOWN


def _causes(evidence: EvidenceList, diagnosis: Diagnosis) -> Iterator[Sentence]:
    if diagnosis.scope in fixed.SCOPES:
        return
    root = next((item for item in evidence.of(Kind.EVENT) if item.role is Role.ROOT), None)
    suspect = next(iter(evidence.of(Kind.SUSPECT)), None)
    weak = diagnosis.confidence is Confidence.WEAK
    ground = [item for item in (root, suspect) if item]
    for item in evidence.of(Kind.PATTERN):
        if item.known and item.known.exact and ground:
            yield from _of_pattern(item, item.claims[1].removeprefix("Cause then: "), [one.id for one in ground])
    for item in ground:
        yield from (Sentence(text=f"{fixed.HINT}{one.text}"[:MAX_TEXT], cites=one.cites) for one in _told(item) if weak)
        yield from _told(item)
    yield from (_of(item, claim) for item in evidence.of(Kind.VERDICT) for claim in item.claims[1:2])


def _of_pattern(item: Item, text: str, beside: list[str]) -> Iterator[Sentence]:
    """What a pattern says, and who vouches for it."""
    vouched = item.claims[-1]
    label = (
        f"{item.id} is a seed pattern which nobody of the team has confirmed."
        if vouched.startswith("A seed")
        else vouched
    )
    yield Sentence(text=f"{_cut(text, MAX_TEXT - len(label) - 1)} {label}"[:MAX_TEXT], cites=[item.id, *beside])
    yield Sentence(text=_cut(text, MAX_TEXT), cites=[item.id, *beside])


def _story(evidence: EvidenceList) -> Iterator[list[Sentence]]:
    events = evidence.of(Kind.EVENT)
    roots = [item for item in events if item.role is Role.ROOT][: MAX_STORY - MAX_PEERS - 1]
    peers = [item for item in events if item.role is Role.PROPAGATED][:MAX_PEERS]
    yield from (list(_told(item)) for item in evidence.of(Kind.ITERATION)[:1])
    yield from (list(_told(item)) for item in sorted((*roots, *peers), key=_when))
    yield from (list(_told(item)) for item in evidence.of(Kind.SUSPECT)[:1])
    if not roots and not peers:
        yield from ([_of(item, claim)] for item in evidence.of(Kind.VERDICT) for claim in item.claims[1:-1])


def _when(item: Item) -> tuple[bool, int]:
    return item.clock is None, item.clock or 0


def _told(item: Item) -> Iterator[Sentence]:
    """The claim, if it can be with the words of the log; else its sentences one by one."""
    claim = " ".join(item.claims[:1])
    quote = _quote(item)
    if quote and " logged this " in claim:
        yield _of(item, claim.replace(" logged this ", f" logged \u201c{quote}\u201d ", 1))
    yield _of(item, claim)
    yield from (_of(item, part) for part in re.split(r"(?<=[.;])\s+", claim))


def _quote(item: Item) -> str:
    """The first part of its first line that can be quoted and says something; else the longest."""
    for line in item.lines[:1]:
        pieces = [
            _cut(piece.strip(), QUOTE) for piece in _UNQUOTABLE.split(_CLOCK.sub("", _TORN.sub(" \u2026 ", line)))
        ]
        best = next((piece for piece in pieces if len(piece) >= _TELLING_QUOTE), max(pieces, key=len))
        if len(best) >= _SHORTEST_QUOTE:
            return best
    return ""


def _fixes(evidence: EvidenceList) -> Iterator[list[Sentence]]:
    for item in evidence.of(Kind.PATTERN):
        text = item.claims[2].removeprefix("Fix then: ")
        if item.known and item.known.exact:
            yield list(_of_pattern(item, text, []))
        else:
            yield [Sentence(text=f"{item.claims[3]} {_cut(text, MAX_TEXT - len(item.claims[3]) - 1)}", cites=[item.id])]


def _gaps(evidence: EvidenceList) -> Iterator[list[Sentence]]:
    for item in evidence.of(Kind.JOB):
        yield from ([_of(item, claim)] for claim in item.claims if claim.startswith(("Not read", "Skipped")))


def _of(item: Item, text: str | None = None) -> Sentence:
    return Sentence(text=_cut(text or " ".join(item.claims[:1]), MAX_TEXT) or "-", cites=[item.id])


def _cut(text: str, limit: int) -> str:
    """The text, or as many of its words from the beginning as fit."""
    return text if len(text) <= limit else text[:limit].rpartition(" ")[0].rstrip(" ,;:")


def _first(court: Court, field: str, candidates: Iterable[Sentence]) -> Sentence | None:
    return next((one for one in candidates if not any(True for _ in court.reasons(field, one))), None)


def _passing(court: Court, field: str, choices: Iterable[Iterable[Sentence]], limit: int) -> list[Sentence]:
    found = [one for choice in choices if (one := _first(court, field, choice))]
    return found[:limit]
