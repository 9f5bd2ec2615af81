"""Keeps what a worker holds: renews leases, looks for cancels and deadlines, and ends children in time.

A thread of its own, because the threads that carry out the work may wait for Slack.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum

from bot.jobs.child_process import ChildProcess
from bot.state.errors import StateUnavailable
from bot.state.leases import Leases
from bot.state.small_values import Clock

TICK_SECONDS = 0.25  # a cancel reaches the child within a second, on a busy machine too
_LOG = logging.getLogger(__name__)

Cancelled = Callable[[Iterable[str]], frozenset[str]]


class EndReason(StrEnum):
    """Why a child was ended before its last word."""

    CANCELLED = "cancelled"
    DEADLINE = "deadline"
    LOST = "lost"  # the lease is another's
    STOPPED = "stopped"  # the worker ends


class Lease:
    """One run or question that this worker holds."""

    def __init__(self, row_id: str, leases: Leases) -> None:
        self.id = row_id
        self.leases = leases
        self.deadline: datetime | None = None
        self.why: EndReason | None = None
        self.lease_ends = time.monotonic() + leases.lease.total_seconds()
        self._process: ChildProcess | None = None
        self._lock = threading.Lock()

    @contextmanager
    def running(self, process: ChildProcess) -> Iterator[None]:
        """While this child works, ``end`` ends it; also when it came first."""
        with process:
            with self._lock:
                self._process = process
                if self.why:
                    process.kill()
            try:
                yield
            finally:
                with self._lock:
                    self._process = None

    def end(self, why: EndReason) -> None:
        """No more work on this; the first reason counts."""
        with self._lock:
            self.why = self.why or why
            if self._process:
                self._process.kill()


class LeaseKeeper:
    """Everything that a worker holds, looked at four times a second."""

    def __init__(self, owner: str, clock: Clock, cancelled: Cancelled) -> None:
        self._owner = owner
        self._clock = clock
        self._cancelled = cancelled
        self._leases: dict[str, Lease] = {}
        self._lock = threading.Lock()

    @contextmanager
    def hold(self, row_id: str, leases: Leases) -> Iterator[Lease]:
        """Keep the lease of this row as long as the ``with`` lasts.

        A lease that could not be renewed in time may be claimed by another slot of the same worker: then that one
        goes on, and whoever held it before has lost it.
        """
        lease = Lease(row_id, leases)
        with self._lock:
            before, self._leases[row_id] = self._leases.get(row_id), lease
        if before is not None:
            before.end(EndReason.LOST)
        try:
            yield lease
        finally:
            with self._lock:
                if self._leases.get(row_id) is lease:
                    del self._leases[row_id]

    def leases(self) -> tuple[Lease, ...]:
        """The leases that this worker holds now."""
        with self._lock:
            return tuple(self._leases.values())

    def look(self) -> None:
        """One round; a state that does not answer ends nothing before the leases have run out."""
        leases = self.leases()
        try:
            cancelled = self._cancelled([lease.id for lease in leases]) if leases else frozenset()
        except StateUnavailable as trouble:
            _LOG.warning("cannot look for cancels: %s", trouble.message)
            cancelled = frozenset()
        for lease in leases:
            self._renew(lease)
            if lease.id in cancelled:
                lease.end(EndReason.CANCELLED)
            elif lease.deadline is not None and self._clock() >= lease.deadline:
                lease.end(EndReason.DEADLINE)

    def _renew(self, lease: Lease) -> None:
        seconds = lease.leases.lease.total_seconds()
        now = time.monotonic()
        if lease.lease_ends - now > seconds * 2 / 3:
            return
        try:
            kept = lease.leases.renew(lease.id, self._owner)
        except StateUnavailable as trouble:
            _LOG.warning("%s: cannot renew the lease: %s", lease.id, trouble.message)
            kept = now < lease.lease_ends
        else:
            lease.lease_ends = now + seconds
        if not kept and lease in self.leases():
            lease.end(EndReason.LOST)
