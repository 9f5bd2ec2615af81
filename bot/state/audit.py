"""Who did what, when, to which revision: only ever added to."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from bot.state.small_values import Table, to_text, value_of

# The triggers hold the promise against our own mistakes; whoever owns the file can still write to it.
SCHEMA = """
CREATE TABLE audit (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, team TEXT NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL,
    target TEXT NOT NULL, revision INTEGER, details TEXT NOT NULL
);
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append only'); END;
CREATE TRIGGER audit_is_not_dropped BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append only'); END;
"""
_PAGE = 500  # rows read at a time, so that an export of years holds nobody up


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One deed: ``what`` in one word (approved), its ``target`` (a run, a pattern), the revision that was meant."""

    number: int
    at: datetime
    team: str
    who: str
    what: str
    target: str
    revision: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


_entry = partial(value_of, AuditEntry, number="seq")


class Audit(Table):
    """All entries of the audit, in the order in which they were made."""

    def add(
        self,
        team: str,
        who: str,
        *,
        what: str,
        target: str,
        revision: int | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        """Write down a deed; in one ``State.together()`` with the deed itself, neither is without the other."""
        self._database.insert(
            "audit", at=self._clock(), team=team, who=who, what=what, target=target, revision=revision,
            details=to_text(details or {}),
        )  # fmt: skip

    def entries(self, *, after: int = 0) -> Iterator[AuditEntry]:
        """Everything, oldest first; ``after`` a number, to go on where an export ended."""
        while True:
            sql = "SELECT * FROM audit WHERE seq > ? ORDER BY seq LIMIT ?"
            entries = list(self._database.read(_entry, sql, after, _PAGE))
            yield from entries
            if len(entries) < _PAGE:
                return
            after = entries[-1].number


def as_jsonl(entries: Iterable[AuditEntry]) -> Iterator[str]:
    """One JSON object a line, in ASCII."""
    for entry in entries:
        yield to_text({**asdict(entry), "at": entry.at.isoformat()}) + "\n"
