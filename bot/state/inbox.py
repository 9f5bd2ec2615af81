"""What Slack has handed over: stored before it is acknowledged, dealt with after it, and not twice.

An envelope has a key of Slack's own making, so one that is delivered twice is stored once. Whoever deals with it holds
a lease; when that runs out, because its bot died, another begins anew. What must not be done twice is a *step*: its
result is stored in one transaction with what it does, and whoever begins anew gets the result.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from bot.state.database import Database, Row
from bot.state.small_values import Clock, Table, to_text

SCHEMA = """
CREATE TABLE inbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, lane TEXT NOT NULL,
    body TEXT NOT NULL, came_at TEXT NOT NULL, begun INTEGER NOT NULL DEFAULT 0, lease_owner TEXT, lease_until TEXT,
    done_at TEXT
);
CREATE INDEX inbox_open ON inbox (seq) WHERE done_at IS NULL;
CREATE INDEX inbox_lanes ON inbox (lane, seq) WHERE done_at IS NULL;
CREATE INDEX inbox_done ON inbox (done_at);
CREATE TABLE inbox_steps (
    envelope INTEGER NOT NULL REFERENCES inbox (seq) ON DELETE CASCADE, step TEXT NOT NULL, result TEXT NOT NULL,
    PRIMARY KEY (envelope, step)
) WITHOUT ROWID;
"""
LEASE = timedelta(seconds=15)  # renewed at a third of it; somebody waits for what a dead bot had begun
PATIENCE = 2.0  # seconds for storing one; Slack gives three for all
PATIENT_BEGINNINGS = 3  # as with runs: what was begun so often without an end lets the others go first
_IN_TURN = """(lane = '' OR NOT EXISTS (
    SELECT 1 FROM inbox AS earlier WHERE earlier.done_at IS NULL AND earlier.lane = this.lane AND earlier.seq < this.seq
))"""
MAX_BEGINNINGS = 5  # then whoever waits is told what is wrong; about a minute
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Envelope:
    """What somebody did in Slack. ``key``: the same for each delivery of it; ``body``: JSON, only what is needed.

    lane: envelopes of one lane are dealt with one after the other, as they came; of none ("") all at once.
    """

    key: str
    kind: str
    body: Mapping[str, Any]
    lane: str = ""


@dataclass(frozen=True, slots=True)
class Received:
    """An envelope that was stored, for whoever deals with it. ``begun``: for the how-manieth time, from 1."""

    seq: int
    kind: str
    body: Mapping[str, Any]
    begun: int


class Once:
    """The steps of dealing with one envelope."""

    def __init__(self, database: Database, received: Received) -> None:
        self._database = database
        self._seq = received.seq
        self.patient = received.begun < MAX_BEGINNINGS  # whether trouble with the state is no reason to give up

    def __call__(self, step: str, work: Callable[[], T]) -> T:
        """Do a step, or get what came of it the first time.

        The result is JSON: no tuples, no values of ours. ``work`` changes the state, and nothing but the state.
        """
        with self._database.transaction():
            sql = "SELECT result FROM inbox_steps WHERE envelope = ? AND step = ?"
            for done in self._database.read(lambda row: json.loads(row["result"]), sql, self._seq, step):
                return done  # type: ignore[no-any-return]  # of the same work
            result = work()
            self._database.insert("inbox_steps", envelope=self._seq, step=step, result=to_text(result))
            return result


class Inbox(Table):
    """All envelopes of Slack that were stored."""

    def __init__(self, database: Database, clock: Clock, *, lease: timedelta = LEASE) -> None:
        super().__init__(database, clock)
        self.lease = lease

    def put(self, envelopes: Iterable[Envelope]) -> None:
        """Store all of them, or none; what is there already stays as it is."""
        with self._database.transaction(PATIENCE):
            for envelope in envelopes:
                self._database.insert(
                    "inbox", "ON CONFLICT (key) DO NOTHING", key=envelope.key, kind=envelope.kind, lane=envelope.lane,
                    body=to_text(envelope.body), came_at=self._clock(),
                )  # fmt: skip

    def claim(self, owner: str, limit: int, kinds: Collection[str]) -> tuple[Received, ...]:
        """So many of these kinds that nobody deals with, the oldest first; they are the owner's for one lease."""
        marks = ", ".join("?" * len(kinds))
        open_ones = (
            "SELECT * FROM inbox AS this WHERE done_at IS NULL AND (lease_until IS NULL OR lease_until <= ?)"  # noqa: S608 question marks
            f" AND kind IN ({marks}) AND {_IN_TURN} ORDER BY begun / {PATIENT_BEGINNINGS}, seq LIMIT ?"
        )
        if limit < 1 or not self._database.query(open_ones, self._clock(), *kinds, 1):
            return ()  # asked often: without taking the lock for writing
        with self._database.transaction():
            now = self._clock()
            found = tuple(self._database.read(_received, open_ones, now, *kinds, limit))
            for received in found:
                self._database.execute(
                    "UPDATE inbox SET lease_owner = ?, lease_until = ?, begun = begun + 1 WHERE seq = ?",
                    owner, now + self.lease, received.seq,
                )  # fmt: skip
            return found

    def renew(self, owner: str, numbers: Collection[int]) -> None:
        """Keep the leases of these envelopes."""
        marks = ", ".join("?" * len(numbers))
        self._database.execute(
            f"UPDATE inbox SET lease_until = ? WHERE lease_owner = ? AND seq IN ({marks})",  # noqa: S608 question marks
            self._clock() + self.lease, owner, *numbers,
        )  # fmt: skip

    def once(self, received: Received) -> Once:
        """What does each step of dealing with this envelope once."""
        return Once(self._database, received)

    def done(self, seq: int) -> None:
        """It was dealt with; what it said is dropped, that it was here is kept for a while."""
        self._database.execute("UPDATE inbox SET done_at = ?, body = '{}' WHERE seq = ?", self._clock(), seq)

    def give_back(self, owner: str, numbers: Collection[int]) -> None:
        """Nobody has begun with these: another may, at once."""
        marks = ", ".join("?" * len(numbers))
        self._database.execute(
            f"UPDATE inbox SET lease_until = NULL, begun = begun - 1 WHERE lease_owner = ? AND seq IN ({marks})",  # noqa: S608 question marks
            owner, *numbers,
        )  # fmt: skip

    def forget(self, before: datetime) -> None:
        """Drop what was dealt with before this time."""
        self._database.execute("DELETE FROM inbox WHERE done_at < ?", before)


def _received(row: Row) -> Received:
    return Received(row["seq"], row["kind"], _object(row["body"]), row["begun"] + 1)


def _object(text: str) -> Mapping[str, Any]:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise TypeError("an envelope is an object")
    return found
