"""Reads the inbox: threads that deal with what was acknowledged, and one that hands it out and keeps the leases."""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from bot.repeating_thread import RepeatingThread
from bot.slack.envelopes import EnvelopeKind
from bot.state.errors import StateUnavailable
from bot.state.inbox import Inbox, Once, Received
from bot.state.small_values import new_id

# That deal with envelopes; each may wait some seconds for Slack's rate limit.
READERS = 16
# That open windows and nothing else: the right to open one ends after three seconds, so it does not wait for the rest.
OPENERS = 4
POLL_SECONDS = 0.5  # between two looks for what another bot has left
TROUBLE_SECONDS = 5.0  # after trouble with the state
HEALTHY_SECONDS = 30.0  # sixty polls, or some pauses after trouble: whoever is slower stands still
# Slack gives three seconds for an acknowledgement, and an answer takes minutes: what comes at once is taken first.
CROWD_SECONDS, GLANCE_SECONDS = 2.0, 0.02
LEAVING_SECONDS = 6.0  # for threads that wait for Slack
_LOG = logging.getLogger(__name__)
Deal = Callable[[Received, Once], None]


class RetryLater(Exception):
    """It cannot be dealt with now; when the lease ends it is tried again."""


class InboxReaders:
    """Start ``thread`` before the intake, ``stop`` all after it."""

    def __init__(self, inbox: Inbox, deal: Deal) -> None:
        """deal: raises ``RetryLater`` or StateUnavailable for what must be tried again, and nothing else."""
        self._inbox = inbox
        self._deal = deal
        # Whether more may be about to be stored, for which what was stored waits for a moment.
        self.is_crowded: Callable[[], bool] = lambda: False
        self._owner = new_id("i")
        self._pools: dict[tuple[EnvelopeKind, ...], tuple[ThreadPoolExecutor, int]] = {
            kinds: (ThreadPoolExecutor(number, thread_name_prefix=name), number)
            for kinds, number, name in (
                ((EnvelopeKind.OPENING,), OPENERS, "opener"),
                (tuple(kind for kind in EnvelopeKind if kind is not EnvelopeKind.OPENING), READERS, "reader"),
            )
        }
        self._held: dict[int, tuple[EnvelopeKind, ...]] = {}
        self._begun: set[int] = set()
        self._lock = threading.Condition()
        self._renewed = time.monotonic()
        self.thread = RepeatingThread(  # woken when something was stored, or a reader is free
            "inbox", self._look, every=POLL_SECONDS, healthy_for=HEALTHY_SECONDS, pause=TROUBLE_SECONDS
        )

    def stop(self) -> None:
        """Begin with nothing more; what is not begun another bot may take, what is begun has some seconds to end."""
        self.thread.stop(LEAVING_SECONDS)
        for pool, _ in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._lock.wait_for(lambda: not self._begun, LEAVING_SECONDS)
        self._give_back()

    def _look(self) -> None:
        """Keep the leases, and hand out what nobody deals with: windows at once, the rest when a crowd is stored.

        Readers would take turns with the threads that acknowledge.
        """
        self._renew()
        windows, others = self._pools
        self._hand_out(windows)
        end = time.monotonic() + CROWD_SECONDS
        while self.is_crowded() and time.monotonic() < end:
            self.thread.stopping.wait(GLANCE_SECONDS)
            self._hand_out(windows)
        self._hand_out(others)

    def _hand_out(self, kinds: tuple[EnvelopeKind, ...]) -> None:
        """Claim as many as there are free readers, so that other bots get the rest."""
        pool, number = self._pools[kinds]
        with self._lock:
            free = number - sum(held_kinds == kinds for held_kinds in self._held.values())
        for received in self._inbox.claim(self._owner, free, kinds):
            with self._lock:
                self._held[received.seq] = kinds
            pool.submit(self._read, received)

    def _read(self, received: Received) -> None:
        """Deal with one. A broad except: what fails in an unknown way would fail again, so it is over."""
        with self._lock:
            self._begun.add(received.seq)
        try:
            self._deal(received, self._inbox.once(received))
            self._inbox.done(received.seq)
        except RetryLater:
            pass
        except StateUnavailable as trouble:
            _LOG.error("%s %s", trouble.message, trouble.hint)
        except Exception:  # noqa: BLE001 the worker's boundary
            _LOG.exception("an envelope met an unknown error (%s)", new_id("e"))
            if not self.thread.stopping.is_set():  # else it may be that the state is closed
                self._give_up(received.seq)
        finally:
            with self._lock:
                self._begun.discard(received.seq)
                self._held.pop(received.seq, None)
                self._lock.notify_all()
            self.thread.wake()

    def _give_up(self, seq: int) -> None:
        try:
            self._inbox.done(seq)
        except StateUnavailable as trouble:
            _LOG.error("%s %s", trouble.message, trouble.hint)

    def _renew(self) -> None:
        if time.monotonic() - self._renewed < self._inbox.lease.total_seconds() / 3:
            return
        self._renewed = time.monotonic()
        with self._lock:
            ids = list(self._held)
        if ids:
            self._inbox.renew(self._owner, ids)

    def _give_back(self) -> None:
        with self._lock:
            left = [seq for seq in self._held if seq not in self._begun]
        try:
            if left:
                self._inbox.give_back(self._owner, left)
        except StateUnavailable as trouble:
            _LOG.warning("%s", trouble.message)
