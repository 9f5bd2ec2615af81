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

import numpy as np
from numpy.typing import NDArray

from core.facts import complains
from core.logs.lines import NO_TIME
from core.model import Stage
from core.table import EventTable

STAGES = tuple(Stage)
_UNKNOWN = STAGES.index(Stage.UNKNOWN)
_BEFORE_TRAINING = [STAGES.index(one) for one in (Stage.INITIALIZATION, Stage.MODEL_LOADING, Stage.DATA_LOADING)]
_FRAME = re.compile(r'File "[^"]*", line \d+,? in (\S+)')


@dataclass(frozen=True, slots=True)
class _Rules:
    openers: tuple[tuple[Stage, re.Pattern[str]], ...]
    frames: tuple[tuple[Stage, re.Pattern[str]], ...]
    data: re.Pattern[str]


def find_stages(table: EventTable, marks: NDArray[np.intp]) -> NDArray[np.int8]:
    """Stage of every row (place in STAGES).

    Args:
        marks: rows that say that an iteration is complete; training, whatever was said before.
    """
    opened = np.full(len(table), -1, np.int64)
    of_event = np.array([_opened_by(template.sample) for template in table.templates] or [-1], np.int64)
    opened[table.head] = of_event[table.event[table.head]]
    opened[_begun(table, marks) & np.isin(opened, _BEFORE_TRAINING)] = -1
    opened[marks] = STAGES.index(Stage.TRAINING)
    return _carry(table, opened)


def _begun(table: EventTable, marks: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Rows after the first iteration of the last run: what loaded before does not load again."""
    if not len(marks):
        return np.zeros(len(table), np.bool_)
    first = marks[np.argmin(table.time[marks])]
    later: NDArray[np.bool_] = (table.file == table.file[first]) & (np.arange(len(table)) > first)
    if table.time[first] != NO_TIME:
        later |= (table.file != table.file[first]) & (table.time > table.time[first])
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


def _carry(table: EventTable, opened: NDArray[np.int64]) -> NDArray[np.int8]:
    """Each row has the stage that was opened last, by the clock of the job; in a file without clock by position."""
    stage = np.full(len(table), _UNKNOWN, np.int8)
    openers = np.flatnonzero(opened >= 0)
    if not len(openers):
        return stage
    timed = openers[np.argsort(table.time[openers], kind="stable")]
    place = np.searchsorted(table.time[timed], table.time, side="right") - 1
    stage[:] = np.where(place >= 0, opened[timed[np.maximum(place, 0)]], _UNKNOWN)
    for file in np.unique(table.file[openers]).tolist():
        rows = np.arange(*np.searchsorted(table.file, (file, file + 1)))
        mine = np.where(opened[rows] >= 0, np.arange(len(rows)), -1)
        last = np.maximum.accumulate(mine)
        names, clock = last >= 0, table.time[rows[0]] != NO_TIME
        if _speaks_often(opened[rows]) or not clock:
            stage[rows[names]] = opened[rows[last[names]]]
        if not clock:
            stage[rows[~names]] = _UNKNOWN
    return stage


def _speaks_often(opened: NDArray[np.int64]) -> bool:
    """A file that names several stages keeps its own time; one that names a single stage follows the others."""
    return len(set(opened[opened >= 0].tolist())) >= 3
