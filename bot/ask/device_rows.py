"""Rows of tables of devices: which device of which node, and its clock, power, temperature and utilization at a time.

``nvidia-smi dmon``, ``nvidia-smi --query-gpu --format=csv`` and ``dcgmi dmon`` name their columns in a header, or write
a unit behind a number; other programs write ``name=value``. What no header, unit or name tells is not read.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from bot.ask.subject import Subject
from core.answer.search import matching
from core.events.row_text import read_rows

MAX_ROWS = 40_000  # of all files, evenly spread; a machine of eight devices writes 11,520 in a day of one row a minute
# nvidia-smi dmon of driver 535 and later without a header (man nvidia-smi, -s puc): these columns behind the device
_DMON = ("power", "temperature", "", "utilization", "", "", "", "", "", "memory clock", "clock")
_NAMES = (
    ("memory clock", re.compile(r"^(?:mclk|memclk|mem_clock|clocks?\.(?:current\.)?mem\w*)", re.IGNORECASE)),
    (
        "clock",
        re.compile(
            r"^(?:pclk|sm_?clk|smclk|sm_?mhz|gclk|sclk|clocks?\.(?:current\.)?(?:sm|gr\w*)|sm_clock)", re.IGNORECASE
        ),
    ),
    ("power", re.compile(r"^(?:pwr|power)|電力|功[耗率]|leistung", re.IGNORECASE)),
    ("temperature", re.compile(r"^(?:gtemp|temp|tmptr|temperature)|温度|temperatur", re.IGNORECASE)),
    ("utilization", re.compile(r"^(?:sm|smact|util\w*(?:\.gpu)?|gract|gpu_util)(?:$|[ \[])", re.IGNORECASE)),
    ("memory", re.compile(r"^(?:fb(?:_used)?$|fbusd|memory\.used|mem_used)", re.IGNORECASE)),
)
_UNITS = {"mhz": "clock", "w": "power", "c": "temperature", "%": "utilization", "mib": "memory"}
_INDEX = re.compile(r"^(?:gpu|index|idx|entity|npu|device|card)$", re.IGNORECASE)
_HEADER = re.compile(
    rb"\bpwr\b[^\n]{0,80}\bsm\b|Entity\s[^\n]{0,80}(?:CLK|TMPTR|POWER)|index,[^\n]{0,200}(?:temperature|power|clocks)"
)
_ROW = re.compile(
    rb"\b[GN]PU ?[0-9]{1,2}\b[^\n]{0,200}[0-9]|\b[gn]pu=[0-9]|\b[a-z_]{2,40}=\[[0-9]"
    rb"|\b(?:temp|power|sm_?mhz|sm_?clk)[a-z_]{0,12}=[0-9]|DCGM_FI_DEV_|[0-9] ?MHz\b|[0-9] W\b"
    rb"|[ \t][0-9]{1,2}(?:[ \t]{1,8}(?:[0-9.]{1,8}|-)){8,12}[ \t]{0,4}(?:\n|$)"
)
_CLOCK = re.compile(  # times of day and days, in either order
    r"\b[A-Z][a-z]{2} [ 0-9][0-9](?= )|(?<![\w.])[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}T?|(?<![\w.])20[0-9]{6}(?![\w.])"
    r"|(?<![\w.:])[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?Z?"
)
_CELL = re.compile(r"^([0-9]{1,9}(?:\.[0-9]{1,9})?) ?(MHz|W|C|%|MiB)?$", re.IGNORECASE)
_BESIDE = re.compile(r"(?<![\w.])([0-9]{1,9}(?:\.[0-9]{1,9})?) ?(MHz|W|C|%|MiB)(?![\w])", re.IGNORECASE)
_PAIR = re.compile(r"\b([a-z_]{2,40})=([0-9]{1,9}(?:\.[0-9]{1,9})?)(?:MHz|W|C|%|MiB)?\b", re.IGNORECASE)
# "temp_c=[63,58,64,59]": a number for each device of the machine, in their order
_LIST = re.compile(r"\b([a-z_]{2,40})=\[([0-9][0-9., ]{0,200})\]", re.IGNORECASE)
_DEVICE = re.compile(r"\b(?:GPU|NPU|gpu|npu)[ _:#=]?([0-9]{1,2})\b")
_PREFIX = re.compile(r"^DCGM_FI_DEV_(?:GPU_)?", re.IGNORECASE)  # of dcgm-exporter's names (etc/default-counters.csv)
_HOSTNAME = re.compile(r"\bHostname=([\w.-]{1,120})")  # dcgm-exporter's label


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """One row: its row in the event table, its node (or ""), its device ("GPU 2"), and its numbers by quantity."""

    row: int
    node: str
    device: str
    numbers: Mapping[str, float]


def device_rows(subject: Subject) -> list[DeviceRow]:
    """All rows of devices in the order of their clocks; none where no table tells any quantity."""
    parsed, table = subject.parsed, subject.parsed.table
    rows = np.union1d(matching(parsed, [_ROW])[0], _tables(subject)).astype(np.intp)
    if not len(rows):
        return []
    rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), MAX_ROWS)).astype(np.intp)]
    heads = _headers(subject)
    found = []
    for row, text in read_rows(parsed.files, table, np.unique(rows)).items():
        host = _HOSTNAME.search(text)
        origin = subject.origin(row)
        node = origin.node or (host[1] if host else "")
        every = _listed(text) or [_read(text, heads.get(int(table.file[row]), ()))]
        if not every[0][0] and origin.rank is not None:
            every = [(_device_of(subject, origin.node, origin.rank), every[0][1] or _pairs(text))]
        found += [DeviceRow(row, node, device, numbers) for device, numbers in every if device and numbers]
    return sorted(found, key=lambda item: (int(table.time[item.row]), item.row))


def _tables(subject: Subject) -> list[int]:
    """The rows of files of comma-separated values whose columns are quantities of devices."""
    parsed, table = subject.parsed, subject.parsed.table
    found: list[int] = []
    for at, name in enumerate(table.files):
        rows = table.rows_of_file(at) if name.endswith(".csv") else range(0)
        head = read_rows(parsed.files, table, np.array(rows[:2], np.intp)) if rows else {}
        if any(len(_pairs(text)) > 1 for text in head.values()) or _columns(head.get(rows[0], "") if rows else ""):
            found += rows
    return found


def _headers(subject: Subject) -> dict[int, tuple[str, ...]]:
    """The columns of the tables of each file: the first header that stands in it."""
    parsed, table = subject.parsed, subject.parsed.table
    texts = read_rows(parsed.files, table, np.array(matching(parsed, [_HEADER])[0][:MAX_ROWS], np.intp))
    found: dict[int, tuple[str, ...]] = {}
    for row, text in sorted(texts.items()):
        cells = [cell.strip(" #") for cell in (text.split(",") if "," in text else text.replace("#", " ").split())]
        cells = [
            cell for cell in cells if not re.match(r"^(?:date|time|timestamp|yyyymmdd|hh:mm:ss)$", cell, re.IGNORECASE)
        ]
        if any(_INDEX.match(cell) for cell in cells):
            found.setdefault(int(table.file[row]), tuple(cells))
    for at, name in enumerate(table.files):  # of one device each, whose rank the file's name tells
        rows = table.rows_of_file(at) if name.endswith(".csv") and at not in found else range(0)
        head = read_rows(parsed.files, table, np.array(rows[:1], np.intp)) if rows else {}
        if columns := _columns(next(iter(head.values()), "")):
            found[at] = columns
    return found


def _columns(text: str) -> tuple[str, ...]:
    """The columns of a table of one device, without that of its clock; none where none is a device's quantity."""
    cells = [cell.strip() for cell in text.split(",")]
    head = len(cells) > 2 and not any(_CELL.match(cell) for cell in cells) and any(map(kind_of, cells))
    return tuple(cells[1:] if _TIMES.search(cells[0]) else cells) if head else ()


_TIMES = re.compile(r"^(?:date|time|timestamp|zeit|uhrzeit|时间|時刻|时刻)", re.IGNORECASE)


def _listed(text: str) -> list[tuple[str, dict[str, float]]]:
    """The devices and their numbers of a row that lists a number for each of them; none where it does not."""
    lists = {kind: cells.split(",") for name, cells in _LIST.findall(text) if (kind := kind_of(name))}
    fewest = min(map(len, lists.values()), default=0)
    cells = [{kind: _number(every[at].strip()) for kind, every in lists.items()} for at in range(fewest)]
    told = [{kind: value for kind, value in own.items() if value is not None} for own in cells]
    return [(f"GPU {at}", own) for at, own in enumerate(told) if own]


def _read(text: str, header: tuple[str, ...]) -> tuple[str, dict[str, float]]:
    """The device and the numbers of a row."""
    plain = _CLOCK.sub(" ", text).strip(" ,\t")
    cells = [cell.strip() for cell in (plain.split(",") if "," in plain else _DEVICE.sub(r"\1", plain).split())]
    whole = [cell.strip() for cell in text.split(",")]
    if header and len(whole) == len(header) + 1:  # "15:04:22,124,": behind the clock is no fraction of a second
        cells = whole[1:]
    if header and len(cells) == len(header):
        named = dict(zip(header, cells, strict=True))
        device = next((cell for name, cell in named.items() if _INDEX.match(name) and cell.isdigit()), "")
        numbers = {
            kind: value
            for name, cell in named.items()
            if (kind := kind_of(name)) and (value := _number(cell)) is not None
        }
        return f"GPU {device}" if device else "", numbers
    if len(cells) == len(_DMON) + 1 and all(_CELL.match(cell) or cell == "-" for cell in cells):
        every = zip(_DMON, cells[1:], strict=True)
        return f"GPU {cells[0]}", {kind: value for kind, cell in every if kind and (value := _number(cell)) is not None}
    match = _DEVICE.search(plain)
    if match is None:
        return "", {}
    numbers = {_UNITS[unit.casefold()]: float(value) for value, unit in reversed(_BESIDE.findall(plain))}
    numbers |= _pairs(plain)
    return f"GPU {match[1]}", numbers


def _pairs(text: str) -> dict[str, float]:
    """The numbers that stand behind the name of a quantity."""
    return {kind: float(value) for name, value in _PAIR.findall(text) if (kind := kind_of(name))}


def _device_of(subject: Subject, node: str | None, rank: int) -> str:
    """The device of who wrote a row: a number that is no rank of its node counts the devices there."""
    return f"rank {rank}" if subject.home.get(rank) in (node, None) else f"GPU {rank}"


def kind_of(name: str) -> str:
    """The quantity that a column's name stands for; empty where none is known."""
    name = _PREFIX.sub("", name)
    return next((kind for kind, pattern in _NAMES if pattern.search(name)), "")


def devices_by(rows: list[DeviceRow]) -> Iterator[tuple[tuple[str, str], list[DeviceRow]]]:
    """The rows of each device of each node."""
    for key in sorted({(item.node, item.device) for item in rows}):
        yield key, [item for item in rows if (item.node, item.device) == key]


def _number(cell: str) -> float | None:
    match = _CELL.match(cell)
    return float(match[1]) if match else None
