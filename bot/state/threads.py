"""The bot's own threads, and the questions that people ask in them: a queue, and the memory of the conversation.

``conversations.replies`` may be limited to one call a minute, so what was said is kept here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from bot.outgoing.errors import Failure
from bot.state import leases
from bot.state.database import Database
from bot.state.small_values import Clock, Status, Table, value_of

SCHEMA = f"""
CREATE TABLE threads (
    team TEXT NOT NULL, channel TEXT NOT NULL, thread_ts TEXT NOT NULL,
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, PRIMARY KEY (team, channel, thread_ts)
) WITHOUT ROWID;
CREATE INDEX threads_by_run ON threads (run);
CREATE TABLE questions (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
    team TEXT NOT NULL, channel TEXT NOT NULL, thread_ts TEXT NOT NULL, ts TEXT NOT NULL,
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    user TEXT NOT NULL, text TEXT NOT NULL, asked_at TEXT NOT NULL, reply TEXT NOT NULL DEFAULT '', {leases.COLUMNS},
    UNIQUE (team, channel, ts)
);
CREATE INDEX questions_by_status ON questions (status, lease_until);
CREATE INDEX questions_by_thread ON questions (team, channel, thread_ts);
CREATE INDEX questions_by_run ON questions (run);
CREATE INDEX questions_to_tell ON questions (told, lease_until);
"""
# One after the other within a thread, so that an answer knows what was said before it; threads do not wait for others.
_IN_TURN = """NOT EXISTS (
    SELECT 1 FROM questions AS earlier WHERE earlier.status IN ('queued', 'running') AND earlier.seq < this.seq
    AND earlier.team = this.team AND earlier.channel = this.channel AND earlier.thread_ts = this.thread_ts
)"""


@dataclass(frozen=True, slots=True)
class ThreadQuestion:
    """One message in a thread of the bot, and the reply to it (empty while there is none)."""

    id: str
    run: str
    team: str
    channel: str
    thread_ts: str
    ts: str
    user: str
    text: str
    asked_at: datetime
    status: Status
    reply: str = ""
    revision: int = 1
    attempts: int = 0
    failure: Failure | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    told: bool = False


_question = partial(value_of, ThreadQuestion, failure="error")


class Threads(Table):
    """Threads and their questions; ``leases`` is for those who answer."""

    def __init__(self, database: Database, clock: Clock, *, lease: timedelta = leases.LEASE) -> None:
        super().__init__(database, clock)
        self.leases = leases.Leases(database, clock, table="questions", condition=_IN_TURN, lease=lease)

    def own(self, team: str, channel: str, thread_ts: str, run: str) -> None:
        """From now on this thread is about this run; a later run about the same job may take it over."""
        newer = "ON CONFLICT DO UPDATE SET run = excluded.run"
        self._database.insert("threads", newer, team=team, channel=channel, thread_ts=thread_ts, run=run)

    def run_of(self, team: str, channel: str, thread_ts: str) -> str | None:
        """The run that the thread is about; None when it is not the bot's."""
        rows = self._database.query(
            "SELECT run FROM threads WHERE team = ? AND channel = ? AND thread_ts = ?", team, channel, thread_ts
        )
        return rows[0]["run"] if rows else None

    def add(self, team: str, channel: str, thread_ts: str, *, ts: str, user: str, text: str) -> ThreadQuestion | None:
        """Somebody says something in a thread; None when it is not the bot's thread, or was added before."""
        with self._database.transaction():
            run = self.run_of(team, channel, thread_ts)
            if run is None:
                return None
            question_id = self._unused_id("questions", "q")
            added = self._database.insert(
                "questions", "ON CONFLICT (team, channel, ts) DO NOTHING", id=question_id, run=run, team=team,
                channel=channel, thread_ts=thread_ts, ts=ts, user=user, text=text, asked_at=self._clock(),
                status=Status.QUEUED,
            )  # fmt: skip
            return self.question(question_id) if added else None

    def question(self, question_id: str) -> ThreadQuestion | None:
        """The question as it is now."""
        return next(self._select("id = ?", question_id), None)

    def save_reply(self, question_id: str, owner: str, reply: str) -> bool:
        """Keep the reply; False when the question is another's meanwhile."""
        sql = "UPDATE questions SET reply = ? WHERE id = ? AND lease_owner = ?"
        return self._database.execute(sql, reply, question_id, owner) == 1

    def conversation(self, team: str, channel: str, thread_ts: str) -> tuple[ThreadQuestion, ...]:
        """Everything that was asked in the thread, in Slack's order."""
        return tuple(self._select("team = ? AND channel = ? AND thread_ts = ?", team, channel, thread_ts))

    def _select(self, where: str, *values: object) -> Iterator[ThreadQuestion]:
        sql = f"SELECT * FROM questions WHERE {where} ORDER BY ts, seq"  # noqa: S608 conditions of ours
        return self._database.read(_question, sql, *values)
