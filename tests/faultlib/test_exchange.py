"""Importing entries: what is new is taken, what is older or contradicts is refused."""

import pytest

from faultlib import life
from faultlib.errors import StaleRevision, WrongStep
from faultlib.exchange import imported
from faultlib.life import Act
from faultlib.pattern import Entry, Sighting, Status
from tests.support.library_entries import entry, pattern

ACT = Act("eve", "", "2026-11-21T09:00:00Z")
OTHER = Sighting(job="j9", at="2026-11-20T00:00:00Z")


def edited(before: Entry, cause: str) -> Entry:
    return life.edited(before, pattern(before.id, cause=cause), ACT, revision=before.revision)


def test_what_is_new_is_taken_as_it_is() -> None:
    """Id, version, history and sightings of the other library."""
    theirs = edited(entry("nic", sightings=(OTHER,)), "Dust.")
    assert imported(None, theirs) is theirs


def test_the_same_again_is_nothing() -> None:
    """An import may be repeated."""
    mine = entry("nic")
    assert imported(mine, entry("nic")) is mine


def test_sightings_are_added_and_change_no_revision() -> None:
    """Two libraries that saw the same fault in other jobs know all jobs afterwards."""
    mine = entry("nic", sightings=(Sighting(job="j1", at="2026-11-20T00:00:00Z"),))
    both = imported(mine, entry("nic", sightings=(OTHER,)))
    assert ([sighting.job for sighting in both.sightings], both.revision) == (["j1", "j9"], mine.revision)


def test_what_goes_on_from_here_is_newer() -> None:
    """Edited, or only approved, somewhere else: it is taken exactly."""
    mine = entry("nic")
    draft = entry("nic", status=Status.DRAFT)
    for before, theirs in ((mine, edited(mine, "Dust.")), (draft, life.approved(draft, ACT, revision=1))):
        assert imported(before, theirs) == theirs


def test_what_is_older_is_refused() -> None:
    """An export of last week does not undo this week."""
    mine = edited(entry("nic"), "Dust.")
    with pytest.raises(StaleRevision, match="not newer than what is here, version 2"):
        imported(mine, entry("nic"))


def test_a_contradiction_is_refused() -> None:
    """Two edits of the same version: a person has to say which one is right."""
    with pytest.raises(StaleRevision, match="nic is not imported"):
        imported(edited(entry("nic"), "Dust."), edited(entry("nic"), "Rust."))


def test_a_higher_version_of_another_branch_keeps_both_histories() -> None:
    """Nothing that was done here is forgotten, and the revision rises for those who look at it now."""
    mine = edited(entry("nic"), "Dust.")
    theirs = edited(edited(entry("nic"), "Rust."), "Rust and dust.")
    mine = life.undone(mine, Act("ada", "", "2026-11-21T10:00:00Z"), revision=mine.revision)
    kept = imported(mine, theirs)
    assert (kept.version, kept.pattern, kept.status) == (3, theirs.pattern, Status.APPROVED)
    assert {step.who for step in kept.history} == {"ada", "bob", "eve"}
    assert kept.history[: len(mine.history)] == mine.history
    assert kept.revision > mine.revision


@pytest.mark.parametrize(
    ("changes", "because"),
    [
        ({"superseded_by": "x"}, "not superseded"),
        ({"status": Status.SUPERSEDED}, "superseded by nothing"),
        ({"history": entry("nic").history[:1]}, "nobody who approved"),
        ({"history": (), "status": Status.DRAFT}, "does not say who"),
        ({"version": 2}, "does not lead to its version"),
    ],
)
def test_what_no_library_exported_is_refused(changes: dict[str, object], because: str) -> None:
    """A pattern cannot become approved by editing a file: somebody has to have approved it."""
    with pytest.raises(WrongStep, match=because):
        imported(None, entry("nic").model_copy(update=changes))
