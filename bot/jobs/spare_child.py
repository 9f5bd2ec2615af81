"""A child that is held ready: it has loaded what takes long, and waits for its order.

Of the four seconds of processor time that a small diagnosis took, three were imports. Each child still carries out one
order and ends, so nothing of one job reaches the next.
"""

import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from bot.jobs.child_process import ChildProcess
from bot.jobs.messages import ChildOrder


class SpareChild:
    """One process at most; any thread may call."""

    def __init__(self, loading: str, *, temporary: Path, environment: Mapping[str, str]) -> None:
        """loading: what it calls (``package.module:function``). temporary: a folder for what loading leaves behind."""
        self._loading = loading
        self._temporary = temporary
        self._environment = environment
        self._process: ChildProcess | None = None
        self._stopped = False
        self._lock = threading.Lock()

    def prepare(self) -> None:
        """Hold one ready; returns at once. Where that is not possible the next order starts a child of its own."""
        with self._lock, suppress(OSError):
            if self._stopped or self._process is not None:
                return
            self._temporary.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._process = ChildProcess(
                None, temporary=self._temporary, environment=self._environment, loading=self._loading
            )

    def take(self, order: ChildOrder) -> ChildProcess | None:
        """The one that is ready, or will be first, with this order; None where there is none."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None and process.alive():
            process.order = order
            return process
        if process is not None:
            process.end()
        return None

    def stop(self) -> None:
        """End the spare child; no other is started after it."""
        with self._lock:
            self._stopped = True
            process, self._process = self._process, None
        if process is not None:
            process.end()
