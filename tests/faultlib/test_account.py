"""What a library's report counts, and what it suggests."""

from datetime import UTC, datetime
from pathlib import Path

from faultlib.answers import Verdict, with_answers
from faultlib.pattern import Clause, Entry, Sighting, Signature, Status
from faultlib.team_account import account
from tests.support.libraries import opened
from tests.support.library_entries import entry, pattern

NOW = datetime(2026, 12, 1, tzinfo=UTC)  # entries of tests are drafted and confirmed on 2026-11-21


def seen(*jobs: str, at: str = "2026-11-25T00:00:00Z") -> tuple[Sighting, ...]:
    return tuple(Sighting(job=job, at=at) for job in jobs)


def signed(pattern_id: str, cause: str) -> Entry:
    signature = Signature(must=(Clause(events=("link <*> went down",)),))
    return entry(pattern_id, signature=signature, cause=cause)


def test_what_cost_most_comes_first() -> None:
    """By node-hours, as far as manifests tell of them, then by jobs; what no job showed costs nothing."""
    told = account(
        [entry("a", sightings=seen("j1", "j2")), entry("b", sightings=seen("j3", "j4")), entry("c")],
        now=NOW,
        node_hours={"j1": 2.0, "j3": 7.5, "other": 99.0},
    )

    assert [(one.entry.id, one.jobs, one.node_hours) for one in told.costs] == [
        ("b", ("j3", "j4"), 7.5),
        ("a", ("j1", "j2"), 2.0),
    ]
    assert account([entry("a", sightings=seen("j1"))], now=NOW, node_hours={}).costs[0].node_hours is None


def test_a_fault_came_back_when_a_later_job_showed_it() -> None:
    """Neither the job that it was drafted for nor what was seen before it was confirmed counts."""
    drafted, early = seen("j0", at="2026-11-21T04:00:00Z"), seen("j1", at="2026-11-21T04:30:00Z")

    told = account([entry("a", sightings=(*drafted, *early, *seen("j2"))), entry("b", sightings=drafted)], now=NOW,
                   node_hours={})  # fmt: skip

    assert [(one.id, jobs) for one, jobs in told.returned] == [("a", ("j2",))]
    assert [one.id for one in told.silent] == ["b"]


def test_what_was_not_seen_for_a_year_is_suggested() -> None:
    """Counted from the last time it was seen or decided on; public patterns are ours to keep."""
    known = [entry("a"), entry("b", sightings=seen("j1", at="2027-06-01T00:00:00Z")), entry("c", origin="seed")]

    assert account(known, now=NOW, node_hours={}).old == ()
    assert [one.id for one in account(known, now=datetime(2027, 12, 1, tzinfo=UTC), node_hours={}).old] == ["a"]


def test_conflicts_and_twins_are_told_once() -> None:
    """The same events: another cause is a conflict, and whoever wrote them twice may make one of them."""
    told = account([signed("a", "Dust."), signed("b", "Rust."), signed("c", "Dust.")], now=NOW, node_hours={})

    assert [(one.id, other.id) for one, other in told.conflicts] == [("a", "b"), ("b", "c")]
    pairs = [{one.id, other.id} for one, other in told.twins]
    assert pairs
    assert len({frozenset(pair) for pair in pairs}) == len(pairs)


def test_what_is_out_of_use_is_not_told() -> None:
    """A draft or a retired pattern needs no look."""
    told = account([entry("a", status=Status.RETIRED, sightings=seen("j1"))], now=NOW, node_hours={})

    assert (told.costs, told.silent, told.old) == ((), (), ())


def test_what_people_said_of_a_job_decides_whether_it_showed_the_fault(tmp_path: Path) -> None:
    """A job that was only said to look like it counts once somebody says that it was it; a wrong one counts no more."""
    with opened(tmp_path) as library:
        draft = library.draft(pattern("a"), who="ada", job="j0")
        library.approve(draft.id, who="ada", revision=draft.revision)
        library.sighted("a", "j1")
        for job, verdict, who in (
            ("j1", "WRONG", "ada"),
            ("j2", "RIGHT", "ada"),
            ("j3", "RIGHT", "ada"),
            ("j3", "WRONG", "bo"),
        ):
            library.answer("a", job, Verdict[verdict], who=who)
        told = account(with_answers(library.entries(), library.judged()), now=NOW, node_hours={})
        library.answer("a", "j2", Verdict.WITHDRAWN, who="ada")
        undone = account(with_answers(library.entries(), library.judged()), now=NOW, node_hours={})

    assert [one.jobs for one in told.costs] == [("j0", "j2")]
    assert [one.jobs for one in undone.costs] == [("j0",)]
