"""What a team's patterns tell of a job: the cause on other nodes and programs, and never symptoms as the cause."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.model import Action, Cost, Diagnosis, NextStep, Stage
from faultlib.answers import Answers, Verdict
from faultlib.draft import pattern_of
from faultlib.findings import is_symptom_text
from faultlib.levels import Level
from faultlib.likely_patterns import Fit, fit_of, learned, likely
from faultlib.lint import faults_of
from faultlib.pattern import Entry, Signature, Status, Trait
from faultlib.pattern_text import read_entry, write_pattern
from faultlib.traits import plain, traits_of
from tests.support.libraries import opened
from tests.support.library_diagnoses import diagnosis, event
from tests.support.library_entries import entry, pattern


def told(text: str, says: str, *, node: str, job: str) -> Diagnosis:
    """A job in which one node logged this, and the diagnosis says what it means."""
    trace = replace(event("E1", text, f"{node} logged this once.", nodes=(node,), line=text), says=says)
    step = NextStep(Action.FIX, "It says so.", Cost(None, "Nothing."), cause=says)
    return replace(diagnosis(trace, job=job, headline=f"Look at {node}: {says}.", stage=Stage.TRAINING), next=step)


FULL = told("OSError: [Errno 28] No space left on device: '/data/a.pt'", "a file system was full", node="n-1", job="j1")
ALSO_FULL = told("write /scratch/x: no space left on device", "a file system was full", node="gpu-7", job="j2")
MISSING = told("FileNotFoundError: '/data/b.json'", "a file is missing", node="n-2", job="j3")
KILLED = told(
    "failed (exitcode: -9) local_rank: 1 (pid: <NUM>) of binary: python", "a process was killed", node="n-3", job="j4"
)


def _twice(name: str) -> list[Entry]:
    """The pattern of a killed process that two jobs taught."""
    joined = {"status": Status.SUPERSEDED, "superseded_by": name}
    return [_entry(KILLED, name), _entry(KILLED, "another-job").model_copy(update=joined)]


def _entry(seen: Diagnosis, name: str) -> Entry:
    made = entry(name)
    return made.model_copy(update={"pattern": pattern_of(seen).model_copy(update={"id": name})})


def test_a_cause_is_found_on_another_program_and_node() -> None:
    """A full disk in the words of another program is the team's pattern; a missing file is not."""
    library = [_entry(FULL, "full"), _entry(MISSING, "missing")]

    assert [one.entry.id for one in likely(ALSO_FULL, library, (), {})] == ["full"]


def test_nothing_is_told_where_nobody_taught_the_cause() -> None:
    """A job with another cause is told nothing of the team."""
    assert likely(ALSO_FULL, [_entry(MISSING, "missing")], (), {}) == ()


def test_people_who_say_that_it_was_not_it_are_believed() -> None:
    """A pattern that was wrong again and again is not shown any more; what is taken back counts no more."""
    library = [_entry(FULL, "full")]

    assert likely(ALSO_FULL, library, (), {"full": Answers(wrong=8)}) == ()
    [trusted] = likely(ALSO_FULL, library, (), {"full": Answers(right=8)})
    [plainly] = likely(ALSO_FULL, library, (), {})
    assert trusted.likelihood > plainly.likelihood == learned(plainly.likelihood, Answers())
    assert (trusted.answers, plainly.answers) == (Answers(right=8), Answers())  # told beside the likelihood


def test_a_symptom_is_never_the_cause() -> None:
    """A killed process is told of as seen with the pattern, if at all; a full disk is a cause."""
    assert [one.fit for one in likely(KILLED, _twice("killed"), (), {})] == [Fit.SEEN]
    assert is_symptom_text(KILLED.events[0].template)
    assert not is_symptom_text(FULL.events[0].template)


@pytest.mark.parametrize(
    ("share", "level", "fit"),
    [
        (0.9, Level.MESSAGE, Fit.IS),
        (0.8, Level.MESSAGE, Fit.LOOKS),
        (0.9, Level.WORDS, Fit.LOOKS),
        (0.9, Level.CAUSE, Fit.LOOKS),
        (0.9, Level.DIED, Fit.SEEN),
    ],
)
def test_words_say_how_a_pattern_fits(share: float, level: Level, fit: Fit) -> None:
    """Only what has the cause in the same words, and mostly was right, is called this."""
    assert fit_of(share, level) is fit


def test_a_killed_process_is_told_once_several_jobs_were_killed_by_one_cause() -> None:
    """Of one job nothing is told, for one of five had its cause; two patterns share what is left of such an answer."""
    assert [found.entry.id for found in likely(KILLED, _twice("killed"), (), {})] == ["killed"]
    assert likely(KILLED, [_entry(KILLED, "killed")], (), {}) == ()
    assert likely(KILLED, [_entry(KILLED, name) for name in ("killed", "evicted")], (), {}) == ()


def test_traits_name_no_job() -> None:
    """Nodes, ranks, numbers and paths of one job are in no trait, so two clusters say the same."""
    assert {one.text for one in traits_of(FULL)} >= {"a file system was full"}
    assert not any("n-1" in one.text or "/data" in one.text for one in traits_of(FULL))
    assert plain("Rank 3 ended 9.3 s before “x y” (a.py:7) and 7 of 8 others") == plain(
        "Rank 5 ended 12 s before “z” (b.py:99) and 3 of 4 others"
    )


def test_the_last_word_of_each_person_counts(tmp_path: Path) -> None:
    """Said twice it counts once, changed it changes, withdrawn it is gone; the jobs and people are told apart."""
    with opened(tmp_path) as library:
        library.draft(pattern("nic"), who="ada", job="j1")
        assert library.answer("nic", "j2", Verdict.RIGHT, who="ada")
        assert not library.answer("nic", "j2", Verdict.RIGHT, who="ada")
        assert library.answer("nic", "j2", Verdict.WRONG, who="bob")
        assert library.answer("nic", "j3", Verdict.RIGHT, who="bob")
        assert library.answers() == {"nic": Answers(right=2, wrong=1)}
        assert library.answer("nic", "j2", Verdict.WITHDRAWN, who="bob")
        assert library.answers() == {"nic": Answers(right=2, wrong=0)}


def test_traits_survive_text() -> None:
    """A pattern with traits is the same after it was written and read."""
    made = pattern_of(FULL)

    assert made.signature.traits
    assert read_entry(write_pattern(made), "full.toml").pattern == made


def test_a_lint_tells_what_nothing_can_find_and_what_contradicts() -> None:
    """Approved patterns without events and traits, without a confirmation, twice, or with two causes are told."""
    sound = _entry(FULL, "full")
    sound = sound.model_copy(update={"pattern": sound.pattern.model_copy(update={"confirmation": "df -h"})})
    other = sound.model_copy(update={"pattern": sound.pattern.model_copy(update={"id": "other", "cause": "A quota."})})
    empty = entry("empty", confirmation="we looked", signature=Signature())

    assert list(faults_of([sound])) == []
    assert list(faults_of([sound, other])) == ["full and other: the same events, and another cause."]
    assert next(faults_of([sound, sound])) == "full: two files hold this id."
    assert list(faults_of([empty])) == ["empty: without an event and without a trait no job shows it."]
    assert list(faults_of([_entry(FULL, "full")])) == ["full: it does not say how it was confirmed."]


def test_only_a_trait_that_was_said_is_shared() -> None:
    """A pattern of before traits were kept is found by its events alone, not by chance."""
    old = _entry(FULL, "old")
    signature = old.pattern.signature.model_copy(update={"traits": ()})
    bare = old.model_copy(update={"pattern": old.pattern.model_copy(update={"signature": signature})})

    assert not any(isinstance(one, Trait) for one in bare.pattern.signature.traits)
    assert all(one.fit is not Fit.IS for one in likely(ALSO_FULL, [bare], (), {}))
