"""Answers that put several things together: what became of a node, numbers of lines, clocks, what is noise."""

from dataclasses import replace

import pytest

from bot.ask.about_fate import ending, fate
from bot.ask.about_relation import harmless_
from bot.ask.about_values import told_values
from bot.ask.answer import ask
from bot.ask.question import Question, read_question
from bot.ask.reply_lines import Lines
from bot.ask.subject import Subject
from bot.ask.word_weights import WordWeights
from bot.outcome.savings import savings
from core.diagnose import diagnose_parsed
from core.model import Role
from core.parsed import parse_job
from tests.support.jobs import example, job


def asked(text: str, subject: Subject) -> Question:
    return read_question(text, subject.parsed.nodes)


def values(text: str, subject: Subject) -> Lines:
    return told_values(WordWeights(subject, asked(text, subject)), ())


def subject_of(files: dict[str, str]) -> Subject:
    parsed = parse_job(job(files), (), cache=None, workers=1, progress=None)
    return Subject(parsed, diagnose_parsed(parsed))


@pytest.fixture(scope="module")
def lost() -> Subject:
    """Job f07, whose gpu018 lost its link."""
    parsed = parse_job(example("f07"), (example("s01"),), cache=None, workers=1, progress=None)
    return Subject(parsed, diagnose_parsed(parsed))


def test_what_became_of_a_node_tells_when_and_how(lost: Subject) -> None:
    """Its last line, its exit code or that none is known, and what the diagnosis makes of it."""
    lines = fate(lost, asked("what happened to gpu018?", lost))
    assert lines[0].startswith("gpu018 wrote its last line at 13:45:27, 42 s before the last line of all.")
    assert "gpu018 is the first suspect" in lines[1]


def test_an_exit_code_says_how_a_node_ended(lost: Subject) -> None:
    """137 is a signal; the sentence names it."""
    manifest = replace(lost.parsed.job.manifest, exit_codes={"gpu018": 137})
    parsed = replace(lost.parsed, job=replace(lost.parsed.job, manifest=manifest))
    assert "Exit code 137 (SIGKILL): it was ended by a signal." in ending(Subject(parsed, lost.diagnosis), "gpu018")


def test_lines_that_successful_jobs_have_are_no_cause(lost: Subject) -> None:
    """The push of metrics fails in good jobs too."""
    lines = harmless_(lost, asked('is "metrics push" the reason?', lost))
    assert lines is not None
    assert "successful jobs log it too" in lines[0]
    assert any(line.startswith("What failed: look at gpu018") for line in lines)


def test_a_consequence_names_what_it_follows_from() -> None:
    """A propagated event is told together with the fault."""
    parsed = parse_job(example("f02"), (example("s02"),), cache=None, workers=1, progress=None)
    frozen = Subject(parsed, diagnose_parsed(parsed))
    peer = next(event for event in frozen.diagnosis.events if event.role is Role.PROPAGATED)
    lines = harmless_(frozen, asked(f"is {peer.id} a second problem?", frozen))
    assert lines is not None
    assert lines[0].startswith(f"No, {peer.id} is a consequence")
    assert lines[1].startswith("What failed: ")


def test_what_no_line_tells_is_refused_in_one_sentence(lost: Subject) -> None:
    """And it is no answer; what the logs do tell of a kill follows."""
    reply = ask("how hot was gpu018?", lost)
    assert not reply.answered
    assert reply.lines[0].startswith("I cannot tell: I looked for a temperature and found no line of gpu018 about it")


LINES = "\n".join(
    f"2026-11-23T10:00:{second:02}Z {{node}} agent[7]: INFO stats: rss_mb={{base}}{second:02} load1=1.5"
    for second in range(10)
)


@pytest.fixture(scope="module")
def measured_job() -> Subject:
    """Two nodes whose agents tell their memory; one needs ten times as much."""
    return subject_of(
        {"a1/agent.log": LINES.format(node="a1", base=1), "a2/agent.log": LINES.format(node="a2", base=20)}
    )


def test_a_number_of_a_node_stands_beside_the_others(measured_job: Subject) -> None:
    """Its last value, and theirs of about that time."""
    lines = values("memory of a2 compared to the others", measured_job)
    assert lines[0].startswith("rss_mb of a2: 2009, ")
    assert lines[0].endswith("at 10:00:09; about then a1 109.")


def test_a_number_that_no_line_has_is_not_told(measured_job: Subject) -> None:
    """No other number in its place, and no answer."""
    assert values("how many tokens per second", measured_job) == []
    assert not ask("how many tokens per second", measured_job).answered


def test_a_rank_that_did_not_save_is_named() -> None:
    """Of an earlier step it wrote its part, of the last one it did not."""
    saved = "2026-11-23T10:00:{at:02}Z [rank{rank}]: INFO saved checkpoint /ckpt/step{step}/rank{rank}.pt"
    lines = [saved.format(at=step + rank, rank=rank, step=step) for step in (10, 20) for rank in range(4)]
    subject = subject_of({"train.log": "\n".join(lines[:-1])})
    found = savings(subject.parsed)
    assert (found.step, found.ranks, found.missing) == (20, (0, 1, 2), (3,))
