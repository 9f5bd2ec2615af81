"""Files of ``metrics/``: CSV, JSON of a Prometheus range query, text of a DCGM exporter, events of TensorBoard."""

import io
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import polars as pl

from core.dumps.plain_values import MAX_BYTES, read_json
from core.errors import UnreadableLog
from core.job import LogFile
from core.logs.lines import NO_TIME, first_time
from core.metrics.series import JOB, SECOND, Metric, of_samples
from core.metrics.tensorboard import is_events, read_events

MAX_SAMPLES = 5_000_000  # of all files: 400 bytes each while they are grouped
MAX_SERIES = 200_000  # 10,000 accelerators with twenty metrics each
MAX_COLUMNS = 4_096  # of a table; chosen, not measured: exports of dashboards have some hundred
MAX_FILES = 4_096  # a millisecond each; several scrapes may share a file
_MILLISECONDS = 1e11  # as seconds the year 5138: larger numbers count milliseconds
_TIME = ("time", "timestamp", "_timestamp", "wall time", "wall_time", "date")
_STEP = ("step", "_step", "global_step", "iteration", "iterations", "train/global_step")
_WHO = ("Hostname", "hostname", "host", "nodename", "node", "kubernetes_node", "exported_instance", "instance")
_PART = ("gpu", "device", "port", "core")
_EXPOSED = re.compile(r"^[a-zA-Z_:][\w:]{0,200}(?:\{|[ \t])")
# What a loop around curl writes before each scrape: a word, and when it was
_SCRAPE = re.compile(
    r"#+\s{0,8}(?:[A-Za-z_]{1,16}[ =:]{1,2})?"
    r"(?P<time>\d{10}(?:\d{3})?|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.]{0,10}\S{0,6})\s*$"
)
_SAMPLE = re.compile(r"(?P<name>[a-zA-Z_:][\w:]{0,200})(?P<labels>\{.{0,4000}\})?[ \t]")
_NUMBER = re.compile(r"(?:rank[ _-]?)?(\d{1,6})", re.IGNORECASE)

Key = tuple[str, str, str, str]  # name, who, part, label
Samples = dict[Key, list[tuple[int, float, int, int]]]


@dataclass(frozen=True, slots=True)
class Metrics:
    """All metrics of a job, and sentences about what was left out."""

    metrics: tuple[Metric, ...] = ()
    problems: tuple[str, ...] = ()


def read_metrics(files: Sequence[LogFile]) -> Metrics:
    """Read all files of metrics/; a broken one is left out and told."""
    found: list[Metric] = []
    problems: list[str] = []
    room = MAX_SAMPLES
    if len(files) > MAX_FILES:
        problems.append(f"Of {len(files):,} files in metrics/ the first {MAX_FILES:,} were read.")
    for file in files[:MAX_FILES]:
        try:
            samples = _read(file, problems)
        except UnreadableLog as error:
            problems.append(error.message)
            continue
        count = sum(map(len, samples.values()))
        if not count:
            problems.append(f"{file.name} holds no metric in a form that is known here.")
        elif len(found) + len(samples) > MAX_SERIES:
            problems.append(f"{file.name} was left out: of all files at most {MAX_SERIES:,} series are read.")
        elif count > room:
            problems.append(f"{file.name} was left out: of all files at most {MAX_SAMPLES:,} samples are read.")
        else:
            room -= count
            found += [of_samples(*key, file.name, own) for key, own in sorted(samples.items())]
    return Metrics(tuple(found), tuple(problems))


def _read(file: LogFile, problems: list[str]) -> Samples:
    with file.open() as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UnreadableLog(f"{file.name} was not read: it is larger than {MAX_BYTES:,} bytes.")
    if is_events(data):
        return _of_events(data, file.name, problems)
    if data.lstrip()[:1] in (b"{", b"["):
        return _of_prometheus(read_json(data, file.name), _stem(file.name))
    text = data.decode("utf-8", "replace")
    if next((_EXPOSED.match(line) for line in text.splitlines() if line and line[0] != "#"), None):
        return _of_exporter(text, file.name)
    return _of_csv(data, file.name)


def _of_events(data: bytes, name: str, problems: list[str]) -> Samples:
    """Scalars of TensorBoard by their tags; of the job."""
    found = read_events(data)
    if found.broken:
        problems.append(f"{name}: {found.broken:,} records have a wrong check sum and were left out.")
    if found.cut:
        problems.append(f"{name} ends within a record, or is broken there: what stands before it was read.")
    return _grouped(
        (_key(scalar.tag, JOB), (_of_number(scalar.time), scalar.value, 1, scalar.step)) for scalar in found.scalars
    )


# --- CSV ------------------------------------------------------------------------------------------------------------


def _of_csv(data: bytes, name: str) -> Samples:
    """Columns time,who,name,value; or a column for each metric of the job beside a time or an iteration."""
    if data.split(b"\n", 1)[0].count(b",") >= MAX_COLUMNS:
        raise UnreadableLog(f"{name} was not read: it has more than {MAX_COLUMNS:,} columns.")
    try:
        frame = pl.read_csv(
            io.BytesIO(data),
            infer_schema=False,
            truncate_ragged_lines=True,
            encoding="utf8-lossy",
            row_index_name="#",
            row_index_offset=2,
        )
    except pl.exceptions.PolarsError as error:
        raise UnreadableLog(f"{name} is no table of metrics that can be read.") from error
    columns = {column.strip().lower(): column for column in frame.columns}
    times = _times(frame, columns)
    steps = _whole(frame, columns)
    lines = frame["#"].to_list()
    if {"name", "value"} <= columns.keys():
        who = frame[columns["who"]] if "who" in columns else [JOB] * len(frame)
        values = _numbers(frame[columns["value"]])
        rows = zip(frame[columns["name"]], who, times, values, lines, steps, strict=True)
        return _grouped((_key(entry, of), sample) for entry, of, *sample in rows if entry)
    taken = {columns[key] for key in (*_TIME, *_STEP) if key in columns} | {"#"}
    if len(taken) == 1:
        return {}
    numbers = (
        (_key(_called(column, name), JOB), _numbers(frame[column])) for column in frame.columns if column not in taken
    )
    return _grouped(
        (key, sample) for key, values in numbers for sample in zip(times, values, lines, steps, strict=True)
    )


def _called(column: str, file: str) -> str:
    """The name of a column; TensorBoard calls each "Value" and its file after the metric, W&B puts the run before."""
    name = column.strip()
    return _stem(file) if name.lower() == "value" else name.rpartition(" - ")[2]


def _key(name: str, who: str | None) -> Key:
    text = (who or JOB).strip()
    number = _NUMBER.fullmatch(text)
    text = f"rank {int(number[1])}" if number else text or JOB
    return name.strip(), text, "", f"{name.strip()} of {text}"


def _grouped(rows: Iterable[tuple[Key, Sequence[Any]]]) -> Samples:
    samples: Samples = defaultdict(list)
    for key, (time, value, line, step) in rows:
        if value is not None and (time != NO_TIME or step >= 0):
            samples[key].append((time, value, line, step))
    return samples


def _times(frame: pl.DataFrame, columns: Mapping[str, str]) -> list[int]:
    column = next((columns[key] for key in _TIME if key in columns), None)
    if column is None:
        return [NO_TIME] * len(frame)
    distinct = {text: _moment(text) for text in frame[column].unique().to_list()}
    return [distinct[text] for text in frame[column].to_list()]


def _moment(text: str | None) -> int:
    """Microseconds since the epoch of seconds, of milliseconds, or of a date with a clock as logs have it."""
    if not text:
        return NO_TIME
    try:
        return _of_number(float(text))
    except ValueError:
        return first_time(text.strip().encode(), 1970)


def _of_number(number: float) -> int:
    if not math.isfinite(number) or not 0 <= number < 1e15:
        return NO_TIME
    return round(number * (1000 if number > _MILLISECONDS else SECOND))


def _whole(frame: pl.DataFrame, columns: Mapping[str, str]) -> list[int]:
    column = next((columns[key] for key in _STEP if key in columns), None)
    if column is None:
        return [-1] * len(frame)
    numbers = frame[column].cast(pl.Float64, strict=False).cast(pl.Int64, strict=False)
    return [-1 if number is None else number for number in numbers.to_list()]


def _numbers(column: pl.Series) -> list[float | None]:
    return column.str.strip_chars().cast(pl.Float64, strict=False).to_list()


# --- Prometheus -----------------------------------------------------------------------------------------------------


def _of_prometheus(answer: Any, stem: str) -> Samples:
    """The matrix of a range query; its samples have no lines of their own."""
    data = answer.get("data", answer) if isinstance(answer, dict) else None
    result = data.get("result") if isinstance(data, dict) else None
    samples: Samples = defaultdict(list)
    for series in result if isinstance(result, list) else ():
        labels = series.get("metric") if isinstance(series, dict) else None
        if not isinstance(labels, dict):
            continue
        key = _labelled(str(labels.get("__name__", stem)), {str(name): str(value) for name, value in labels.items()})
        samples[key] += _pairs(series.get("values") or [series.get("value")])
    return {key: own for key, own in samples.items() if own}


def _pairs(values: Any) -> Iterator[tuple[int, float, int, int]]:
    for pair in values if isinstance(values, list) else ():
        try:
            time, value = pair
            moment, number = _of_number(float(time)), float(value)
        except (TypeError, ValueError):
            continue
        if moment != NO_TIME:
            yield moment, number, 1, -1


def _labelled(name: str, labels: Mapping[str, str]) -> Key:
    """The series of a name and its labels: whose it is, and of which part."""
    who = next((labels[key] for key in _WHO if labels.get(key)), "")
    if rank := _NUMBER.fullmatch(labels.get("rank", "")):
        who = f"rank {int(rank[1])}"
    elif re.fullmatch(r"[^:\[\]]+:\d{1,5}", who):
        who = who.rpartition(":")[0]  # the port of an exporter
    part = ", ".join(f"{key} {labels[key]}" for key in _PART if labels.get(key))
    text = ",".join(f'{key}="{labels[key]}"' for key in (*_WHO, *_PART, "rank") if labels.get(key))
    return name, who or JOB, part, f"{name}{{{text}}}"


def _of_exporter(text: str, file: str) -> Samples:
    """Lines as an exporter shows them.

    One without a time has that of the comment above it, if it tells nothing else (``# scrape 2026-07-02T08:00:00Z``),
    else that of its file's name, if there is one in it.
    """
    from prometheus_client.parser import text_string_to_metric_families  # noqa: PLC0415 most jobs have no such file

    stamp = re.search(r"(?:^|[-_])(\d{10}(?:\d{3})?)$", _stem(file))
    scraped = _moment(stamp[1]) if stamp else NO_TIME
    host = _stem(file)[: stamp.start()] if stamp else _stem(file)
    samples: Samples = defaultdict(list)
    for number, line in enumerate(text.splitlines(), start=1):
        if (scrape := _SCRAPE.match(line)) is not None:
            scraped = _moment(scrape["time"])
        if not _SAMPLE.match(line):
            continue
        try:
            found = [sample for family in text_string_to_metric_families(line) for sample in family.samples]
        except ValueError:
            continue
        for sample in found:
            time = scraped if sample.timestamp is None else _of_number(float(sample.timestamp))
            samples[_labelled(sample.name, {"instance": host, **sample.labels})].append(
                (time, float(sample.value), number, -1)
            )
    return samples


def _stem(name: str) -> str:
    return PurePosixPath(name).name.split(".", 1)[0]
