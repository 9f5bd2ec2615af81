"""What a job that nobody can time says again and again in the end, while it waits: ``gate 17: still 5/6``.

Without a clock no pause is long. But who says the same again, and nothing else, makes no progress: a step has another
number each time.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from core.events.row_text import read_rows
from core.events.table import rows_by
from core.facts import complains
from core.parsed import Parsed

LEAST = 3  # times in a row: twice is said of a thing that is tried once more
BEHIND = 3  # lines behind them: how it was stopped
LAST = 64  # lines of each speaker that are looked at
MAX_SPEAKERS = 16  # who write in turns to one file: so many times the lines are read of it
MAX_FILES = 64  # a job that writes more has a clock somewhere
# How long it waits may stand in it: "after 1800s", "waited 00:30:00"
_WAITED = re.compile(
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
    return ""


def _last_repeated(said: Sequence[str]) -> Iterator[tuple[int, str, bool]]:
    """The last run of equal lines, if it is long, and nearly nothing stands behind it.

    Where it begins, its last text, and whether it counts how long it waits.
    """
    behind = 0
    for _, run in groupby(reversed(said), key=lambda text: _WAITED.sub("", text, count=1)):
        texts = list(run)
        behind += len(texts)
        if len(texts) >= LEAST and any(map(str.isalpha, texts[0])) and not complains(texts[0]):
            yield len(said) - behind, texts[0], len(set(texts)) == len(texts)
        if len(texts) >= LEAST or behind > BEHIND:
            return
