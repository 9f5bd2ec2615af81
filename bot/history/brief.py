"""The history of a run in a few lines, as a message has room for."""

from collections.abc import Iterator

from bot.history.lines import duration, facts, headline, parts
from core.history.history import History

MAX_PARTS, MAX_CAUSES = 4, 3  # chosen: what a line of a message on a phone has room for
# What is to be done first.
_ORDER = ("Windows", "Repaired", "Repeats", "Failures", "Recovery", "Changed", "Save", "Standbys", "Unseen")
MAX_FACTS = 4  # with the headline, time and cost fewer than MAX_LINES of bot/slack/brief.py


def brief(history: History) -> tuple[tuple[str, str], ...]:
    """Pairs of what a line is about and what it says; the first is the headline, about nothing else."""
    ordered = sorted(facts(history), key=lambda fact: _ORDER.index(fact[0]))
    return ("", f"{history.name}: {headline(history)}"), *_account(history), *ordered[:MAX_FACTS]


def _account(history: History) -> Iterator[tuple[str, str]]:
    known = parts(history)
    shown = [f"{part} {time} ({share})" for part, time, share in known[:MAX_PARTS]]
    smaller = [f"and {len(known) - MAX_PARTS} smaller parts"] if len(known) > MAX_PARTS else []
    yield "Time", f"{', '.join([*shown, *smaller])}; {duration(history.account.wall)} in all"
    dearest = [
        f"{len(cause.attempts)} x {cause.name}{' (planned)' if cause.planned else ''} ({duration(cause.total)})"
        for cause in history.causes[:MAX_CAUSES]
    ]
    if dearest:
        yield "Cost", "; ".join(dearest)
