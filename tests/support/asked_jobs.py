"""Small jobs about whose lines questions are asked."""

from typing import Any

from bot.ask.question import Question, read_question
from bot.ask.subject import Subject
from core.diagnose import diagnose_parsed
from core.parsed import parse_job
from tests.support.jobs import job

NODES = ("gpu01", "gpu02", "gpu03")


def subject_of(files: dict[str, str], **manifest: Any) -> Subject:
    parsed = parse_job(job(files, **manifest), (), cache=None, workers=1, progress=None)
    return Subject(parsed, diagnose_parsed(parsed))


def asked(text: str, subject: Subject) -> Question:
    return read_question(text, subject.parsed.nodes)


def steps(last: int, *, said: str = "step {step} loss {loss}") -> str:
    """Lines of a training script, one a second."""
    return "".join(
        f"2026-11-20T10:00:{step:02}Z {said.format(step=step, loss=9 - step / 10)}\n" for step in range(1, last + 1)
    )
