"""Channels that asked in Slack to be told of jobs that fail: who asked for it, and since when."""

from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial

from bot.state import posts
from bot.state.runs import Run, Trigger
from bot.state.small_values import Status, Table, value_of

POSTS = "follow_posts"
SCHEMA = f"""
CREATE TABLE follows (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, team TEXT NOT NULL, channel TEXT NOT NULL,
    asked_by TEXT NOT NULL, asked_at TEXT NOT NULL, UNIQUE (team, channel)
);
{posts.schema(POSTS, "follows")}"""


@dataclass(frozen=True, slots=True)
class Follow:
    """One channel that is told of every job that fails in the jobs folder."""

    id: str
    team: str
    channel: str
    asked_by: str
    asked_at: datetime

    def as_run(self) -> Run:
        """The follow as what a post belongs to."""
        return Run(
            self.id, "the jobs folder", self.team, self.channel, self.asked_by, self.asked_at, Trigger.FOLLOW,
            Status.RUNNING, "",
        )  # fmt: skip


_follow = partial(value_of, Follow)


class Follows(Table):
    """All channels that asked to be told."""

    def add(self, team: str, channel: str, user: str) -> tuple[Follow, bool]:
        """The follow of this channel, and whether it is a new one."""
        with self._database.transaction():
            found = self.of_channel(team, channel)
            if found is not None:
                return found, False
            follow = Follow(self._unused_id("follows", "fo"), team, channel, user, self._clock())
            self._database.insert("follows", **asdict(follow))
            return follow, True

    def get(self, follow_id: str) -> Follow | None:
        """The follow as it is now."""
        return next(self._database.read(_follow, "SELECT * FROM follows WHERE id = ?", follow_id), None)

    def of_channel(self, team: str, channel: str) -> Follow | None:
        """The follow of this channel."""
        sql = "SELECT * FROM follows WHERE team = ? AND channel = ?"
        return next(self._database.read(_follow, sql, team, channel), None)

    def all(self) -> tuple[Follow, ...]:
        """Every channel that is told, the oldest first."""
        return tuple(self._database.read(_follow, "SELECT * FROM follows ORDER BY seq"))

    def end(self, follow_id: str) -> bool:
        """The channel is told no more, and what was noted for it is dropped; False when it was not told before."""
        with self._database.transaction():
            self._database.execute("DELETE FROM followed WHERE follower = ?", follow_id)
            return self._database.execute("DELETE FROM follows WHERE id = ?", follow_id) == 1
