"""A model chooses look-ups from the fixed list; whatever else it says does nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

import prompts
from bot.ask.gather import Subject
from bot.ask.plan import LOOKS, Look
from bot.chat.model import ChatModel, Message, ModelUnavailable, Usage
from bot.harmless import harmless
from bot.outgoing.redact import Redactor

MAX_TOKENS = 300
MAX_CHOSEN = 3
MAX_WORD = 100  # characters to search for
MAX_TURNS = 4  # of the thread that the model is told
_MAX_NAMES = 40  # nodes that the model is told
_NOTHING = Usage()


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of the thread and its answer."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Choice:
    """The look-ups that a model chose, what that cost, and why it did not answer, if it did not."""

    looks: tuple[Look, ...] = ()
    usage: Usage = _NOTHING
    unavailable: str = ""


class _Chosen(BaseModel):
    model_config = ConfigDict(extra="forbid")

    look: str
    node: str
    other: str
    number: int
    words: str


class _Choice(BaseModel):
    model_config = ConfigDict(extra="forbid")

    looks: list[_Chosen]


def choose(question: str, subject: Subject, model: ChatModel, *, thread: Sequence[Turn] = ()) -> Choice:
    """The look-ups that a model chooses; none when it does not answer, or names what is not there."""
    clean = Redactor().redact
    offered = {name: about for name, about in LOOKS.items() if name != "stacks" or subject.diagnosis.stacks}
    listed = "\n".join(f"{name}: {about}" for name, about in offered.items())
    before = [f"asked before: {turn.question}\nanswered: {turn.answer}" for turn in thread[-MAX_TURNS:]]
    asked = clean("\n".join((*before, question)))
    prompt = prompts.render("choose", looks=listed, job=_about(subject), question=asked)
    try:
        reply = model.answer([Message("user", prompt)], schema=_Choice, max_tokens=MAX_TOKENS)
    except ModelUnavailable as trouble:
        return Choice(usage=trouble.usage, unavailable=trouble.message)
    try:
        choice = _Choice.model_validate_json(reply.text)
    except ValidationError:
        return Choice(usage=reply.usage)
    return Choice(tuple(dict.fromkeys(_valid(choice, subject)))[:MAX_CHOSEN], reply.usage)


def _valid(choice: _Choice, subject: Subject) -> Iterator[Look]:
    """What of a choice is on the list and about something that is there."""
    nodes, ranks = set(subject.parsed.nodes), set(subject.parsed.table.ranks)
    for one in choice.looks:
        words = (harmless(one.words.strip(), MAX_WORD),) if one.words.strip() else ()
        node, other = (name if name in nodes else "" for name in (one.node, one.other))
        needs = {
            "of_node": bool(node),
            "of_rank": one.number in ranks,
            "of_iteration": one.number >= 0,
            "compare": bool(node and other and node != other),
            "search": bool(words),
            "numbers": bool(words),
            "evidence": bool(words),
        }
        if one.look in LOOKS and needs.get(one.look, True):
            number = one.number if one.look in ("of_rank", "of_iteration") else None
            yield Look(one.look, node=node, other=other, number=number, words=words)


def _about(subject: Subject) -> str:
    """Names that the model may use."""
    diagnosis, parsed = subject.diagnosis, subject.parsed
    nodes = [harmless(node, 60) for node in parsed.nodes[:_MAX_NAMES]]
    ranks = parsed.table.ranks
    events = [f"{event.id}: {harmless(event.template, 120)}" for event in diagnosis.events]
    lines = [
        Redactor().redact(harmless(diagnosis.headline, 300)),
        f"nodes: {', '.join(nodes) or 'not named'}",
        f"ranks: {ranks[0]} to {ranks[-1]}" if ranks else "ranks: not named",
        *(Redactor().redact(line) for line in events),
    ]
    return "\n".join(lines)
