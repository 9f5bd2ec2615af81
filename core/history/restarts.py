"""Where a program begins anew in files in which it has died before: also when it came to no iteration between.

A restart is told by two things together: somebody says that a process died or was brought to an end, and after that a
line with which a start begins is said again, before an iteration is counted. None of them alone tells: programs catch
exceptions while they start, load several things with one message, and go on after what was no end.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from core.course.stages import STAGES, opened_by
from core.events.table import EventTable, rows_by
from core.events.template import Template
from core.facts import fact_of
from core.logs.blocks.exceptions import is_told
from core.logs.lines import NO_TIME
from core.memory import Memory
from core.model import Role, Stage
from core.outcomes import Outcome, outcome_of

BEGINNING = (Stage.INITIALIZATION, Stage.MODEL_LOADING, Stage.CHECKPOINT_LOADING)
_BEGINNING = [STAGES.index(stage) for stage in BEGINNING]

# Who tells of an end: a launcher, once all its processes are gone; the end itself; or what a process says when it ends
_NOTHING, _OPENS, _GOES_ON, _REPORTED, _DIED, _ENDS = range(6)


@dataclass(frozen=True, slots=True)
class Restart:
    """A start after an end. died: when the end was last told of; opens: when the first line of the start was said.

    Both in microseconds of the logs' clock.
    """

    died: int
    opens: int


def find_restarts(table: EventTable, marks: NDArray[np.intp], memory: Memory | None = None) -> tuple[Restart, ...]:
    """The restarts that the file with the most of them tells, in their order; other files tell the same ones.

    Args:
        marks: rows that say that an iteration is complete: who counts one did not die.
    """

    def look() -> tuple[NDArray[np.int64]]:
        found = max(_in_files(table, marks), key=len, default=[])
        return (np.array([(restart.died, restart.opens) for restart in found], np.int64).reshape(-1, 2),)

    question = f"restarts {blake2b(marks.tobytes(), digest_size=20).hexdigest()}"
    pairs = (look() if memory is None else memory.arrays(question, look))[0]
    return tuple(Restart(*pair) for pair in pairs.tolist())


def _in_files(table: EventTable, marks: NDArray[np.intp]) -> Iterator[list[Restart]]:
    counts = table.counts
    kinds = np.array([_kind(template) for template in table.templates], np.int8)
    again = np.unique(counts.event[(kinds[counts.event] == _OPENS) & (counts.heads > 1)])  # by one voice
    if not len(again) or not (kinds > _GOES_ON).any():
        return
    wanted = [*again.tolist(), *np.flatnonzero(kinds > _GOES_ON).tolist()]
    rows = np.unique(np.concatenate([marks, *table.rows_of(wanted).values()]))
    for _, mine in rows_by(table.file, rows[table.time[rows] != NO_TIME]):
        kind = np.where(np.isin(mine, marks), np.int8(_GOES_ON), kinds[table.event[mine]])
        yield _starts(kind, table.message[mine], table.time[mine])


def _starts(kinds: NDArray[np.int8], messages: NDArray[np.uint32], times: NDArray[np.int64]) -> list[Restart]:
    """The restarts in one file.

    Where a launcher reports, what its processes say is no end: one may die while another one still starts.
    """
    ends = np.isin(kinds, (_REPORTED, _DIED) if (kinds == _REPORTED).any() else (_REPORTED, _DIED, _ENDS))
    found: list[Restart] = []
    ranks_seen: set[int] = set()
    died: int | None = None
    for kind, is_end, message, time in zip(
        kinds.tolist(), ends.tolist(), messages.tolist(), times.tolist(), strict=True
    ):
        if is_end:
            died = time
        elif kind == _GOES_ON:
            died = None
        elif kind == _OPENS:
            if died is not None and message in ranks_seen and time >= died:
                found.append(Restart(died, time))
                ranks_seen, died = set(), None
            ranks_seen.add(message)
    return found


def _kind(template: Template) -> int:
    outcome = outcome_of(template.sample)
    if outcome in (Outcome.REPORT, Outcome.ANEW):
        return _REPORTED
    if outcome is Outcome.DEATH:
        return _DIED
    fact = fact_of(template.sample, block=template.block)
    if is_told(template.sample) or (fact is not None and fact.role is Role.TEARDOWN):
        return _ENDS
    return _OPENS if opened_by(template.sample) in _BEGINNING else _NOTHING
