"""What several table families share: rows as values, times, ids, why something failed."""

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, get_origin, get_type_hints

from bot.outgoing.errors import Failure
from bot.state.database import Database, Row

Clock = Callable[[], datetime]
T = TypeVar("T")

_LETTERS = "23456789abcdefghjkmnpqrstvwxyz"  # none that are mistaken for each other when read aloud
_ID_LETTERS = 6  # 30**6: some thousand runs collide with a chance of 1 in 200, and a collision draws again


class Table:
    """A family of tables: the database that holds them, and the clock that dates their rows."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def _unused_id(self, table: str, letters: str) -> str:
        """A new id, such as r-7f3k2q, that no row of the table has; to be used in the same transaction."""
        sql = f"SELECT 1 FROM {table} WHERE id = ?"  # noqa: S608 a name of ours
        while self._database.query(sql, row_id := new_id(letters)):
            pass
        return row_id


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


def value_of(kind: type[T], row: Row, **columns: str) -> T:
    """A dataclass whose fields have the names of columns.

    Args:
        columns: by field, the column that is called otherwise; a field without a column keeps its default.

    Raises:
        ValueError, TypeError, KeyError: bytes that were not stored by us.
    """
    readers = _readers(kind)  # type: ignore[arg-type]  # every class can be a key
    found = {name: columns.get(name, name) for name in readers if columns.get(name, name) in row}
    return kind(**{name: readers[name](row[column]) for name, column in found.items()})


@cache
def _readers(kind: Any) -> dict[str, Callable[[Any], Any]]:
    """How each field of a dataclass is read from what SQLite holds, by its type."""
    return {name: _reader(hint) for name, hint in get_type_hints(kind).items()}


def _reader(hint: Any) -> Callable[[Any], Any]:
    if isinstance(hint, type) and (issubclass(hint, StrEnum) or hint is bool):
        return hint
    if get_origin(hint) is Mapping:
        return json.loads
    return {datetime: moment_of, datetime | None: time_of, Failure | None: failure_of}.get(hint, lambda value: value)
