"""Jobs of the jobs folder that ended: which were diagnosed unasked, which wait for their turn, which are no news."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.state.database import Database, Row
from bot.state.values import Clock, moment_of

SCHEMA = """
CREATE TABLE followed (
    job TEXT PRIMARY KEY, lineage TEXT NOT NULL, at TEXT NOT NULL, fate TEXT NOT NULL, run TEXT NOT NULL DEFAULT '',
    compared INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX followed_by_fate ON followed (fate, at);
CREATE INDEX followed_by_lineage ON followed (lineage, at);
"""
_BEGUN = ""  # no job: since this row is there, what ends is news


class FollowStatus(StrEnum):
    """What became of a job that ended."""

    NO_NEWS = "no news"  # it ended well, or before anybody followed
    WAITS = "waits"  # for the end of quiet hours, or of the hour
    ASKED = "asked"  # its diagnosis was queued
    LISTED = "listed"  # it stands in a digest


@dataclass(frozen=True, slots=True)
class FollowedJob:
    """A job that ended. lineage: name of the run that it is an attempt of, empty without one. run: its diagnosis."""

    job: str
    lineage: str
    at: datetime
    fate: FollowStatus
    run: str = ""


class FollowedJobs:
    """All of them."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def begun(self) -> bool:
        """Whether somebody has followed before."""
        return bool(self._database.query("SELECT 1 FROM followed WHERE job = ?", _BEGUN))

    def begin(self) -> None:
        """From now on what ends is news."""
        self.add(_BEGUN, "", FollowStatus.NO_NEWS)

    def known(self) -> set[str]:
        """Jobs of which nothing more is to come."""
        return {row["job"] for row in self._database.query("SELECT job FROM followed")}

    def add(self, job: str, lineage: str, fate: FollowStatus) -> bool:
        """Note that a job has ended; False when somebody has noted it before."""
        sql = "INSERT INTO followed (job, lineage, at, fate) VALUES (?, ?, ?, ?) ON CONFLICT (job) DO NOTHING"
        return bool(self._database.execute(sql, job, lineage, self._clock(), fate))

    def alert(self, job: str, lineage: str) -> None:
        """Somebody says that this job is in trouble: it waits for its turn, unless it was told of before."""
        sql = (
            "INSERT INTO followed (job, lineage, at, fate) VALUES (?, ?, ?, ?) ON CONFLICT (job) DO UPDATE"
            " SET fate = excluded.fate, at = excluded.at, lineage = excluded.lineage WHERE followed.fate = ?"
        )
        self._database.execute(sql, job, lineage, self._clock(), FollowStatus.WAITS, FollowStatus.NO_NEWS)

    def waiting(self) -> tuple[FollowedJob, ...]:
        """What waits for its turn, the oldest first."""
        return self._select("fate = ?", FollowStatus.WAITS)

    def asked(self, job: str, run: str) -> bool:
        """Its diagnosis is queued; False when somebody was faster."""
        sql = "UPDATE followed SET fate = ?, run = ?, at = ? WHERE job = ? AND fate = ?"
        return bool(self._database.execute(sql, FollowStatus.ASKED, run, self._clock(), job, FollowStatus.WAITS))

    def listed(self, job: str, run: str) -> bool:
        """It stands in the digest that hangs on this run; False when somebody was faster."""
        sql = "UPDATE followed SET fate = ?, run = ?, at = ? WHERE job = ? AND fate = ?"
        return bool(self._database.execute(sql, FollowStatus.LISTED, run, self._clock(), job, FollowStatus.WAITS))

    def since(self, moment: datetime) -> tuple[FollowedJob, ...]:
        """What was diagnosed or listed since then."""
        return self._select("fate IN ('asked', 'listed') AND at > ?", moment)

    def diagnosed(self) -> tuple[FollowedJob, ...]:
        """What was diagnosed, the oldest first."""
        return self._select("fate = ?", FollowStatus.ASKED)

    def of_lineage(self, lineage: str) -> tuple[FollowedJob, ...]:
        """Attempts of a run that were diagnosed unasked, the oldest first; none without a name."""
        return self._select("fate = ? AND lineage = ?", FollowStatus.ASKED, lineage) if lineage else ()

    def not_compared(self) -> tuple[FollowedJob, ...]:
        """Diagnosed ones that were not compared with the attempts before."""
        return self._select("fate = ? AND compared = 0", FollowStatus.ASKED)

    def compared(self, job: str) -> None:
        """This one was."""
        self._database.execute("UPDATE followed SET compared = 1 WHERE job = ?", job)

    def _select(self, where: str, *values: object) -> tuple[FollowedJob, ...]:
        sql = f"SELECT * FROM followed WHERE {where} AND job != '' ORDER BY at, job"  # noqa: S608 a constant of ours
        return tuple(self._database.read(_followed, sql, *values))


def _followed(row: Row) -> FollowedJob:
    return FollowedJob(row["job"], row["lineage"], moment_of(row["at"]), FollowStatus(row["fate"]), row["run"])
