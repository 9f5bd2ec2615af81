"""The life of a pattern: which step leads where, and who is told no."""

from collections.abc import Callable

import pytest

from faultlib import life
from faultlib.errors import StaleRevision, WrongStep
from faultlib.life import Act
from faultlib.pattern import Entry, Origin, Status
from tests.support.library_entries import pattern

ADA, BOB = Act("ada", "seen twice", "2026-11-21T09:00:00Z"), Act("bob", "", "2026-11-21T09:00:01Z")


def draft(name: str = "nic") -> Entry:
    return life.drafted(pattern(name), ADA, job="j1")


def in_status(status: Status) -> Entry:
    start = draft()
    if status is Status.DRAFT:
        return start
    if status is Status.RETIRED:
        return life.retired(start, ADA, revision=1)
    confirmed = life.approved(start, ADA, revision=1)
    if status is Status.APPROVED:
        return confirmed
    return life.superseded(confirmed, life.approved(draft("other"), ADA, revision=1), ADA, revision=2)


STEPS: dict[str, tuple[Callable[[Entry, int], Entry], dict[Status, Status]]] = {
    "edit": (
        lambda entry, seen: life.edited(entry, pattern("nic", cause="Dust."), ADA, revision=seen),
        {Status.DRAFT: Status.DRAFT, Status.APPROVED: Status.APPROVED},
    ),
    "approve": (
        lambda entry, seen: life.approved(entry, ADA, revision=seen),
        {Status.DRAFT: Status.APPROVED, Status.RETIRED: Status.APPROVED, Status.APPROVED: Status.APPROVED},
    ),
    "undo": (lambda entry, seen: life.undone(entry, ADA, revision=seen), {Status.APPROVED: Status.DRAFT}),
    "retire": (
        lambda entry, seen: life.retired(entry, ADA, revision=seen),
        {Status.DRAFT: Status.RETIRED, Status.APPROVED: Status.RETIRED},
    ),
    "supersede": (
        lambda entry, seen: life.superseded(entry, life.approved(draft("new"), ADA, revision=1), ADA, revision=seen),
        {Status.APPROVED: Status.SUPERSEDED},
    ),
    "merge": (
        lambda entry, seen: life.merged(entry, life.approved(draft("new"), ADA, revision=1), ADA, revision=seen)[0],
        {Status.DRAFT: Status.SUPERSEDED, Status.RETIRED: Status.SUPERSEDED},
    ),
}


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("step", STEPS)
def test_a_step_leads_where_it_is_drawn_or_is_refused(step: str, status: Status) -> None:
    """Every step from every status: the drawn ones change it and stand in the history, the others change nothing."""
    take, leads_to = STEPS[step]
    entry = in_status(status)
    if status not in leads_to:
        with pytest.raises(WrongStep, match=f"nic is {status}"):
            take(entry, entry.revision)
        return
    after = take(entry, entry.revision)
    assert after.status is leads_to[status]
    if after is not entry:
        assert (after.revision, after.history[-1].action, after.history[-1].who) == (entry.revision + 1, step, "ada")


@pytest.mark.parametrize("step", STEPS)
def test_an_old_revision_is_refused_and_told_who_was_faster(step: str) -> None:
    """Nobody decides on what has changed since they looked."""
    entry = in_status(Status.DRAFT)
    changed = life.edited(entry, pattern("nic", cause="Rust."), BOB, revision=1)
    with pytest.raises(StaleRevision, match="edit by bob at 2026-11-21T09:00:01Z") as refused:
        STEPS[step][0](changed, entry.revision)
    assert "Look at it again" in refused.value.hint


def test_a_second_approval_changes_nothing() -> None:
    """Two clicks, the second with an old revision: the entry says who was first."""
    first = life.approved(draft(), BOB, revision=1)
    second = life.approved(first, ADA, revision=1)
    assert second is first
    assert second.confirmed is not None
    assert second.confirmed.who == "bob"


def test_a_rejection_has_a_reason() -> None:
    """What was rejected or retired without a word teaches nobody."""
    with pytest.raises(WrongStep, match="without a reason"):
        life.retired(draft(), BOB, revision=1)


def test_nobody_does_nothing() -> None:
    """Every step names a person."""
    with pytest.raises(ValueError, match="without a person"):
        Act(" ", "", "2026-11-21T09:00:00Z")


def test_an_edit_is_a_version_and_the_same_words_are_none() -> None:
    """Versions count changes of the words; the id stays whatever the new words say."""
    entry = draft()
    changed = life.edited(entry, pattern("another", title="New"), ADA, revision=1)
    assert (changed.id, changed.version, changed.pattern.title) == ("nic", 2, "New")
    assert life.edited(changed, changed.pattern, ADA, revision=2) is changed


def test_a_merge_gives_the_jobs_away() -> None:
    """The approved pattern has the draft's jobs and words; the draft keeps its own jobs and points to it."""
    target = life.approved(draft("old"), ADA, revision=1)
    source = life.drafted(pattern("nic"), ADA, job="j2")
    gone, kept = life.merged(source, target, BOB, revision=1, pattern=pattern("x", cause="Better words."))
    assert (gone.superseded_by, [sighting.job for sighting in gone.sightings]) == ("old", ["j2"])
    assert [sighting.job for sighting in kept.sightings] == ["j1", "j2"]
    assert (kept.id, kept.version, kept.pattern.cause, kept.history[-1].why) == ("old", 2, "Better words.", "nic")


def test_a_merge_is_taken_back() -> None:
    """The draft is one again and can be approved; both histories say who did it; another replacement stays."""
    target = life.approved(draft("old"), ADA, revision=1)
    gone, kept = life.merged(life.drafted(pattern("nic"), ADA, job="j2"), target, BOB, revision=1)
    replaced = life.superseded(life.approved(draft("third"), ADA, revision=1), target, ADA, revision=2)

    again, left = life.separated(gone, kept, ADA, revision=gone.revision)

    assert (again.status, again.superseded_by, again.history[-1].action) == (Status.DRAFT, "", "separate")
    assert (left.status, left.history[-1].who, left.history[-1].why[:3]) == (Status.APPROVED, "ada", "nic")
    assert life.approved(again, ADA, revision=again.revision).status is Status.APPROVED
    with pytest.raises(WrongStep, match="was not merged"):
        life.separated(replaced, target, ADA, revision=replaced.revision)
    with pytest.raises(WrongStep, match="cannot be separated"):
        life.separated(draft(), target, ADA, revision=1)


def test_nothing_gives_way_to_itself_or_to_a_draft() -> None:
    """What replaces a pattern is confirmed."""
    confirmed = life.approved(draft(), ADA, revision=1)
    for by in (confirmed, draft("other")):
        with pytest.raises(WrongStep, match="cannot give way"):
            life.superseded(confirmed, by, ADA, revision=2)


def test_a_changed_seed_follows_the_package_unless_a_person_changed_it() -> None:
    """New facts arrive with a new version of Firstfault; what the team decided stays."""
    seed, facts = life.seeded(None, pattern("xid"), ADA), pattern("xid", cause="Known better now.")
    assert (seed.origin, seed.status, seed.confirmed) == (Origin.SEED, Status.APPROVED, None)
    assert life.seeded(seed, pattern("xid"), ADA) is seed
    assert (life.seeded(seed, facts, ADA).version, life.seeded(seed, facts, ADA).pattern) == (2, facts)
    for by_a_person in (
        life.edited(seed, pattern("xid", cause="Ours."), BOB, revision=1),
        life.retired(seed, ADA, revision=1),
        life.undone(seed, BOB, revision=1),
        life.approved(draft("xid"), ADA, revision=1),
    ):
        assert life.seeded(by_a_person, facts, ADA) is by_a_person
        assert life.vanished(by_a_person, ADA) is by_a_person


def test_a_seed_that_is_gone_is_retired_and_may_come_back() -> None:
    """A seed that the package took back is not matched any longer; nothing is deleted."""
    gone = life.vanished(life.seeded(None, pattern("xid"), ADA), ADA)
    assert (gone.status, gone.history[-1].action) == (Status.RETIRED, "vanish")
    back = life.seeded(gone, pattern("xid"), ADA)
    assert (back.status, back.version, back.revision) == (Status.APPROVED, 1, 3)


@pytest.mark.parametrize("name", ["nic", "n" * 64, "a" * 55 + "-" + "b" * 8])
def test_ids_for_drafts_are_ids(name: str) -> None:
    """A proposed id that is taken gets a hash behind it and stays short enough; other jobs, other hashes."""
    names = list(life.names_for_draft(pattern(name), "j1"))
    assert names[0] == name
    assert len({*names, *life.names_for_draft(pattern(name), "j2")}) == 2 * len(names) - 1
    for proposed in names:
        assert pattern(proposed).id == proposed
