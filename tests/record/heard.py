"""A model that is overheard while it answers."""

from collections.abc import Sequence

from pydantic import BaseModel

from bot.chat.model import ChatMessage, ChatModel, ModelReply


class Overheard:
    """A model whose last words are kept as they were said, before anything is checked."""

    def __init__(self, model: ChatModel) -> None:
        self.name = model.name
        self.said = ModelReply("")
        self._model = model

    def answer(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: type[BaseModel],
        max_tokens: int = 1024,
    ) -> ModelReply:
        """What the model answers."""
        self.said = self._model.answer(messages, schema=schema, max_tokens=max_tokens)
        return self.said
