"""What Firstfault asks of a language model: messages in, one JSON object out."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from pydantic import BaseModel

from core.errors import FirstfaultError


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer cost; tokens are 0 where the endpoint does not count them. calls: requests, refused ones too."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    calls: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.calls + other.calls,
        )


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What the model answered. usage: of all requests that it took."""

    text: str
    usage: Usage = Usage()


class ModelTrouble(StrEnum):
    """Why the model gave no answer."""

    UNREACHABLE = "unreachable"
    TIMED_OUT = "timed out"
    RATE_LIMITED = "rate limited"
    WRONG_KEY = "wrong key"
    NOT_FOUND = "not found"  # the model, or the address
    REJECTED = "rejected"  # the endpoint does not take our request
    BROKEN = "broken"  # the endpoint fails, or what answers is no chat endpoint
    REFUSED = "refused"  # the model or a content filter declines
    CUT_OFF = "cut off"
    NO_JSON = "no JSON"


class ModelUnavailable(FirstfaultError):
    """The language model gave no answer that can be used; ``kind`` tells why, ``usage`` what it cost all the same."""

    def __init__(
        self, message: str, hint: str = "", *, kind: ModelTrouble = ModelTrouble.UNREACHABLE, usage: Usage | None = None
    ) -> None:
        super().__init__(message, hint)
        self.kind = kind
        self.usage = usage or Usage()


class ChatModel(Protocol):
    """A language model that answers a conversation. name: which one, for people."""

    name: str

    def answer(self, messages: Sequence[ChatMessage], *, schema: type[BaseModel], max_tokens: int) -> ModelReply:
        """The answer: the text of one JSON object, which the caller validates.

        Args:
            messages: the conversation so far, the last message being the question.
            schema: what the JSON object should look like; that it does is not promised.
            max_tokens: an answer that needs more is no answer.

        Raises:
            ModelUnavailable: no answer, or no JSON object in it.
        """
