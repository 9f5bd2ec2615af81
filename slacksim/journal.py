"""What happened, in order: every call of the Web API and every delivery to the app, for tests and the demo to read."""

from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from slacksim.values import Json

KEPT = 10_000  # entries of each kind; a demo may run for days


@dataclass(frozen=True)
class Call:
    """One call of a Web API method or of a response_url; ``outcome`` is "ok" or the error code."""

    method: str
    args: Mapping[str, Any]
    outcome: str
    status: int
    started: float
    ended: float
    fault: str = ""


@dataclass(frozen=True)
class Delivered:
    """One attempt to hand an event, a command or an interaction to the app; ``outcome`` is "ack" or the reason."""

    kind: str
    what: str
    event_id: str
    attempt: int
    outcome: str
    started: float
    ended: float
    payload: Json
    answer: Any = None

    @property
    def seconds(self) -> float:
        """How long the app took to acknowledge."""
        return self.ended - self.started


class Journal:
    """Both lists; only ever appended to, so any thread may read them."""

    def __init__(self) -> None:
        self._calls: deque[Call] = deque(maxlen=KEPT)
        self._deliveries: deque[Delivered] = deque(maxlen=KEPT)

    def add(self, entry: Call | Delivered) -> None:
        """Write one entry."""
        (self._calls if isinstance(entry, Call) else self._deliveries).append(entry)  # type: ignore[arg-type]

    def calls(self, method: str = "", outcome: str = "") -> tuple[Call, ...]:
        """Calls, oldest first, of one method or with one outcome."""
        every = tuple(self._calls)
        return tuple(call for call in every if method in ("", call.method) and outcome in ("", call.outcome))

    def deliveries(self, kind: str = "", what: str = "") -> tuple[Delivered, ...]:
        """Attempts, oldest first: of a kind (events_api, slash_commands, interactive), of an event type or action."""
        return tuple(d for d in tuple(self._deliveries) if kind in ("", d.kind) and what in ("", d.what))

    def as_json(self) -> Json:
        """All entries as JSON, for the control API."""
        return {"calls": [asdict(c) for c in self._calls], "deliveries": [asdict(d) for d in self._deliveries]}


def what_of(kind: str, payload: Json) -> str:
    """The name of a delivery in the journal: app_mention, /diagnose, block_actions, ..."""
    if kind == "events_api":
        event = payload.get("event", {})
        return str(event.get("type", "")) + (f".{event['subtype']}" if "subtype" in event else "")
    return str(payload.get("command") or payload.get("type"))
