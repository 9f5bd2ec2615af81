"""A clock that stands still until it is told, and a few things to put into a state."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from bot.state.runs import Run, RunRequest, Trigger
from bot.state.state import State


@dataclass
class Hands:
    """A clock; call it for the time, move it with ``forward``."""

    now: datetime = field(default_factory=lambda: datetime(2026, 11, 21, 12, 0, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **parts: float) -> None:
        self.now += timedelta(**parts)


def asking(job: str = "f07", *, team: str = "T1", channel: str = "C1", user: str = "U1") -> RunRequest:
    return RunRequest(job, team, channel, user, Trigger.COMMAND)


def ask(state: State, job: str = "f07", *, channel: str = "C1", forced: bool = False) -> Run:
    return state.runs.ask(asking(job, channel=channel), forced=forced).run


def now(state: State, run: Run) -> Run:
    found = state.runs.get(run.id)
    assert found is not None
    return found


def latest(state: State, team: str, channel: str, job: str) -> Run | None:
    """The newest diagnosis of this job in this channel, whatever became of it."""
    sql = "SELECT id FROM runs WHERE team = ? AND channel = ? AND job = ? ORDER BY seq DESC LIMIT 1"
    found = state.database.query(sql, team, channel, job)
    return state.runs.get(found[0]["id"]) if found else None


def votes(state: State, run: Run) -> list[bool]:
    """Whether each person who said so found the answer useful."""
    rows = state.database.query("SELECT useful FROM feedback WHERE run = ? ORDER BY user", run.id)
    return [bool(row["useful"]) for row in rows]


def not_dealt_with(state: State) -> int:
    """How many envelopes of the inbox are left."""
    return len(state.database.query("SELECT seq FROM inbox WHERE done_at IS NULL"))
