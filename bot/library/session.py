"""The fault library as a diagnosis uses it: matched before, asked for similar faults after, and never in the way.

A library that does not answer costs its part of the answer, with a sentence, and nothing else.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from bot.fetch.cache import FolderCache
from bot.settings import Settings
from bot.text.known_fault import KnownFault
from bot.text.wording import odds
from core.job import Status
from core.model import Diagnosis, Scope, Skipped
from core.naming import natural
from core.occurrences import find_occurrences
from core.parsed import Parsed
from faultlib import pattern as patterns
from faultlib.answers import Answers
from faultlib.draft import pattern_of
from faultlib.embedding import Embedder, EmbeddingUnavailable, Vectors
from faultlib.errors import LibraryUnavailable
from faultlib.library import Library, open_library
from faultlib.likely_patterns import Fit, Likely, causes_of, likely, tells_a_cause
from faultlib.models import embedder_for
from faultlib.pattern import Entry
from faultlib.seeds import read_seeds
from faultlib.signature import Match, find_matches

MAX_EXACT, MAX_SIMILAR = 3, 3  # a reader looks at few
MAX_NAMED = 3  # nodes that a sentence names
STEP = "fault library"


@contextmanager
def open_fault_library(settings: Settings, *, embeds: bool = True) -> Iterator[Library]:
    """The fault library of the settings, with the seeds of this version in it.

    Args:
        embeds: False for a process that shall stay small: nothing is compared, and another one makes the vectors.

    Raises:
        LibraryUnavailable: it cannot be opened.
    """
    embedder: Embedder = embedder_for(settings.embeddings, cache=FolderCache(settings.cache)) if embeds else _NoModel()
    index = settings.index if embeds else "exact"
    with open_library(settings.library, embedder, index=index, clock=now) as library:
        if not library.read_only:
            library.put_seeds(read_seeds())
        yield library


def now() -> datetime:
    """The clock of what people do; when a job did something is told by its logs."""
    return datetime.now(UTC)


class _NoModel:
    """In place of the embedding model where it shall not be loaded."""

    name = digest = ""
    dimensions = 0

    def embed(self, texts: Sequence[str]) -> Vectors:  # noqa: ARG002 none is
        raise EmbeddingUnavailable("The vectors are made by another process.")


class LibrarySession:
    """The library during one diagnosis. ``skipped``: why it could not answer all of it."""

    def __init__(self, library: Library | None, skipped: Sequence[Skipped] = ()) -> None:
        self.skipped = tuple(skipped)
        self._library = library

    def match(self, parsed: Parsed) -> tuple[Match, ...]:
        """Approved patterns whose whole signature is in the job, before anything of it is judged.

        Jobs that completed hold the traces of faults that they survived: nothing of them is asked.
        """
        if self._library is None or parsed.job.status is Status.COMPLETED:
            return ()
        occurrences = find_occurrences(parsed)
        approved = self._library.may_match(lambda: (text for occurrence in occurrences for text in occurrence.texts))
        return find_matches(approved, occurrences, parsed.nodes)

    def recall(self, diagnosis: Diagnosis, matches: Sequence[Match]) -> tuple[KnownFault, ...]:
        """What the team knows of such a job, then public facts that it does not cover; P1, P2, ... in this order."""
        if self._library is None or (diagnosis.scope is Scope.NONE and not diagnosis.events):
            return ()
        also = [match.entry.id for match in matches]
        entries, lexicon = self._library.may_be_like(pattern_of(diagnosis), also)
        found = likely(diagnosis, entries, matches, self._library.answers(), lexicon, least=0.0)
        known = known_faults(diagnosis, matches, found)
        self._note_sightings(diagnosis.job, [fault for fault in known if fault.agrees and fault.fit != Fit.SEEN])
        return tuple(numbered(known))

    def _note_sightings(self, job: str, faults: Sequence[KnownFault]) -> None:
        """Keep which patterns a job shows: their whole signature, as a cause; what only went alike is none of them."""
        if self._library is None or self._library.read_only:
            return
        try:
            for fault in faults:
                self._library.sighted(fault.pattern, job)
        except LibraryUnavailable as trouble:
            self.skipped += (Skipped(STEP, f"The job was not noted with its patterns: {trouble.message}"),)


@contextmanager
def library_session(settings: Settings) -> Iterator[LibrarySession]:
    """The library for one diagnosis; one that cannot be opened is an empty one that says so."""
    with ExitStack() as stack:
        try:
            opened = LibrarySession(stack.enter_context(open_fault_library(settings)))
        except LibraryUnavailable as trouble:
            opened = LibrarySession(None, [Skipped(STEP, trouble.message)])
        yield opened


def known_so_far(matches: Sequence[Match]) -> tuple[KnownFault, ...]:
    """Matched patterns before there is a diagnosis that could agree."""
    faults = [
        _fault(
            match.entry,
            "",
            fit=Fit.IS if tells_a_cause(match.entry.pattern.signature) else Fit.SEEN,
            signed=True,
            score=1.0,
            because=f"All events of its signature are in this job{_on(match)}.",
        )
        for match in matches[:MAX_EXACT]
    ]
    return tuple(numbered(faults))


def known_faults(diagnosis: Diagnosis, matches: Sequence[Match], found: Sequence[Likely]) -> list[KnownFault]:
    """What is this or looks like it before what is only seen with it; of equals the team's before public facts."""
    by_id = {similar.entry.id: similar for similar in found}
    shown = [similar for similar in found if similar.is_shown][:MAX_SIMILAR]
    signed = exact_faults(diagnosis, matches)
    faults = [
        _likely_fault(by_id[fault.pattern], diagnosis.job, fault) if fault.pattern in by_id else _uncounted(fault)
        for fault in signed
    ]
    named = {fault.pattern for fault in signed}
    own = [similar.entry for similar in shown]
    covered = {
        match.entry.id
        for match in matches
        if match.entry.origin is patterns.Origin.SEED and any(covers(ours, match.entry) for ours in own)
    }
    faults += [_likely_fault(similar, diagnosis.job) for similar in shown if similar.entry.id not in named]
    faults = [fault for fault in faults if fault.pattern not in covered]
    ordered = sorted(faults, key=lambda fault: (fault.fit == Fit.SEEN, fault.seed, -fault.score * (not fault.seed)))
    told: dict[tuple[str, str], KnownFault] = {}
    for fault in ordered:  # patterns that nobody merged say one thing to the reader
        told.setdefault((fault.cause, fault.fix), fault)
    return list(told.values())[: MAX_EXACT + MAX_SIMILAR]


def _uncounted(fault: KnownFault) -> KnownFault:
    """A match of which nobody counted how often such ones were right: symptoms of the team's come last."""
    return fault if fault.seed or fault.fit != Fit.SEEN else replace(fault, score=0.0)


def _likely_fault(similar: Likely, job: str, signed: KnownFault | None = None) -> KnownFault:
    """A pattern of the team with how often such an answer was right; ``signed``: all of its events are there too."""
    share = f"{odds(similar.likelihood)} such matches were right{_judged(similar.answers)}."
    text = signed.because if signed is not None else f"{similar.level[0].upper()}{similar.level[1:]}."
    fault = _fault(
        similar.entry,
        job,
        fit=similar.fit,
        signed=signed is not None,
        score=round(similar.likelihood, 4),
        because=f"{text} {share}",
    )
    return fault if signed is None else replace(fault, events=signed.events, agrees=signed.agrees)


def _judged(answers: Answers) -> str:
    """What people said of it where it was shown, which is counted; empty where nobody did."""
    return f"; people said {answers.right:,} times that it was it, {answers.wrong:,} that it was not" * bool(
        answers.right or answers.wrong
    )


def exact_faults(diagnosis: Diagnosis, matches: Sequence[Match]) -> list[KnownFault]:
    """Matched patterns as the diagnosis sees them, the one with the most telling event first.

    A signature knows no context: its events may have been survived, or stand in good jobs. Then what the team
    confirmed is still shown, last and with that said; a seed is not. Beside a pattern of the fault itself the patterns
    of what its victims say tell nothing; nor do the seeds of them beside a direct trace of it.
    """
    seen = [_Seen(match, diagnosis) for match in matches]
    traced = any(event.is_trace for event in diagnosis.events)
    kept = [hit for hit in seen if not hit.seed or (hit.root if traced else hit.events)]
    if any(hit.root for hit in kept):
        kept = [hit for hit in kept if hit.root or not hit.events]
    ordered = sorted(kept, key=lambda seen: (not seen.events, seen.seed, seen.place))
    own = [hit for hit in ordered if not hit.seed]
    return [hit.fault() for hit in ordered if not hit.is_said_by(own)][:MAX_EXACT]


def covers(ours: Entry, seed: Entry) -> bool:
    """Whether a pattern of the team tells what a seed does: it is that public fact, or has its cause or fix."""
    facts = {trait.text for trait in ours.pattern.signature.traits if trait.aspect is patterns.Aspect.FACT}
    return seed.id in facts or says_the_same(seed, ours)


def says_the_same(entry: Entry, other: Entry) -> bool:
    """Whether two patterns have the same cause or the same fix: a team's pattern often takes over those of a seed."""
    return entry.pattern.cause == other.pattern.cause or entry.pattern.fix == other.pattern.fix


class _Seen:
    """A match beside the diagnosis. place: of its most telling event. root: whether that is a direct trace."""

    def __init__(self, match: Match, diagnosis: Diagnosis) -> None:
        shown = [(place, event) for place, event in enumerate(diagnosis.events) if event.event in match.events]
        self.events = tuple(event.id for _, event in shown)
        self.place = shown[0][0] if shown else 0
        self.root = any(event.is_trace for _, event in shown)
        self.seed = match.entry.origin is patterns.Origin.SEED
        self.entry = match.entry
        self._match, self._job = match, diagnosis.job
        self._cause = bool(causes_of(diagnosis) & set(match.events))
        self._accused = {suspect.node for suspect in diagnosis.nodes}

    def is_said_by(self, own: Sequence["_Seen"]) -> bool:
        """Whether it is a seed, and the team has a pattern of its own for these events, or with its very words."""
        return self.seed and any(
            (self.events and set(self.events) <= set(seen.events)) or says_the_same(self.entry, seen.entry)
            for seen in own
        )

    def fault(self) -> KnownFault:
        because = _why(self._match, self.events, self._accused)
        fit = Fit.IS if self._cause else Fit.SEEN
        return _fault(
            self._match.entry, self._job, fit=fit, signed=True, score=1.0, because=because, events=self.events
        )


def numbered(faults: Sequence[KnownFault]) -> Iterator[KnownFault]:
    """The same faults as P1, P2, ... in their order."""
    return (replace(fault, id=f"P{number}") for number, fault in enumerate(faults, start=1))


def _why(match: Match, events: Sequence[str], accused: Collection[str]) -> str:
    where = _on(match, accused)
    if events:
        return f"All events of its signature are in this job ({', '.join(events)}){where}."
    return (
        f"All events of its signature are in this job{where}, but the diagnosis does not count them among what "
        "points at the failure."
    )


def _on(match: Match, accused: Collection[str] = ()) -> str:
    """Which nodes say so; when none of them is accused, they tell of another."""
    if not 0 < len(match.nodes) <= MAX_NAMED:
        return ""
    others = accused and not set(accused) & set(match.nodes)
    return f", {'told by' if others else 'on'} {', '.join(sorted(match.nodes, key=natural))}"


def _fault(
    entry: Entry, job: str, *, fit: Fit, signed: bool, score: float, because: str, events: tuple[str, ...] = ()
) -> KnownFault:
    pattern, confirmed = entry.pattern, entry.confirmed
    return KnownFault(
        id="",
        pattern=entry.id,
        version=entry.version,
        title=pattern.title,
        category=pattern.category,
        subtype=pattern.subtype,
        cause=pattern.cause,
        fix=pattern.fix,
        fit=fit,
        signed=signed,
        exact=fit is Fit.IS,
        agrees=bool(events),
        score=score,
        because=because,
        events=events,
        sources=pattern.sources,
        seed=entry.origin is patterns.Origin.SEED,
        confirmed_by=confirmed.who if confirmed else "",
        confirmed_at=confirmed.at if confirmed else "",
        confirmation=pattern.confirmation if confirmed else "",
        jobs=tuple(sighting.job for sighting in entry.sightings if sighting.job != job),
    )
