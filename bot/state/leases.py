"""Who works on what, until when: the same rules for runs and for questions.

A row waits (queued), is worked on under a lease that its owner renews (running), and is concluded. A concluded row
stays with its owner until somebody has told the asker; whoever dies in between loses the lease, and another goes on
from there. Nobody changes a row whose lease is another's.

``attempts`` counts deaths of the child that worked on the row. That a worker ends, or is killed, with its bot says
nothing about the row, so that is not counted; but what was begun again and again without an end waits behind the
others, in case it is what ends the bot.
"""

# ruff: noqa: S608 the names of tables and columns in the statements are constants of ours, values are bound

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.outgoing.errors import Failure
from bot.state.database import Database
from bot.state.small_values import Clock, Status, failure_text

LEASE = timedelta(seconds=30)  # renewed at a third of it; a dead worker's run waits this long at most
PATIENT_BEGINNINGS = 3  # after so many without an end a row lets the others go first; then after as many more
MAX_TELLINGS = 12  # with the pauses below about two hours of a silent Slack
# Chosen: Slack's short trouble is over in seconds, its outages last hours.
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=5), timedelta(minutes=15)

COLUMNS = """
    status TEXT NOT NULL, revision INTEGER NOT NULL DEFAULT 1, attempts INTEGER NOT NULL DEFAULT 0,
    lease_owner TEXT, lease_until TEXT, started_at TEXT, finished_at TEXT, error TEXT,
    told INTEGER NOT NULL DEFAULT 0, tellings INTEGER NOT NULL DEFAULT 0
"""
# The fourth version: how often a worker began since one handed it back; what was counted before is forgiven.
BEGINNINGS = "".join(
    f"ALTER TABLE {table} ADD COLUMN begun INTEGER NOT NULL DEFAULT 0;\n"
    f"UPDATE {table} SET attempts = 0 WHERE status IN ('queued', 'running');\n"
    for table in ("runs", "questions")
)
_ACTIVE = "status IN ('queued', 'running')"
_CONCLUDED = f"NOT {_ACTIVE}"
_FREE = "(lease_until IS NULL OR lease_until <= ?)"


@dataclass(frozen=True, slots=True)
class Leases:
    """The leases of one table. condition: narrows what may be claimed now; first: sorts it. lease: how long one lasts.

    Conditions and names are SQL of ours.
    """

    database: Database
    clock: Clock
    table: str
    condition: str = "1"
    first: str = "NULL"
    lease: timedelta = LEASE

    def claim(self, owner: str) -> str | None:
        """The id of the row that nobody works on and whose turn it is: the oldest, unless it was begun too often."""
        with self.database.transaction():
            now = self.clock()
            rows = self.database.query(
                f"SELECT id FROM {self.table} AS this WHERE {_ACTIVE} AND {_FREE} AND {self.condition}"
                f" ORDER BY begun / {PATIENT_BEGINNINGS}, {self.first}, seq LIMIT 1",
                now,
            )
            if not rows:
                return None
            self._take(rows[0]["id"], owner, now)
            return str(rows[0]["id"])

    def renew(self, row_id: str, owner: str) -> bool:
        """Keep the lease; False when it was lost."""
        now = self.clock()
        return self._update(row_id, owner, {"lease_until": now + self.lease}, "1")

    def conclude(self, row_id: str, owner: str, status: Status, failure: Failure | None = None) -> bool:
        """The work is over; the owner goes on to tell. False when the lease was lost."""
        now = self.clock()
        changes = {
            "status": status,
            "finished_at": now,
            "error": None if failure is None else failure_text(failure),
            "lease_until": now + self.lease,
            "tellings": 1,
        }
        return self._update(row_id, owner, changes, _ACTIVE)

    def hand_back(self, row_id: str, owner: str, *, counted: bool) -> bool:
        """Let another try; ``counted``: this attempt counts, because its child died."""
        changes: dict[str, object] = {"status": Status.QUEUED, "lease_owner": None, "lease_until": None, "begun": 0}
        return self._update(row_id, owner, changes, "status = 'running'", deaths=1 if counted else 0)

    def claim_telling(self, owner: str) -> str | None:
        """The id of a concluded row that nobody was told of, because its owner died or Slack did not answer."""
        with self.database.transaction():
            now = self.clock()
            rows = self.database.query(
                f"SELECT id FROM {self.table} WHERE told = 0 AND {_CONCLUDED} AND {_FREE} ORDER BY seq LIMIT 1", now
            )
            if not rows:
                return None
            self.database.execute(
                f"UPDATE {self.table} SET lease_owner = ?, lease_until = ?, tellings = tellings + 1 WHERE id = ?",
                owner, now + self.lease, rows[0]["id"],
            )  # fmt: skip
            return str(rows[0]["id"])

    def mark_told(self, row_id: str, owner: str) -> bool:
        """The asker knows; nothing is left to do."""
        return self._update(row_id, owner, {"told": 1, "lease_owner": None, "lease_until": None}, _CONCLUDED)

    def tell_later(self, row_id: str, owner: str) -> bool:
        """Telling did not work: again after a pause that doubles; False when that was the last time."""
        rows = self.database.query(f"SELECT tellings FROM {self.table} WHERE id = ?", row_id)
        tellings = rows[0]["tellings"] if rows else MAX_TELLINGS
        if tellings >= MAX_TELLINGS:
            self.mark_told(row_id, owner)
            return False
        pause = min(FIRST_PAUSE * 2 ** (tellings - 1), LONGEST_PAUSE)
        changes: dict[str, object] = {"lease_owner": None, "lease_until": self.clock() + pause}
        return self._update(row_id, owner, changes, _CONCLUDED)

    def waiting(self) -> int:
        """How many rows wait for a worker."""
        return int(self.database.query(f"SELECT count(*) AS n FROM {self.table} WHERE status = 'queued'")[0]["n"])

    def _take(self, row_id: str, owner: str, now: datetime) -> None:
        self.database.execute(
            f"UPDATE {self.table} SET status = 'running', begun = begun + 1, revision = revision + 1,"
            " lease_owner = ?, lease_until = ?, started_at = coalesce(started_at, ?) WHERE id = ?",
            owner, now + self.lease, now, row_id,
        )  # fmt: skip

    def _update(
        self, row_id: str, owner: str, changes: Mapping[str, object], condition: str, *, deaths: int = 0
    ) -> bool:
        """Change the row if its lease is the owner's; a new status is a new revision."""
        names = "".join(f"{name} = ?, " for name in changes)
        newer = 1 if "status" in changes else 0
        changed = self.database.execute(
            f"UPDATE {self.table} SET {names}revision = revision + ?, attempts = attempts + ?"
            f" WHERE id = ? AND lease_owner = ? AND {condition}",
            *changes.values(), newer, deaths, row_id, owner,
        )  # fmt: skip
        return changed == 1
