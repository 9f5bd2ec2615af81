"""Answers about a time of day: what was written at it."""

from collections import Counter

import numpy as np

from bot.ask.find_values import SPOKEN_CLOCK
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.subject import Subject
from bot.text import wording
from bot.text.wording import SECOND
from core.answer.job_lookup import found_rows
from core.logs.lines import NO_TIME
from core.naming import natural

DAY = 24 * 60 * 60 * 1_000_000  # microseconds


def at_clock(subject: Subject, question: Question) -> Lines | None:
    """What was written at the time of day that a question names, the rarest kinds of lines first; None at no such."""
    spoken, table = SPOKEN_CLOCK.search(question.text), subject.parsed.table
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
