"""Rows of a table with a header: ``rank,step,uptime_s,loss``, and below it ``3,40,17.61,0.311``; or tabs, semicolons.

Or drawn for people, with bars between the columns: ``|   it |   loss |``, and below it ``|    5 | 0.5965 |``.

Lightning's ``CSVLogger``, probes of a node, and programs that write their progress for a spreadsheet. The names stand
once, far above the row that matters: each row is read as a logger's object with these fields, so that what is known of
``step=40`` and of a column that rises holds for it as well.
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.logs.wraps.json_objects import as_text
from core.logs.wraps.peeled import Peeled, Wrap, evenly
from core.logs.wraps.records import read_record

_BAR = "|"
_MIN_COLUMNS = 3  # two names and a comma are a sentence as well
_MIN_ROWS = 2  # of one row nobody can tell that the time rises
_HEADERS = 256  # lines within which a header is looked for: programs say less before their first row
_LEAST = 0.5  # of the lines are rows; the others are what the interpreter and libraries print
_RISES = 0.8  # of the rows are not before the one above; several processes may write to one file
_MOST = 1e8  # seconds, of three years: more is a time since 1970
_CENTURY = (946_684_800.0, 4_102_444_800.0)  # seconds, of the years 2000 and 2100 (as in ``stamps``)
_NUMBERS = 0.5  # of the values in the rows are numbers
_ELAPSED = re.compile(
    r"(?:(?:up|run|wall|elapsed|relative)?[ _]?(?:time|elapsed)|uptime|t|seconds|since[ _]start)"
    r"(?:[ _.(\[](?:s|secs?|seconds)[)\]]?)?",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z_][\w./%() -]{0,63}")


@dataclass(frozen=True, slots=True)
class _Reading:
    """Names of the columns; a class, because functions that are made cannot be sent elsewhere."""

    mark: str
    names: tuple[str, ...]
    elapsed: int | None
    epoch: int | None = None

    def peel(self, line: bytes) -> Peeled | None:
        """What a row tells: its values under the names of their columns, without those that are empty."""
        values = _cells(line, self.mark)
        if values == self.names or not _fits(values, self.names):
            return None
        fields = {name: value for name, value in zip(self.names, values, strict=True) if value}
        if self.epoch is not None and (told_at := fields.pop(self.names[self.epoch], None)) is not None:
            fields["timestamp"] = told_at
        if self.elapsed is not None and (seconds := _number(values[self.elapsed])) is not None and 0 <= seconds < _MOST:
            fields["message"] = _clock(seconds)
        return read_record(fields)


def fit(lines: Sequence[bytes]) -> Wrap | None:
    """A line of names, with rows of as many values below it."""
    for mark in (",", "\t", ";", _BAR):
        tried = [line for line in lines[:_HEADERS] if line.count(mark.encode()) >= _MIN_COLUMNS - 1]
        for header in dict.fromkeys(cells for line in tried if _is_header(cells := _cells(line, mark))):
            rows = [cells for line in evenly(lines) if (cells := _cells(line, mark)) != header and _fits(cells, header)]
            if len(rows) >= max(_MIN_ROWS, _LEAST * len(evenly(lines))):
                names = tuple(cell.split("  ")[0] for cell in header)  # what stands far behind the last one is a note
                return Wrap("rows of a table", _Reading(mark, names, _elapsed(names, rows), _epoch(rows)).peel)
    return None


def _elapsed(names: Sequence[str], rows: Sequence[tuple[str, ...]]) -> int | None:
    """The column that tells how many seconds the program has run: it is called so, and it rises."""
    for place, name in enumerate(names):
        values = [seconds for row in rows if (seconds := _number(row[place])) is not None]
        if not _ELAPSED.fullmatch(name) or len(values) < _MIN_ROWS or values[0] >= values[-1]:
            continue
        rises = sum(one <= other for one, other in pairwise(values))
        if values[0] >= 0 and values[-1] < _MOST and rises >= _RISES * (len(values) - 1):
            return place
    return None


def _epoch(rows: Sequence[tuple[str, ...]]) -> int | None:
    """The column whose numbers rise and mean seconds of this century, whatever it is called: ``unix``, ``when``."""
    for place in range(len(rows[0])):
        values = [_number(row[place]) for row in rows]
        times = [value for value in values if value is not None and _CENTURY[0] <= value < _CENTURY[1]]
        rises = sum(one <= other for one, other in pairwise(times))
        if len(times) == len(values) and times[0] < times[-1] and rises >= _RISES * (len(times) - 1):
            return place
    return None


def _clock(seconds: float) -> str:
    """So many seconds as ``core.logs.lines`` reads them, which knows what a clock from midnight on means."""
    micros = round(seconds * 1_000_000)
    minutes, rest = divmod(micros, 60_000_000)
    hours, minute = divmod(minutes, 60)
    return f"{hours % 24:02}:{minute:02}:{rest // 1_000_000:02}.{rest % 1_000_000:06}"


def _cells(line: bytes, mark: str) -> tuple[str, ...]:
    """The values of a row; none where the line is no row at all."""
    text = as_text(line)
    if text.count(mark) < _MIN_COLUMNS - 1:
        return ()
    if mark == _BAR:  # at both ends too, or at none; what stands before the first of those is who speaks
        text = text.strip()
        if text.startswith(_BAR) != text.endswith(_BAR):
            return ()
        text = text.removeprefix(_BAR).removesuffix(_BAR)
    try:
        return tuple(cell.strip() for cell in next(csv.reader((text,), delimiter=mark)))
    except csv.Error:  # a quote, a NUL or a line end within
        return ()


def _is_header(cells: tuple[str, ...]) -> bool:
    """Different names and nothing else."""
    return len(cells) >= _MIN_COLUMNS and len(set(cells)) == len(cells) and all(map(_NAME.fullmatch, cells))


def _fits(cells: tuple[str, ...], header: tuple[str, ...]) -> bool:
    """As many values as names, mostly numbers; an empty cell is one that was not measured this time."""
    sentences = [cell for cell in cells if cell]
    is_row = len(cells) == len(header) and len(sentences) >= _MIN_ROWS
    return is_row and sum(_number(cell) is not None for cell in sentences) >= _NUMBERS * len(sentences)


def _number(cell: str) -> float | None:
    """A cell as a number, also one that is infinite or none; None of a text."""
    try:
        return float(cell)
    except ValueError:
        return None
