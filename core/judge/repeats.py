"""What a job that nobody can time says in the end, while it waits: ``gate 17: still 5/6``, again and again.

Without a clock no pause is long. But who says the same again, and nothing else, makes no progress: a step has another
number each time. So does a job whose ranks end with how long they have waited: ``no progress for 600 s``.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from core.events.row_text import read_rows
from core.events.table import rows_by
from core.facts import complains
from core.judge.durations import last_duration
from core.judge.rank_rows import untimed_ends
from core.outcomes import Outcome, outcome_of
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS

LEAST = 3  # times in a row: twice is said of a thing that is tried once more
BEHIND = 3  # lines behind them: how it was stopped
LAST = 64  # lines of each speaker that are looked at
MAX_SPEAKERS = 16  # who write in turns to one file: so many times the lines are read of it
MAX_FILES = 64  # a job that writes more has a clock somewhere
LONG = 60.0  # seconds, of a wait that is told once: watchdogs are set to minutes, and what takes less may be a step
# How long it waits may stand in it: "after 1800s", "waited 00:30:00"
WAITED = re.compile(
    r"(?<!\d)\d{1,9}(?:\.\d{1,6})? ?(?:s|secs?|seconds|m|min|minutes|h|hours)\b|(?<!\d)\d{1,3}:\d{2}(?::\d{2})?"
)


def find_repeats(parsed: Parsed, *, counting: bool = False) -> str:
    """What a speaker says at least LEAST times as its last words, and said not so often before; empty for nothing.

    Args:
        counting: only what counts how long it waits.
    """
    table, marks = parsed.table, parsed.iterations.marks
    for file in range(min(len(table.files), MAX_FILES)):
        whole = table.rows_of_file(file)
        rows = np.arange(max(whole.start, whole.stop - LAST * MAX_SPEAKERS), whole.stop)
        rows = rows[table.head[rows]]
        if len(rows) == 0 or table.timed[rows[-LAST:]].any():
            continue
        progress = int(marks[table.file[marks] == file].max(initial=-1))  # of any of those who write to it
        texts = read_rows(parsed.files, table, rows)
        for _, places in rows_by(table.voice[rows], np.arange(len(rows))):
            own = rows[places[-LAST:]].tolist()
            said = [texts.get(row, "").strip() for row in own]
            for first, text, waits in _last_repeated(said):
                if own[first] > progress and (waits or not counting):
                    return text
    return _told_wait(parsed)


def _told_wait(parsed: Parsed) -> str:
    """What most ranks say as their last words, without a clock: for how long they waited. Else empty.

    No good job says it, nor does anybody say it twice but to tell of a longer wait.
    """
    table = parsed.table
    ends = untimed_ends(table)
    of_event = {event: set(table.rank[rows].tolist()) for event, rows in rows_by(table.event, ends)}
    event, ranks = max(of_event.items(), key=lambda item: (len(item[1]), -item[0]), default=(-1, set[int]()))
    if len(ranks) <= max(MIN_RANKS, len(table.ranks) * MAJORITY) or len(ranks) * (LEAST - 1) < int(table.heads[event]):
        return ""
    if parsed.usual is not None and table.templates[event].id in parsed.usual.anywhere:
        return ""
    rows = table.rows_of([event])[event]
    texts = {row: text.strip() for row, text in read_rows(parsed.files, table, rows).items()}
    waits = {row: last_duration(text) or 0.0 for row, text in texts.items()}
    for _, own in rows_by(table.rank, np.sort(rows)):
        told = [waits.get(row, 0.0) for row in own.tolist()]
        if min(told) < LONG or told != sorted(set(told)):
            return ""
    text = texts[int(ends[table.event[ends] == event][0])]
    return text if outcome_of(text) is not Outcome.DONE else ""


def _last_repeated(said: Sequence[str]) -> Iterator[tuple[int, str, bool]]:
    """The last run of equal lines, if it is long, and nearly nothing stands behind it.

    Where it begins, its last text, and whether it counts how long it waits.
    """
    behind = 0
    for _, run in groupby(reversed(said), key=lambda text: WAITED.sub("", text, count=1)):
        texts = list(run)
        behind += len(texts)
        if len(texts) >= LEAST and any(map(str.isalpha, texts[0])) and not complains(texts[0]):
            yield len(said) - behind, texts[0], len(set(texts)) == len(texts)
        if len(texts) >= LEAST or behind > BEHIND:
            return
