"""Whether an answer was useful: one vote a person and run, the last one counts."""

from dataclasses import dataclass

from bot.state.database import Database
from bot.state.small_values import Clock

SCHEMA = """
CREATE TABLE feedback (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, user TEXT NOT NULL, useful INTEGER NOT NULL,
    at TEXT NOT NULL, PRIMARY KEY (run, user)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Votes:
    """How many found it useful, and how many did not."""

    useful: int
    useless: int


class Feedback:
    """What people said of answers: helpful or not."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def give(self, run: str, user: str, *, useful: bool) -> None:
        """Somebody says, or says otherwise."""
        self._database.execute(
            "INSERT INTO feedback (run, user, useful, at) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (run, user) DO UPDATE SET useful = excluded.useful, at = excluded.at",
            run, user, int(useful), self._clock(),
        )  # fmt: skip

    def votes(self, run: str) -> Votes:
        """What people said about a run."""
        sql = "SELECT count(*) AS n, coalesce(sum(useful), 0) AS useful FROM feedback WHERE run = ?"
        row = self._database.query(sql, run)[0]
        return Votes(row["useful"], row["n"] - row["useful"])
