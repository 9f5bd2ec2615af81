"""What decisions do to the fault library: a note becomes a pattern, or its job joins one, and either is taken back.

Done twice, by two clicks at once or after a crash, it is done once: whoever finds an approval pending may file it.
"""

from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from bot.state.errors import OutOfDate
from faultlib.answers import Answers, Verdict
from faultlib.errors import StaleRevision
from faultlib.library import Library
from faultlib.life import job_of_draft
from faultlib.likely_patterns import same_fault
from faultlib.near_duplicates import nearly
from faultlib.pattern import Entry, Origin, Pattern, Status

TRIES = 3  # somebody else may be filing the same note at this moment
_NOBODY = "0" * 64  # the id of no pattern: a note has none yet, and ``nearly`` leaves out the pattern of its id
_ORDER = (Status.APPROVED, Status.DRAFT, Status.RETIRED)
# Opens the library for one deed, in the thread that does it; raises LibraryUnavailable.
OpenLibrary = Callable[[], AbstractContextManager[Library]]


@dataclass(frozen=True, slots=True)
class LibraryAction:
    """Who does something about the note of a run, and what."""

    job: str
    run: str
    who: str
    what: str

    @property
    def why(self) -> str:
        """For the history of the pattern; the run tells later whose words it has."""
        return f"{self.what}, run {self.run}"


def file_note(
    open_library: OpenLibrary, action: LibraryAction, words: Pattern, *, edited: bool, joins: str = ""
) -> Entry:
    """The pattern that the job stands in from now on.

    Args:
        edited: a person wrote the words, so they replace those of a pattern that the job has already.
        joins: id of the pattern that the job is added to, empty for a pattern of its own.
    """
    for tries_left in reversed(range(TRIES)):
        try:
            with open_library() as library:
                return (
                    _join(library, action, words, joins) if joins else _archive(library, action, words, edited=edited)
                )
        except StaleRevision:
            if not tries_left:
                raise
    raise AssertionError("the last try returns or raises")


def pattern_to_join(
    open_library: OpenLibrary, words: Pattern, *, job: str, matched: Collection[str] = ()
) -> Entry | None:
    """The team's pattern that a note may belong to; None when it has one of its own, or is of a new kind.

    Args:
        matched: ids of patterns whose whole signature is in the job.
    """
    with open_library() as library:
        entries = library.entries()
    own = _own(entries, job)
    if own is not None and own.status is Status.APPROVED:
        return None
    team = [entry for entry in entries if entry.origin is Origin.TEAM and entry.status is Status.APPROVED]
    exact = next((entry for entry in team if entry.id in matched), None)
    return exact or _nearest(words, entries) or same_fault(words.model_copy(update={"id": _NOBODY}), entries)


def written_for(open_library: OpenLibrary, action: LibraryAction) -> str:
    """Id of the pattern in use that an approval of this run has put its job into; empty for none."""
    with open_library() as library:
        for entry in library.entries(Status.APPROVED, Status.SUPERSEDED):
            if job_of_draft(entry) == action.job and any(action.run in step.why for step in entry.history):
                return entry.superseded_by or entry.id
    return ""


def take_back(open_library: OpenLibrary, pattern: str, action: LibraryAction, *, shared: bool) -> None:
    """Undo a filing; ``shared``: another channel's approval of the same job stands, and keeps what it needs."""
    with open_library() as library:
        entry = library.entry(pattern)
        if job_of_draft(entry) != action.job:
            if not shared:
                for draft in _joined(library.entries(Status.SUPERSEDED), pattern, action.job):
                    library.separate(draft.id, revision=draft.revision, who=action.who, why=action.why)
        elif shared:
            if (before := _version_before(entry, action.run)) != entry.version:
                words = library.versions(pattern)[before - 1]
                library.edit(pattern, words, revision=entry.revision, who=action.who, why=action.why)
        elif entry.status is Status.APPROVED:
            library.retire(pattern, revision=entry.revision, who=action.who, why=action.why)


def keep_confirmation(open_library: OpenLibrary, pattern: str, action: LibraryAction, how: str) -> None:
    """Write into a pattern how it was confirmed; into one that somebody else confirmed nothing."""
    for tries_left in reversed(range(TRIES)):
        try:
            with open_library() as library:
                entry = library.entry(pattern)
                if entry.confirmed is None or entry.confirmed.who != action.who or entry.pattern.confirmation == how:
                    return
                words = Pattern.model_validate({**dict(entry.pattern), "confirmation": how})
                library.edit(pattern, words, revision=entry.revision, who=action.who, why=action.why)
                return
        except StaleRevision:
            if not tries_left:
                raise


def keep_answer(
    open_library: OpenLibrary, pattern: str, action: LibraryAction, verdict: Verdict
) -> tuple[bool, Answers]:
    """Say of a pattern that was shown whether it was that; whether this is news, and what all say of it."""
    with open_library() as library:
        new = library.answer(pattern, action.job, verdict, who=action.who)
        return new, library.answers().get(pattern, Answers())


def _archive(library: Library, action: LibraryAction, words: Pattern, *, edited: bool) -> Entry:
    """A pattern of its own; a job has one at most, whatever people make of its note and in whichever channel."""
    with library.writing():  # another bot that files the same note with other words finds this draft
        entry = _own(library.entries(), action.job) or _draft(library, action, words)
    if entry.superseded_by:
        return library.entry(entry.superseded_by)  # these very words have joined it
    if entry.status is Status.APPROVED and not edited:
        return entry
    entry, _ = library.approve(entry.id, revision=entry.revision, who=action.who, why=action.why)
    return library.edit(entry.id, words, revision=entry.revision, who=action.who, why=action.why)


def _join(library: Library, action: LibraryAction, words: Pattern, joins: str) -> Entry:
    target = library.entry(joins)
    if target.status is not Status.APPROVED or target.origin is not Origin.TEAM:
        raise OutOfDate(f"Fault pattern {target.id} is not in use any more.", "Decide about the note again.")
    draft = _draft(library, action, words)
    if draft.superseded_by == target.id:
        return target
    return library.merge(draft.id, target.id, revision=draft.revision, who=action.who, why=action.why)


def _draft(library: Library, action: LibraryAction, words: Pattern) -> Entry:
    return library.draft(words, who=action.who, why=f"drafted from {action.job}", job=action.job)


def _own(entries: Iterable[Entry], job: str) -> Entry | None:
    """The pattern that was drafted from this job; one that is in use before one that is not."""
    own = [entry for entry in entries if entry.status in _ORDER and job_of_draft(entry) == job]
    return min(own, key=lambda entry: (_ORDER.index(entry.status), entry.id), default=None)


def _joined(entries: Iterable[Entry], pattern: str, job: str) -> list[Entry]:
    return [entry for entry in entries if entry.superseded_by == pattern and job_of_draft(entry) == job]


def _nearest(words: Pattern, entries: Iterable[Entry]) -> Entry | None:
    """What it nearly is, by words; seeds count for how rare a word is, but nobody of the team stands behind them."""
    nameless, left = words.model_copy(update={"id": _NOBODY}), list(entries)
    while (near := nearly(nameless, left, {})) is not None and near.origin is Origin.SEED:
        left.remove(near)
    return near


def _version_before(entry: Entry, run: str) -> int:
    """The newest version whose words did not come with this run's approval."""
    wrote = {step.version for step in entry.history if step.action == "edit" and run in step.why}
    version = entry.version
    while version > 1 and version in wrote:
        version -= 1
    return version
