"""A language model for tests: it says what its script holds, and remembers what it was asked."""

from collections.abc import Sequence

from pydantic import BaseModel

from bot.chat.extract import json_object
from bot.chat.model import ChatMessage, ModelReply, ModelTrouble, ModelUnavailable, Usage


class ScriptedModel:
    """Gives the next answer of its script, or raises it. asked: the messages of every call so far."""

    def __init__(self, *script: str | Exception, name: str = "scripted") -> None:
        self.name = name
        self.asked: list[tuple[ChatMessage, ...]] = []
        self._script = list(script)

    def answer(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: type[BaseModel],  # noqa: ARG002 the script has its answers
        max_tokens: int,
    ) -> ModelReply:
        """The next answer of the script; a word counts as a token."""
        self.asked.append(tuple(messages))
        if not self._script:
            raise ModelUnavailable(f"The script of the model {self.name} has ended.", "Give it one more answer.")
        scripted = self._script.pop(0)
        if isinstance(scripted, Exception):
            raise scripted
        usage = Usage(sum(len(message.text.split()) for message in messages), len(scripted.split()), 1)
        if usage.completion_tokens > max_tokens:
            raise ModelUnavailable(f"The model {self.name} was cut off.", kind=ModelTrouble.CUT_OFF, usage=usage)
        text = json_object(scripted)
        if text is None:
            raise ModelUnavailable(
                f"The model {self.name} gave no JSON object.", kind=ModelTrouble.NO_JSON, usage=usage
            )
        return ModelReply(text, usage)
