"""Which stage of training a line belongs to, by rule packs (L4, section 4.4; rules/stages.toml).

A stage begins with a line that names it and lasts until the next such line of the same speaker; speakers that name no
stage (most ranks) follow the job's clock. A traceback knows better than the clock: its functions name the stage.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as package_files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.column import Column
from core.facts import complains
from core.logs.lines import NO_TIME
from core.model import Stage
from core.table import EventTable, rows_by

STAGES = tuple(Stage)
_UNKNOWN = STAGES.index(Stage.UNKNOWN)
_BEFORE_TRAINING = [STAGES.index(one) for one in (Stage.INITIALIZATION, Stage.MODEL_LOADING, Stage.DATA_LOADING)]
_FRAME = re.compile(r'File "[^"]*", line \d+,? in (\S+)')


@dataclass(frozen=True, slots=True)
class _Rules:
    openers: tuple[tuple[Stage, re.Pattern[str]], ...]
    frames: tuple[tuple[Stage, re.Pattern[str]], ...]
    data: re.Pattern[str]


def find_stages(table: EventTable, marks: NDArray[np.intp]) -> Column:
    """Stage of every row (place in STAGES).

    Args:
        marks: rows that say that an iteration is complete; training, whatever was said before.
    """
    of_event = np.array([_opened_by(template.sample) for template in table.templates], np.int8)
    by_event = table.rows_of(np.flatnonzero(of_event >= 0).tolist())
    rows = np.concatenate([marks, *by_event.values()]).astype(np.intp)
    opened = np.concatenate(
        [
            np.full(len(marks), STAGES.index(Stage.TRAINING), np.int8),
            *(np.full(len(said), of_event[event], np.int8) for event, said in by_event.items()),
        ]
    )
    del by_event  # of large jobs most of these are iterations, by the million
    rows, first = np.unique(rows, return_index=True)  # a mark before what its words say
    opened = opened[first]
    again = _begun(table, marks, rows) & np.isin(opened, _BEFORE_TRAINING)
    return _carry(table, rows[~again], opened[~again])


def _begun(table: EventTable, marks: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which rows come after the first iteration of the last run: what loaded before does not load again."""
    if not len(marks):
        return np.zeros(len(rows), np.bool_)
    first = marks[np.argmin(table.time[marks])]
    beside = table.file[rows] == table.file[first]
    later: NDArray[np.bool_] = beside & (rows > first)
    if table.time[first] != NO_TIME:
        later |= ~beside & (table.time[rows] > table.time[first])
    return later


def stage_of_frames(lines: Sequence[str]) -> Stage | None:
    """Stage that the functions of a traceback name; saving before loading before evaluating before training."""
    functions = [match[1] for line in lines if (match := _FRAME.search(line))]
    for stage, pattern in _rules().frames:
        if any(pattern.fullmatch(function) for function in functions):
            return stage
    return None


def stage_of_path(text: str) -> Stage | None:
    """Stage that a quoted path in a message names: what asks for a data set loads data."""
    return Stage.DATA_LOADING if _rules().data.search(text) else None


@cache
def _rules() -> _Rules:
    rules = tomllib.loads(package_files("core.rules").joinpath("stages.toml").read_text())
    openers = tuple(
        (Stage(stage), re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE))
        for pack in rules["pack"]
        for stage, patterns in pack.items()
        if stage != "framework"
    )
    frames = tuple(
        (Stage(stage), re.compile("|".join(f"(?:{pattern})" for pattern in patterns)))
        for stage, patterns in rules["frames"].items()
    )
    return _Rules(openers, frames, re.compile(rules["paths"]["data loading"], re.IGNORECASE))


def _opened_by(template: str) -> int:
    if complains(template):
        return -1  # what goes wrong opens no stage: "failed to shutdown the rendezvous" is not initialization
    for stage, pattern in _rules().openers:
        if pattern.search(template):
            return STAGES.index(stage)
    return -1


def _carry(table: EventTable, openers: NDArray[np.intp], opened: NDArray[np.int8]) -> Column:
    """Each row has the stage that was opened last, by the clock of the job; in a file without clock by position."""
    time = table.time[openers]
    order = np.argsort(time, kind="stable")
    turns = order[_turns(opened[order])]
    clock, by_clock = time[turns], np.append(opened[turns], np.int8(_UNKNOWN))
    del time, order
    files = table.file[openers]
    changes = _turns(opened) | _turns(files)
    openers, opened, files = openers[changes], opened[changes], files[changes]
    reach = {file: (int(mine[0]), int(mine[-1]) + 1) for file, mine in rows_by(files, np.arange(len(files)))}

    def of_rows(file: int, rows: NDArray[np.intp]) -> NDArray[np.int8]:
        stage: NDArray[np.int8] = by_clock[np.searchsorted(clock, table.time[rows], side="right") - 1]
        if file in reach:
            begin, end = reach[file]
            last = np.searchsorted(openers[begin:end], rows, side="right") - 1
            names, has_clock = last >= 0, table.time[table.rows_of_file(file).start] != NO_TIME
            if _speaks_often(opened[begin:end]) or not has_clock:
                stage[names] = opened[begin:end][last[names]]
            if not has_clock:
                stage[~names] = _UNKNOWN
        return stage

    return table.computed(np.int8, of_rows)


def _turns(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a value differs from the one before it."""
    return np.append([True], values[1:] != values[:-1])[: len(values)]


def _speaks_often(opened: NDArray[np.int8]) -> bool:
    """A file that names several stages keeps its own time; one that names a single stage follows the others."""
    return len(np.unique(opened)) >= 3
