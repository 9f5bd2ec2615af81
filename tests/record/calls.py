"""The calls that are recorded: each takes the URL and the name of a model, and gives what it said.

The notes are about jobs of benchmarks/quality. Their diagnoses and refusals are kept as they were when the notes were
recorded: what is asked changes with ``prompts/`` and the form of evidence and draft, not with every word of the core or
of the check.
"""

from collections.abc import Callable

from pydantic import BaseModel, ConfigDict

from bot.chat.dialect import Dialect, Memory, Rung
from bot.chat.gate import Gate
from bot.chat.model import Message, Reply, ScriptedModel
from bot.chat.openai_model import OpenAIModel
from bot.note.draft import Draft
from bot.note.evidence import collect
from bot.note.write import MAX_TOLD, write_note
from core.cache import MemoryCache
from prompts import render
from tests.record.asks import QUESTIONS, asked, chosen
from tests.record.diagnosed import KEPT, diagnosis_of

Call = Callable[[str, str, bool], Reply]
AND_THEN = "\n\nand then\n\n"  # between the answers of one call
DRAFT_TOKENS = 600  # half of what a note may have: on two cores this model needs minutes for more


class Finding(BaseModel):
    """A short finding."""

    model_config = ConfigDict(extra="forbid")

    headline: str
    ids: list[str]


_SHORT = (
    Message(
        "system",
        "Answer from this evidence only, in one short sentence that cites its ids in square brackets.\n"
        "E1: node-01 wrote nothing after iteration 45. E2: the other 3 nodes timed out 25 s later.",
    ),
    Message("user", "Where should I look first? Give a headline, and the ids that it rests on."),
)
_MAX_TOKENS = 60


def model_at(url: str, name: str, *, rung: Rung = Rung.SCHEMA, timeout: float = 1_800.0) -> OpenAIModel:
    """The model, talked to on that rung; the time-out is for a small machine that is busy."""
    cache = MemoryCache()
    Memory(url, name, cache=cache).learn(Dialect(rung=rung))
    return OpenAIModel(name, url, gate=Gate(1), timeout=timeout, retries=0, cache=cache)


def _structured(rung: Rung) -> Call:
    def call(url: str, name: str, _keep: bool) -> Reply:
        model = model_at(url, name, rung=rung)
        try:
            return model.answer(_SHORT, schema=Finding, max_tokens=_MAX_TOKENS)
        finally:
            model.close()

    return call


def _words(*, stream: bool) -> Call:
    def call(url: str, name: str, _keep: bool) -> Reply:
        model = model_at(url, name)
        pieces: list[str] = []
        try:
            reply = model.answer(_SHORT, max_tokens=_MAX_TOKENS, on_text=pieces.append if stream else None)
        finally:
            model.close()
        return Reply("|".join(pieces), reply.usage) if stream else reply

    return call


def _note(job: str, *, repair: bool) -> Call:
    """A draft of a note, and with ``repair`` what the model made of the refusals of its first draft."""

    def call(url: str, name: str, keep: bool) -> Reply:
        diagnosis = diagnosis_of(job, keep=keep)
        asked = Message("user", render("note", evidence=collect(diagnosis).text))
        model = model_at(url, name)
        try:
            first = model.answer([asked], schema=Draft, max_tokens=DRAFT_TOKENS)
            if not repair:
                return first
            told = render("repair", problems=_problems(job, first.text, keep=keep))
            turns = [asked, Message("assistant", first.text), Message("user", told)]
            second = model.answer(turns, schema=Draft, max_tokens=DRAFT_TOKENS)
        finally:
            model.close()
        return Reply(f"{first.text}{AND_THEN}{second.text}", first.usage + second.usage)

    return call


def _problems(job: str, answer: str, *, keep: bool) -> str:
    """What was refused of the first draft, kept like the diagnosis: the check finds better words every now and then."""
    path = KEPT / f"{job}-refused.txt"
    if keep:
        note = write_note(diagnosis_of(job), model=ScriptedModel(answer))
        path.write_text("\n".join(note.refused[:MAX_TOLD]) + "\n", encoding="utf-8")
    return path.read_text(encoding="utf-8").strip()


def _ask(question: str, *, choosing: bool) -> Call:
    """The answer to a question, or which look-ups the model chooses for it."""

    def call(url: str, name: str, keep: bool) -> Reply:
        model = model_at(url, name)
        try:
            return (chosen if choosing else asked)(question, model, keep=keep)
        finally:
            model.close()

    return call


CALLS: dict[str, Call] = {
    **{f"client-{rung.value}": _structured(rung) for rung in Rung},
    "client-words": _words(stream=False),
    "client-stream": _words(stream=True),
    "note-f02": _note("f02", repair=True),  # rank 3 froze
    "note-s01": _note("s01", repair=False),  # it did not fail
    "note-f07": _note("f07", repair=False),  # a network link went down
    **{f"ask-{question}": _ask(question, choosing=False) for question in QUESTIONS},
    **{f"choose-{question}": _ask(question, choosing=True) for question in QUESTIONS},
}
