"""Jobs of the jobs folder that ended: which were diagnosed unasked, which wait for their turn, which are no news."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial

from bot.state.small_values import Table, value_of

SCHEMA = """
CREATE TABLE followed (
    job TEXT PRIMARY KEY, lineage TEXT NOT NULL, at TEXT NOT NULL, fate TEXT NOT NULL, run TEXT NOT NULL DEFAULT '',
    compared INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX followed_by_fate ON followed (fate, at);
CREATE INDEX followed_by_lineage ON followed (lineage, at);
"""
# Since channels may follow by themselves, what became of a job is told for each of those who follow.
FOLLOWERS = """
CREATE TABLE followed_by (
    follower TEXT NOT NULL, job TEXT NOT NULL, lineage TEXT NOT NULL, at TEXT NOT NULL, fate TEXT NOT NULL,
    run TEXT NOT NULL DEFAULT '', compared INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (follower, job)
) WITHOUT ROWID;
INSERT INTO followed_by SELECT '', job, lineage, at, fate, run, compared FROM followed;
DROP TABLE followed;
ALTER TABLE followed_by RENAME TO followed;
CREATE INDEX followed_by_fate ON followed (fate, at);
CREATE INDEX followed_by_lineage ON followed (lineage, at);
"""
BY_SETTING = ""  # the follower that the settings name; others are known by the ids of their follows
_BEGUN = ""  # no job: since this row is there, what ends is news


class FollowStatus(StrEnum):
    """What became of a job that ended."""

    NO_NEWS = "no news"  # it ended well, or before anybody followed
    WAITS = "waits"  # for the end of quiet hours, or of the hour
    ASKED = "asked"  # its diagnosis was queued
    LISTED = "listed"  # it stands in a digest


@dataclass(frozen=True, slots=True)
class FollowedJob:
    """A job that ended. lineage: name of the run that it is an attempt of, empty without one. run: its diagnosis.

    follower: for whom, the id of a follow or ``BY_SETTING``.
    """

    job: str
    lineage: str
    at: datetime
    fate: FollowStatus
    run: str = ""
    follower: str = BY_SETTING


_followed = partial(value_of, FollowedJob)


class FollowedJobs(Table):
    """All jobs that ended, for each follower."""

    def begun(self, follower: str = BY_SETTING) -> bool:
        """Whether this one has followed before."""
        return bool(self._database.query("SELECT 1 FROM followed WHERE follower = ? AND job = ?", follower, _BEGUN))

    def begin(self, follower: str = BY_SETTING) -> None:
        """Begin to follow: jobs that end from now on are news."""
        self.add(_BEGUN, "", FollowStatus.NO_NEWS, follower)

    def known(self, follower: str = BY_SETTING) -> set[str]:
        """Jobs of which nothing more is to come."""
        return {row["job"] for row in self._database.query("SELECT job FROM followed WHERE follower = ?", follower)}

    def add(self, job: str, lineage: str, fate: FollowStatus, follower: str = BY_SETTING) -> bool:
        """Note that a job has ended; False when somebody has noted it before."""
        row = {"follower": follower, "job": job, "lineage": lineage, "at": self._clock(), "fate": fate}
        return bool(self._database.insert("followed", "ON CONFLICT (follower, job) DO NOTHING", **row))

    def alert(self, job: str, lineage: str) -> None:
        """Somebody says that this job is in trouble: it waits for its turn, unless it was told of before."""
        sql = (
            "INSERT INTO followed (follower, job, lineage, at, fate) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (follower, job) DO UPDATE"
            " SET fate = excluded.fate, at = excluded.at, lineage = excluded.lineage WHERE followed.fate = ?"
        )
        self._database.execute(sql, BY_SETTING, job, lineage, self._clock(), FollowStatus.WAITS, FollowStatus.NO_NEWS)

    def waiting(self, follower: str = BY_SETTING) -> tuple[FollowedJob, ...]:
        """What waits for its turn, the oldest first."""
        return self._select("fate = ? AND follower = ?", FollowStatus.WAITS, follower)

    def asked(self, job: str, run: str, follower: str = BY_SETTING) -> bool:
        """Its diagnosis is queued; False when somebody was faster."""
        return self._became(FollowStatus.ASKED, job, run, follower)

    def listed(self, job: str, run: str, follower: str = BY_SETTING) -> bool:
        """It stands in the digest that hangs on this run; False when somebody was faster."""
        return self._became(FollowStatus.LISTED, job, run, follower)

    def since(self, moment: datetime) -> tuple[FollowedJob, ...]:
        """What was diagnosed or listed since then."""
        return self._select("fate IN ('asked', 'listed') AND at > ?", moment)

    def diagnosed(self) -> tuple[FollowedJob, ...]:
        """What was diagnosed, the oldest first."""
        return self._select("fate = ?", FollowStatus.ASKED)

    def of_lineage(self, lineage: str, follower: str = BY_SETTING) -> tuple[FollowedJob, ...]:
        """Attempts of a run that were diagnosed unasked, the oldest first; none without a name."""
        if not lineage:
            return ()
        return self._select("fate = ? AND lineage = ? AND follower = ?", FollowStatus.ASKED, lineage, follower)

    def not_compared(self) -> tuple[FollowedJob, ...]:
        """Diagnosed ones that were not compared with the attempts before."""
        return self._select("fate = ? AND compared = 0", FollowStatus.ASKED)

    def compared(self, job: str, follower: str = BY_SETTING) -> None:
        """Note that a followed job was compared with the others of its run."""
        self._database.execute("UPDATE followed SET compared = 1 WHERE job = ? AND follower = ?", job, follower)

    def _became(self, fate: FollowStatus, job: str, run: str, follower: str) -> bool:
        """Whether what waited has another fate now."""
        sql = "UPDATE followed SET fate = ?, run = ?, at = ? WHERE job = ? AND follower = ? AND fate = ?"
        return bool(self._database.execute(sql, fate, run, self._clock(), job, follower, FollowStatus.WAITS))

    def _select(self, where: str, *values: object) -> tuple[FollowedJob, ...]:
        sql = f"SELECT * FROM followed WHERE {where} AND job != '' ORDER BY at, job"  # noqa: S608 a constant of ours
        return tuple(self._database.read(_followed, sql, *values))
