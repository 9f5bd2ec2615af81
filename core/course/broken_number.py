"""A number that training prints and that is no number any more, until the end: nothing has been learned since."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.course.iterations import Iterations
from core.events.row_text import read_rows
from core.events.table import EventTable, rows_by
from core.job import LogFile
from core.shares import few_of

MIN_TIMES = 3  # lines in a row, the last ones: a step whose gradients overflow is skipped, and the next is well
MOST_LINES = 2_000  # the last ones of each speaker: where it began, if that is not longer ago
MOST_ENDS = 1_024  # speakers whose last lines are looked at: those that tell most
MOST_VOICES = 4  # of those whose last lines are broken; all compute the same loss,
MOST_SETS = 16  # but one alone may tell further numbers that are none: so many sets of names, of as many voices
BEFORE = 3  # printed iterations before it in which it may have been nan on few ranks alone
MIN_WELL = 2  # ranks that are well; of two that differ, either may be the odd one
_NAN = re.compile(r"\bnan\b", re.IGNORECASE)
# A name, and nan behind it: "loss: nan", "loss is nan". "number of nan iterations: 0" is no value but a count, which
# Megatron prints with each iteration (NVIDIA/Megatron-LM, training.py); so is "skipped nan batches: 2".
_BROKEN = re.compile(
    r"(?<!\w)(?!(?:of|is|was|no|any|are|a)\b)([A-Za-z][\w./-]{0,40})[\"']? ?(?:[:=]|(?:is|was)\b)? ?[\"']?nan\b"
    r"(?! (?:iterations|steps|batches|values|samples)\b)",
    re.IGNORECASE,
)
_INFINITE = re.compile(r"(?<!\w)([A-Za-z][\w./-]{0,40})[\"']? ?[:=]? ?[\"']?[-+]?inf\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BrokenNumber:
    """A number by its name, the first iteration from which on it is nan (-1: untold), and the row that says so.

    first: the ranks that printed it as nan in an iteration in which all others still printed a number; of all ranks
    that print it none, and of ranks that nobody tells apart none.
    """

    name: str
    iteration: int
    row: int
    first: tuple[int, ...] = ()


def find_broken(
    table: EventTable, files: Mapping[str, LogFile], iterations: Iterations, *, raised: bool = False
) -> BrokenNumber | None:
    """The number that broke first and stayed so until the last line that tells it; None while all are numbers.

    Args:
        raised: the job itself complains of a number that is none, so that one line is no gradient that overflowed.
    """
    least = 1 if raised else MIN_TIMES
    found = []
    for at in _ending_without_number(table, files, iterations, least):
        rows, numbers = iterations.marks[at].tolist(), iterations.numbers[at].tolist()
        texts = read_rows(files, table, rows)
        named = [{match[1] for match in _BROKEN.finditer(texts.get(row, ""))} for row in rows]
        for name in sorted(set.intersection(*named[-least:]) if len(named) >= least else ()):
            last_well = max((place for place, names in enumerate(named) if name not in names), default=-1)
            if last_well >= 0:
                found.append(BrokenNumber(name, numbers[last_well + 1], rows[last_well + 1]))
    if not found:
        return _in_other_lines(table, iterations)
    found.sort(key=lambda number: (number.iteration, number.name))
    # a norm over all ranks is nan everywhere in the iteration in which the loss of one is
    of_names = {number.name: number for number in reversed(found)}
    traced = [_with_the_first(of_names[name], table, files, iterations) for name in sorted(of_names)]
    early = [number for number in traced if number.first and number.iteration <= found[0].iteration]
    return early[0] if early else found[0]


def _ending_without_number(
    table: EventTable, files: Mapping[str, LogFile], iterations: Iterations, least: int
) -> Iterator[NDArray[np.intp]]:
    """The last markers of each of few speakers in whose last ones a number is none, of who tells most first."""
    spoken = sorted(rows_by(iterations.voices, np.arange(len(iterations.voices))), key=lambda of: (-len(of[1]), of[0]))
    of_voices = [at[-MOST_LINES:] for _, at in spoken[:MOST_ENDS]]
    ends = [iterations.marks[at[-least:]].tolist() for at in of_voices]
    texts = read_rows(files, table, sorted(row for rows in ends for row in rows))
    seen, given = set[frozenset[str]](), 0
    for at, rows in zip(of_voices, ends, strict=True):
        names = frozenset(match[1] for match in _BROKEN.finditer(" ".join(texts.get(row, "") for row in rows)))
        if names and (given < MOST_VOICES or names not in seen) and len(seen) < MOST_SETS:
            seen.add(names)
            given += 1
            yield at


def _in_other_lines(table: EventTable, iterations: Iterations) -> BrokenNumber | None:
    """The same of lines that count no iterations, as ``{'loss': 'nan'}`` beside a bar: nan makes a message of them.

    Of a speaker who told a number there before, or whose peers do so while it tells none.
    """
    events = {
        event: names
        for event, template in enumerate(table.templates)
        if not template.block and (names := {match[1] for match in _BROKEN.finditer(template.sample)})
    }
    forms: dict[str, list[int]] = defaultdict(list)
    for event, template in enumerate(table.templates):
        forms[_NAN.sub("<NUM>", template.sample)].append(event)
    found = []
    for event, names in events.items():
        twins = [twin for twin in forms[_NAN.sub("<NUM>", table.templates[event].sample)] if twin not in events]
        rows = table.rows_of([event, *twins])
        own = rows.get(event, np.zeros(0, np.intp))[:MOST_LINES]
        others = np.sort(np.concatenate([np.zeros(0, np.intp), *(rows[twin] for twin in twins if twin in rows)]))
        if len(own) < MIN_TIMES or not len(others):
            continue
        well = others[np.isin(table.voice[others], table.voice[own])]
        if (well > own[0]).any():
            continue
        odd, rest = set(table.rank[own].tolist()), set(table.rank[others].tolist()) - {-1}
        alone = not len(well) and -1 not in odd and len(rest) >= MIN_WELL and len(odd) <= few_of(len(odd | rest))
        row = int(own[0])
        iteration = _iteration_of(row, iterations)
        if len(well) or (alone and iteration >= 0):
            found.append(BrokenNumber(min(names), iteration, row, tuple(sorted(odd)) if alone else ()))
    return min(found, key=lambda broken: (broken.iteration, broken.name), default=None)


def _iteration_of(row: int, iterations: Iterations) -> int:
    """The iteration that a row tells itself, else the one after the last that was told before; -1 where none was."""
    at = np.flatnonzero(iterations.marks == row)
    before = int(iterations.of_row[row])
    return int(iterations.numbers[at[0]]) if len(at) else before + 1 if before >= 0 else -1


def _with_the_first(
    broken: BrokenNumber, table: EventTable, files: Mapping[str, LogFile], iterations: Iterations
) -> BrokenNumber:
    """The same with the ranks in which it broke first, or was infinite: a gradient carries it to all one step later."""
    ranks = table.rank_of_voice[iterations.voices]
    numbers = np.unique(iterations.numbers[ranks >= 0])
    near = numbers[numbers <= broken.iteration][-BEFORE:]
    at = np.flatnonzero(np.isin(iterations.numbers, near) & (ranks >= 0))[:MOST_LINES]
    texts = read_rows(files, table, iterations.marks[at].tolist())
    ways = (_BROKEN, _INFINITE)
    names = [
        {match[1] for way in ways for match in way.finditer(texts.get(row, ""))}
        for row in iterations.marks[at].tolist()
    ]
    nan = np.array([broken.name in own for own in names], np.bool_)
    if not nan.any():
        return broken
    first = int(iterations.numbers[at][nan].min())
    then = iterations.numbers[at] == first
    odd, well = set(ranks[at][then & nan].tolist()), set(ranks[at][then & ~nan].tolist())
    if len(well) < MIN_WELL or len(odd) > few_of(len(odd) + len(well)) or odd & well:
        return broken
    row = int(iterations.marks[at][then & nan][0])
    return BrokenNumber(broken.name, first, row, tuple(sorted(int(rank) for rank in odd)))
