"""The fault library: patterns that people confirmed, with the life that each has had, found by what they read like.

Everything that changes a pattern names who does it and why; whoever decides on what was seen names the revision too.
A library belongs to the thread that opened it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from faultlib import exchange, life, records
from faultlib.answers import Answers, Judged, Verdict, add_answer, count_answers, judged_jobs
from faultlib.database import Database, encodable, open_database
from faultlib.embedding import Embedder, EmbeddingUnavailable
from faultlib.errors import LibraryUnavailable
from faultlib.index import ExactIndex, Scored, Vector, VectorIndex
from faultlib.lexical import Lexicon
from faultlib.life import Act
from faultlib.lookup import Lookup
from faultlib.pattern import Entry, Pattern, Sighting, Status, Step
from faultlib.search import CONFIRMED, Search
from faultlib.stats import Stats, count

PACKAGE = "firstfault"  # who plants and retires seeds
_ALL = tuple(Status)
_SEEDS = "seeds"  # the note that says which seeds were planted


class Library:
    """Patterns by id; see ``faultlib.life`` for the steps of a life."""

    def __init__(self, database: Database, search: Search, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._search = search
        self._clock = clock
        self._lookup = Lookup(database)

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written where the library lies."""
        return not self._database.writable

    # --- reading ---

    def entries(self, *statuses: Status) -> tuple[Entry, ...]:
        """All entries of these statuses, or of any, by id."""
        return records.entries(self._database, statuses or _ALL)

    def entry(self, pattern_id: str) -> Entry:
        """The entry of that id, or ``PatternNotFound``."""
        return records.entry(self._database, pattern_id)

    def versions(self, pattern_id: str) -> tuple[Pattern, ...]:
        """What the pattern said, the oldest first; an import brings its last version only."""
        records.entry(self._database, pattern_id)
        return records.versions(self._database, pattern_id)

    def audit(self) -> Iterator[tuple[str, Step]]:
        """Every step of every pattern, with the pattern's id, in order."""
        return records.history(self._database)

    def may_match(self, texts: Callable[[], Iterable[str]]) -> tuple[Entry, ...]:
        """The approved patterns that a job with these messages could match; of few patterns all of them."""
        found = self._lookup.matching(texts()) if self._lookup.serves() else None
        return self.entries(Status.APPROVED) if found is None else records.entries_of(self._database, found)

    def may_be_like(self, asked: Pattern, also: Collection[str]) -> tuple[tuple[Entry, ...], Lexicon]:
        """The patterns that could be like this one, and ``also``; with how rare words are among all of the library.

        Of what has joined a pattern, or gave way to it, that pattern too.
        """
        if self._lookup.serves():
            ids = {*self._lookup.like(asked), *also}
            found = records.entries_of(self._database, ids)
            while gone := {entry.superseded_by for entry in found if entry.superseded_by} - ids:
                ids |= gone
                found = records.entries_of(self._database, ids)
            return found, self._lookup.lexicon([asked, *(entry.pattern for entry in found)])
        found = self.entries()
        return found, Lexicon(entry.pattern.words() for entry in found if entry.status is Status.APPROVED)

    def answers(self) -> Mapping[str, Answers]:
        """What people said of the patterns that were shown to them, by id."""
        return count_answers(self._database)

    def judged(self) -> Mapping[str, Sequence[Judged]]:
        """The jobs of which people said whether a pattern was right, by its id."""
        return judged_jobs(self._database)

    def stats(self) -> Stats:
        """What is in the library, and how its index is."""
        return count(self._database, self._search)

    # --- what people do ---

    def writing(self) -> AbstractContextManager[None]:
        """Reads and changes as one: other writers wait until it is over."""
        return self._database.writing()

    def draft(self, pattern: Pattern, *, who: str, why: str = "", job: str) -> Entry:
        """A draft for a job; the same words for the same job are the same draft.

        The id is a proposal: one that another pattern has gets a short hash behind it.
        """
        act, job = self._act(who, why), encodable(job)
        with self._database.writing():
            for name in life.names_for_draft(pattern, job):
                words = pattern.model_copy(update={"id": name})
                there = records.find(self._database, name)
                if there is None:
                    break
                if self._is_draft_of(there, words, job):
                    return there
            drafted = life.drafted(words, act, job=job)
            records.save(self._database, None, drafted)
        return drafted

    def edit(self, pattern_id: str, pattern: Pattern, *, who: str, why: str = "", revision: int) -> Entry:
        """New words, as a new version; an approved pattern stays approved."""
        act = self._act(who, why)
        return self._change(pattern_id, lambda entry: life.edited(entry, pattern, act, revision=revision))[0]

    def approve(self, pattern_id: str, *, who: str, why: str = "", revision: int) -> tuple[Entry, bool]:
        """Confirm it. False: it was approved already, and ``entry.confirmed`` says by whom."""
        act = self._act(who, why)
        return self._change(pattern_id, lambda entry: life.approved(entry, act, revision=revision))

    def undo(self, pattern_id: str, *, who: str, why: str = "", revision: int) -> Entry:
        """Withdraw the approval."""
        act = self._act(who, why)
        return self._change(pattern_id, lambda entry: life.undone(entry, act, revision=revision))[0]

    def retire(self, pattern_id: str, *, who: str, why: str, revision: int) -> Entry:
        """Reject a draft, or take a pattern out of use; it is kept."""
        act = self._act(who, why)
        return self._change(pattern_id, lambda entry: life.retired(entry, act, revision=revision))[0]

    def supersede(self, pattern_id: str, by: str, *, who: str, why: str = "", revision: int) -> Entry:
        """Replace an approved pattern by another approved one."""
        act = self._act(who, why)
        with self._database.writing():
            entry, successor = self.entry(pattern_id), self.entry(by)
            after = life.superseded(entry, successor, act, revision=revision)
            records.save(self._database, entry, after)
        return after

    def merge(
        self, draft_id: str, into: str, *, who: str, why: str = "", revision: int, pattern: Pattern | None = None
    ) -> Entry:
        """Let an approved pattern take the draft's jobs, and new words if any; the approved one afterwards."""
        act = self._act(who, why)
        with self._database.writing():
            draft, target = self.entry(draft_id), self.entry(into)
            gone, kept = life.merged(draft, target, act, revision=revision, pattern=pattern)
            records.save(self._database, draft, gone)
            records.save(self._database, target, kept)
        self._embed_now(into)
        return kept

    def separate(self, draft_id: str, *, who: str, why: str = "", revision: int) -> Entry:
        """Take a merge back; the draft afterwards."""
        act = self._act(who, why)
        with self._database.writing():
            draft = self.entry(draft_id)
            target = self.entry(draft.superseded_by) if draft.superseded_by else draft
            again, left = life.separated(draft, target, act, revision=revision)
            records.save(self._database, draft, again)
            records.save(self._database, target, left)
        return again

    def answer(self, pattern_id: str, job: str, verdict: Verdict, *, who: str) -> bool:
        """Say of a pattern that was shown for a job whether that was it; False when that person has said so before."""
        with self._database.writing():
            self.entry(pattern_id)
            return add_answer(self._database, pattern_id, encodable(job), verdict, who=encodable(who), at=self._now())

    # --- what the program does ---

    def sighted(self, pattern_id: str, job: str) -> bool:
        """Note that a job showed the pattern; False when that was known."""
        sighting = Sighting(job=encodable(job), at=self._now())
        with self._database.writing():
            self.entry(pattern_id)
            return records.add_sighting(self._database, pattern_id, sighting)

    def put_seeds(self, patterns: Sequence[Pattern]) -> int:
        """Plant the seeds of the package; how many entries changed. What the team decided on a seed stays."""
        digest = sha256("\n".join(sorted(pattern.digest for pattern in patterns)).encode()).hexdigest()
        if records.note(self._database, _SEEDS) == digest:
            return 0
        act = Act(PACKAGE, "as shipped", self._now())
        seeds = {pattern.id: pattern for pattern in patterns}
        with self._database.writing():
            before = {entry.id: entry for entry in records.entries(self._database, _ALL)}
            after = [life.seeded(before.get(name), pattern, act) for name, pattern in sorted(seeds.items())]
            gone = Act(PACKAGE, "no longer shipped", act.at)
            after += [life.vanished(entry, gone) for name, entry in before.items() if name not in seeds]
            changed = [entry for entry in after if entry is not before.get(entry.id)]
            for entry in changed:
                records.save(self._database, before.get(entry.id), entry)
            records.set_note(self._database, _SEEDS, digest)
        return len(changed)

    def put(self, entry: Entry) -> bool:
        """Import an exported entry with its history and sightings; False when nothing of it is new.

        Raises:
            StaleRevision: it is older than what is here, or contradicts it.
            WrongStep: no library could have exported it.
        """
        with self._database.writing():
            before = records.find(self._database, entry.id)
            after = exchange.imported(before, entry)
            records.save(self._database, before, after)
        if after is not before:
            self._embed_now(entry.id)
        return after is not before

    # --- what a text is like ---

    def nearest(self, query: str | Vector, limit: int, *, statuses: Sequence[Status] = CONFIRMED) -> Scored:
        """Ids of the most similar patterns with their cosine, the most similar first."""
        return self._search.nearest(query, limit, statuses)

    def similarities(self, query: str | Vector, *, statuses: Sequence[Status] = CONFIRMED) -> Mapping[str, float]:
        """The cosine of every pattern by id."""
        return self._search.similarities(query, statuses)

    def likeness(self, query: str, ids: Collection[str]) -> Mapping[str, float]:
        """The cosine of these approved patterns by id; only they and the query are embedded.

        Raises:
            EmbeddingUnavailable: the model cannot be loaded.
        """
        return self._search.likeness(query, ids)

    def embed_missing(self) -> int:
        """Make the vectors that are missing or of another model, or ``EmbeddingUnavailable``; how many were made."""
        return self._search.embed(_ALL)

    def settle(self, seconds: float) -> bool:
        """Wait until the index holds what the library does; exact search answers meanwhile anyway."""
        return self._search.index.settle(seconds)

    def close(self) -> None:
        """Let go of the files; a second time does nothing."""
        self._search.index.close()
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _change(self, pattern_id: str, step: Callable[[Entry], Entry]) -> tuple[Entry, bool]:
        """Take a step in one transaction: the entry afterwards, and whether anything changed."""
        with self._database.writing():
            before = self.entry(pattern_id)
            after = step(before)
            records.save(self._database, before, after)
        if after is not before:
            self._embed_now(pattern_id)
        return after, after is not before

    def _embed_now(self, pattern_id: str) -> None:
        """Make the vector that a change needs; the change stands without it, and the next search tries again."""
        with suppress(EmbeddingUnavailable, LibraryUnavailable):
            self._search.embed(CONFIRMED, only=pattern_id)

    def _is_draft_of(self, entry: Entry, words: Pattern, job: str) -> bool:
        return life.job_of_draft(entry) == job and records.versions(self._database, entry.id)[0] == words

    def _act(self, who: str, why: str) -> Act:
        return Act(encodable(who), encodable(why), self._now())

    def _now(self) -> str:
        return self._clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def open_library(
    folder: Path,
    embedder: Embedder,
    *,
    index: Literal["exact", "chroma"] = "exact",
    clock: Callable[[], datetime],
) -> Library:
    """Open the library in this folder, or begin one; where nothing can be written it is read.

    Raises:
        LibraryUnavailable: locked, damaged, of a newer version, or no library.
    """
    database = open_database(folder)
    search = Search(database, embedder, _index(folder, index))
    try:
        if index == "chroma":
            search.warm()  # Chroma takes seconds to start: it begins now
    except LibraryUnavailable:
        database.close()
        raise
    return Library(database, search, clock)


def _index(folder: Path, kind: Literal["exact", "chroma"]) -> VectorIndex:
    if kind == "exact":
        return ExactIndex()
    from faultlib.chroma_thread import ChromaIndex  # noqa: PLC0415 - only for those who search with it

    return ChromaIndex(folder / "index")
