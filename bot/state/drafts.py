"""The draft note of a run, its revisions, and what people decided: approved, rejected, taken back.

A decision stands until it is undone. Two clicks give one decision, and the second is told whose it is. A decision about
a revision that is not the newest is refused. An approval is pending until its pattern is written: whoever meets a
pending one may write it, because that does no harm when it is done twice.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Any

from bot.state.errors import RunForgotten, StaleRevision
from bot.state.small_values import Table, to_text, value_of

SCHEMA = """
CREATE TABLE drafts (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, revision INTEGER NOT NULL,
    note TEXT NOT NULL, by TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (run, revision)
) WITHOUT ROWID;
CREATE TABLE decisions (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, revision INTEGER NOT NULL, verdict TEXT NOT NULL,
    by TEXT NOT NULL, at TEXT NOT NULL, reason TEXT NOT NULL, pattern TEXT NOT NULL DEFAULT '',
    archiving_until TEXT, undone_by TEXT, undone_at TEXT
);
CREATE UNIQUE INDEX one_decision_stands ON decisions (run) WHERE undone_at IS NULL;
"""
# The second version: which pattern the job shall join; nobody waits for a pending approval any more.
JOINING = """
ALTER TABLE decisions ADD COLUMN joins TEXT NOT NULL DEFAULT '';
ALTER TABLE decisions DROP COLUMN archiving_until;
CREATE INDEX pending_decisions ON decisions (at) WHERE verdict = 'approved' AND pattern = '' AND undone_at IS NULL;
"""


class Verdict(StrEnum):
    """What somebody decided about a draft."""

    APPROVED = "approved"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Draft:
    """A note as it was drafted or edited; revisions count from 1."""

    run: str
    revision: int
    note: Mapping[str, Any]
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Decision:
    """What stands. ``new``: this call made it.

    reason: why it was rejected, or how it was confirmed; empty while who approved it has not said so.
    pattern: id in the fault library, empty for a rejection and until it is written. joins: id of the pattern that the
    job is added to, empty for a pattern of its own.
    """

    run: str
    revision: int
    verdict: Verdict
    by: str
    at: datetime
    reason: str = ""
    pattern: str = ""
    joins: str = ""
    new: bool = False

    @property
    def pending(self) -> bool:
        """Whether it was approved, and is not in the fault library yet."""
        return self.verdict is Verdict.APPROVED and not self.pattern

    @property
    def unexplained(self) -> bool:
        """Whether it made a pattern of its own, and nobody has said how the fault was confirmed."""
        return bool(self.verdict is Verdict.APPROVED and self.pattern and not self.joins and not self.reason)


_draft = partial(value_of, Draft)
_decision = partial(value_of, Decision)


class Drafts(Table):
    """Drafts and decisions, by run."""

    def save(self, run: str, note: Mapping[str, Any], *, by: str, seen: int) -> Draft:
        """Store a new revision; ``seen`` is the revision that was edited, 0 for the first. Raises StaleRevision."""
        with self._database.transaction():
            self._check(run, seen)
            draft = Draft(run, seen + 1, note, by, self._clock())
            self._database.insert("drafts", run=run, revision=seen + 1, note=to_text(note), by=by, at=draft.at)
            return draft

    def current(self, run: str) -> Draft | None:
        """The newest revision."""
        sql = "SELECT * FROM drafts WHERE run = ? ORDER BY revision DESC LIMIT 1"
        return next(self._database.read(_draft, sql, run), None)

    def revisions(self, run: str) -> tuple[Draft, ...]:
        """All revisions, oldest first."""
        return tuple(self._database.read(_draft, "SELECT * FROM drafts WHERE run = ? ORDER BY revision", run))

    def decide(self, run: str, verdict: Verdict, *, by: str, seen: int, reason: str = "", joins: str = "") -> Decision:
        """Approve or reject what was seen; or the decision that stands already, with ``new`` False.

        After an approval the caller writes the pattern and calls ``archived``.
        """
        with self._database.transaction():
            standing = self.decision(run)
            if standing is not None:
                return standing
            self._check(run, seen)
            now = self._clock()
            self._database.insert(
                "decisions", run=run, revision=seen, verdict=verdict, by=by, at=now, reason=reason, joins=joins
            )
            return Decision(run, seen, verdict, by, now, reason, joins=joins, new=True)

    def archived(self, run: str, pattern: str) -> bool:
        """The approved note is in the fault library under this id; False when somebody has said so before."""
        sql = (
            "UPDATE decisions SET pattern = ?"
            " WHERE run = ? AND undone_at IS NULL AND verdict = 'approved' AND pattern = ''"
        )
        return self._database.execute(sql, pattern, run) == 1

    def explain(self, run: str, reason: str) -> bool:
        """Say how the approval that stands was confirmed; False when none stands."""
        sql = "UPDATE decisions SET reason = ? WHERE run = ? AND undone_at IS NULL AND verdict = 'approved'"
        return self._database.execute(sql, reason, run) == 1

    def decision(self, run: str) -> Decision | None:
        """The decision that stands."""
        return next(iter(self._standing("run = ?", run)), None)

    def pending(self, before: datetime) -> tuple[Decision, ...]:
        """Approvals of before this time whose pattern is not written: whoever should have done it may have died."""
        return self._standing("verdict = 'approved' AND pattern = '' AND at < ?", before)

    def dropped(self) -> tuple[Decision, ...]:
        """Approvals taken back before their pattern was noted: the fault library may have it all the same."""
        sql = (
            "SELECT * FROM decisions WHERE verdict = 'approved' AND pattern = '' AND undone_at IS NOT NULL ORDER BY seq"
        )
        return tuple(self._database.read(_decision, sql))

    def is_shared(self, run: str, pattern: str) -> bool:
        """Whether another approval of the same job, in another channel, stands for the same pattern."""
        sql = (
            "SELECT 1 FROM decisions JOIN runs ON runs.id = decisions.run"
            " WHERE undone_at IS NULL AND pattern = ? AND run != ? AND job = (SELECT job FROM runs WHERE id = ?)"
        )
        return bool(self._database.query(sql, pattern, run, run))

    def undo(self, run: str, *, by: str) -> Decision | None:
        """Take the standing decision back; it, or None when there is none (any more): two clicks undo once."""
        with self._database.transaction():
            standing = self.decision(run)
            if standing is None:
                return None
            self._database.execute(
                "UPDATE decisions SET undone_by = ?, undone_at = ? WHERE run = ? AND undone_at IS NULL",
                by, self._clock(), run,
            )  # fmt: skip
            return standing

    def _check(self, run: str, seen: int) -> None:
        current = self.current(run)
        if current is None and seen:
            raise RunForgotten
        if current is not None and current.revision != seen:
            raise StaleRevision(seen=seen, revision=current.revision, by=current.by, at=current.at)

    def _standing(self, where: str, *values: object) -> tuple[Decision, ...]:
        sql = f"SELECT * FROM decisions WHERE undone_at IS NULL AND {where} ORDER BY seq"  # noqa: S608 our own conditions
        return tuple(self._database.read(_decision, sql, *values))
