"""The fault library during a diagnosis: what matched, what agrees, what looks alike, and never in the way."""

from dataclasses import replace
from pathlib import Path

import pytest

from bot.fetch.jobs import Request
from bot.investigate import Answer, investigate
from bot.library.session import exact_faults, known_faults, known_so_far, numbered, open_fault_library
from bot.settings import Settings
from bot.text.known_fault import KnownFault
from core.model import Confidence, Diagnosis, EventEvidence, Line, NodeEvidence, Role, Scope
from faultlib.draft import pattern_of
from faultlib.levels import Level
from faultlib.likely_patterns import Fit, Likely
from faultlib.pattern import Aspect, Clause, Part, Signature, Trait
from faultlib.signature import Match
from tests.support.library_entries import entry
from tests.support.places import EXAMPLES

DIAGNOSIS = Diagnosis(
    job="j2",
    method="firstfault",
    scope=Scope.NODE,
    confidence=Confidence.ESTABLISHED,
    headline="Look at a",
    events=(
        EventEvidence("E1", 0.9, "a said so.", (Line("a.log", 1, "boom"),), event="e-root", role=Role.ROOT),
        EventEvidence("E2", 0.5, "b said so.", (Line("b.log", 1, "lost"),), event="e-peer", role=Role.PROPAGATED),
    ),
)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(jobs=str(EXAMPLES), cache=tmp_path / "cache", library=tmp_path / "library")


def _match(name: str, *events: str, origin: str = "team") -> Match:
    return Match(entry(name, origin=origin), events, ("node-a",))


def _shown(*matches: Match, diagnosis: Diagnosis = DIAGNOSIS) -> list[KnownFault]:
    return exact_faults(diagnosis, matches)


def test_the_pattern_of_the_most_telling_event_comes_first() -> None:
    """Of patterns that the diagnosis agrees with, the one that knows E1; without one of the team a seed."""
    faults = _shown(_match("peer", "e-peer", "e-root"), _match("team", "e-root"))
    seeds = _shown(_match("seed", "e-root", origin="seed"))
    assert [fault.pattern for fault in faults] == ["peer", "team"]
    assert faults[0].events == ("E1", "E2")
    assert faults[1].because == "All events of its signature are in this job (E1), on node-a."
    assert (faults[1].confirmed_by, faults[1].seed) == ("bob", False)
    assert [(fault.confirmed_by, fault.seed) for fault in seeds] == [("", True)]


def test_a_seed_is_not_shown_beside_what_the_team_made_of_it() -> None:
    """One answer for one fault: the confirmed one. A seed of other events, in other words, is another answer."""
    other = _match("other", "e-peer", "e-root", origin="seed")
    words = other.entry.pattern.model_copy(update={"cause": "Another cause.", "fix": "Another fix."})
    other = replace(other, entry=other.entry.model_copy(update={"pattern": words}))
    copied = _match("copied", "e-peer", "e-root", origin="seed")
    same = _match("same", "e-root", origin="seed")

    assert [fault.pattern for fault in _shown(same, copied, _match("team", "e-root"))] == ["team"]
    assert [fault.pattern for fault in _shown(other, _match("team", "e-root"))] == ["team", "other"]


def test_a_public_fact_that_the_team_has_confirmed_is_not_shown_beside_it() -> None:
    """The team's pattern of that very fact says more: another public fact of the job stays."""
    ours = _match("ours", "e-root")
    fact = Trait(aspect=Aspect.FACT, text="seed", part=Part.CAUSE)
    words = ours.entry.pattern.model_copy(
        update={"cause": "Ours.", "fix": "Ours.", "signature": Signature(traits=(fact,))}
    )
    team = ours.entry.model_copy(update={"pattern": words})
    found = Likely(team, Fit.LOOKS, 0.8, Level.FACT)
    seeds = [_match(name, "e-root", origin="seed") for name in ("seed", "other")]
    apart = seeds[1].entry.pattern.model_copy(update={"cause": "Another cause."})
    seeds[1] = replace(seeds[1], entry=seeds[1].entry.model_copy(update={"pattern": apart}))

    assert [fault.pattern for fault in known_faults(DIAGNOSIS, seeds, [found])] == ["ours", "other"]


def test_patterns_that_say_one_thing_fill_one_place() -> None:
    """Two that nobody merged tell the same cause and fix; another cause is another answer."""
    twice = [_match("first", "e-root", "e-peer"), _match("second", "e-root")]
    words = twice[1].entry.pattern.model_copy(update={"cause": "Another cause."})
    apart = replace(twice[1], entry=twice[1].entry.model_copy(update={"pattern": words}))

    assert [fault.pattern for fault in known_faults(DIAGNOSIS, twice, ())] == ["first"]
    assert [fault.pattern for fault in known_faults(DIAGNOSIS, [twice[0], apart], ())] == ["first", "second"]


def test_patterns_of_victims_are_left_out_beside_one_of_the_fault() -> None:
    """Who knows the cause needs no list of its echoes; without a cause they are told."""
    echo = _match("echo", "e-peer", origin="seed")
    assert [fault.pattern for fault in _shown(echo, _match("cause", "e-root", origin="seed"))] == ["cause"]
    assert [fault.pattern for fault in _shown(echo, diagnosis=replace(DIAGNOSIS, events=DIAGNOSIS.events[1:]))] == [
        "echo"
    ]


def test_seeds_about_victims_are_left_out_beside_a_direct_trace() -> None:
    """A public pattern of what the others say explains nothing that the trace does not; the team's own may."""
    assert _shown(_match("echo", "e-peer", origin="seed")) == []
    assert [fault.pattern for fault in _shown(_match("ours", "e-peer"))] == ["ours"]


def test_what_the_diagnosis_does_not_see_is_told_of_the_team_only() -> None:
    """A confirmed pattern may know better than the diagnosis, a public one may not."""
    faults = _shown(_match("seed", "e-survived", origin="seed"), _match("team", "e-survived"))
    assert [(fault.pattern, fault.agrees) for fault in faults] == [("team", False)]
    assert "does not count them" in faults[0].because


def test_ids_are_given_in_the_order_of_the_answer() -> None:
    """P1 is what a reader sees first."""
    faults = list(numbered(_shown(_match("a", "e-root"), _match("b", "e-root"))))
    assert [fault.id for fault in faults] == ["P1", "P2"]


def test_who_tells_of_another_node_is_not_where_the_fault_is() -> None:
    """A peer or a scheduler's daemon reports it: the sentence says so."""
    (fault,) = _shown(
        _match("lost", "e-root"), diagnosis=replace(DIAGNOSIS, nodes=(NodeEvidence("N1", 0.9, "x", node="b"),))
    )
    assert fault.because == "All events of its signature are in this job (E1), told by node-a."


def test_a_match_is_told_before_there_is_a_diagnosis() -> None:
    """Cause and fix, and who confirmed them, at once."""
    (fault,) = known_so_far([_match("team", "e-root")])
    assert (fault.id, fault.fix, fault.confirmed_by, fault.agrees) == ("P1", "Push the cable in.", "bob", False)
    assert fault.because == "All events of its signature are in this job, on node-a."


def _investigated(settings: Settings, job: str) -> Answer:
    return investigate(Request(job), settings)


def _confirmed(settings: Settings, job: str, drafted_for: str) -> str:
    """Approve what a job teaches as the pattern of another one; its id."""
    pattern = pattern_of(_investigated(settings, job).diagnosis, cause="An agent of ours.", fix="Stop the agent.")
    with open_fault_library(settings) as library:
        draft = library.draft(pattern, who="bot", job=drafted_for)
        library.approve(draft.id, who="ada", revision=draft.revision)
    return draft.id


@pytest.mark.slow
def test_the_second_job_of_a_kind_is_answered_from_the_library(settings: Settings) -> None:
    """What somebody confirmed on one real job is told of another one, before it is judged, with its fix and author."""
    known = _confirmed(settings, "f07", drafted_for="f99")
    matched: list[tuple[KnownFault, ...]] = []

    answer = investigate(Request("f07"), settings, on_match=matched.append)

    assert [fault.fix for fault in matched[0][:1]] == ["Stop the agent."]
    first = answer.known[0]
    assert (first.id, first.agrees, first.confirmed_by, first.jobs) == ("P1", True, "ada", ("f99",))
    with open_fault_library(settings) as library:
        assert {sighting.job for sighting in library.entry(known).sightings} == {"f07", "f99"}


@pytest.mark.slow
def test_a_job_that_only_went_alike_is_no_job_of_that_fault(settings: Settings) -> None:
    """Who was killed may have been killed by anything: the same lines are told as a symptom, and not counted."""
    known = _confirmed(settings, "f42", drafted_for="f01")

    first = _investigated(settings, "f42").known[0]

    assert (first.id, first.pattern, first.confirmed_by) == ("P1", known, "ada")
    assert (first.fit, first.exact, first.signed) == ("seen with", False, True)
    with open_fault_library(settings) as library:
        assert {sighting.job for sighting in library.entry(known).sightings} == {"f01"}


@pytest.mark.slow
def test_the_same_job_twice_is_answered_alike(settings: Settings) -> None:
    """A library that has seen the job changes nothing in its answer."""
    assert _investigated(settings, "f07").known == _investigated(settings, "f07").known


@pytest.mark.slow
def test_a_job_that_completed_has_no_known_fault(settings: Settings) -> None:
    """It holds the traces of what it survived; nobody is told of them."""
    with open_fault_library(settings) as library:
        every = Signature(must=(Clause(events=("<*>",)),))
        draft = library.draft(entry("any", signature=every).pattern, who="ada", job="")
        library.approve(draft.id, who="ada", revision=draft.revision)
    assert _investigated(settings, "s01").known == ()
    assert _investigated(settings, "f15").known[0].pattern == "any"


def test_a_library_that_cannot_be_opened_costs_its_part_only(settings: Settings) -> None:
    """The diagnosis stands, and says which part is missing."""
    settings.library.mkdir()
    (settings.library / "library.db").write_bytes(b"this is no database, but it is long enough to be one" * 40)
    names = [path.name for path in settings.library.iterdir()]
    answer = _investigated(settings, "f07")
    assert answer.diagnosis.headline.startswith("Look at gpu018")
    assert answer.known == ()
    assert [skip.step for skip in answer.diagnosis.skipped] == ["fault library"]
    assert [path.name for path in settings.library.iterdir()] == names


@pytest.mark.slow
def test_drafts_and_retired_patterns_answer_nobody(settings: Settings) -> None:
    """Only what a person approved is ever shown as known."""
    pattern = pattern_of(_investigated(settings, "f15").diagnosis, fix="Do nothing.")
    with open_fault_library(settings) as library:
        draft = library.draft(pattern, who="bot", job="f15")
        retired = library.draft(pattern.model_copy(update={"id": "gone"}), who="bot", job="f15")
        library.retire(retired.id, who="ada", why="wrong", revision=retired.revision)
    assert draft.id not in {fault.pattern for fault in _investigated(settings, "f15").known}
    assert retired.id not in {fault.pattern for fault in _investigated(settings, "f15").known}
