"""The life of a pattern, as functions from an entry to the next one: who did what, why, when, and what it led to.

    draft ──approve──► approved ──supersede──► superseded
      │ ▲                │  │  ▲                   ▲
      │ └─────undo───────┘  │  │                   │
      │                  retire approve            │
      │                     ▼  │                   │
      ├──retire──────────► retired ──merge─────────┤
      ├──merge─────────────────────────────────────┤
      └◄─separate──────────────────────────────────┘

Only a merge is separated again, and the jobs that came with it stay: a sighting is never taken back. Whoever acts names
the revision that was seen. A step that is not drawn is a ``WrongStep``; a revision that is no longer current is a
``StaleRevision``, which names who changed the pattern.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from faultlib.errors import StaleRevision, WrongStep
from faultlib.pattern import Entry, Origin, Pattern, Sighting, Status, Step

_ID_LENGTH = 64  # of a PatternId
_OPEN = (Status.DRAFT, Status.APPROVED)


@dataclass(frozen=True, slots=True)
class Act:
    """Somebody does something: who, why, and when (ISO 8601 in UTC)."""

    who: str
    why: str
    at: str

    def __post_init__(self) -> None:
        if not self.who.strip():
            raise ValueError("an act without a person")


def drafted(pattern: Pattern, act: Act, *, job: str) -> Entry:
    """A new draft, seen in the job that it was written for."""
    sightings = (Sighting(job=job, at=act.at),) if job else ()
    entry = Entry(pattern=pattern, version=1, revision=1, status=Status.DRAFT, origin=Origin.TEAM, sightings=sightings)
    return entry.model_copy(update={"history": (_step(act, "draft", 1),)})


def names_for_draft(pattern: Pattern, job: str) -> Iterator[str]:
    """The proposed id, then ever longer ones with a hash of what is drafted and for which job."""
    """The proposed id, then ever longer ones with a hash of what is drafted and for which job."""
    yield pattern.id
    digest = sha256(f"{pattern.digest} {job}".encode()).hexdigest()
    for length in range(6, len(digest) // 2):
        yield f"{pattern.id[: _ID_LENGTH - length - 1].rstrip('-')}-{digest[:length]}"


def job_of_draft(entry: Entry) -> str | None:
    """The job that it was drafted for, seen in the moment it was made; "" for none, None for what was no draft."""
    if not entry.history or entry.history[0].action != "draft":
        return None
    return next((sighting.job for sighting in entry.sightings[:1] if sighting.at == entry.history[0].at), "")


def edited(entry: Entry, pattern: Pattern, act: Act, *, revision: int) -> Entry:
    """A new version; an approved pattern stays approved. The same words again change nothing."""
    _check_revision(entry, revision)
    _check_status(entry, "edited", _OPEN)
    words = pattern.model_copy(update={"id": entry.id})  # a pattern keeps its id
    return entry if words == entry.pattern else _after(entry, act, "edit", pattern=words)


def approved(entry: Entry, act: Act, *, revision: int) -> Entry:
    """Approved by a person; unchanged when it is approved already, whatever was seen."""
    if entry.status is Status.APPROVED:
        return entry
    _check_revision(entry, revision)
    _check_status(entry, "approved", (Status.DRAFT, Status.RETIRED))
    return _after(entry, act, "approve", status=Status.APPROVED)


def undone(entry: Entry, act: Act, *, revision: int) -> Entry:
    """The approval is withdrawn: a draft again."""
    _check_revision(entry, revision)
    _check_status(entry, "made a draft again", (Status.APPROVED,))
    return _after(entry, act, "undo", status=Status.DRAFT)


def retired(entry: Entry, act: Act, *, revision: int) -> Entry:
    """Out of use, or a draft that was rejected; kept with the reason."""
    _check_revision(entry, revision)
    _check_status(entry, "retired", _OPEN)
    if not act.why.strip():
        raise WrongStep(f"{entry.id} cannot be retired without a reason.", "Say why in a few words.")
    return _after(entry, act, "retire", status=Status.RETIRED)


def superseded(entry: Entry, by: Entry, act: Act, *, revision: int) -> Entry:
    """An approved pattern gives way to a better approved one."""
    _check_revision(entry, revision)
    _check_status(entry, "superseded", (Status.APPROVED,))
    _check_successor(entry, by)
    return _after(entry, act, "supersede", status=Status.SUPERSEDED, superseded_by=by.id)


def merged(
    draft: Entry, into: Entry, act: Act, *, revision: int, pattern: Pattern | None = None
) -> tuple[Entry, Entry]:
    """The draft gives way to an approved pattern, which takes its jobs, and new words if any."""
    _check_revision(draft, revision)
    _check_status(draft, "merged into another", (Status.DRAFT, Status.RETIRED))
    _check_successor(draft, into)
    gone = _after(draft, act, "merge", status=Status.SUPERSEDED, superseded_by=into.id)
    merge = Act(act.who, f"{draft.id}: {act.why}" if act.why else draft.id, act.at)
    words = into.pattern if pattern is None else pattern.model_copy(update={"id": into.id})
    return gone, with_sightings(_after(into, merge, "merge", pattern=words), draft.sightings)


def separated(draft: Entry, into: Entry, act: Act, *, revision: int) -> tuple[Entry, Entry]:
    """A merge is taken back: the draft is one again, and the history of the approved pattern says so."""
    _check_revision(draft, revision)
    _check_status(draft, "separated", (Status.SUPERSEDED,))
    if draft.history[-1].action != "merge":
        raise WrongStep(f"{draft.id} was not merged ({last_step(draft)}).", "Only a merge can be taken back.")
    again = _after(draft, act, "separate", status=Status.DRAFT).model_copy(update={"superseded_by": ""})
    separation = Act(act.who, f"{draft.id}: {act.why}" if act.why else draft.id, act.at)
    return again, _after(into, separation, "separate")


def with_sightings(entry: Entry, sightings: tuple[Sighting, ...]) -> Entry:
    """Seen in these jobs as well; the revision stays, because nobody decided anything."""
    known = {sighting.job for sighting in entry.sightings}
    new = tuple(sighting for sighting in sightings if sighting.job not in known)
    return entry.model_copy(update={"sightings": (*entry.sightings, *new)}) if new else entry


def seeded(entry: Entry | None, pattern: Pattern, act: Act) -> Entry:
    """A seed of the package: new, changed, or back again. What a person of the team decided is left alone."""
    if entry is None:
        new = Entry(pattern=pattern, version=1, revision=1, status=Status.APPROVED, origin=Origin.SEED)
        return new.model_copy(update={"history": (_step(act, "seed", 1),)})
    ours = _is_ours(entry) and (entry.status is Status.APPROVED or entry.history[-1].action == "vanish")
    if not ours or (entry.status is Status.APPROVED and entry.pattern == pattern):
        return entry
    return _after(entry, act, "seed", pattern=pattern, status=Status.APPROVED)


def vanished(entry: Entry, act: Act) -> Entry:
    """A seed that the package no longer has is retired, unless a person edited it."""
    if not _is_ours(entry) or entry.status is not Status.APPROVED:
        return entry
    return _after(entry, act, "vanish", status=Status.RETIRED)


def _is_ours(entry: Entry) -> bool:
    """Whether the words are still those of the package."""
    writer = next((step.action for step in entry.history if step.version == entry.version), "")
    return entry.origin is Origin.SEED and writer == "seed"


def _after(
    entry: Entry,
    act: Act,
    action: str,
    *,
    pattern: Pattern | None = None,
    status: Status | None = None,
    superseded_by: str = "",
) -> Entry:
    words = pattern or entry.pattern
    version = entry.version + (words != entry.pattern)
    return entry.model_copy(
        update={
            "pattern": words,
            "version": version,
            "revision": entry.revision + 1,
            "status": status or entry.status,
            "superseded_by": superseded_by or entry.superseded_by,
            "history": (*entry.history, _step(act, action, version)),
        }
    )


def _step(act: Act, action: str, version: int) -> Step:
    return Step(version=version, action=action, who=act.who, at=act.at, why=act.why)


def last_step(entry: Entry) -> str:
    """Who touched it last, for people: "edit by U12 at 2026-11-21T09:00:00Z"."""
    if not entry.history:
        return "nobody"
    step = entry.history[-1]
    return f"{step.action} by {step.who} at {step.at}"


def _check_revision(entry: Entry, revision: int) -> None:
    if revision != entry.revision:
        raise StaleRevision(
            f"{entry.id} has changed since you looked: revision {entry.revision} ({last_step(entry)}), you saw"
            f" {revision}.",
            "Nothing was changed. Look at it again, then decide.",
        )


def _check_status(entry: Entry, what: str, allowed: tuple[Status, ...]) -> None:
    if entry.status not in allowed:
        raise WrongStep(
            f"{entry.id} is {entry.status} ({last_step(entry)}) and cannot be {what}.",
            f"That takes a pattern that is {' or '.join(allowed)}.",
        )


def _check_successor(entry: Entry, by: Entry) -> None:
    if by.id == entry.id or by.status is not Status.APPROVED:
        what = "itself" if by.id == entry.id else f"{by.id}, which is {by.status}"
        raise WrongStep(f"{entry.id} cannot give way to {what}.", "Name an approved pattern.")
