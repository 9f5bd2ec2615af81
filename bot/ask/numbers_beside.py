"""Which numbers that lines tell under the same name differ most between two jobs, at the same iterations."""

import numpy as np

from bot.ask.named_values import values_in
from bot.ask.reply_lines import cited
from bot.ask.subject import Subject
from core.events.row_text import read_rows

FEWEST = 5  # values of a name in each job; fewer have no middle
MAX_ROWS = 120  # lines of a kind of message that are read, evenly spread
MAX_EVENTS = 60  # kinds of messages, those with most lines: what tells of every iteration comes again and again
APART = 1.5  # times as much in one job as in the other: what differs less differs between good jobs too
SHOWN = 3  # names in the sentence: an answer has five lines
_QUARTERS = (25, 50, 75)  # percentiles: the middle half, and the middle


def differing(mine: Subject, other: Subject, name: str) -> list[str]:
    """One sentence with the numbers that are furthest apart; none where no middle half is clear of the other's.

    Args:
        name: of the other job.
    """
    reached = [subject.parsed.iterations.last for subject in (mine, other)]
    until = min((last for last in reached if last is not None), default=None)
    here, there = (_quarters(subject, until) for subject in (mine, other))
    apart = []
    for key in here.keys() & there.keys():
        (low, middle, high), (low_, middle_, high_) = here[key], there[key]
        if min(middle, middle_) > 0 and (low > high_ or low_ > high):
            apart.append((max(middle / middle_, middle_ / middle), key, middle, middle_))
    told = sorted((item for item in apart if item[0] >= APART), key=lambda item: (-item[0], item[1]))[:SHOWN]
    if not told:
        return []
    parts = "; ".join(f"{key} {middle:.4g} here and {middle_:.4g} there" for _, key, middle, middle_ in told)
    same = f" until iteration {until:,}" if until is not None else ""
    return [cited(f"Of the numbers in the lines these differ most from {name} (medians{same}): {parts}.")]


def _quarters(subject: Subject, until: int | None) -> dict[str, tuple[float, float, float]]:
    """The quarters of each number that lines tell by name while the job trained; what only counts is left out."""
    table, of_row = subject.parsed.table, subject.parsed.iterations.of_row
    every = table.rows_of(range(len(table.templates)))
    often = sorted(every, key=lambda event: (-len(every[event]), event))[:MAX_EVENTS]
    values: dict[str, list[float]] = {}
    for event in often:
        rows = every[event]
        reached = of_row[rows]
        rows = rows[(reached > 0) & (reached <= until)] if until is not None else rows
        if len(rows) < FEWEST:
            continue
        rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), MAX_ROWS)).astype(np.intp)]
        for text in read_rows(subject.parsed.files, table, np.unique(rows)).values():
            for value in values_in(text):
                if value.number is not None:
                    values.setdefault(value.name, []).append(value.number)
    kept = {key: mine for key, mine in values.items() if len(mine) >= FEWEST and not _counts(mine)}
    quarters = {key: np.percentile(np.array(mine), _QUARTERS).tolist() for key, mine in kept.items()}
    return {key: (low, middle, high) for key, (low, middle, high) in quarters.items()}


def _counts(numbers: list[float]) -> bool:
    """Whether numbers never fall: a counter or a total, which a longer job has more of."""
    steps = np.diff(np.array(numbers))
    return bool(len(steps) and (steps >= 0).all() and (steps > 0).any())
