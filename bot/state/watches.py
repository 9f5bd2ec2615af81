"""Running jobs that the bot watches: who asked for it, where, what was found, and what of it was told.

One bot of several that share the state keeps watch (``keep``); whoever comes after it goes on from what is stored here.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import partial

from bot.state import posts
from bot.state.runs import Run, RunRequest, Trigger
from bot.state.small_values import Status, Table, value_of

POSTS = "watch_posts"
SCHEMA = f"""
CREATE TABLE watches (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
    team TEXT NOT NULL, channel TEXT NOT NULL, thread_ts TEXT NOT NULL, job TEXT NOT NULL,
    asked_by TEXT NOT NULL, asked_at TEXT NOT NULL,
    lines INTEGER NOT NULL DEFAULT 0, heard_at TEXT NOT NULL, ended_at TEXT, ended TEXT NOT NULL DEFAULT ''
);
CREATE INDEX watches_open ON watches (ended_at);
CREATE TABLE watch_findings (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, watch TEXT NOT NULL REFERENCES watches (id) ON DELETE CASCADE,
    kind TEXT NOT NULL, subject TEXT NOT NULL, says TEXT NOT NULL, line TEXT NOT NULL, place TEXT NOT NULL,
    at TEXT NOT NULL, told INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX watch_findings_untold ON watch_findings (told);
{posts.schema(POSTS, "watches")}
CREATE TABLE keeper (id INTEGER PRIMARY KEY CHECK (id = 1), owner TEXT NOT NULL, until TEXT NOT NULL);
"""
KEEPING = timedelta(seconds=15)  # after which another bot takes over from one that died
_ALARMS = ("silent", "hung")  # what may come again once it was taken back


@dataclass(frozen=True, slots=True)
class Watch:
    """One job under watch. ``heard_at``: when its last new line came; ``ended``: why it is not watched any more."""

    id: str
    team: str
    channel: str
    thread_ts: str
    job: str
    asked_by: str
    asked_at: datetime
    heard_at: datetime
    ended_at: datetime | None = None
    ended: str = ""

    def request(self) -> RunRequest:
        """The wish for a diagnosis when the job is over."""
        return RunRequest(self.job, self.team, self.channel, self.asked_by, Trigger.WATCH, self.thread_ts)

    def as_run(self) -> Run:
        """The watch as what a post belongs to."""
        return Run(
            self.id, self.job, self.team, self.channel, self.asked_by, self.asked_at, Trigger.WATCH, Status.RUNNING,
            self.thread_ts,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class WatchFinding:
    """What was found, in the order in which it was; ``place``: file and number of ``line``."""

    seq: int
    watch: str
    kind: str
    subject: str
    says: str
    line: str = ""
    place: str = ""


_finding = partial(value_of, WatchFinding)
_watch = partial(value_of, Watch)


class Watches(Table):
    """All watches."""

    def add(self, request: RunRequest, *, limit: int) -> tuple[Watch | None, bool]:
        """A new watch, or the one of this job in this channel; None when there are too many."""
        with self._database.transaction():
            found = self.of_job(request.team, request.channel, request.job)
            if found is not None or len(self.open()) >= limit:
                return found, False
            watch_id, now = self._unused_id("watches", "w"), self._clock()
            asked = {"team": request.team, "channel": request.channel, "thread_ts": request.thread_ts}
            asked |= {"job": request.job, "asked_by": request.asked_by}
            self._database.insert("watches", id=watch_id, asked_at=now, heard_at=now, **asked)
            return self.get(watch_id), True

    def get(self, watch_id: str) -> Watch | None:
        """The watch as it is now."""
        return next(self._select("id = ?", watch_id), None)

    def of_job(self, team: str, channel: str, job: str) -> Watch | None:
        """The open watch of this job in this channel."""
        return next(self._select("ended_at IS NULL AND team = ? AND channel = ? AND job = ?", team, channel, job), None)

    def open(self, team: str | None = None) -> tuple[Watch, ...]:
        """What is watched now, oldest first."""
        return tuple(self._select("ended_at IS NULL AND (? IS NULL OR team = ?)", team, team))

    def heard(self, watch_id: str, lines: int) -> None:
        """So many lines were heard by now: when there are more than before, the job lives."""
        self._database.execute(
            "UPDATE watches SET heard_at = ?, lines = ? WHERE id = ? AND lines != ?",
            self._clock(), lines, watch_id, lines,
        )  # fmt: skip

    def end(self, watch_id: str, why: str) -> bool:
        """It is not watched any more; False when it was not before."""
        sql = "UPDATE watches SET ended_at = ?, ended = ? WHERE id = ? AND ended_at IS NULL"
        return self._database.execute(sql, self._clock(), why, watch_id) == 1

    def note(self, finding: WatchFinding) -> bool:
        """Keep a finding; False when it is known: whoever follows a job anew finds again what was found before."""
        with self._database.transaction():
            watch = self.get(finding.watch)
            if watch is None or watch.ended_at is not None or self._is_known(finding):
                return False
            row = {name: value for name, value in asdict(finding).items() if name != "seq"}
            self._database.insert("watch_findings", at=self._clock(), **row)
            return True

    def untold(self) -> tuple[tuple[Watch, WatchFinding], ...]:
        """What nobody was told of, oldest first, whether the watch goes on or not."""
        sql = "SELECT * FROM watch_findings WHERE told = 0 ORDER BY seq"
        findings = list(self._database.read(_finding, sql))
        found = [(self.get(finding.watch), finding) for finding in findings]
        return tuple((watch, finding) for watch, finding in found if watch is not None)

    def mark_told(self, finding: WatchFinding) -> None:
        """Note that a finding was told, or never will be."""
        self._database.execute("UPDATE watch_findings SET told = 1 WHERE seq = ?", finding.seq)

    def alarm_before(self, finding: WatchFinding) -> WatchFinding | None:
        """The alarm that this finding takes back."""
        rows = self._database.query(
            "SELECT * FROM watch_findings WHERE watch = ? AND subject = ? AND kind IN ('silent', 'hung') AND seq < ?"
            " ORDER BY seq DESC LIMIT 1",
            finding.watch, finding.subject, finding.seq,
        )  # fmt: skip
        return _finding(rows[0]) if rows else None

    def completed(self, watch_id: str) -> bool:
        """Whether the job came to its good end."""
        sql = "SELECT 1 FROM watch_findings WHERE watch = ? AND kind = 'completed' LIMIT 1"
        return bool(self._database.query(sql, watch_id))

    def keep(self, owner: str) -> bool:
        """Whether this bot is the one that keeps watch, for some seconds more."""
        now = self._clock()
        return self._database.execute(
            "INSERT INTO keeper (id, owner, until) VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE"
            " SET owner = excluded.owner, until = excluded.until WHERE keeper.owner = ? OR keeper.until <= ?",
            owner, now + KEEPING, owner, now,
        ) == 1  # fmt: skip

    def resign(self, owner: str) -> None:
        """Give up keeping watch, so that another bot may begin at once."""
        self._database.execute("DELETE FROM keeper WHERE owner = ?", owner)

    def forget(self, before: datetime) -> None:
        """Drop what ended before this time."""
        self._database.execute("DELETE FROM watches WHERE ended_at < ?", before)

    def _is_known(self, finding: WatchFinding) -> bool:
        if finding.kind == "stands":
            return self._stands_already(finding.watch)
        if finding.kind not in (*_ALARMS, "resumed"):
            same = (
                "SELECT 1 FROM watch_findings WHERE watch = ? AND kind = ? AND (kind != 'numbers' OR says = ?) LIMIT 1"
            )
            return bool(self._database.query(same, finding.watch, finding.kind, finding.says))
        rows = self._database.query(
            "SELECT kind FROM watch_findings WHERE watch = ? AND subject = ? AND kind != 'stands'"
            " ORDER BY seq DESC LIMIT 1",
            finding.watch, finding.subject,
        )  # fmt: skip
        alarmed = bool(rows) and rows[0]["kind"] in _ALARMS
        return not alarmed if finding.kind == "resumed" else alarmed

    def _stands_already(self, watch_id: str) -> bool:
        """Whether it was found already that alarms stand, since the oldest that nobody has taken back; or none does."""
        last = self._database.query(
            "SELECT kind, max(seq) AS seq FROM watch_findings WHERE watch = ? AND kind IN ('silent', 'hung', 'resumed')"
            " GROUP BY subject",
            watch_id,
        )
        standing = [row["seq"] for row in last if row["kind"] in _ALARMS]
        found = "SELECT 1 FROM watch_findings WHERE watch = ? AND kind = 'stands' AND seq > ? LIMIT 1"
        return not standing or bool(self._database.query(found, watch_id, min(standing)))

    def _select(self, where: str, *values: object) -> Iterator[Watch]:
        sql = f"SELECT * FROM watches WHERE {where} ORDER BY seq"  # noqa: S608 conditions of ours
        return self._database.read(_watch, sql, *values)
