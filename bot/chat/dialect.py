"""What one endpoint understands of the chat protocol: found out by its complaints, step by step, and remembered."""

import json
import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from hashlib import sha256
from typing import Any

from core.cache import ByteCache

FORGET_AFTER_SECONDS = 24 * 3600.0  # a server that was updated gets its chance on the next day
# A prompt that is too long is no matter of dialect: every step would be refused the same way.
_TOO_LONG = re.compile(r"context.{0,10}(?:length|window|size)|too long|too many tokens|maximum.{0,20}tokens")


class JsonMode(StrEnum):
    """How an endpoint is made to answer with JSON, the surest way first."""

    SCHEMA = "json_schema"  # it holds the model to a schema
    OBJECT = "json_object"  # it holds the model to JSON
    PROMPT = "prompt"  # it is only asked to


@dataclass(frozen=True, slots=True)
class Dialect:
    """How to talk to an endpoint; the defaults are what OpenAI's own protocol says.

    tokens: the parameter that bounds the answer; reasoning models of OpenAI want "max_completion_tokens".
    temperature: whether it may be set; those models refuse that too.
    """

    rung: JsonMode = JsonMode.SCHEMA
    tokens: str = "max_tokens"
    temperature: bool = True

    def lower(self) -> "Dialect | None":
        """The next rung of the ladder; None at the bottom."""
        rungs = list(JsonMode)
        at = rungs.index(self.rung) + 1
        return replace(self, rung=rungs[at]) if at < len(rungs) else None

    def after(self, complaint: str) -> "Dialect | None":
        """What to try when the endpoint refused a request with these words; None when nothing is left to try."""
        text = complaint.lower()
        if _TOO_LONG.search(text):
            return None
        if "max_completion_tokens" in text and self.tokens == "max_tokens":
            return replace(self, tokens="max_completion_tokens")
        if "temperature" in text and self.temperature:
            return replace(self, temperature=False)
        return self.lower()


class DialectMemory:
    """The dialect of one endpoint and model: kept by this object, and by ``cache`` for the next process."""

    def __init__(
        self, endpoint: str, model: str, *, cache: ByteCache | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._key = sha256(f"dialect/1\n{endpoint}\n{model}".encode()).hexdigest()
        self._cache = cache
        self._clock = clock
        self._dialect: Dialect | None = None

    def recall(self) -> Dialect:
        """The dialect that worked last; the full one when nothing is known."""
        if self._dialect is None:
            self._dialect = self._stored() or Dialect()
        return self._dialect

    def learn(self, dialect: Dialect) -> None:
        """Keep a dialect that has worked."""
        if dialect == self.recall():
            return
        self._dialect = dialect
        if self._cache is not None:
            self._cache.put(self._key, json.dumps({"at": self._clock(), **asdict(dialect)}).encode())

    def _stored(self) -> Dialect | None:
        stored = self._cache.get(self._key) if self._cache is not None else None
        try:
            fields: dict[str, Any] = json.loads(stored or b"{}")
            age = self._clock() - fields.pop("at")
            return Dialect(**{**fields, "rung": JsonMode(fields["rung"])}) if 0 <= age < FORGET_AFTER_SECONDS else None
        except (ValueError, TypeError, KeyError, AttributeError):
            return None  # nothing, or what another version kept
