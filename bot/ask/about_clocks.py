"""Answers about a time of day: what was written at it."""

from collections import Counter

import numpy as np

from bot.ask.find_values import SPOKEN_CLOCK
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.subject import Subject
from bot.ask.told_diagnosis import what_failed
from bot.ask.wanted_value import asks
from bot.text import wording
from bot.text.wording import SECOND
from core.answer.job_lookup import found_rows
from core.logs.lines import NO_TIME
from core.naming import natural

HOUR = 60 * 60 * 1_000_000  # microseconds
APART = 5 * 60 * 1_000_000  # microseconds by which the last lines of nodes in one zone may differ; chosen
DAY = 24 * 60 * 60 * 1_000_000  # microseconds


def at_clock(subject: Subject, question: Question) -> Lines | None:
    """What was written at the time of day that a question names, the rarest kinds of lines first; None at no such."""
    spoken, table = SPOKEN_CLOCK.search(question.asked.text), subject.parsed.table
    if spoken is None:
        return None
    times, unit = table.time[:], SECOND if spoken[3] else 60 * SECOND
    asked = (int(spoken[1]) * 3600 + int(spoken[2]) * 60 + int(spoken[3] or 0)) * SECOND
    rows = np.flatnonzero((times != NO_TIME) & (times % DAY // unit == asked // unit) & table.head[:])
    if not len(rows):
        return None
    often = Counter(table.event[:].tolist())
    kinds = {int(table.event[row]): row for row in rows.tolist()[::-1]}  # of each kind its first line
    rarest = sorted(kinds.values(), key=lambda row: (often[int(table.event[row])], row))
    who = {origin.node for row in rows.tolist() if (origin := subject.origin(row)).node}
    by = f" by {wording.names(sorted(who, key=natural), 3, 80)}" if who else ""
    said = f"At {spoken[0]} {wording.counted(len(rows), 'line was', 'lines were')} written{by}; the rarest:"
    return [cited(said), *quoted(found_rows(subject.parsed, "", rarest), 4)]


def zones(subject: Subject) -> dict[str, float]:
    """The hours by which clocks of nodes are ahead of most others', where their last lines are whole half hours off."""
    table = subject.parsed.table
    last: dict[str, int] = {}
    for voice, time in enumerate(table.spoke.last.tolist()):
        if (node := table.origins[voice].node) and time != NO_TIME:
            last[node] = max(time, last.get(node, NO_TIME))
    middle = sorted(last.values())[len(last) // 2] if len(last) > 2 else 0
    hours = {node: round(2 * (time - middle) / HOUR) / 2 for node, time in last.items() if middle}
    return {node: own for node, own in hours.items() if own and abs(last[node] - middle - own * HOUR) <= APART}


def other_zone(subject: Subject, question: Question) -> Lines | None:
    """That a node writes the time of another zone, for who wonders at its hours; None where none does."""
    if not asks(question, "of_clocks") or not (hours := zones(subject)):
        return None
    far = {node: f"{abs(own):g} h {'ahead of' if own > 0 else 'behind'} the others" for node, own in hours.items()}
    told = "; ".join(f"{node} writes the time of another zone, {by}" for node, by in list(far.items())[:3])
    return [cited(f"{told}: by its steps it kept pace, so that is not what failed."), what_failed(subject)]
