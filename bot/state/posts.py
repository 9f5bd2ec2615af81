"""What was posted for a run, written down before and after, so that nothing is posted twice after a crash.

Slack has no "post this once". So an intention is stored first; its token goes into the message's metadata; the ts is
stored when Slack has answered. An intention without a ts whose writer is gone is doubtful: the caller looks for the
token in the channel and posts again only when it is not there.
"""

# ruff: noqa: S608 the table's name is a constant of ours, values are bound

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from bot.state.database import Database, Row
from bot.state.small_values import Clock, Table, moment_of


def schema(table: str, owners: str) -> str:
    """A table of posts, whose ``run`` is a row of the table ``owners``."""
    return f"""
CREATE TABLE {table} (
    run TEXT NOT NULL REFERENCES {owners} (id) ON DELETE CASCADE, kind TEXT NOT NULL, token TEXT NOT NULL,
    ts TEXT, intended_at TEXT NOT NULL, mine_until TEXT NOT NULL, PRIMARY KEY (run, kind)
) WITHOUT ROWID;
"""


POSTING = timedelta(seconds=30)  # the client waits 10 s for an answer: one to look, one to post, some to spare
_TOKEN_BYTES = 12  # 96 bits: no two posts of a channel share one
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)  # before any post: only a default for tests and for what is not doubtful


class PostState(StrEnum):
    """What is known about a post."""

    NEW = "new"  # post it now, with the token in its metadata
    POSTED = "posted"  # it has a ts
    PENDING = "pending"  # somebody is posting it right now: come back later
    DOUBTFUL = "doubtful"  # look for the token in the channel; post only when it is not there


@dataclass(frozen=True, slots=True)
class Post:
    """One post of a run; ``kind`` tells its posts apart ("parent", "report", "answer 1719...")."""

    run: str
    kind: str
    token: str
    intention: PostState
    ts: str | None = None
    intended_at: datetime = _LONG_AGO  # the first time: it cannot be older than this


class Posts(Table):
    """All posts, by run and kind."""

    def __init__(self, database: Database, clock: Clock, *, table: str = "posts") -> None:
        """table: another one holds the posts of watches, in place of those of runs."""
        super().__init__(database, clock)
        self._table = table

    def intend(self, run: str, kind: str) -> Post:
        """Say that it will be posted; what the caller has to do is in ``intention``.

        After NEW and DOUBTFUL it is the caller's alone for ``POSTING``; others get PENDING.
        """
        with self._database.transaction():
            now = self._clock()
            sql = f"SELECT token, ts, intended_at, mine_until FROM {self._table} WHERE run = ? AND kind = ?"
            found = next(self._database.read(lambda row: _post(run, kind, row, now), sql, run, kind), None)
            if found is None:
                return self._insert(run, kind, now)
            if found.intention is PostState.DOUBTFUL:
                self._database.execute(
                    f"UPDATE {self._table} SET mine_until = ? WHERE run = ? AND kind = ?", now + POSTING, run, kind
                )
            return found

    def renamed(self, run: str, kind: str, token: str, new: str) -> bool:
        """It will be known by another token (files have ids of their own), and is the caller's alone anew.

        False when somebody else has taken it over meanwhile.
        """
        sql = (
            f"UPDATE {self._table} SET token = ?, mine_until = ?"
            " WHERE run = ? AND kind = ? AND token = ? AND ts IS NULL"
        )
        return self._database.execute(sql, new, self._clock() + POSTING, run, kind, token) == 1

    def posted(self, run: str, kind: str, ts: str) -> str:
        """It is there; the ts that counts, which is the first one that was told."""
        with self._database.transaction():
            self._database.execute(
                f"UPDATE {self._table} SET ts = ? WHERE run = ? AND kind = ? AND ts IS NULL", ts, run, kind
            )
            rows = self._database.query(f"SELECT ts FROM {self._table} WHERE run = ? AND kind = ?", run, kind)
            return str(rows[0]["ts"]) if rows else ts

    def refused(self, run: str, kind: str) -> None:
        """Slack has said no (not_in_channel, ratelimited): it is not there, and may be tried anew."""
        self._database.execute(f"DELETE FROM {self._table} WHERE run = ? AND kind = ? AND ts IS NULL", run, kind)

    def unsure(self, run: str, kind: str) -> None:
        """Slack gave no clear answer, so it may be there: whoever tries next looks for it first, at once."""
        sql = f"UPDATE {self._table} SET mine_until = ? WHERE run = ? AND kind = ? AND ts IS NULL"
        self._database.execute(sql, self._clock(), run, kind)

    def is_outdated(self, run: str, revision: int) -> bool:
        """Whether the run has changed since this revision of it."""
        rows = self._database.query("SELECT revision FROM runs WHERE id = ?", run)
        return bool(rows) and rows[0]["revision"] > revision

    def begun(self, run: str, kind: str) -> bool:
        """Whether it is there, or may be."""
        return bool(self._database.query(f"SELECT 1 FROM {self._table} WHERE run = ? AND kind = ?", run, kind))

    def ts(self, run: str, kind: str) -> str | None:
        """Where it is, if it is known to be there."""
        rows = self._database.query(f"SELECT ts FROM {self._table} WHERE run = ? AND kind = ?", run, kind)
        return rows[0]["ts"] if rows else None

    def _insert(self, run: str, kind: str, now: datetime) -> Post:
        token = secrets.token_hex(_TOKEN_BYTES)
        self._database.insert(self._table, run=run, kind=kind, token=token, intended_at=now, mine_until=now + POSTING)
        return Post(run, kind, token, PostState.NEW, None, now)


def _post(run: str, kind: str, row: Row, now: datetime) -> Post:
    token, ts, since = row["token"], row["ts"], moment_of(row["intended_at"])
    if ts is not None:
        return Post(run, kind, token, PostState.POSTED, ts, since)
    pending = moment_of(row["mine_until"]) > now
    return Post(run, kind, token, PostState.PENDING if pending else PostState.DOUBTFUL, None, since)
