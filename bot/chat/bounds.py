"""Bounds that the openai package does not set: on an answer's bytes and seconds, and on how long a 429 makes us wait.

The time-out of a read starts anew with every byte, so that a server which drips one a minute would hold us for ever.
And openai asks again after it: a model that was too slow for one minute would get two more of them.
"""

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx2

from bot.chat.model import ModelTrouble, ModelUnavailable

CONNECT_SECONDS = 5.0  # chosen: TCP sends again what opens a connection after one second and after three
MAX_BYTES = 8 << 20  # an answer of 4,000 tokens has 20 kB; the rest is room for what an endpoint adds of its own
MAX_RETRY_AFTER_SECONDS = 20.0  # openai would wait up to two minutes, and somebody is waiting for us
_BEGAN = "firstfault.began"


class BoundedClient(httpx2.Client):
    """An HTTP client for ``where`` (as errors call it) that has ``timeout`` seconds for a request and its answer."""

    def __init__(self, where: str, timeout: float) -> None:
        super().__init__(
            timeout=httpx2.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout)),
            follow_redirects=True,
            event_hooks={"request": [_begin], "response": [self._bound]},
        )
        self._where = where
        self._seconds = timeout

    def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """As the base class does; silence is an error that nobody answers with one more try."""
        try:
            return super().send(request, **options)
        except httpx2.ReadTimeout as error:
            raise too_slow(self._where, self._seconds) from error

    def _bound(self, response: httpx2.Response) -> None:
        if _retry_after(response) > MAX_RETRY_AFTER_SECONDS:
            response.headers["x-should-retry"] = "false"  # openai obeys it
        if isinstance(response.stream, httpx2.SyncByteStream):
            ends = response.request.extensions[_BEGAN] + self._seconds
            response.stream = _Bounded(response.stream, self._where, self._seconds, ends)


def too_slow(where: str, seconds: float) -> ModelUnavailable:
    """The error for an answer that did not come in time."""
    message = f"{where} did not answer within {seconds:g} s."
    return ModelUnavailable(message, "FIRSTFAULT_MODEL_TIMEOUT gives it more.", kind=ModelTrouble.TIMED_OUT)


def _begin(request: httpx2.Request) -> None:
    request.extensions = {**request.extensions, _BEGAN: time.monotonic()}


def _retry_after(response: httpx2.Response) -> float:
    with suppress(ValueError):
        return float(response.headers.get("retry-after", "0"))
    return 0.0


class _Bounded(httpx2.SyncByteStream):
    """The stream, ended with an error when it is too long or too slow."""

    def __init__(self, stream: httpx2.SyncByteStream, where: str, seconds: float, ends: float) -> None:
        self._stream = stream
        self._where = where
        self._seconds = seconds
        self._ends = ends

    def __iter__(self) -> Iterator[bytes]:
        read = 0
        for piece in self._stream:
            read += len(piece)
            if read > MAX_BYTES:
                message = f"{self._where} sent more than {MAX_BYTES >> 20} MB."
                raise ModelUnavailable(message, "Is it a chat endpoint?", kind=ModelTrouble.BROKEN)
            if time.monotonic() > self._ends:
                raise too_slow(self._where, self._seconds)
            yield piece

    def close(self) -> None:
        self._stream.close()
