"""What an imported entry does to the one that is here: it is added, it is newer, it says the same, or it is refused."""

from faultlib.errors import StaleRevision, WrongStep
from faultlib.life import last_step, with_sightings
from faultlib.pattern import Entry, Origin, Status


def imported(mine: Entry | None, theirs: Entry) -> Entry:
    """The entry to keep; ``mine`` itself when nothing is new. Sightings only ever grow.

    Raises:
        StaleRevision: theirs is older, or says something else at the same version.
        WrongStep: it is no entry that a library could have exported.
    """
    _check(theirs)
    if mine is None:
        return theirs
    if _decided(mine) == _decided(theirs):
        return with_sightings(mine, theirs.sightings)
    if not _is_newer(theirs, mine):
        raise StaleRevision(
            f"{mine.id} is not imported: version {theirs.version}, revision {theirs.revision} ({last_step(theirs)}) is"
            f" not newer than what is here, version {mine.version}, revision {mine.revision} ({last_step(mine)}).",
            "Nothing was changed. Edit the one that is here if the other is right.",
        )
    history = (*mine.history, *(step for step in theirs.history if step not in mine.history))
    kept = theirs.model_copy(update={"history": history, "revision": max(theirs.revision, mine.revision + 1)})
    return with_sightings(kept.model_copy(update={"sightings": mine.sightings}), theirs.sightings)


def _decided(entry: Entry) -> Entry:
    return entry.model_copy(update={"sightings": ()})


def _is_newer(theirs: Entry, mine: Entry) -> bool:
    """A higher version, or the same words with more done to them."""
    if theirs.version != mine.version:
        return theirs.version > mine.version
    goes_on = theirs.history[: len(mine.history)] == mine.history and len(theirs.history) > len(mine.history)
    return goes_on and theirs.pattern == mine.pattern


def _check(entry: Entry) -> None:
    wrong = ""
    if (entry.status is Status.SUPERSEDED) != bool(entry.superseded_by):
        wrong = "it is superseded by nothing, or replaced and not superseded"
    elif entry.status is Status.APPROVED and entry.origin is Origin.TEAM and entry.confirmed is None:
        wrong = "it is approved, and its history names nobody who approved it"
    elif not entry.history or any(not step.who.strip() for step in entry.history):
        wrong = "its history does not say who did what"
    elif entry.history[-1].version != entry.version:
        wrong = "its history does not lead to its version"
    if wrong:
        raise WrongStep(f"{entry.id} is not imported: {wrong}.", "Import what firstfault library export wrote.")
