"""Small tables that people hand over as CSV: points of progress, incidents of nodes."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path

from core.errors import UnreadableLog
from core.history.repeats import Incident
from core.metrics.tensorboard import is_events, read_events
from sources.moments import moment
from sources.named_files import read_given, why_unreadable

MOST_ROWS = 5_000_000  # a point a second for two months
_TIME = ("time", "date", "timestamp", "_timestamp", "wall time", "start")
_ITERATION = ("iteration", "step", "_step", "global_step")
_SECONDS_A_DAY = 86_400.0  # without leap seconds
_WHOLE = re.compile(r"([0-9]{1,15})(?:\.0)?")
_MLFLOW = re.compile(rb"\d{13} \S{1,32} \d{1,9}(?:\n|$)")  # mlruns/<experiment>/<run>/metrics/<name>


def read_progress(path: str) -> tuple[tuple[int, int], ...]:
    """Milliseconds since the epoch and iteration of each row that has both.

    A CSV whose columns are called time and iteration, or as W&B, MLflow and TensorBoard call them; an event file of
    TensorBoard; a metric of MLflow's file store. Of several metrics the one with most points. Raises UnreadableLog.
    """
    data = _given(path)
    points: list[tuple[int, int]] = []
    if is_events(data):
        return _of_events(data, path)
    if _MLFLOW.match(data):
        lines = (line.split() for line in data.decode("utf-8", "replace").splitlines())
        return tuple((int(line[0]), int(line[2])) for line in lines if _is_point(line))
    for row in _one_metric(rows_of(path)):
        time, iteration = _named(row, _TIME), _named(row, _ITERATION)
        at = moment(time)
        number = _WHOLE.fullmatch(iteration.strip())
        if at is not None and number:
            points.append((round(at * 1000), int(number[1])))
    if not points:
        raise UnreadableLog(f"{path} has no row with a time and an iteration.", "Its columns are time,iteration.")
    return tuple(points)


def _of_events(data: bytes, path: str) -> tuple[tuple[int, int], ...]:
    scalars = read_events(data).scalars
    most = Counter(scalar.tag for scalar in scalars).most_common(1)
    if not most:
        raise UnreadableLog(f"{path} holds no scalar.", "Name an event file of the training, not of its graph.")
    return tuple(
        (round(scalar.time * 1000), scalar.step) for scalar in scalars if scalar.tag == most[0][0] and scalar.step >= 0
    )


def _is_point(line: list[str]) -> bool:
    """Whether these words are a time in milliseconds, a value and a step."""
    return len(line) >= 3 and all(_WHOLE.fullmatch(line[at]) for at in (0, 2))


def _one_metric(rows: Iterator[Mapping[str, str]]) -> Iterator[Mapping[str, str]]:
    """The rows of the metric with most points, where a column names them (MLflow)."""
    first = next(rows, None)
    if first is None or "key" not in first:
        return chain([first] if first is not None else [], rows)
    table = [first, *rows]
    most = Counter(row.get("key", "") for row in table).most_common(1)[0][0]
    return (row for row in table if row.get("key") == most)


def incidents_in(text: str, path: str) -> tuple[Incident, ...]:
    """Incidents of nodes in the text of a CSV: columns start, end, node, class; end may be empty.

    Args:
        text: what was read.
        path: of the file, for what is said of it.

    Raises:
        UnreadableLog: no row has a start and a node.
    """
    found = []
    for row in _rows_in(text, path):
        start, end = moment(_named(row, _TIME)), moment(_named(row, ("end",)))
        node = _named(row, ("node",)).strip()
        if start is not None and node:
            until = None if end is None else end / _SECONDS_A_DAY
            found.append(Incident(start / _SECONDS_A_DAY, node, _named(row, ("class",)).strip() or "unknown", until))
    if not found:
        raise UnreadableLog(
            f"{path} has no row with a start and a node.",
            "Its columns are start,end,node,class; or it is what sinfo -R, sacctmgr show event or kubectl printed.",
        )
    return tuple(sorted(found, key=lambda incident: (incident.day, incident.node)))


def rows_of(path: str) -> Iterator[Mapping[str, str]]:
    """The rows of a CSV file by the names of its columns, in small letters. Raises UnreadableLog."""
    return _rows_in(_given(path).decode("utf-8-sig", "replace"), path)


def _rows_in(text: str, path: str) -> Iterator[Mapping[str, str]]:
    try:
        for row in islice(csv.DictReader(io.StringIO(text, newline="")), MOST_ROWS):
            yield {(name or "").strip().casefold(): value for name, value in row.items() if isinstance(value, str)}
    except csv.Error as trouble:
        raise UnreadableLog(f"{path} cannot be read: {trouble}.", "It has to be a CSV file with a header.") from trouble


def _given(path: str) -> bytes:
    try:
        return read_given(Path(path))
    except OSError as trouble:
        reason = why_unreadable(trouble)
        raise UnreadableLog(f"{path} cannot be read: {reason}.", "It has to be a CSV file with a header.") from trouble


def _named(row: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((row[name] for name in names if row.get(name)), "")
