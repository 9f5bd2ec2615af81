"""The calls that are recorded: each takes the URL and the name of a model, and gives what it said.

The notes are about jobs of benchmarks/quality. Their diagnoses are kept as they were when the notes were recorded: what
is asked changes with ``prompts/`` and the words of claims, not with every word of the core.
"""

from collections.abc import Callable

from pydantic import BaseModel, ConfigDict

from benchmarks.support.memory_cache import MemoryCache
from bot.chat.dialect import Dialect, DialectMemory, JsonMode
from bot.chat.model import ChatMessage, ModelReply
from bot.chat.openai_model import OpenAIModel
from bot.note.write import write_note
from tests.record.diagnosed import diagnosis_of
from tests.record.heard import Overheard

Call = Callable[[str, str, bool], ModelReply]


class Finding(BaseModel):
    """A short finding."""

    model_config = ConfigDict(extra="forbid")

    headline: str
    ids: list[str]


_SHORT = (
    ChatMessage(
        "system",
        "Answer from this evidence only, in one short sentence that cites its ids in square brackets.\n"
        "E1: node-01 wrote nothing after iteration 45. E2: the other 3 nodes timed out 25 s later.",
    ),
    ChatMessage("user", "Where should I look first? Give a headline, and the ids that it rests on."),
)
_MAX_TOKENS = 60


def model_at(url: str, name: str, *, rung: JsonMode = JsonMode.SCHEMA, timeout: float = 1_800.0) -> OpenAIModel:
    """The model, talked to on that rung; the time-out is for a small machine that is busy."""
    cache = MemoryCache()
    DialectMemory(url, name, cache=cache).learn(Dialect(rung=rung))
    return OpenAIModel(name, url, timeout=timeout, retries=0, cache=cache)


def _structured(rung: JsonMode) -> Call:
    def call(url: str, name: str, _keep: bool) -> ModelReply:
        model = model_at(url, name, rung=rung)
        try:
            return model.answer(_SHORT, schema=Finding, max_tokens=_MAX_TOKENS)
        finally:
            model.close()

    return call


def _note(job: str) -> Call:
    """A plan of a note; its own words, before anything is made of it."""

    def call(url: str, name: str, keep: bool) -> ModelReply:
        heard = Overheard(model_at(url, name))
        write_note(diagnosis_of(job, keep=keep), model=heard)
        return heard.said

    return call


CALLS: dict[str, Call] = {
    **{f"client-{rung.value}": _structured(rung) for rung in JsonMode},
    "note-f02": _note("f02"),  # rank 3 froze
    "note-s01": _note("s01"),  # it did not fail
    "note-f07": _note("f07"),  # a network link went down
}
