"""A language model behind any OpenAI-compatible endpoint; the only file that imports ``openai``.

Servers differ in what they understand and in what they make of it. A request starts with all that the protocol has
(an answer held to a strict JSON schema), and goes down the ladder of ``Dialect`` where the server complains or does not
do what it was asked.
"""

import json
import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai
from pydantic import BaseModel

from bot.chat.bounds import BoundedClient, too_slow
from bot.chat.dialect import Dialect, DialectMemory, JsonMode
from bot.chat.endpoint_json import EndpointAnswer, read_answer, strict_schema
from bot.chat.extract import json_object
from bot.chat.model import ChatMessage, ModelReply, ModelTrouble, ModelUnavailable, Usage
from bot.outgoing.door import for_model
from bot.text.harmless import harmless
from core.cache import ByteCache
from core.errors import BadSettings
from prompts import render

TIMEOUT_SECONDS = 60.0  # as the setting FIRSTFAULT_MODEL_TIMEOUT, whose default it is
RETRIES = 2  # as openai's own default (DEFAULT_MAX_RETRIES)
_QUOTED = 200  # characters of what an endpoint says that go into an error
_COMPLAINTS = (400, 415, 422, 501)  # what servers answer to a parameter that they do not know
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Question:
    messages: tuple[ChatMessage, ...]
    schema: type[BaseModel]
    max_tokens: int


class _Complaint(Exception):
    """The endpoint does not take the request as it is."""


class OpenAIModel:
    """A model by its name, at an endpoint by its URL."""

    def __init__(
        self,
        name: str,
        url: str,
        *,
        key: str = "",
        timeout: float = TIMEOUT_SECONDS,
        retries: int = RETRIES,
        cache: ByteCache | None = None,
    ) -> None:
        """See the class.

        Args:
            name: of the model, as the endpoint knows it.
            url: of the endpoint, up to and with its version: http://localhost:8000/v1.
            key: sent as a bearer token.
            timeout: seconds for one request, from its first byte to the last of the answer.
            retries: how often a request is sent again after a failure that may pass; slowness is none.
            cache: remembers for the next process what the endpoint understands.
        """
        self.name = name
        self._key = key
        self._timeout = timeout
        self._memory = DialectMemory(url, name, cache=cache)
        try:
            parts = urlsplit(url)
            self.host = f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or ""
            self._where = f"The language model {harmless(name, 80)} at {harmless(self.host, 80)}"
            http = BoundedClient(self._where, timeout)
            self._client = openai.OpenAI(
                base_url=url,
                api_key=key or "none",
                max_retries=retries,
                timeout=http.timeout,  # else openai takes ten minutes where ours equals the default of httpx
                http_client=http,
            )
        except (ValueError, httpx2.InvalidURL) as error:
            raise BadSettings(
                "The URL of the language model makes no sense.", "Look at FIRSTFAULT_MODEL_URL."
            ) from error

    def answer(self, messages: Sequence[ChatMessage], *, schema: type[BaseModel], max_tokens: int) -> ModelReply:
        """Ask the endpoint, as ``ChatModel`` says."""
        return self._descend(_Question(tuple(messages), schema, max_tokens))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _descend(self, question: _Question) -> ModelReply:
        """Ask in the dialect that is known, then in simpler ones, until there is an answer."""
        dialect: Dialect | None = self._memory.recall()
        spent = Usage()
        trouble: ModelUnavailable | None = None
        while dialect is not None:
            spent += Usage(calls=1)
            try:
                answer = self._ask(question, dialect)
                spent += answer.usage
                text = self._chosen(answer, question, dialect)
            except _Complaint as complaint:
                trouble = self._trouble("does not take our request", ModelTrouble.REJECTED, quote=str(complaint))
                dialect = dialect.after(str(complaint))
            except ModelUnavailable as error:
                error.usage = spent
                raise
            else:
                if text:
                    self._memory.learn(dialect)
                    return ModelReply(text, spent)
                trouble = self._trouble("gave no JSON object", ModelTrouble.NO_JSON, hint="Try a larger model.")
                dialect = dialect.lower()
        trouble = trouble or self._trouble("cannot be asked", ModelTrouble.REJECTED)
        trouble.usage = spent
        raise trouble

    def _chosen(self, answer: EndpointAnswer, question: _Question, dialect: Dialect) -> str:
        """What counts of an answer; empty when there is no JSON as asked, and a simpler dialect may get it."""
        if answer.refusal or answer.finish == "content_filter":
            raise self._trouble("declined to answer", ModelTrouble.REFUSED, quote=answer.refusal)
        if answer.finish == "length":
            hint = "Its thinking may have used up the tokens: try a model that thinks less."
            raise self._trouble(f"was cut off at {question.max_tokens:,} tokens", ModelTrouble.CUT_OFF, hint=hint)
        whole = answer.text if answer.text.strip() else answer.aside
        found = json_object(whole) or json_object(answer.aside) or ""
        if dialect.rung is JsonMode.SCHEMA and found and not _as_asked(found, question.schema):
            return ""  # it took the schema and ignored it
        return found

    def _ask(self, question: _Question, dialect: Dialect) -> EndpointAnswer:
        """One request, and one line in the log about it."""
        began, outcome, answer = time.monotonic(), "failed", EndpointAnswer()
        try:
            with self._translated():
                completions = self._client.chat.completions.with_raw_response
                answer = self._read(completions.create(**_body(self.name, question, dialect)).http_response.text)
            outcome = answer.finish or "ended"
            return answer
        except _Complaint:
            outcome = "not understood"
            raise
        except ModelUnavailable as error:
            outcome = error.kind.value
            raise
        finally:
            _LOG.info(
                "model call: host=%s model=%s rung=%s seconds=%.1f prompt_tokens=%d completion_tokens=%d outcome=%s",
                harmless(self.host, 80),
                harmless(self.name, 80),
                dialect.rung.value,
                time.monotonic() - began,
                answer.usage.prompt_tokens,
                answer.usage.completion_tokens,
                harmless(outcome, 40),
            )

    def _read(self, text: str) -> EndpointAnswer:
        try:
            answer = read_answer(json.loads(text))
        except (ValueError, RecursionError):
            answer = None
        if answer is None:
            raise self._trouble("is no chat endpoint", ModelTrouble.BROKEN, quote=text, hint="Does the URL end in /v1?")
        if answer.complaint:
            raise _Complaint(answer.complaint)
        return answer

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Errors of the openai package become ours here, once."""
        try:
            yield
        except (openai.APITimeoutError, httpx2.TimeoutException) as error:
            raise too_slow(self._where, self._timeout) from error
        except (openai.APIConnectionError, httpx2.RequestError) as error:
            raise self._trouble(
                "does not answer", ModelTrouble.UNREACHABLE, hint="Look at FIRSTFAULT_MODEL_URL."
            ) from error
        except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
            hint = "Look at FIRSTFAULT_MODEL_KEY."  # not what it said: that may repeat the key
            raise self._trouble("does not accept the key", ModelTrouble.WRONG_KEY, hint=hint) from error
        except openai.NotFoundError as error:
            hint = "Look at FIRSTFAULT_MODEL and FIRSTFAULT_MODEL_URL."
            raise self._trouble("is not there", ModelTrouble.NOT_FOUND, quote=error.message, hint=hint) from error
        except openai.RateLimitError as error:
            hint = "Wait, or ask for a higher limit."
            raise self._trouble(
                "takes no more calls now", ModelTrouble.RATE_LIMITED, quote=error.message, hint=hint
            ) from error
        except openai.APIStatusError as error:
            if error.status_code in _COMPLAINTS:
                raise _Complaint(f"{error.message} {error.param or ''}".strip()) from error
            kind = ModelTrouble.BROKEN if error.status_code >= 500 else ModelTrouble.REJECTED
            raise self._trouble(f"failed with HTTP {error.status_code}", kind, quote=error.message) from error
        except openai.APIError as error:  # an answer that is not what HTTP or the package expects
            raise self._trouble("broke off", ModelTrouble.BROKEN, quote=error.message) from error

    def _trouble(self, failure: str, kind: ModelTrouble, *, quote: str = "", hint: str = "") -> ModelUnavailable:
        quoted = quote.replace(self._key, "***") if self._key else quote
        quoted = f' It said: "{harmless(quoted, _QUOTED)}"' if quote.strip() else ""
        return ModelUnavailable(f"{self._where} {failure}.{quoted}", hint, kind=kind)


def _body(name: str, question: _Question, dialect: Dialect) -> dict[str, Any]:
    messages = [{"role": message.role, "content": for_model(message.text)} for message in question.messages]
    body: dict[str, Any] = {"model": name, "messages": messages, dialect.tokens: question.max_tokens}
    if dialect.temperature:
        body["temperature"] = 0
    schema = strict_schema(question.schema)
    if dialect.rung is JsonMode.SCHEMA:
        named = {"name": question.schema.__name__, "schema": schema, "strict": True}
        return {**body, "response_format": {"type": "json_schema", "json_schema": named}}
    if dialect.rung is JsonMode.OBJECT:
        body["response_format"] = {"type": "json_object"}
    # Into the first message: some chat templates take a system message only there.
    sentence = render("json", schema=json.dumps(schema, ensure_ascii=False))
    messages[0] = {**messages[0], "content": f"{messages[0]['content']}\n\n{sentence}"}
    return body


def _as_asked(found: str, schema: type[BaseModel]) -> bool:
    return set(strict_schema(schema)["required"]) <= set(json.loads(found))
