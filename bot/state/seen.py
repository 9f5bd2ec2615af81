"""What Slack has told us before: it sends an event again when it is not sure, and one mention makes two events."""

from datetime import datetime

from bot.state.database import Database
from bot.state.values import Clock, to_text

SCHEMA = """
CREATE TABLE seen (key TEXT PRIMARY KEY, at TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX seen_by_time ON seen (at);
"""


class Seen:
    """Keys of events: (team, event id), or (team, channel, ts) of a message."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def first_time(self, *key: str) -> bool:
        """Whether this was never seen before; from now on it was.

        Call it in one ``State.together()`` with what the event leads to: else an event whose first try died is lost.
        """
        sql = "INSERT INTO seen (key, at) VALUES (?, ?) ON CONFLICT (key) DO NOTHING"
        return self._database.execute(sql, to_text(key), self._clock()) == 1

    def touch(self, key: str) -> None:
        """This was seen now, as often before as it may have been."""
        sql = "INSERT INTO seen (key, at) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET at = excluded.at"
        self._database.execute(sql, key, self._clock())

    def forget(self, before: datetime) -> int:
        """Drop what was seen before this time; how many."""
        return self._database.execute("DELETE FROM seen WHERE at < ?", before)
