"""Match first: which patterns a job's events give away, exactly, before anything of the job is judged.

An event of a signature fits a message when both are the same text; ``<*>`` stands for any text. In messages times,
addresses and numbers are masked, in what a person pastes they may not be: each fits itself and its mask.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from core.logs.lines import Format, take_apart, variables
from core.occurrences import Occurrence, messages_of
from core.parsing.templates import WILDCARD
from faultlib.pattern import Category, Clause, Entry, Origin, Signature, Status, Where

_SPACES = re.compile(r"\s+")
_WHOLE = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Match:
    """An approved pattern whose signature a job fulfils.

    events: template ids of the job that its ``must`` found, in the order of the clauses. nodes: who says them, sorted.
    """

    entry: Entry
    events: tuple[str, ...]
    nodes: tuple[str, ...]


def find_matches(
    entries: Iterable[Entry], occurrences: Sequence[Occurrence], nodes: Sequence[str]
) -> tuple[Match, ...]:
    """Approved patterns whose signature the job fulfils, the most telling first.

    The team's come before seeds, of seeds those that know whose fault it is before those that tell of victims, then
    the more precise ones.

    Args:
        nodes: all nodes of the job; where an event must stand on one or on all of them counts these.
    """
    every, spoken = frozenset(nodes), _Said(occurrences)
    approved = [entry for entry in entries if entry.status is Status.APPROVED]
    found = [match for entry in approved if (match := _match(entry, spoken, every)) is not None]
    return tuple(sorted(found, key=lambda match: (_order(match.entry), match.entry.id)))


def matches_lines(signature: Signature, text: str) -> bool:
    """Whether some lines of a log, as one process wrote them, fulfil a signature; nodes are not looked at."""
    return matches_messages(signature, tuple(messages_of(text)))


def matches_messages(signature: Signature, texts: Sequence[str]) -> bool:
    """The same of messages: without the clock and the label of their lines."""
    return (
        bool(signature.must)
        and all(_fits_any(clause, texts) for clause in signature.must)
        and not any(_fits_any(clause, texts) for clause in signature.must_not)
    )


def _match(entry: Entry, spoken: "_Said", every: frozenset[str]) -> Match | None:
    signature = entry.pattern.signature
    events: dict[str, None] = {}
    nodes: set[str] = set()
    for clause in signature.must:
        found = spoken.that_fit(clause)
        if not _stands(clause.where, found, every):
            return None
        events.update((occurrence.event, None) for occurrence in found)
        nodes.update(*(occurrence.nodes for occurrence in found))
    for clause in signature.must_not:
        if _stands(clause.where, spoken.that_fit(clause), every):
            return None
    return Match(entry, tuple(events), tuple(sorted(nodes))) if events else None


def _stands(where: Where, found: Sequence[Occurrence], every: frozenset[str]) -> bool:
    """Whether the events were found, and on the nodes that are wanted."""
    nodes = {node for occurrence in found for node in occurrence.nodes}
    if where is Where.ONE_NODE:
        return len(nodes) == 1
    if where is Where.ALL_NODES:
        return bool(nodes) and nodes >= every
    if where is Where.ALL_BUT_ONE:
        return len(nodes) > 1 and len(every - nodes) == 1
    return bool(found)


def _order(entry: Entry) -> tuple[bool, bool, int]:
    words = sum(
        min(len(event.replace(WILDCARD, "")) for event in clause.events) for clause in entry.pattern.signature.must
    )
    seed = entry.origin is not Origin.TEAM
    return seed, seed and entry.pattern.category is Category.UNKNOWN, -words


# --- texts --------------------------------------------------------------------------------------------------------


def _fits_any(clause: Clause, texts: Iterable[str]) -> bool:
    globs = [_glob(event) for event in clause.events]
    return any(glob.fits(text) for text in texts for glob in globs)


@dataclass(frozen=True, slots=True)
class _Glob:
    """A text with wildcards, in pieces. Found from left to right, so that no text takes more than linear time."""

    whole: str  # the masked message, where the event has no wildcard
    event: str
    literal: str  # without a space; must be somewhere in the text: most texts are refused by it at once

    def fits(self, text: str) -> bool:
        if text == self.whole:
            return True
        if self.literal not in text:
            return False
        first, *others = _pieces(self.event)
        found = first.match(text)
        for piece in others:
            if found is None:
                return False
            found = piece.search(text, found.end())
        return found is not None


class _Said:
    """All that a job says, in one text: of 300,000 messages only those with the words of an event are tried."""

    def __init__(self, occurrences: Sequence[Occurrence]) -> None:
        self._occurrences = occurrences
        self._texts = [text for occurrence in occurrences for text in occurrence.texts]
        self._whose = [place for place, occurrence in enumerate(occurrences) for _ in occurrence.texts]
        self._starts = [0, *accumulate(len(text) + 1 for text in self._texts)]
        self._whole = "\n".join(self._texts)

    def that_fit(self, clause: Clause) -> list[Occurrence]:
        """Occurrences of which a text fits one of the clause's events, in their order."""
        globs = [_glob(event) for event in clause.events]
        places = {self._whose[at] for glob in globs for at in self._worth(glob) if glob.fits(self._texts[at])}
        return [self._occurrences[place] for place in sorted(places)]

    def _worth(self, glob: _Glob) -> Iterator[int]:
        """Places of the texts that may fit: those in which its literal stands, each once."""
        at = -1
        while at + 1 < len(self._texts) and (found := self._whole.find(glob.literal, self._starts[at + 1])) >= 0:
            at = bisect_right(self._starts, found) - 1
            yield at


def fixed_words(event: str) -> frozenset[str]:
    """Words that stand whole in every message that an event fits, whatever its wildcards and masks stand for."""
    raw = event.encode("utf-8", "replace")
    event = raw.removeprefix(take_apart(raw, Format()).prefix).decode()
    # a hyphen before what a mask replaces may be gone in the message, so such words are left out too
    taken = [span for spans in (_variables(event), _wildcards(event)) for span in spans]
    words = {
        found[0]
        for found in _WHOLE.finditer(event)
        if not any(start - 1 <= found.end() and found.start() <= end for start, end, _ in taken)
    }
    glob = _glob(event)
    return frozenset(words & {found[0] for found in _WHOLE.finditer(glob.whole)})


def _wildcards(event: str) -> Iterator[tuple[int, int, str]]:
    at = event.find(WILDCARD)
    while at >= 0:
        yield at, at + len(WILDCARD), WILDCARD
        at = event.find(WILDCARD, at + len(WILDCARD))


@lru_cache(maxsize=1 << 14)  # of every clause, at every job
def _glob(event: str) -> _Glob:
    raw = event.encode("utf-8", "replace")
    event = raw.removeprefix(take_apart(raw, Format()).prefix).decode()  # messages have no label of a rank
    if WILDCARD not in event:
        messages = tuple(messages_of(event))
        whole = messages[-1] if messages else event
        # what does not stand in the masked message either would hide that it is the same text
        literals = [literal for literal in _literals(event) if literal in whole]
        return _Glob(whole, event, max(literals, key=len, default=""))
    return _Glob(event, event, max(_literals(event), key=len, default=""))


@lru_cache(maxsize=1 << 12)  # of few events: to compile those of all seeds takes a tenth of a second at each start
def _pieces(event: str) -> tuple[re.Pattern[str], ...]:
    """A pattern for each piece between wildcards; the first is tried at the start, the last ends the text."""
    sources = ["".join(_source(event, start, end)) for start, end in _spans(event)]
    sources[-1] += r"\s*\Z"
    return tuple(re.compile(source) for source in sources)


def _spans(event: str) -> Iterator[tuple[int, int]]:
    start = 0
    for part in event.split(WILDCARD):
        yield start, start + len(part)
        start += len(part) + len(WILDCARD)


def _literals(event: str) -> Iterator[str]:
    """Parts that stand in every text that fits: between wildcards, spaces, and what masks replace."""
    taken = [(start, end) for start, end, _ in _variables(event)]
    for start, end in _spans(event):
        inside = [span for span in taken if start <= span[0] < end]
        bounds = [start, *(edge for span in inside for edge in span), end]
        for left, right in zip(bounds[::2], bounds[1::2], strict=True):
            yield from event[left:right].removesuffix("-").split()


def _source(event: str, start: int, end: int) -> Iterator[str]:
    at = start
    for left, right, name in _variables(event):
        if not start <= left < end:
            continue
        before = event[at:left]
        yield _quoted(before.removesuffix("-")) + ("-?" if before.endswith("-") else "")
        yield f"(?:{re.escape(event[left:right])}|{name})"
        at = right
    yield _quoted(event[at:end])


def _quoted(text: str) -> str:
    return r"\s+".join(re.escape(word) for word in _SPACES.split(text))


@lru_cache(maxsize=1 << 12)
def _variables(event: str) -> tuple[tuple[int, int, str], ...]:
    """Start, end and mask of what masks replace, in characters; a wildcard stays a wildcard."""
    raw = event.encode("utf-8", "replace")
    return tuple(
        (len(raw[:start].decode()), len(raw[:end].decode()), name.decode()) for start, end, name in variables(raw)
    )
