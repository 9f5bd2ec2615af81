"""The story of a follow-up question: choose look-ups, look up, answer.

A model may choose what is looked up; every word of the answer is code's, or stands in a log line that is quoted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bot.ask.by_code import answer_by_code
from bot.ask.choose import Turn, choose
from bot.ask.gather import Subject, gather
from bot.ask.plan import MAX_QUESTION, Look, named_looks, plan
from bot.chat.model import ChatModel, Usage
from bot.harmless import harmless

_NOTHING = Usage()


@dataclass(frozen=True, slots=True)
class Reply:
    """At most five lines. author: "logs"; older versions also kept a model's words, "model"."""

    lines: tuple[str, ...]
    looks: tuple[Look, ...]
    author: Literal["model", "logs"] = "logs"
    model: str = ""
    usage: Usage = _NOTHING
    refused: tuple[str, ...] = ()
    unavailable: str = ""


def ask(question: str, subject: Subject, model: ChatModel | None = None, *, thread: Sequence[Turn] = ()) -> Reply:
    """Answer a question about a job from its evidence and its lines.

    Args:
        thread: what was asked and answered before; a model that chooses is told the end of it.
    """
    question = harmless(question.strip(), MAX_QUESTION)
    looks = plan(question, subject.parsed)
    if model is None or not looks or named_looks(question, subject.parsed):
        return Reply(answer_by_code(gather(subject, looks)), looks)
    choice = choose(question, subject, model, thread=thread)
    looks = choice.looks or looks  # where code would only search for the question's own words, a model chooses better
    lines = answer_by_code(gather(subject, looks))
    return Reply(lines, looks, "logs", model.name, choice.usage, unavailable=choice.unavailable)
