"""One fault is the same whether a known message tells it, an unknown error, or only the numbers of the job."""

from dataclasses import replace

import pytest

from core.model import Action, Cost, Diagnosis, NextStep, Scope, Stage
from core.phrases import read_rules, rule_files
from faultlib.draft import pattern_of
from faultlib.findings import Finding, finding_of
from faultlib.levels import Backing, Grade, Level, Score, agreement, is_sure, read_score
from faultlib.lexical import Lexicon
from faultlib.likely_patterns import likely
from faultlib.meanings import GREW, NUMBERS, PARTED, SETTINGS, TURNED, by_course, by_words
from tests.support.library_diagnoses import diagnosis, event
from tests.support.library_entries import entry


def told(headline: str, cause: str, line: str = "", says: str = "") -> Diagnosis:
    """A job of which all ranks are alike; line: its direct trace."""
    traces = [replace(event("E1", line, "It was logged once."), says=says)] if line else []
    seen = diagnosis(*traces, headline=headline, stage=Stage.TRAINING, scope=Scope.JOB)
    return replace(seen, next=NextStep(Action.FIX, "It says so.", Cost(None, "Nothing."), cause=cause))


MEASURED = told("No node is special: grad_norm is nan in the end, and nothing was learned since.", "grad_norm is nan")
SAID = told("x", NUMBERS, "AssertionError: found NaN in the loss", says=NUMBERS)
GUESSED = told("x", "the program raised an exception", "ValueError: nll became nan at update <NUM>")
PARTS = told("No node is special: ranks wait in different collectives.", "its ranks wait in different collectives")
SETTING = told("x", "the program raised an exception", "ConfError: unknown key 'optim.wamup'; did you mean 'warmup'?")


def level(one: Diagnosis, other: Diagnosis) -> Level | None:
    """How far a job agrees with the pattern that another one taught."""
    how = agreement(pattern_of(one), pattern_of(other), Lexicon(()), literal=False)
    return how.level if how else None


def test_meanings_are_those_of_facts() -> None:
    """A sentence that no fact says would agree with none."""
    known = {rule.get("says", "") for file in rule_files("facts") for rule in read_rules(file)["fact"]}

    assert {NUMBERS, PARTED, SETTINGS} <= known


@pytest.mark.parametrize(
    ("seen", "meaning"),
    [
        (MEASURED, NUMBERS),
        (PARTS, PARTED),
        (told("x", "its rss_mb grew without end"), GREW),
        (told("No node is special: the loss rose again from iteration 9 on, and stayed high.", ""), TURNED),
        (told("The job hung.", "it hung"), ""),
    ],
)
def test_numbers_and_ranks_tell_what_broke(seen: Diagnosis, meaning: str) -> None:
    """The name of the number is of this job; that it is no number any more is the fault."""
    assert by_course(seen) == meaning
    assert (finding_of(seen) is Finding.MEASURED) == bool(meaning)


@pytest.mark.parametrize(
    ("template", "meaning"),
    [
        ("ValueError: nll became nan at update <NUM>", NUMBERS),
        ("[<TS> ERROR rtrain::worker] fatal: loss inf at step <NUM> is not a number", NUMBERS),
        ("E,<NUM>,rack<NUM>,objective_not_finite,<NUM>", NUMBERS),
        ("FATAL Flags parsing error: Unknown command line flag 'weight_decay'", SETTINGS),
        ("ValueError: Some specified arguments are not used by the parser: ['--steps']", SETTINGS),
        ("IllegalArgumentException: No optimizer registered under 'adamw' (known: sgd, sign)", SETTINGS),
        ("OSError: [Errno 22] Invalid argument", ""),
        ("MisconfigurationException: No supported gpu backend found!", ""),
        ("RuntimeError: inference failed, see info", ""),
        ("Traceback: nan\nKeyError: 'step'", ""),  # its last line says what it is
    ],
)
def test_words_of_an_unknown_error(template: str, meaning: str) -> None:
    """Whole words only, and what the operating system says of a call is no setting of a person."""
    assert by_words(template) == meaning


def test_one_fault_told_in_three_ways() -> None:
    """What was measured is as sure as a message; what only words suggest is a level of its own."""
    assert level(MEASURED, SAID) not in (None, Level.ABOUT)
    assert level(MEASURED, MEASURED) == level(MEASURED, SAID)
    assert level(GUESSED, SAID) is Level.ABOUT
    assert level(GUESSED, MEASURED) is Level.ABOUT
    assert level(PARTS, PARTS) is Level.CAUSE
    assert level(SETTING, GUESSED) is None
    assert level(PARTS, MEASURED) is None


def test_a_job_without_an_event_is_found_by_what_was_measured() -> None:
    """No line tells of ranks that wait in different collectives, and the pattern is found all the same."""
    taught = entry("branch")
    taught = taught.model_copy(update={"pattern": pattern_of(PARTS).model_copy(update={"id": "branch"})})

    assert [one.entry.id for one in likely(PARTS, [taught], (), {})] == ["branch"]
    assert likely(MEASURED, [taught], (), {}) == ()


def test_a_part_that_broke_is_wider_than_a_thing_that_is_wrong() -> None:
    """An accelerator breaks in many ways, and alike only in one resource; a wrong setting is a wrong setting."""
    device = "the accelerator reported a hardware error"
    gone, memory, page = (
        "kernel: NVRM: GPU has fallen off the bus.",
        "kernel: NVRM: Xid (PCI:<NUM>:cb:<NUM>): 95, pid=<NUM>, Uncontained",
        "RuntimeError: CUDA error: uncorrectable ECC error encountered",
    )
    key, option = "omegaconf.errors.ConfigAttributeError: Missing key optim", "error: unrecognized arguments: --warmup"
    bus, one, other = (told("x", device, line, says=device) for line in (gone, memory, page))
    wrong = (told("x", SETTINGS, line, says=SETTINGS) for line in (key, option))

    assert level(one, other) is Level.BROKEN
    assert level(bus, other) is None
    assert level(*wrong) is Level.BROAD


def test_likelihoods_add_up() -> None:
    """Grades and backings each add log odds; several jobs with the same message are counted for themselves."""
    score = Score(0.0, {Grade.KIND: 1.0}, {Backing.BESIDE: -1.0}, 0.95)

    assert score.likelihood(Level.KIND, Backing.BESIDE) == score.likelihood(Level.HUNG, Backing.ONCE) == 0.5
    assert score.likelihood(Level.KIND, Backing.ONCE) == pytest.approx(0.731, abs=0.001)
    assert score.likelihood(Level.BROAD, Backing.ONCE) == score.likelihood(Level.KIND, Backing.ONCE)
    assert is_sure(Level.MESSAGE, Backing.OFTEN)
    assert score.likelihood(Level.MESSAGE, Backing.OFTEN) == 0.95
    assert score.likelihood(Level.MESSAGE, Backing.ONCE) == 0.5


def test_a_score_is_read_as_it_is_written() -> None:
    """Of the sure ones one right and one wrong are added, so that few are not certain."""
    text = "base = 0.5\nsure = [8, 8]\n[grade]\nkind = 0.25\n[backing]\nonce = 0\noften = 1\nmost = 0\nbeside = -1\n"

    score = read_score(text)

    assert (score.base, score.grades[Grade.KIND], score.grades[Grade.SAME]) == (0.5, 0.25, 0)
    assert score.backings[Backing.OFTEN] == 1
    assert score.sure == pytest.approx(0.9)
