"""Whether an answer was useful: one vote a person and run, the last one counts."""

from bot.state.small_values import Table

SCHEMA = """
CREATE TABLE feedback (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, user TEXT NOT NULL, useful INTEGER NOT NULL,
    at TEXT NOT NULL, PRIMARY KEY (run, user)
) WITHOUT ROWID;
"""


class Feedback(Table):
    """What people said of answers: helpful or not."""

    def give(self, run: str, user: str, *, useful: bool) -> None:
        """Store the vote of a person about the answer of a run, in place of an earlier one."""
        newer = "ON CONFLICT (run, user) DO UPDATE SET useful = excluded.useful, at = excluded.at"
        self._database.insert("feedback", newer, run=run, user=user, useful=int(useful), at=self._clock())
