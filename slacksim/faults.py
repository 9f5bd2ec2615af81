"""Faults on demand: the next calls of a method go wrong, the next deliveries come twice, late, or lose their ack."""

import threading
from dataclasses import dataclass, replace

from slacksim.errors import LocalSlackError

CALL_FAULTS = {
    "ratelimited": "429 with Retry-After: seconds",
    "error": "status 500",
    "malformed": "status 200, and half a JSON object",
    "timeout": "no answer for seconds, then the connection ends; nothing is done",
    "drop": "the connection ends at once; nothing is done",
    "lost": "it is done, then the connection ends: the caller cannot know",
    "slow": "the answer comes after seconds",
}
DELIVERY_FAULTS = {
    "duplicate": "delivered twice, the second time without any mark",
    "delay": "delivered after seconds",
    "ack_lost": "the app's answer gets lost on its way",
}
ANY = "*"


@dataclass(frozen=True)
class Fault:
    """What goes wrong the next ``times`` times, and for how long; ``target`` is a method or a kind of delivery."""

    kind: str
    target: str = ANY
    times: int = 1
    seconds: float = 1.0


class Faults:
    """The faults that are still to come; tests add them from their thread, the server takes them in its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._coming: list[Fault] = []

    def call(self, method: str, kind: str, *, times: int = 1, seconds: float = 1.0) -> None:
        """The next calls of a method (``*``: of any) go wrong."""
        self._add(Fault(kind, method, times, seconds), CALL_FAULTS)

    def delivery(self, of: str, kind: str, *, times: int = 1, seconds: float = 1.0) -> None:
        """The next deliveries (of events_api, slash_commands, interactive, or ``*``) go wrong."""
        self._add(Fault(kind, of, times, seconds), DELIVERY_FAULTS)

    def clear(self) -> None:
        """Drop all faults that are to come."""
        with self._lock:
            self._coming.clear()

    def coming(self) -> tuple[Fault, ...]:
        """The faults that are to come."""
        with self._lock:
            return tuple(self._coming)

    def of_call(self, method: str) -> Fault | None:
        """The fault of this call, used up by asking."""
        return self._take(method, tuple(CALL_FAULTS))

    def of_delivery(self, target: str, kind: str) -> Fault | None:
        """The fault of this kind for this delivery, used up by asking."""
        return self._take(target, (kind,))

    def _add(self, fault: Fault, known: dict[str, str]) -> None:
        if fault.kind not in known:
            raise LocalSlackError(f"There is no fault {fault.kind}.", f"There are {', '.join(known)}.")
        with self._lock:
            self._coming.append(fault)

    def _take(self, target: str, kinds: tuple[str, ...]) -> Fault | None:
        with self._lock:
            for place, fault in enumerate(self._coming):
                if fault.kind in kinds and fault.target in (ANY, target):
                    left = [replace(fault, times=fault.times - 1)] if fault.times > 1 else []
                    self._coming[place : place + 1] = left
                    return fault
        return None
