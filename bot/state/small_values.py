"""Small values that several table families share: times, ids, why something failed."""

import json
import secrets
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from bot.outgoing.errors import Failure

Clock = Callable[[], datetime]

_LETTERS = "23456789abcdefghjkmnpqrstvwxyz"  # none that are mistaken for each other when read aloud
_ID_LETTERS = 6  # 30**6: some thousand runs collide with a chance of 1 in 200, and a collision draws again


class Status(StrEnum):
    """Where a run or a question is."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"  # the deadline came first: the answer is a part of what it could have been

    @property
    def active(self) -> bool:
        """Whether it may still change by itself."""
        return self in (Status.QUEUED, Status.RUNNING)


def utc_now() -> datetime:
    """The clock of the real world."""
    return datetime.now(UTC)


def new_id(letter: str) -> str:
    """A short id that can be read aloud, such as r-7f3k2q."""
    return f"{letter}-" + "".join(secrets.choice(_LETTERS) for _ in range(_ID_LETTERS))


def moment_of(text: str) -> datetime:
    """A stored time; raises ValueError for anything that was not stored by us."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a time without its zone")
    return moment


def time_of(text: str | None) -> datetime | None:
    """A stored time, where there may be none."""
    return None if text is None else moment_of(text)


def to_text(value: Any) -> str:
    """JSON in ASCII: control bytes and lone surrogates are escaped, so hostile text survives any file and pipe."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def failure_text(failure: Failure) -> str:
    """A failure as it is stored."""
    return to_text(asdict(failure))


def failure_of(text: str | None) -> Failure | None:
    """A stored failure."""
    return None if text is None else Failure(**json.loads(text))
