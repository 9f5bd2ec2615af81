"""Numbers that lines tell again and again of ranks, nodes and devices, in whatever words and whoever prints them.

``rank 3: busy 0.31 s``, ``{'rank': 3, 'busy': 0.31}``, ``npu=2 power=156.7W`` of every machine, a row of a table with a
column for each rank: what a number is of tells its speaker, an identifier in the line, or its place in the row.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.events.messages import unlabelled
from core.events.row_text import each_row, read_rows
from core.events.table import rows_by
from core.facts import complains
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS

MIN_SIDE = 4  # values on either side of a change: four before something changes, as in core.nodes.rank_values
MAX_EVENTS = 16  # messages that are looked at, those said most often first
MAX_ROWS = 2_048  # of a message, of all its speakers, evenly spread over the run of each: a thirtieth of a second
FLOOR_OF_TOP, FLOOR_OF_USUAL = 1 / 256, 1 / 16  # of the largest and the usual value: what is below is told as nearly 0
_CLOCK = re.compile(r"(?:\b\d{2,4}[-/]\d{2}[-/]\d{2,4}[ T_-]|\b)\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?")
# A word, which names the number behind it, or a number: not a part of a word, an address or a version.
_TOKEN = re.compile(
    r"(?P<word>[A-Za-z_][\w./%@-]*)|(?<![\w.])(?P<number>\d{1,15}(?:\.\d{1,12})?(?:[eE][-+]?\d{1,3})?)(?!\.?\d|[-:]\d)"
)
NAMED_RANK = re.compile(r"\b(?:global[_ ]?)?rank['\"]?\s{0,8}[=:#]?\s{0,8}(?P<number>\d{1,6})\b", re.IGNORECASE)
_DEVICE = re.compile(r"(?<![/\w])(?:[gnh]pu|device|card|dev)['\"]?\s?[=:#_]?\s?(?P<number>\d{1,3})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """What a number is of: a rank, a device of a node, or a node; -1 where it is none of these."""

    node: str
    rank: int = -1
    device: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What is told of one subject under one name, in order: values, their logarithms above a floor, rows.

    times: microseconds of the job's clock; empty where not every line has one.
    """

    values: NDArray[np.float64]
    octaves: NDArray[np.float64]
    rows: NDArray[np.intp]
    times: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a line: which of them it is, the word before it, its value."""

    place: int
    name: str
    value: float


def told_numbers(parsed: Parsed, home: Mapping[int, str]) -> Iterator[tuple[int, str, dict[Subject, Told]]]:
    """Numbers that are measured of several subjects, with their message and their name.

    Args:
        home: node of each rank.
    """
    table = parsed.table
    for event in _events(parsed):
        rows = _chosen(parsed, event)
        found: dict[tuple[int, str], dict[Subject, list[tuple[int, float]]]] = defaultdict(lambda: defaultdict(list))
        texts = list(each_row(parsed.files, table, rows))
        lists = lists_ranks(texts, table.voice[rows].tolist())
        heads = _heads(parsed, event, rows) if lists else {}
        for row, text in texts:
            origin = table.origins[table.voice[row]]
            for subject, number in _read(text, origin.node, None if lists else origin.rank, home):
                name = f"{heads[row]} {number.name}".strip() if row in heads else number.name
                found[number.place, name][subject].append((row, number.value))
        for (_, name), of_subject in sorted(found.items()):
            whole = {subject: of for subject, of in sorted(of_subject.items()) if len(of) >= 2 * MIN_SIDE}
            if len(whole) >= max(MIN_RANKS, len(of_subject) * MAJORITY) and _is_measured(whole.values()):
                yield event, name, _told(parsed, whole)


def _events(parsed: Parsed) -> list[int]:
    """Messages with numbers that are said often, and that complain of nothing."""
    table = parsed.table
    found = [
        event
        for event, template in enumerate(table.templates)
        if table.heads[event] >= 2 * MIN_SIDE
        and not template.block
        and "<" in template.sample
        and not complains(template.sample)
    ]
    return sorted(found, key=lambda event: (-int(table.heads[event]), event))[:MAX_EVENTS]


def _chosen(parsed: Parsed, event: int) -> NDArray[np.intp]:
    """Rows of an event, sorted: of each speaker as many, evenly spread."""
    table = parsed.table
    own = [of for _, of in rows_by(table.voice, table.rows_of([event])[event])]
    each = max(2 * MIN_SIDE, MAX_ROWS // max(1, len(own)))
    parts = [of[np.unique(np.linspace(0, len(of) - 1, each).astype(np.intp))] for of in own[: MAX_ROWS // MIN_SIDE]]
    return np.sort(np.concatenate([np.zeros(0, np.intp), *parts]))


def lists_ranks(texts: Sequence[tuple[int, str]], voices: Sequence[int]) -> bool:
    """Whether one speaker tells of several ranks, as the last one does of all in Megatron's timers."""
    named: dict[int, set[str]] = defaultdict(set)
    for (_, text), voice in zip(texts, voices, strict=True):
        if found := NAMED_RANK.search(text):
            named[voice].add(found["number"])
    return any(len(ranks) >= MIN_RANKS for ranks in named.values())


def _heads(parsed: Parsed, event: int, rows: NDArray[np.intp]) -> dict[int, str]:
    """What stands above the list that each row belongs to: ``forward-compute:``, of a list of several."""
    table = parsed.table
    every = table.rows_of([event])[event]
    starts = every[np.append([True], np.diff(every) > 1)]
    own = starts[np.searchsorted(starts, rows, side="right") - 1]
    above = np.unique(own[own > 0] - 1)
    texts = {
        row + 1: unlabelled(table, row, text).strip() for row, text in read_rows(parsed.files, table, above).items()
    }
    texts = {row: text.strip(" :.") for row, text in texts.items() if text.endswith(":")}
    return {row: texts[start] for row, start in zip(rows.tolist(), own.tolist(), strict=True) if start in texts}


def _read(text: str, node: str | None, rank: int | None, home: Mapping[int, str]) -> Iterator[tuple[Subject, Number]]:
    """Numbers of a line, and what each is of; none where nobody tells."""
    named = NAMED_RANK.search(text)
    if named is not None and rank is None:
        rank = int(named["number"])
    if rank is not None and (rank in home or node is not None):
        yield from _of_one(Subject(home.get(rank) or node or "", rank), numbers_of(text))
        return
    numbers = numbers_of(text)
    columns = numbers[-len(home) :] if len(home) >= MIN_RANKS else []
    if len(columns) == len(home) >= MIN_RANKS and not any(number.name for number in columns[1:]):
        for column, rank_of in zip(columns, sorted(home), strict=True):
            yield Subject(home[rank_of], rank_of), Number(-1, columns[0].name, column.value)
    elif node is not None:
        device = _DEVICE.search(text)
        yield from _of_one(Subject(node, device=int(device["number"]) if device is not None else -1), numbers)


def _of_one(subject: Subject, numbers: Sequence[Number]) -> Iterator[tuple[Subject, Number]]:
    for number in numbers:
        yield subject, number


def numbers_of(text: str) -> list[Number]:
    """The numbers of a line by their places, each with the word before it, if no other number stands between.

    No clock is one, nor the number of a rank that the line names.
    """
    text = NAMED_RANK.sub(" ", _CLOCK.sub(" ", text), count=1)
    found, name = list[Number](), ""
    for token in _TOKEN.finditer(text):
        if token["word"]:
            name = token["word"]
        else:
            found.append(Number(len(found), name, float(token["number"])))
            name = ""
    return found


def _is_measured(told: Iterable[list[tuple[int, float]]]) -> bool:
    """Whether numbers are what is measured: finite, not all zero, and no counter."""
    series = [np.array([value for _, value in of]) for of in told]
    every = np.concatenate(series)
    counts = all((np.diff(of) >= 0).all() for of in series)
    return bool(np.isfinite(every).all() and every.max() > 0) and not counts


def _told(parsed: Parsed, of_subject: Mapping[Subject, list[tuple[int, float]]]) -> dict[Subject, Told]:
    every = np.array([value for of in of_subject.values() for _, value in of])
    floor = max(float(every.max()) * FLOOR_OF_TOP, float(np.median(every)) * FLOOR_OF_USUAL)
    found = {}
    for subject, of in of_subject.items():
        rows, values = np.array([row for row, _ in of], np.intp), np.array([value for _, value in of])
        times = parsed.table.time[rows] if parsed.table.timed[rows].all() else np.zeros(0, np.int64)
        found[subject] = Told(values, np.log2(np.maximum(values, floor)), rows, times)
    return found
