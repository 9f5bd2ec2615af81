"""What a line says of how a job goes on or ends, whatever caused it (rules/outcomes.toml)."""

from enum import StrEnum
from functools import cache

from core.phrases import Worded, patterns_of, read_rules, worded


class Outcome(StrEnum):
    """What became of a job or a process."""

    COMPLETED = "completed"  # the scheduler's last word: completed
    VERDICT = "verdict"  # the scheduler's last word: failed
    DONE = "done"  # a process says that its work is done
    ANEW = "anew"  # the launcher starts the processes again
    REPORT = "report"  # the launcher or the scheduler reports that processes failed
    DEATH = "death"  # a process says that it dies


def outcome_of(template: str) -> Outcome | None:
    """What a masked line says of the end; None when it says nothing of it."""
    lower = template.lower()
    return next((outcome for outcome, phrases in _outcomes() if phrases.found_in(template, lower)), None)


@cache
def _outcomes() -> tuple[tuple[Outcome, Worded], ...]:
    where = "core/rules/outcomes.toml"
    return tuple(
        (Outcome(rule["says"]), worded(patterns_of(rule, where))) for rule in read_rules("outcomes.toml")["outcome"]
    )
