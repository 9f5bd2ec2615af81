"""Small tables that people hand over as CSV: points of progress, incidents of nodes."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from core.errors import UnreadableLog
from core.history.repeats import Incident
from sources.given import read_given

MOST_ROWS = 5_000_000  # a point a second for two months
_TIME = ("time", "date", "timestamp", "_timestamp", "wall time", "start")
_ITERATION = ("iteration", "step", "_step", "global_step")
_SECONDS_A_DAY = 86_400.0
_LAST = 4_102_444_800.0  # the year 2100: what is beyond, before 1970 or no number is no time
_WHOLE = re.compile(r"([0-9]{1,15})(?:\.0)?")
_MILLISECONDS = 1e11  # numbers beyond are milliseconds: as seconds they are the year 5138


def read_progress(path: str) -> tuple[tuple[int, int], ...]:
    """Milliseconds since the epoch and iteration of each row that has both.

    The columns are called time and iteration, or as W&B and TensorBoard call them. Raises UnreadableLog.
    """
    points = []
    for row in rows_of(path):
        time, iteration = _named(row, _TIME), _named(row, _ITERATION)
        moment = _moment(time)
        number = _WHOLE.fullmatch(iteration.strip())
        if moment is not None and number:
            points.append((round(moment * 1000), int(number[1])))
    if not points:
        raise UnreadableLog(f"{path} has no row with a time and an iteration.", "Its columns are time,iteration.")
    return tuple(points)


def read_incidents(path: str) -> tuple[Incident, ...]:
    """Incidents of nodes: columns start, end, node, class; end may be empty. Raises UnreadableLog."""
    found = []
    for row in rows_of(path):
        start, end = _moment(_named(row, _TIME)), _moment(_named(row, ("end",)))
        node = _named(row, ("node",)).strip()
        if start is not None and node:
            until = None if end is None else end / _SECONDS_A_DAY
            found.append(Incident(start / _SECONDS_A_DAY, node, _named(row, ("class",)).strip() or "unknown", until))
    if not found:
        raise UnreadableLog(f"{path} has no row with a start and a node.", "Its columns are start,end,node,class.")
    return tuple(sorted(found, key=lambda one: (one.day, one.node)))


def rows_of(path: str) -> Iterator[Mapping[str, str]]:
    """The rows of a CSV file by the names of its columns, in small letters. Raises UnreadableLog."""
    try:
        text = read_given(Path(path)).decode("utf-8-sig", "replace")
        for row in islice(csv.DictReader(io.StringIO(text, newline="")), MOST_ROWS):
            yield {(name or "").strip().casefold(): value for name, value in row.items() if isinstance(value, str)}
    except (OSError, csv.Error) as trouble:
        raise UnreadableLog(f"{path} cannot be read: {trouble}.", "It has to be a CSV file with a header.") from trouble


def _named(row: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((row[name] for name in names if row.get(name)), "")


def _moment(text: str) -> float | None:
    """Seconds since the epoch, of ISO 8601 or of a number of seconds or milliseconds."""
    seconds = _seconds(text.strip())
    return seconds if seconds is not None and 0 <= seconds <= _LAST else None


def _seconds(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        pass
    else:
        return number / 1000 if number > _MILLISECONDS else number
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
