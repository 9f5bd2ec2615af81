"""When something was seen last: ``/healthz`` stores a word here, and approvals that left nothing in the library.

Earlier versions kept here which events of Slack they had seen; the inbox does that now.
"""

from datetime import datetime

from bot.state.small_values import Table

SCHEMA = """
CREATE TABLE seen (key TEXT PRIMARY KEY, at TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX seen_by_time ON seen (at);
"""


class SeenKeys(Table):
    """Keys, and when each was seen last."""

    def touch(self, key: str) -> None:
        """This was seen now, as often before as it may have been."""
        self._database.insert("seen", "ON CONFLICT (key) DO UPDATE SET at = excluded.at", key=key, at=self._clock())

    def has(self, key: str) -> bool:
        """Whether this was seen."""
        return bool(self._database.query("SELECT 1 FROM seen WHERE key = ?", key))

    def forget(self, before: datetime) -> int:
        """Drop what was seen before this time; how many."""
        return self._database.execute("DELETE FROM seen WHERE at < ?", before)
