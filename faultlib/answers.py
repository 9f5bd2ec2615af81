"""What people answer where a pattern was shown: this was it, or this was not it; the last word of each counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from faultlib.database import Database


class Verdict(StrEnum):
    """What somebody says of a pattern that was shown for a job."""

    RIGHT = "this was it"
    WRONG = "this was not it"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class Answers:
    """How many said of a pattern that it was right, and that it was wrong."""

    right: int = 0
    wrong: int = 0


_COUNTED = """
    SELECT pattern, sum(verdict = 'this was it'), sum(verdict = 'this was not it') FROM answers
    WHERE number IN (SELECT max(number) FROM answers GROUP BY pattern, job, who) GROUP BY pattern
"""


def count_answers(database: Database) -> Mapping[str, Answers]:
    """By pattern id; a pattern that nobody has judged is not there."""
    if not database.rows("SELECT 1 FROM sqlite_master WHERE name = 'answers'"):
        return {}  # of an older version, and it can only be read
    return {name: Answers(right, wrong) for name, right, wrong in database.rows(_COUNTED)}


def add_answer(database: Database, pattern: str, job: str, verdict: Verdict, *, who: str, at: str) -> bool:
    """Keep an answer; False when it is that person's last word already. Nothing is deleted: undo is an answer too."""
    last = database.rows(
        "SELECT verdict FROM answers WHERE pattern = ? AND job = ? AND who = ? ORDER BY number DESC LIMIT 1",
        (pattern, job, who),
    )
    if (last[0][0] if last else Verdict.WITHDRAWN.value) == verdict.value:
        return False
    database.run(
        "INSERT INTO answers (pattern, job, verdict, who, at) VALUES (?, ?, ?, ?, ?)",
        (pattern, job, verdict.value, who, at),
    )
    return True
