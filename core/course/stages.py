"""Which stage of training a line belongs to, by rule packs (L4, section 4.4; rules/stages.toml).

A stage begins with a line that names it and lasts until the next such line of the same speaker; speakers that name no
stage (most ranks) follow the job's clock. A traceback knows better than the clock: its functions name the stage.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from importlib.resources import files as package_files

import numpy as np
from numpy.typing import NDArray

from core.course.markers import MARKED_WITHIN
from core.course.openers import Openers, find_openers
from core.events.column import Column
from core.events.table import EventTable
from core.facts import complains
from core.logs.blocks.frames import read_frames
from core.logs.lines import NO_TIME
from core.memory import Memory
from core.model import Stage
from core.phrases import Worded, worded

STAGES = tuple(Stage)
_UNKNOWN = STAGES.index(Stage.UNKNOWN)
_STAMP = re.compile(r"^\[<TS>\]\s{0,4}")  # the clock in brackets before a line, as of Megatron, is no part of a phrase

_CALLED = re.compile(r"(?<!\w)([A-Za-z_]\w{0,80}+)\(")


@dataclass(frozen=True, slots=True)
class _Rules:
    openers: tuple[tuple[Stage, Worded], ...]
    frames: tuple[tuple[Stage, re.Pattern[str]], ...]
    data: re.Pattern[str]
    loop: re.Pattern[str]
    saved: re.Pattern[str]
    not_saved: re.Pattern[str]


def find_stages(table: EventTable, marks: NDArray[np.intp], memory: Memory | None = None) -> Column:
    """Stage of every row (place in STAGES).

    Args:
        marks: rows that say that an iteration is complete; training, whatever was said before.
    """
    if memory is None:
        return _carried(table, *_openers(table, marks).arrays())
    question = f"stages {blake2b(marks.tobytes(), digest_size=20).hexdigest()}"
    return _carried(table, *memory.arrays(question, lambda: _openers(table, marks).arrays()))


def _openers(table: EventTable, marks: NDArray[np.intp]) -> Openers:
    return find_openers(table, marks, np.array([opened_by(template.sample) for template in table.templates], np.int8))


@lru_cache(maxsize=1 << 14)  # several steps ask
def opened_by(template: str) -> int:
    """The stage (place in STAGES) that a message with this template opens; -1 for none."""
    template = _STAMP.sub("", template)[:MARKED_WITHIN]
    if complains(template):
        return -1  # what goes wrong opens no stage: "failed to shutdown the rendezvous" is not initialization
    lower = template.lower()
    for stage, phrases in _rules().openers:
        if phrases.found_in(template, lower):
            return STAGES.index(stage)
    return -1


def stage_of_frames(lines: Sequence[str]) -> Stage | None:
    """Stage that the functions of a traceback name; saving before loading before evaluating before training.

    What reads data inside the loop over batches trains: the loop has begun.
    """
    functions = [frame.function for frame in read_frames(lines)]
    functions += _called_last(lines)
    rules = _rules()
    named = [stage for stage, pattern in rules.frames if any(pattern.fullmatch(function) for function in functions)]
    in_loop = any(rules.loop.fullmatch(function) for function in functions)
    if in_loop and (not named or named[0] is Stage.DATA_LOADING):
        return Stage.TRAINING
    return named[0] if named else None


def _called_last(lines: Sequence[str]) -> list[str]:
    """Functions that the innermost frame calls in the line of code below it: those of C leave no frame of their own."""
    innermost = max((place for place, line in enumerate(lines) if any(read_frames([line]))), default=len(lines))
    below = lines[innermost + 1 : innermost + 2] if innermost + 2 < len(lines) else []  # the last line is the error
    return [name for code in below for name in _CALLED.findall(code)]


def in_train(lines: Sequence[str]) -> bool:
    """Whether a traceback goes through a function in which many programs do all of their work.

    ``train``, and ``train_loop`` of JAX's scripts and of Ray's workers.
    """
    return any(frame.function in ("train", "train_loop") for frame in read_frames(lines))


def stage_of_path(text: str) -> Stage | None:
    """Stage that a quoted path in a message names: what asks for a data set loads data."""
    return Stage.DATA_LOADING if _rules().data.search(text) else None


def speaks_of_saving(text: str) -> bool:
    """Whether an error of a job that trains speaks of a checkpoint, and not of loading one."""
    rules = _rules()
    return rules.saved.search(text) is not None and rules.not_saved.search(text) is None


@cache
def _rules() -> _Rules:
    rules = tomllib.loads(package_files("core.rules").joinpath("stages.toml").read_text("utf-8"))
    openers = tuple(
        (Stage(stage), worded(patterns))
        for pack in rules["pack"]
        for stage, patterns in pack.items()
        if stage != "framework"
    )
    frames = tuple(
        (Stage(stage), re.compile("|".join(f"(?:{pattern})" for pattern in patterns)))
        for stage, patterns in rules["frames"].items()
    )
    loop = re.compile("|".join(f"(?:{pattern})" for pattern in rules["loop"]["functions"]))
    data, saved, not_saved = (
        re.compile(pattern, re.IGNORECASE)
        for pattern in (rules["paths"]["data loading"], rules["saved"]["words"], rules["saved"]["not"])
    )
    return _Rules(openers, frames, data, loop, saved, not_saved)


def _carried(
    table: EventTable,
    clock: NDArray[np.int64],
    by_clock: NDArray[np.int8],
    openers: NDArray[np.intp],
    by_place: NDArray[np.int8],
) -> Column:
    """Each row has the stage that was opened last, by the clock of the job; in a file without clock by position."""
    files = table.file[openers].astype(np.intp)
    names_any = np.bincount(files, minlength=len(table.files)) > 0
    stages_of_file = np.unique(files * len(STAGES) + by_place) // len(STAGES)
    # a file that names several stages keeps its own time; one that names a single stage follows the others
    keeps_time = np.bincount(stages_of_file, minlength=len(table.files)) >= _SEVERAL
    by_clock = np.append(by_clock, np.int8(_UNKNOWN))

    def of_rows(rows: NDArray[np.intp]) -> NDArray[np.int8]:
        stage: NDArray[np.int8] = by_clock[np.searchsorted(clock, table.time[rows], side="right") - 1]
        file = table.file[rows].astype(np.intp)
        if not names_any[file].any():
            return stage
        last = np.searchsorted(openers, rows, side="right") - 1
        names = (last >= 0) & (files[last] == file)
        has_clock = _have_clock(table, file)
        own = names & (keeps_time[file] | ~has_clock)
        stage[own] = by_place[last[own]]
        stage[names_any[file] & ~names & ~has_clock] = _UNKNOWN
        return stage

    return table.computed(np.int8, of_rows)


def _have_clock(table: EventTable, files: NDArray[np.intp]) -> NDArray[np.bool_]:
    distinct, place = np.unique(files, return_inverse=True)
    firsts = np.array([table.rows_of_file(file).start for file in distinct.tolist()], np.intp)
    return np.asarray(table.time[firsts] != NO_TIME, np.bool_)[place]


_SEVERAL = 3  # stages: a file that names so many has a course of its own
