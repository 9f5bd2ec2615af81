"""Runs: who asked for which job, where the answer goes, how far it is, and what came out."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial

from bot.outgoing.errors import Failure
from bot.state import leases
from bot.state.answers import SavedAnswer, answer_of, answer_text
from bot.state.database import Database
from bot.state.small_values import Clock, Status, Table, value_of

SCHEMA = f"""
CREATE TABLE runs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
    team TEXT NOT NULL, channel TEXT NOT NULL, job TEXT NOT NULL,
    asked_by TEXT NOT NULL, asked_at TEXT NOT NULL, asked_through TEXT NOT NULL,
    thread_ts TEXT NOT NULL, message_ts TEXT NOT NULL DEFAULT '',
    deadline TEXT, cancel_by TEXT NOT NULL DEFAULT '', answered_at TEXT, {leases.COLUMNS}
);
CREATE INDEX runs_by_status ON runs (status, lease_until);
CREATE INDEX runs_by_job ON runs (team, channel, job);
CREATE INDEX runs_to_tell ON runs (told, lease_until);
CREATE TABLE answers (run TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, body TEXT NOT NULL);
"""
_PLACE = "team = ? AND (? IS NULL OR channel = ?)"
# The seventh version: what is asked for.
TASKS = "ALTER TABLE runs ADD COLUMN task TEXT NOT NULL DEFAULT 'diagnose';\n"
# The sixth version: whose turn it is.
TURNS = "CREATE INDEX runs_by_asker ON runs (team, asked_by, status);\n"
_ACTIVE = "status IN ('queued', 'running')"
_UNASKED = "asked_through != 'watch'"  # what a watch found goes first: the job has just died, and somebody waits
# Then everybody in turn: whoever asks for fifty jobs lets the next one wait for one of them, not for all.
_OWN = f"team = this.team AND asked_by = this.asked_by AND seq < this.seq AND {_ACTIVE}"
_ORDER = f"{_UNASKED}, (SELECT count(*) FROM runs WHERE {_OWN})"  # noqa: S608 constants of ours
RECENT = 20  # a list in Slack that is longer is not read


class Trigger(StrEnum):
    """By what somebody asked for a run: command, button, message, or the bot itself."""

    COMMAND = "command"
    MENTION = "mention"
    SHORTCUT = "shortcut"
    MESSAGE = "message"
    WATCH = "watch"
    ALERT = "alert"  # a message of another program named the job
    FOLLOW = "follow"  # nobody asked: the job failed in the jobs folder


class Task(StrEnum):
    """What somebody asks for."""

    DIAGNOSE = "diagnose"  # of a job
    HISTORY = "history"  # of all attempts of one training; ``job`` is its name, or one of its jobs

    @property
    def noun(self) -> str:
        """What comes of it, in a sentence."""
        return "diagnosis" if self is Task.DIAGNOSE else "history"


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Who wants which job diagnosed, and where; ``thread_ts`` when asked within a thread."""

    job: str
    team: str
    channel: str
    asked_by: str
    trigger: Trigger
    thread_ts: str = ""
    task: Task = Task.DIAGNOSE


@dataclass(frozen=True, slots=True)
class Run:
    """One run. ``revision`` rises with each change that a button may act on; ``message_ts`` is its parent message."""

    id: str
    job: str
    team: str
    channel: str
    asked_by: str
    asked_at: datetime
    trigger: Trigger
    status: Status
    thread_ts: str = ""
    message_ts: str = ""
    revision: int = 1
    attempts: int = 0  # that ended with the death of the child
    begun: int = 0  # by a worker, since one handed it back
    lease_owner: str | None = None
    deadline: datetime | None = None
    cancel_by: str = ""
    failure: Failure | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    told: bool = False
    task: Task = Task.DIAGNOSE


@dataclass(frozen=True, slots=True)
class RequestedRun:
    """The run that answers a question, and whether it was made for it."""

    run: Run
    new: bool


_run = partial(value_of, Run, trigger="asked_through", failure="error")


class Runs(Table):
    """All runs; ``leases`` is for those who work on them."""

    def __init__(self, database: Database, clock: Clock, *, lease: timedelta = leases.LEASE) -> None:
        super().__init__(database, clock)
        self.leases = leases.Leases(database, clock, table="runs", first=_ORDER, lease=lease)

    def ask(self, request: RunRequest, *, forced: bool = False) -> RequestedRun:
        """A new run, or the one that is about the same job in the same channel already.

        One that waits or runs always answers for the newcomer; one that has an answer does unless ``forced``.
        """
        with self._database.transaction():
            found = self._alike(request, ("queued", "running") if forced else ("queued", "running", "done", "expired"))
            return RequestedRun(found, new=False) if found else RequestedRun(self._insert(request), new=True)

    def get(self, run_id: str) -> Run | None:
        """The run as it is now."""
        return next(self._select("id = ?", run_id), None)

    def active(self, team: str, channel: str | None = None) -> tuple[Run, ...]:
        """What waits or runs, oldest first."""
        found = self._select("status IN ('queued', 'running') AND " + _PLACE, team, channel, channel)
        return tuple(found)[::-1]

    def recent(self, team: str, channel: str | None = None, *, limit: int = RECENT) -> tuple[Run, ...]:
        """What is over, newest first."""
        found = self._select("status NOT IN ('queued', 'running') AND " + _PLACE, team, channel, channel, limit=limit)
        return tuple(found)

    def of_person(self, team: str, user: str, *, limit: int) -> tuple[Run, ...]:
        """What somebody asked for, wherever, newest first."""
        return tuple(self._select("team = ? AND asked_by = ?", team, user, limit=limit))

    def undecided(self, team: str, *, limit: int) -> tuple[Run, ...]:
        """What has an answer with a draft about which no decision stands, newest first."""
        where = (
            "team = ? AND status = 'done' AND EXISTS (SELECT 1 FROM drafts WHERE run = runs.id)"
            " AND NOT EXISTS (SELECT 1 FROM decisions WHERE run = runs.id AND undone_at IS NULL)"
        )
        return tuple(self._select(where, team, limit=limit))

    def unposted(self, before: datetime) -> tuple[Run, ...]:
        """What waits or runs, was asked for before this time, and has no message yet; oldest first."""
        found = self._select("status IN ('queued', 'running') AND message_ts = '' AND asked_at < ?", before)
        return tuple(found)[::-1]

    def ended(self, since: datetime) -> tuple[Run, ...]:
        """What is over since this time, was told, and has a message; oldest first."""
        found = self._select("told = 1 AND message_ts != '' AND finished_at >= ?", since)
        return tuple(found)[::-1]

    def is_posting(self, team: str, channel: str) -> bool:
        """Whether a run of this channel waits for its message, which may stand there already."""
        sql = (
            "SELECT 1 FROM runs WHERE team = ? AND channel = ? AND message_ts = '' AND cancel_by = ''"
            " AND (status IN ('queued', 'running') OR told = 0) LIMIT 1"
        )
        return bool(self._database.query(sql, team, channel))

    def place(self, run_id: str) -> int:
        """Its place in the queue: 1 is the next, 0 does not wait (any more)."""
        rows = self._database.query(
            f"WITH turns AS (SELECT id, seq, status, {_UNASKED} AS later,"  # noqa: S608 constants of ours
            " row_number() OVER (PARTITION BY team, asked_by ORDER BY seq) AS turn"
            f" FROM runs WHERE {_ACTIVE})"
            " SELECT count(*) AS n FROM turns, (SELECT * FROM turns WHERE id = ?) AS mine"
            " WHERE turns.status = 'queued' AND mine.status = 'queued'"
            " AND (turns.later, turns.turn, turns.seq) <= (mine.later, mine.turn, mine.seq)",
            run_id,
        )
        return int(rows[0]["n"])

    def cancel(self, run_id: str, by: str) -> Run | None:
        """Somebody wants no answer: what waits is over at once, what runs is stopped by its worker within a second.

        Done twice, or to a run that is over, it changes nothing. The run as it is then; None when there is none.
        """
        with self._database.transaction():
            now = self._clock()
            self._database.execute(
                "UPDATE runs SET status = 'cancelled', cancel_by = ?, finished_at = ?, revision = revision + 1,"
                " lease_owner = NULL, lease_until = NULL WHERE id = ? AND status = 'queued'",
                by, now, run_id,
            )  # fmt: skip
            self._database.execute(
                "UPDATE runs SET cancel_by = ?, revision = revision + 1"
                " WHERE id = ? AND status = 'running' AND cancel_by = ''",
                by, run_id,
            )  # fmt: skip
            return self.get(run_id)

    def cancelled(self, run_ids: Iterable[str]) -> frozenset[str]:
        """Which of these somebody wants to end."""
        wanted = list(run_ids)
        marks = ", ".join("?" * len(wanted))
        sql = f"SELECT id FROM runs WHERE cancel_by != '' AND id IN ({marks})"  # noqa: S608 only question marks
        rows = self._database.query(sql, *wanted)
        return frozenset(row["id"] for row in rows)

    def set_deadline(self, run_id: str, deadline: datetime) -> None:
        """When it must be over; each attempt has its own, so that a bot that was off for an hour can still resume."""
        self._database.execute("UPDATE runs SET deadline = ? WHERE id = ?", deadline, run_id)

    def set_message(self, run_id: str, message_ts: str) -> None:
        """Its parent message in the channel."""
        self._database.execute("UPDATE runs SET message_ts = ? WHERE id = ?", message_ts, run_id)

    def save_answer(self, run_id: str, owner: str, answer: SavedAnswer) -> bool:
        """Keep the answer as far as it is known; False when the run is another's meanwhile."""
        with self._database.transaction():
            mine = self._database.execute(
                "UPDATE runs SET answered_at = coalesce(answered_at, ?), revision = revision + 1"
                " WHERE id = ? AND lease_owner = ?",
                self._clock(), run_id, owner,
            )  # fmt: skip
            if mine:
                newer = "ON CONFLICT (run) DO UPDATE SET body = excluded.body"
                self._database.insert("answers", newer, run=run_id, body=answer_text(answer))
            return bool(mine)

    def add_pictures(self, run_id: str, answer: SavedAnswer) -> None:
        """The files of an answer that was given before; nothing that a button acts on has changed."""
        self._database.execute("UPDATE answers SET body = ? WHERE run = ?", answer_text(answer), run_id)

    def answer(self, run_id: str) -> SavedAnswer | None:
        """The answer of a run, as it was stored last."""
        sql = "SELECT body FROM answers WHERE run = ?"
        return next(self._database.read(lambda row: answer_of(row["body"]), sql, run_id), None)

    def forget(self, before: datetime) -> tuple[str, ...]:
        """Drop what was over, and told, before this time; the ids, so that their files can go as well."""
        with self._database.transaction():
            rows = self._database.query("SELECT id FROM runs WHERE told = 1 AND finished_at < ?", before)
            for row in rows:
                self._database.execute("DELETE FROM runs WHERE id = ?", row["id"])
            return tuple(row["id"] for row in rows)

    def _alike(self, request: RunRequest, statuses: tuple[str, ...]) -> Run | None:
        marks = ", ".join("?" * len(statuses))
        where = f"team = ? AND channel = ? AND job = ? AND task = ? AND cancel_by = '' AND status IN ({marks})"
        values = request.team, request.channel, request.job, request.task
        return next(self._select(where, *values, *statuses), None)

    def _insert(self, request: RunRequest) -> Run:
        run_id = self._unused_id("runs", "r")
        asked = {("asked_through" if name == "trigger" else name): value for name, value in asdict(request).items()}
        self._database.insert("runs", id=run_id, asked_at=self._clock(), status=Status.QUEUED, **asked)
        return next(self._select("id = ?", run_id))

    def _select(self, where: str, *values: object, limit: int = -1) -> Iterator[Run]:
        sql = f"SELECT * FROM runs WHERE {where} ORDER BY seq DESC LIMIT ?"  # noqa: S608 conditions of ours
        return self._database.read(_run, sql, *values, limit)
