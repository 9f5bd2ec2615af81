"""One limit on the calls of this process to language models: so many at once, so many waiting, the rest refused."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from bot.chat.model import ModelTrouble, ModelUnavailable

MAX_WAITING = 32  # calls; at four at once and half a minute each, the last one would wait four minutes
MAX_WAIT_SECONDS = 240.0  # those four minutes


class CallLimit:
    """Lets ``calls`` through at once; ``waiting`` more may wait for ``seconds`` each."""

    def __init__(self, calls: int, *, waiting: int = MAX_WAITING, seconds: float = MAX_WAIT_SECONDS) -> None:
        self._free = threading.BoundedSemaphore(calls)
        self._places = threading.BoundedSemaphore(calls + waiting)
        self._calls = calls
        self._seconds = seconds

    @contextmanager
    def turn(self) -> Iterator[float]:
        """Inside, a call may run; gives the seconds that it waited.

        Raises:
            ModelUnavailable: too many wait already, or the wait took too long.
        """
        if not self._places.acquire(blocking=False):
            raise self._busy("too many others are waiting")
        try:
            began = time.monotonic()
            if not self._free.acquire(timeout=self._seconds):
                raise self._busy(f"it did not get its turn within {self._seconds:.0f} s")
            try:
                yield time.monotonic() - began
            finally:
                self._free.release()
        finally:
            self._places.release()

    def _busy(self, why: str) -> ModelUnavailable:
        return ModelUnavailable(
            f"A call of the language model was given up: {why}.",
            f"At most {self._calls} run at once: FIRSTFAULT_MODEL_CALLS.",
            kind=ModelTrouble.BUSY,
        )


@cache
def gate_of_this_process(calls: int) -> CallLimit:
    """The one gate that all models of this process share."""
    return CallLimit(calls)
