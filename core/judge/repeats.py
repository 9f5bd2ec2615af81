"""What a job that nobody can time says again and again in the end, while it waits: ``gate 17: still 5/6``.

Without a clock no pause is long. But who says the same again, and nothing else, makes no progress: a step has another
number each time.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from core.events.row_text import read_rows
from core.facts import complains
from core.parsed import Parsed

LEAST = 3  # times in a row: twice is said of a thing that is tried once more
BEHIND = 3  # lines behind them: how it was stopped
LAST = 64  # lines of each file that are looked at
MAX_FILES = 64  # a job that writes more has a clock somewhere
# How long it waits may stand in it: "after 1800s", "waited 00:30:00"
_WAITED = re.compile(
    r"(?<!\d)\d{1,9}(?:\.\d{1,6})? ?(?:s|secs?|seconds|m|min|minutes|h|hours)\b|(?<!\d)\d{1,3}:\d{2}(?::\d{2})?"
)


def find_repeats(parsed: Parsed) -> str:
    """What some file says at least LEAST times as its last words, and said not so often before; empty for nothing."""
    table = parsed.table
    for file in range(min(len(table.files), MAX_FILES)):
        whole = table.rows_of_file(file)
        rows = np.arange(max(whole.start, whole.stop - LAST), whole.stop)
        rows = rows[table.head[rows]]
        if len(rows) == 0 or table.timed[rows].any():
            continue
        texts = read_rows(parsed.files, table, rows)
        said = [texts.get(row, "").strip() for row in rows.tolist()]
        for text in _last_repeated(said):
            return text
    return ""


def _last_repeated(said: Sequence[str]) -> Iterator[str]:
    """The text of the last run of equal lines, if it is long, and nearly nothing stands behind it."""
    behind = 0
    for _, run in groupby(reversed(said), key=lambda text: _WAITED.sub("", text, count=1)):
        texts = list(run)
        if len(texts) >= LEAST and any(map(str.isalpha, texts[0])) and not complains(texts[0]):
            yield texts[0]
        behind += len(texts)
        if len(texts) >= LEAST or behind > BEHIND:
            return
