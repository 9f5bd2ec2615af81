"""Questions about a labelled job, and the look-ups that a real model chooses for them.

The diagnosis is kept as it was when they were recorded; what is looked up is read from the job's logs every time, so
that a change of ``core/answer/look.py`` that changes these prompts needs a new recording.
"""

from collections.abc import Sequence
from functools import cache

from pydantic import BaseModel

from bot.ask.by_code import answer_by_code
from bot.ask.choose import choose
from bot.ask.gather import Subject, gather
from bot.chat.model import ChatModel, Message, OnText, Reply
from core.parsing.parsed import Parsed, parse_job
from sources.jobs import open_source
from tests.record.diagnosed import diagnosis_of, labelled_jobs

JOB = "f07"  # a network link went down
QUESTIONS = {"network": "why did node-01 lose its network?", "rank": "how far did rank 3 get?"}


class Overheard:
    """A model whose last words are kept as they were said, before anything is checked."""

    def __init__(self, model: ChatModel) -> None:
        self.name = model.name
        self.said = Reply("")
        self._model = model

    def answer(
        self,
        messages: Sequence[Message],
        *,
        schema: type[BaseModel] | None = None,
        max_tokens: int = 1024,
        on_text: OnText | None = None,
    ) -> Reply:
        """What the model answers."""
        self.said = self._model.answer(messages, schema=schema, max_tokens=max_tokens, on_text=on_text)
        return self.said


def subject_of(*, keep: bool = False) -> Subject:
    """The labelled job, read from its logs, with the diagnosis that is kept."""
    return Subject(_parsed(), diagnosis_of(JOB, keep=keep))


def chosen(question: str, model: ChatModel, *, keep: bool = False) -> Reply:
    """Which look-ups the model chooses for a question, what is left of them, and what code answers from that."""
    heard, subject = Overheard(model), subject_of(keep=keep)
    looks = choose(QUESTIONS[question], subject, heard).looks
    left = [" ".join(filter(None, (one.name, one.node, one.other, *one.words))) for one in looks]
    shown = answer_by_code(gather(subject, looks))
    return Reply("\n".join((heard.said.text, f"valid: {', '.join(left) or 'none'}", *shown)), heard.said.usage)


@cache
def _parsed() -> Parsed:
    return parse_job(open_source(str(labelled_jobs())).job(JOB), (), cache=None, workers=1, progress=None)
