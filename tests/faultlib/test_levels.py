"""How far a job and a pattern agree: the core decides, be it words of a trace or the way in which the job went."""

from dataclasses import replace

import pytest

from core.model import Action, Cost, Diagnosis, NextStep, Role, Scope, Stage
from faultlib.draft import pattern_of
from faultlib.findings import Finding, finding_of
from faultlib.levels import Agreement, Level, agreement, likelihood
from faultlib.lexical import Lexicon
from faultlib.likely_patterns import Fit, likely, shares
from faultlib.traits import traits_of
from tests.support.library_diagnoses import diagnosis, event
from tests.support.library_entries import entry

FULL = "OSError: [Errno 28] No space left on device: '/data/a.pt'"
SHORT_WRITE = "OSError: 20000 requested and 8160 written"
CANCELLED = "slurmstepd: error: *** JOB 7 ON n CANCELLED AT 9 ***"
KILLED = "failed (exitcode: -9) local_rank: 1 (pid: <NUM>) of binary: python"


def job(headline: str, *lines: str, says: str = "", stage: Stage = Stage.TRAINING, **more: object) -> Diagnosis:
    """A diagnosis with these direct traces, of which the first leads."""
    traces = [
        replace(event(f"E{place}", line, "It was logged once."), says=says) for place, line in enumerate(lines, start=1)
    ]
    seen = diagnosis(*traces, headline=headline, stage=stage, **more)  # type: ignore[arg-type]
    return replace(seen, next=NextStep(Action.FIX, "It says so.", Cost(None, "Nothing."), cause=says))


def level(one: Diagnosis, other: Diagnosis, *, literal: bool = False) -> Level | None:
    """How far a job agrees with the pattern that another one taught."""
    how = agreement(pattern_of(one), pattern_of(other), Lexicon(()), literal=literal)
    return how.level if how else None


SAVING = job("Look at a: a file system was full.", FULL, says="a file system was full", stage=Stage.CHECKPOINT_SAVING)
SLOW_DATA = "it was slow: all ranks took longer to read their data"
SLOW_WAIT = "it was slow: all ranks waited longer for each other"


def test_the_core_is_what_broke_in_whatever_words() -> None:
    """The same words are nearer than other words for the same, and those at the same stage nearer than elsewhere."""
    copied = job("x", "write: no space left on device", says="a file system was full", stage=Stage.CHECKPOINT_SAVING)
    other = job("x", SHORT_WRITE, says="a file system was full", stage=Stage.CHECKPOINT_SAVING)
    missing = job("x", "FileNotFoundError: [Errno 2] No such file or directory: 'b'", says="a file is missing")

    assert level(copied, SAVING) is Level.WORDS
    assert level(other, SAVING) is Level.CAUSE
    assert level(replace(copied, stage=Stage.INITIALIZATION), SAVING) is Level.WORDS_ELSEWHERE
    assert level(replace(other, stage=Stage.INITIALIZATION), SAVING) is Level.CAUSE_ELSEWHERE
    assert level(missing, SAVING) is None


def test_what_only_follows_is_no_core() -> None:
    """Two jobs whose peers lost a connection share nothing when one of them says what broke."""
    peer = replace(event("E2", "Connection reset by peer", "Others said so."), role=Role.PROPAGATED, says="lost a peer")
    silent = diagnosis(peer, headline="Look at n: it went silent.", suspects=(("n", "n ended with signal 9."),))

    assert level(silent, replace(SAVING, events=(*SAVING.events, peer))) is None


@pytest.mark.parametrize(
    ("seen", "finding"),
    [
        (SAVING, Finding.SAID),
        (job("Look at a: boom.", "ValueError: could not convert string to float: 'N/A'"), Finding.RAISED),
        (job("Look at a: a process was killed (SIGKILL).", KILLED), Finding.DIED),
        (job("The job hung during training; no node stands out."), Finding.HUNG),
        (job("The job was slow from iteration 9 on.", says=SLOW_DATA), Finding.SLOW),
        (job("Not a fault: it was cancelled.", CANCELLED), Finding.STOPPED),
        (job("Nothing conclusive."), Finding.UNCLEAR),
    ],
)
def test_a_diagnosis_leads_with_one_finding(seen: Diagnosis, finding: Finding) -> None:
    """What a trace says comes before how the job went, and that before who ended it."""
    assert finding_of(seen) is finding
    assert traits_of(seen)[0].text == finding.value


def test_slow_jobs_are_told_apart_by_the_part_that_grew() -> None:
    """Storage and network make a job slow in other parts of a step; where none is known they are only both slow."""
    data, wait = (job("The job was slow from iteration 9 on.", says=says) for says in (SLOW_DATA, SLOW_WAIT))
    unknown = job("The job was slow from iteration 9 on.", says="it was slow")

    assert level(data, data) is Level.PART
    assert level(data, wait) is None
    assert level(unknown, unknown) is None


def test_a_stop_is_a_core_only_where_nothing_hung_before() -> None:
    """Of a job that made progress until it was stopped the stop is all that there is to know."""
    line, says = "slurmstepd: error: *** JOB 7 ON n CANCELLED AT 9 DUE TO TIME LIMIT ***", "it ran into its time limit"
    well = job("Not a fault: it ran into its time limit.", line, says=says, scope=Scope.NONE)

    assert level(well, well) is Level.STOP
    assert level(replace(well, scope=Scope.JOB), replace(well, scope=Scope.JOB)) is None


def test_an_event_word_by_word_needs_no_trait() -> None:
    """A pattern of before traits were kept is found by its events."""
    bare = pattern_of(SAVING)
    bare = bare.model_copy(update={"signature": bare.signature.model_copy(update={"traits": ()})})

    how = agreement(pattern_of(SAVING), bare, Lexicon(()), literal=True)
    assert how is not None
    assert how.level is Level.ERROR


def test_patterns_that_agree_equally_far_share_what_is_left() -> None:
    """The first has what such answers were worth, the others together no more than the rest of one."""
    names = ("a", "b", "c")
    agreed = [(Agreement(Level.CAUSE, 0.5 - place / 10), entry(name)) for place, name in enumerate(names)]

    told = [(pattern.id, share) for pattern, _, share in shares(agreed)]
    assert [name for name, _ in told] == list(names)
    assert told[0][1] == likelihood(Level.CAUSE, alone=False)
    assert sum(share for _, share in told) <= 1
    [(_, _, alone)] = shares(agreed[:1])
    assert alone == likelihood(Level.CAUSE, alone=True) > told[0][1]


def test_a_slow_job_on_which_nobody_stands_out_is_found_again() -> None:
    """It has neither an event nor a suspect: what grew is all that there is."""
    seen = job("The job was slow from iteration 9 on; no node stands out.", says=SLOW_DATA)
    taught = entry("rebuild")
    taught = taught.model_copy(update={"pattern": pattern_of(seen).model_copy(update={"id": "rebuild"})})

    assert [(one.entry.id, one.fit, one.level) for one in likely(seen, [taught], (), {})] == [
        ("rebuild", Fit.SEEN, Level.PART)
    ]
    assert likely(job("Nothing conclusive."), [taught], (), {}) == ()
