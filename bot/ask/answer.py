"""The story of a follow-up question: plan, look up, put into words, check; without a model the lines speak.

A model sees the evidence and what was looked up, and nothing else; a sentence that what it cites does not hold is
dropped, and when none is left the lines themselves are the answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import prompts
from bot.ask.by_code import MAX_ANSWER_LINES, NOT_FOUND, answer_by_code
from bot.ask.choose import choose
from bot.ask.gather import Subject, gather
from bot.ask.plan import MAX_QUESTION, Look, named_looks, plan
from bot.chat.model import ChatModel, Message, ModelUnavailable, Usage
from bot.harmless import harmless
from bot.note.check import Court
from bot.note.clauses import without_cites
from bot.note.draft import MAX_TEXT, Sentence
from bot.note.evidence import EvidenceList, collect
from bot.outgoing.redact import Redactor

MAX_TOKENS = 400  # of an answer: five lines of eighty tokens
BUDGET = 2_500  # tokens of evidence and lines
MAX_TURNS = 4  # of the thread that the model is told
_NOTHING = Usage()
_FIELD = "happened"  # judged like what a note says of what happened


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of the thread and its answer."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Reply:
    """At most five lines. author: "model", or "logs" when the lines speak; unavailable: why the model was silent."""

    lines: tuple[str, ...]
    looks: tuple[Look, ...]
    author: Literal["model", "logs"] = "logs"
    model: str = ""
    usage: Usage = _NOTHING
    refused: tuple[str, ...] = ()
    unavailable: str = ""


def ask(
    question: str,
    subject: Subject,
    model: ChatModel | None = None,
    *,
    thread: Sequence[Turn] = (),
    redact_addresses: bool = False,
) -> Reply:
    """Answer a question about a job from its evidence and its lines."""
    question = harmless(question.strip(), MAX_QUESTION)
    looks, usage = _looks(question, subject, model)
    found = gather(subject, looks)
    by_code = Reply(answer_by_code(found), looks, usage=usage)
    if model is None or not found or by_code.lines[0].startswith(NOT_FOUND):
        return by_code
    evidence = collect(
        subject.diagnosis,
        subject.known,
        budget=BUDGET,
        redact_addresses=redact_addresses,
        looks=found,
    )
    try:
        reply = model.answer([_prompt(question, evidence, thread)], max_tokens=MAX_TOKENS)
    except ModelUnavailable as trouble:
        return _with(by_code, model, usage + trouble.usage, unavailable=trouble.message)
    said, refused = _checked(reply.text, evidence, subject)
    if not said:
        return _with(by_code, model, usage + reply.usage, refused=refused)
    return Reply(said, looks, "model", model.name, usage + reply.usage, refused)


def _looks(question: str, subject: Subject, model: ChatModel | None) -> tuple[tuple[Look, ...], Usage]:
    """What code chooses; where it would only search for the question's own words, the model may choose better."""
    looks = plan(question, subject.parsed)
    if model is None or not looks or named_looks(question, subject.parsed):
        return looks, Usage()
    chosen, usage = choose(question, subject, model)
    return chosen or looks, usage


def _prompt(question: str, evidence: EvidenceList, thread: Sequence[Turn]) -> Message:
    clean = Redactor().redact
    said = "\n".join(f"asked: {clean(turn.question)}\nanswered: {clean(turn.answer)}" for turn in thread[-MAX_TURNS:])
    return Message(
        "user", prompts.render("ask", evidence=evidence.text, thread=said or "nothing", question=clean(question))
    )


def _checked(text: str, evidence: EvidenceList, subject: Subject) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The sentences that hold, with their citations; and why the others do not."""
    court = Court(evidence, subject.diagnosis)
    said: list[str] = []
    refused: list[str] = []
    for line in filter(None, (line.strip().removeprefix("- ") for line in text.splitlines()[: MAX_ANSWER_LINES * 2])):
        bare, cites = without_cites(line)
        sentence = Sentence(text=bare[:MAX_TEXT] or "-", cites=list(cites))
        if reasons := list(court.reasons(_FIELD, sentence)):
            refused.append(reasons[0])
        elif len(said) < MAX_ANSWER_LINES:
            said.append(f"{bare} [{', '.join(cites)}]")
    return tuple(said), tuple(refused)


def _with(
    answer: Reply, model: ChatModel, usage: Usage, *, refused: tuple[str, ...] = (), unavailable: str = ""
) -> Reply:
    return Reply(answer.lines, answer.looks, "logs", model.name, usage, refused, unavailable)
