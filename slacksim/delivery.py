"""Handing events, commands and interactions to the app: attempts, retries, faults and the journal of both ways."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Protocol

from slacksim.errors import NotAcknowledged
from slacksim.faults import Faults
from slacksim.journal import Delivered, Journal, what_of
from slacksim.limits import Timing
from slacksim.state import Clock
from slacksim.values import Json


class Transport(Protocol):
    """Socket Mode or signed HTTP."""

    async def send(self, kind: str, payload: Json, attempt: int, reason: str) -> Any:
        """Hand over one delivery and return what the app answered.

        Raises:
            NotAcknowledged: it did not answer in time, or not with a 2xx status.
        """
        ...


class Delivery:
    """Everything that goes to the app goes through here."""

    def __init__(self, transport: Transport, journal: Journal, faults: Faults, timing: Timing, clock: Clock) -> None:
        self.transport = transport
        self._journal = journal
        self._faults = faults
        self._timing = timing
        self._clock = clock
        self._tasks: set[asyncio.Task[None]] = set()

    async def once(self, kind: str, payload: Json) -> Any:
        """A command or an interaction: one attempt, because a person waits for it."""
        return await self._attempt(kind, payload, 0, "")

    def event(self, payload: Json) -> None:
        """An event: tried again until the app acknowledges; nobody waits for it."""
        self._spawn(self._persistently(payload))
        if self._faults.of_delivery("events_api", "duplicate"):
            self._spawn(self._persistently(payload))

    def is_busy(self) -> bool:
        """Whether an event is on its way, or will be sent again."""
        return bool(self._tasks)

    async def close(self) -> None:
        """End all attempts."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _persistently(self, payload: Json) -> None:
        reason = ""
        for attempt, wait in enumerate((0.0, *self._timing.retries)):
            await asyncio.sleep(wait)
            try:
                await self._attempt("events_api", payload, attempt, reason)
            except NotAcknowledged as error:
                reason = error.reason
                if not error.may_retry:
                    return
            else:
                return

    async def _attempt(self, kind: str, payload: Json, attempt: int, reason: str) -> Any:
        if late := self._faults.of_delivery(kind, "delay"):
            await asyncio.sleep(late.seconds)
        started, outcome, answer = self._clock(), "ack", None
        try:
            answer = await self.transport.send(kind, payload, attempt, reason)
            if self._faults.of_delivery(kind, "ack_lost"):
                raise NotAcknowledged("timeout")
            return answer
        except NotAcknowledged as error:
            outcome = error.reason
            raise
        finally:
            what, event_id = what_of(kind, payload), str(payload.get("event_id", ""))
            ended = self._clock()
            self._journal.add(Delivered(kind, what, event_id, attempt, outcome, started, ended, payload, answer))
