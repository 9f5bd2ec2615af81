"""What people answer where a pattern was shown: this was it, or this was not it; the last word of each counts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from faultlib.database import Database
from faultlib.pattern import Entry, Sighting


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


@dataclass(frozen=True, slots=True)
class Judged:
    """What most people say of one job: whether it was that fault. at: ISO 8601 in UTC, of the last answer."""

    job: str
    right: bool
    at: str


_JOBS = """
    SELECT pattern, job, sum(verdict = 'this was it') AS yes, sum(verdict = 'this was not it') AS no, max(at)
    FROM answers WHERE number IN (SELECT max(number) FROM answers GROUP BY pattern, job, who)
    GROUP BY pattern, job HAVING yes <> no ORDER BY pattern, job
"""
_COUNTED = """
    SELECT pattern, sum(verdict = 'this was it'), sum(verdict = 'this was not it') FROM answers
    WHERE number IN (SELECT max(number) FROM answers GROUP BY pattern, job, who) GROUP BY pattern
"""


def count_answers(database: Database) -> Mapping[str, Answers]:
    """By pattern id; a pattern that nobody has judged is not there."""
    rows = database.rows(_COUNTED) if _are_there(database) else ()
    return {name: Answers(right, wrong) for name, right, wrong in rows}


def judged_jobs(database: Database) -> Mapping[str, Sequence[Judged]]:
    """The jobs that people judged by pattern id; of one that as many call right as wrong nothing is known."""
    found: dict[str, list[Judged]] = {}
    for name, job, right, wrong, at in database.rows(_JOBS) if _are_there(database) else ():
        found.setdefault(name, []).append(Judged(job, right > wrong, at))
    return found


def with_answers(entries: Iterable[Entry], judged: Mapping[str, Sequence[Judged]]) -> Iterator[Entry]:
    """The entries with the jobs that people say they were seen in, and without those that they say were another."""
    for entry in entries:
        said = {one.job: one for one in judged.get(entry.id, ())}
        kept = [seen for seen in entry.sightings if seen.job not in said or said[seen.job].right]
        known = {seen.job for seen in kept}
        more = [Sighting(job=one.job, at=one.at) for one in said.values() if one.right and one.job not in known]
        yield entry.model_copy(update={"sightings": (*kept, *more)})


def _are_there(database: Database) -> bool:
    """False in a library of an older version that can only be read."""
    return bool(database.rows("SELECT 1 FROM sqlite_master WHERE name = 'answers'"))


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
