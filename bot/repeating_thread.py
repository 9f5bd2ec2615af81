"""A thread that looks again and again until it is stopped: one class for all that the bot does by itself."""

import logging
import threading
import time
from collections.abc import Callable

from bot.state.errors import StateUnavailable
from bot.state.small_values import new_id
from core.errors import FirstfaultError

_LOG = logging.getLogger(__name__)


class RepeatingThread:
    """``start`` it; it outlives every error of a look, and logs it: the sentence of one that is known, else a trace."""

    def __init__(
        self,
        name: str,
        look: Callable[[], object],
        *,
        every: float | None,
        healthy_for: float = 0.0,
        pause: float = 0.0,
        waits_first: bool = False,
        known: tuple[type[Exception], ...] = (),
        at_end: Callable[[], None] = lambda: None,
    ) -> None:
        """See the class.

        Args:
            name: of the thread, and in the log.
            look: one round.
            every: seconds between two looks; None: only when it is woken.
            healthy_for: seconds since the last look was over after which it counts as stuck.
            pause: seconds before the next look after an error.
            waits_first: before the first look as well.
            known: errors that are no defect of ours, beside FirstfaultError.
            at_end: is called by the thread when it ends.
        """
        self._name, self._look, self._at_end = name, look, at_end
        self._every, self._healthy_for, self._pause, self._waits_first = every, healthy_for, pause, waits_first
        self._known = known
        self._looked = time.monotonic()
        self._news, self.stopping = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    def wake(self) -> None:
        """Something is new: do not wait for the next look."""
        self._news.set()

    def goes_on(self) -> None:
        """A look takes its time, and is well."""
        self._looked = time.monotonic()

    def healthy(self) -> bool:
        """Whether the thread lives and has looked lately."""
        return self._thread.is_alive() and time.monotonic() - self._looked < self._healthy_for

    def stop(self, seconds: float) -> None:
        """End after the look that is under way; wait so many seconds for it."""
        self.stopping.set()
        self._news.set()
        if self._thread.is_alive():
            self._thread.join(seconds)

    def _serve(self) -> None:
        """The life of the thread. The except is broad: it outlives every error."""
        if self._waits_first:
            self._wait()
        while not self.stopping.is_set():
            try:
                self._look()
            except Exception as error:  # noqa: BLE001 the boundary of everything that repeats
                self._log(error)
                self.stopping.wait(self._pause)
            self.goes_on()
            self._wait()
        self._at_end()

    def _wait(self) -> None:
        self._news.wait(self._every)
        self._news.clear()

    def _log(self, error: Exception) -> None:
        if not isinstance(error, (FirstfaultError, *self._known)):
            _LOG.error("%s met an unknown error (%s)", self._name, new_id("e"), exc_info=error)
            return
        words = f"{error.message} {error.hint}" if isinstance(error, FirstfaultError) else error
        _LOG.log(logging.ERROR if isinstance(error, StateUnavailable) else logging.WARNING, "%s: %s", self._name, words)
