"""Numbers that the ranks print with their iterations, rank by rank: their own parts of a step.

A slow rank makes all ranks slow, because they wait for it: the time of a whole step rises everywhere. What a rank
measures of its own work rises on that rank alone, and what it measures of waiting rises on all others.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.course.iterations import Iterations
from core.course.pace import SECOND
from core.course.unmarked_counts import find_beside
from core.events.row_text import each_row
from core.events.table import EventTable, rows_by
from core.job import LogFile

MOST_ROWS = 40_000  # lines that are read again, evenly spread over the run of each rank
LAST_ROWS = 8  # of each rank, its last ones, that are read besides: what a job did before it stopped
_MOST_NAMES = 1 << 12  # that are remembered, and forms of lines; loggers have some tens
_DIGITS = re.compile(r"\d+")
LAG = "time behind the others"
_MIN_COUNTED = 8  # numbers that all rise: of measured ones so many do in one of 40,320 orders
OF_ALL = -1  # stands for a rank where one tells of the whole job
# A name, in any common script, and a number, as loggers join them: data_time=0.12, "fwd: 12.3", time 22.7s,
# elapsed (ms): 203.4
_PAIR = re.compile(
    r"([A-Za-z\u00c0-\u024f\u0370-\u1fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
    r"[A-Za-z\u00c0-\u024f\u0370-\u1fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af_./-]*"
    r"(?: [A-Za-z\u00c0-\u024f\u0370-\u1fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af_./-]+){0,3}?)"
    r"[\"']?(?: ?\((?P<of>\w+)\))?[\"']?\s*[:= ]\s*[\"']?"
    r"(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+|[KM](?![\w/]))?)(?![\d.]*[/:\d%])(?! ?[KMGT](?:i?B)?\b)"
    r"(?P<unit> ?(?:m?s\b|[毫ミ밀]?(?:リ秒|리초|秒|초)))?"
)
_MILLI = ("m", "毫", "ミ", "밀")  # a unit of thousandths of a second begins so: in English, Chinese, Japanese, Korean
_TIMES = {"K": 1e3, "M": 1e6}  # behind a number: huggingface/nanotron src/nanotron/logging, human_format
# A number and what it is of, as loggers write rates: 1312 ms/update, 1.3 s/it, 24.5 ex/s
_OF_EACH = re.compile(r"(?<![\w.:=/])(\d+(?:\.\d+)?) ?(m?s(?:ec)?/[a-z]{2,12}|[a-z]{2,12}/s(?:ec)?)\b")
# Several at once: read/comp/comm = 0.0/2.0/0.1 s
_SEVERAL = re.compile(
    r"(?<![\w/.-])(?P<names>[A-Za-z_]\w*(?:/[A-Za-z_]\w*){1,7}) ?[:=] ?(?P<values>\d+(?:\.\d+)?(?:/\d+(?:\.\d+)?){1,7})"
    r"(?![\w/.])(?P<unit> ?m?s\b)?"
)
# What training prints beside times: measures of learning, sizes, loads. All else that has no unit may be seconds.
_NO_DURATION = re.compile(
    r"loss|\blr\b|learning|acc(?:uracy)?\b|norm|ppl|perplexity|grad(?!ient_)|nll|\berr|\bobj|entropy|score|reward|scale|mem|\brss|vram|heap"
    r"|util|temp|power|gpu|bytes|queue|depth|backlog|pending|in.?flight|\bsize|tokens\b|samples|\brank|\bport|\bpid|\bworld|seed|version|\bbs\b|total|skipped|nan",
    re.IGNORECASE,
)
# What is no time by such a word is one by its unit: "gpu_s", "grad_ms", "gpu ms"; but docs_s are documents a second
_TIMED = re.compile(r"[^\W_s][_ .-](?:[mun]?s|(?:milli)?sec(?:ond)?s?)$", re.IGNORECASE)
_RATE = re.compile(r"tps\b|\b[fiqs]ps\b|it/s|per.?sec|/s$|/sec|throughput|tflops?|mfu|tokens_per", re.IGNORECASE)
_MILLISECONDS = re.compile(
    r"^ms(?:ec)?/|\bms\b|_ms\b|millis|-compute$|-comm", re.IGNORECASE
)  # Megatron's timers are, unnamed
_COUNTS = re.compile(r"^(?:global.?)?(?:step|steps|iter|iteration|epoch|batch)$", re.IGNORECASE)

Values = Mapping[int, Mapping[int, float]]  # rank -> iteration -> value


def find_timings(table: EventTable, files: Mapping[str, LogFile], iterations: Iterations) -> Mapping[str, Values]:
    """Durations by name, rank and iteration; of rates their inverse; and by how much each rank is later.

    Only ranks that count their own iterations are read, by markers or in words of their own; where none does, what one
    that is none tells of the whole job (under OF_ALL).
    """
    beside = find_beside(table, files, iterations, MOST_ROWS)
    rank = np.concatenate([table.rank_of_voice[iterations.voices], beside.ranks])
    marks = np.concatenate([iterations.marks, beside.rows])
    numbers = np.concatenate([iterations.numbers, beside.numbers])
    chosen = _spread(rank)
    found: dict[str, dict[int, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    if len(chosen):
        number = dict(zip(marks[chosen].tolist(), chosen.tolist(), strict=True))
        for row, text in each_row(files, table, np.sort(marks[chosen])):
            place = number[row]
            iteration = int(numbers[place])
            for name, value in numbers_told(text):
                found[name][int(rank[place])][iteration] = value
    else:
        _add_told_of_all(found, table, files, iterations)
    kept = {name: found[name] for name in sorted(found) if found[name] and not _counts_up(found[name])}
    return {**kept, LAG: _lags(iterations)}


def _counts_up(values: Values) -> bool:
    """Whether a number rises on every rank and never falls: it counts, or tells the time since the start.

    Also one that stays as it is for a while and then rises by one, as that of an epoch does.
    """
    series = [[of[number] for number in sorted(of)] for of in values.values()]
    return all(len(item) >= _MIN_COUNTED and _rises(item) for item in series)


def _rises(values: Sequence[float]) -> bool:
    steps = [y - x for x, y in pairwise(values)]
    return min(steps) > 0 or (set(steps) == {0.0, 1.0})


def _add_told_of_all(
    found: dict[str, dict[int, dict[int, float]]],
    table: EventTable,
    files: Mapping[str, LogFile],
    iterations: Iterations,
) -> None:
    """What the one who counts the iterations most often tells with them, in a log in which no rank counts any."""
    voices, often = np.unique(iterations.voices, return_counts=True)
    if not len(voices):
        return
    own = np.flatnonzero(iterations.voices == voices[np.argmax(often)])
    own = own[_evenly(len(own), MOST_ROWS)]
    number = dict(zip(iterations.marks[own].tolist(), iterations.numbers[own].tolist(), strict=True))
    for row, text in each_row(files, table, np.array(sorted(number), np.intp)):
        for name, value in numbers_told(text):
            found[name][OF_ALL][number[row]] = value


# Each of these asks for the same few names on every line.
@lru_cache(maxsize=_MOST_NAMES)
def _counts(name: str) -> bool:
    return _COUNTS.match(name) is not None


@lru_cache(maxsize=_MOST_NAMES)
def may_be_duration(name: str) -> bool:
    """Whether a number of this name may be seconds where no unit stands behind it, but in the name."""
    return _NO_DURATION.search(name) is None or _TIMED.search(name) is not None


@lru_cache(maxsize=_MOST_NAMES)
def is_rate(name: str) -> bool:
    """Whether a number of this name is a rate, whose inverse is kept: no seconds, but a time that one takes."""
    return _RATE.search(name) is not None


@lru_cache(maxsize=_MOST_NAMES)
def is_milliseconds(name: str) -> bool:
    """Whether a duration of this name is told in milliseconds."""
    return _MILLISECONDS.search(name) is not None


def _spread(rank: NDArray[np.int32]) -> NDArray[np.intp]:
    """Places of the markers that are read: of each rank as many, evenly spread, and its last ones."""
    own = list(rows_by(rank, np.flatnonzero(rank >= 0)))
    each = max(1, MOST_ROWS // max(1, len(own)))
    parts = [places[_evenly(len(places), each)] for _, places in own]
    return np.concatenate([np.zeros(0, np.intp), *parts])


def _evenly(count: int, most: int) -> NDArray[np.intp]:
    """So many places at most from the first to the last, evenly, and the last ones besides."""
    if count <= most:
        return np.arange(count)
    spread = np.linspace(0, count - 1, most).astype(np.intp)
    return np.union1d(spread, np.arange(max(0, count - LAST_ROWS), count))


class _Told(NamedTuple):
    """A number in a line by its name, and where it stands; rate: it counts as the time that one takes."""

    name: str
    start: int
    end: int
    rate: bool


class _InDigits(NamedTuple):
    """The same by which run of digits of the line it begins with, and what follows each of its runs."""

    name: str
    first: int
    behind: tuple[str, ...]
    rate: bool


def numbers_told(text: str) -> list[tuple[str, float]]:
    """Names of what may be durations in a line, with their values; a rate counts as the time that one takes.

    A line is read as the first one was that differs from it in its digits alone: to look for names takes five times as
    long, and of the lines that count iterations few differ in more.
    """
    places = _in_digits(_DIGITS.sub("0", text))
    if places is None:
        found = [(name, text[start:end], rate) for name, start, end, rate in _told(text)]
    else:
        runs = _DIGITS.findall(text)
        found = [
            (name, "".join([runs[first + at] + sign for at, sign in enumerate(behind)]), rate)
            for name, first, behind, rate in places
        ]
    values = ((name, _value(number), rate) for name, number, rate in found)
    return [(name, 1.0 / value if rate else value) for name, value, rate in values if value > 0 or not rate]


def _value(number: str) -> float:
    """The value of a number as it is written: 1.65K."""
    return float(number[:-1]) * _TIMES[number[-1]] if number[-1] in _TIMES else float(number)


@lru_cache(maxsize=_MOST_NAMES)
def _in_digits(text: str) -> tuple[_InDigits, ...] | None:
    """Where such numbers stand in all lines that are this one with other digits; None where a name has digits."""
    told = _told(text)
    if any("0" in name for name, *_ in told):
        return None
    return tuple(
        _InDigits(name, text.count("0", 0, start), tuple(text[start:end].split("0")[1:]), rate)
        for name, start, end, rate in told
    )


def _told(text: str) -> list[_Told]:
    """Numbers that may be durations, or rates, by their names."""
    told = []
    found = list(_PAIR.finditer(text))
    for match, unit_name in zip(found, _units(text, found), strict=True):
        name, unit = match[1], (match["unit"] or "").strip()
        in_short = match["number"][-1] in _TIMES
        if _counts(name) or (in_short and not (is_rate(name) or is_milliseconds(name))):
            continue  # 24K tokens are a size
        if is_rate(name):
            told.append(_Told(name, *match.span("number"), rate=True))
        elif unit or (name.isascii() and may_be_duration(name)):  # what measures learning is known in English
            in_ms = "ms" in (unit_name, match["of"]) and not is_milliseconds(name)
            told.append(_Told(f"{name} ms" if in_ms else name, *match.span("number"), rate=False))
    return [*told, *_with_slashes(text)] if "/" in text else told


def _with_slashes(text: str) -> Iterator[_Told]:
    """Those that are told as several at once or as a rate."""
    for match in _SEVERAL.finditer(text):
        names, values = match["names"].split("/"), match["values"].split("/")
        unit = " ms" if (match["unit"] or "").strip() == "ms" else ""
        start = match.start("values")
        for name, value in zip(names, values, strict=True) if len(names) == len(values) else ():
            yield _Told(f"{name}{unit}", start, start + len(value), rate=False)
            start += len(value) + 1
    for match in _OF_EACH.finditer(text):
        yield _Told(match[2], *match.span(1), rate=is_rate(match[2]))


def _units(text: str, found: Sequence[re.Match[str]]) -> list[str]:
    """The unit of each pair; of several in a row the last one alone may tell it: fetch 1 work 163 share 26 ms."""
    units: list[str] = []
    begins, unit = len(text), ""
    for match in reversed(found):
        own = (match["unit"] or "").strip()
        own = own and ("ms" if own.startswith(_MILLI) else "s")
        follows = not text[match.end() : begins].strip()
        unit = own or (unit if follows else "")
        begins = match.start()
        units.append(unit)
    return units[::-1]


def _lags(iterations: Iterations) -> Values:
    """Seconds by which each rank says later than the first one that an iteration is complete."""
    first: dict[int, int] = {}
    for course in iterations.courses.values():
        for number, time in zip(course.numbers.tolist(), course.times.tolist(), strict=True):
            first[number] = min(first.get(number, time), time)
    return {
        rank: {
            number: (time - first[number]) / SECOND
            for number, time in zip(course.numbers.tolist(), course.times.tolist(), strict=True)
        }
        for rank, course in sorted(iterations.courses.items())
    }
