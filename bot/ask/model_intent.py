"""A model says what a question wants to know, from the fixed list; whatever else it says does nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, ConfigDict, ValidationError

import prompts
from bot.ask.intents import ANSWERS
from bot.ask.question import Question
from bot.ask.subject import Subject
from bot.chat.model import ChatMessage, ChatModel, ModelUnavailable, Usage
from bot.outgoing.redact import Redactor
from bot.text.harmless import harmless

MAX_TOKENS = 300  # chosen: an intent with its few words has under a hundred; a model may begin with some thought
MAX_WORD = 100  # characters to search for
MAX_TURNS = 4  # of the thread that the model is told
_MAX_NAMES = 40  # nodes and jobs that the model is told
_NOTHING = Usage()


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of the thread and its answer."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Choice:
    """The intent that a model chose, the question with its parameters, what that cost, and why it did not answer."""

    intent: str = ""
    question: Question | None = None
    usage: Usage = _NOTHING
    unavailable: str = ""


class _Choice(BaseModel):
    model_config = ConfigDict(extra="forbid")

    intent: str
    nodes: list[str]
    ranks: list[int]
    iterations: list[int]
    ids: list[str]
    job: str
    words: str


def choose(asked: Question, subject: Subject, model: ChatModel, *, thread: Sequence[Turn] = ()) -> Choice:
    """The intent and parameters that a model chooses; none when it does not answer, or names what is not there."""
    clean = Redactor().redact
    listed = "\n".join(f"{name}: {about}" for name, (about, _) in ANSWERS.items())
    before = [f"asked before: {turn.question}\nanswered: {turn.answer}" for turn in thread[-MAX_TURNS:]]
    text = clean("\n".join((*before, asked.text)))
    prompt = prompts.render("choose", intents=listed, job=_about(subject), question=text)
    try:
        reply = model.answer([ChatMessage("user", prompt)], schema=_Choice, max_tokens=MAX_TOKENS)
    except ModelUnavailable as trouble:
        return Choice(usage=trouble.usage, unavailable=trouble.message)
    try:
        choice = _Choice.model_validate_json(reply.text)
    except ValidationError:
        return Choice(usage=reply.usage)
    if choice.intent not in ANSWERS:
        return Choice(usage=reply.usage)
    return Choice(choice.intent, _with(choice, asked, subject), reply.usage)


def _with(choice: _Choice, asked: Question, subject: Subject) -> Question:
    """The question with those parameters of a choice that name what is there; what the question names itself stays."""
    parsed = subject.parsed
    ids = {*subject.evidence, *(fault.id for fault in subject.known)}
    jobs = {manifest.job_id for manifest in subject.beside.manifests()} - {parsed.job.id}
    known_ranks = {*subject.home, *parsed.table.ranks}
    words = harmless(choice.words.strip(), MAX_WORD)
    return replace(
        asked,
        nodes=asked.nodes or tuple(node for node in dict.fromkeys(choice.nodes) if node in parsed.nodes),
        ranks=asked.ranks or tuple(rank for rank in dict.fromkeys(choice.ranks) if rank in known_ranks),
        iterations=asked.iterations or tuple(number for number in choice.iterations if number >= 0),
        ids=asked.ids or tuple(name for name in dict.fromkeys(choice.ids) if name in ids),
        jobs=asked.jobs or ((choice.job,) if choice.job in jobs else ()),
        quoted=asked.quoted or ((words,) if words and choice.intent == "find" else ()),
    )


def _about(subject: Subject) -> str:
    """Names that the model may use."""
    diagnosis, parsed, clean = subject.diagnosis, subject.parsed, Redactor().redact
    nodes = [harmless(node, 60) for node in parsed.nodes[:_MAX_NAMES]]
    ranks = parsed.table.ranks
    jobs = [harmless(manifest.job_id, 60) for manifest in subject.beside.manifests()][:_MAX_NAMES]
    events = [f"{event.id}: {harmless(clean(event.template), 120)}" for event in diagnosis.events]
    lines = [
        harmless(clean(diagnosis.headline), 300),
        f"nodes: {', '.join(nodes) or 'not named'}",
        f"ranks: {ranks[0]} to {ranks[-1]}" if ranks else "ranks: not named",
        f"other jobs: {', '.join(jobs) or 'none'}",
        *events,
    ]
    return "\n".join(lines)
