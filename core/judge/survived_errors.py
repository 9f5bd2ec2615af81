"""Which messages that look like a failure the job went on after: who survives an error was not ended by it.

All events are judged at once: a hostile job has thousands of them, and a column that is asked row by row takes a
hundred times as long.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.course.iterations import NO_ITERATION, Iterations
from core.events.table import EventTable, rows_by
from core.facts import Fact
from core.failure_kinds import Kind
from core.judge.calm_rows import Calm, count_calm
from core.logs.lines import NO_TIME
from core.logs.telling_words import level
from core.memory import Memory
from core.shares import MIN_RANKS

RECOVERY = 3  # iterations after which an error was survived; logs.md allows for prefetch and asynchronous saving
MOST = 0.8  # share of what others say that must follow for an error of the job's script to have stopped nobody
NOTICE = 5_000_000  # microseconds until the others notice a death: gloo and torchrun poll by the second
AT_ONCE = 1_000_000  # microseconds: syslog counts seconds, and what is said on two streams comes in any order
GRACE = 30_000_000  # microseconds: torchrun and schedulers wait 10 to 30 s between SIGTERM and SIGKILL
# Microseconds: NCCL's time-out is 10 min (torch), Slurm's for a node 5 min (SlurmdTimeout); all end a minute later
WAITED = 660_000_000
LAST_WORDS = 2  # messages of a node behind its error: that its process ended, and with which code
WENT_ON = 25  # further messages of the speaker that say so too, where no iteration is counted


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """The rows of several events, event after event.

    which: of each row the place of its event in ``events``. facts: of each event, None where it points to no failure.
    is_block: whether an event is an exception, which ends a process.
    """

    rows: NDArray[np.intp]
    which: NDArray[np.intp]
    events: Sequence[int]
    facts: Sequence[Fact | None]
    is_block: NDArray[np.bool_]


def survived(
    table: EventTable,
    rows_of_event: Mapping[int, NDArray[np.intp]],
    iterations: Iterations,
    facts: Sequence[Fact | None],
    *,
    crowd: int = 1,
    memory: Memory | None = None,
) -> dict[int, float]:
    """Of each event the share of its rows after which the job went on: later iterations, or much more of its speaker.

    An exception ends a process; one that comes again at the end was not survived the times before either (several
    attempts in one file). Errors of the job's script do not stop what its ranks say later. Fast iterations go on until
    a stop takes hold, or the others notice that one has died.

    Args:
        said: rows of each event, none of them without rows.
        facts: of every event of the table.
        crowd: ranks that share a voice without rank; after the failure of one the others go on for a while.
        memory: keeps what a pass over the files counts.
    """
    if not rows_of_event:
        return {}
    events, counts = list(rows_of_event), [len(rows) for rows in rows_of_event.values()]
    judged = _Judged(
        rows=np.concatenate(list(rows_of_event.values())),
        which=np.repeat(np.arange(len(events)), counts),
        events=events,
        facts=[facts[event] for event in events],
        is_block=np.array([table.templates[event].block for event in events], np.bool_),
    )
    later = _later(table, judged, iterations, _calm(table, judged, iterations, facts, memory), crowd)
    of_block = judged.is_block[judged.which]
    later[of_block] &= ~_ended_at_once(table, judged.rows[of_block])
    later[of_block] &= ~_below_all_clocks(table, judged.rows[of_block], iterations)
    by_time = np.lexsort((judged.rows, table.time[judged.rows], judged.which))
    at_the_end = ~later[by_time[np.cumsum(counts) - 1]] & _ends_when_last(table, judged, iterations)
    shares = np.bincount(judged.which, later, minlength=len(events)) / counts
    return dict(zip(events, np.where(at_the_end, 0.0, shares).tolist(), strict=True))


def _calm(
    table: EventTable, judged: _Judged, iterations: Iterations, facts: Sequence[Fact | None], memory: Memory | None
) -> Calm | None:
    """What was said around the rows that points to no failure, where no iteration or no clock stands beside them."""
    if iterations.last is not None and not _undated(table, judged.rows, iterations).any():
        return None
    return count_calm(table, np.sort(judged.rows), np.array([fact is None for fact in facts], np.bool_), memory)


def _later(
    table: EventTable, judged: _Judged, iterations: Iterations, calm: Calm | None, crowd: int
) -> NDArray[np.bool_]:
    """Whether the job went on after each row."""
    rows = judged.rows
    if iterations.last is None:
        return _went_on(table, rows, calm, crowd) if calm is not None else np.zeros(len(rows), np.bool_)
    later = (iterations.of_row[rows] + RECOVERY <= iterations.last) & ~_soon(table, judged, iterations)
    later &= ~_near_the_end(table, rows, iterations)
    if iterations.began is not None:
        later = later | (table.time[rows] < iterations.began)
    if calm is not None:
        later = np.where(_undated(table, rows, iterations), _went_on(table, rows, calm, crowd), later)
    return np.asarray(later, np.bool_)


def _ends_when_last(table: EventTable, judged: _Judged, iterations: Iterations) -> NDArray[np.bool_]:
    """Which events nobody survived whose last row nobody did.

    Exceptions, and errors that were retried until the end, before any iteration; of a warning that proves nothing.
    """
    if iterations.last is not None:
        return judged.is_block
    known = [fact is not None and fact.known for fact in judged.facts]
    error = [
        is_known and level(table.templates[event].sample) != "W"
        for event, is_known in zip(judged.events, known, strict=True)
    ]
    return judged.is_block | np.array(error, np.bool_)


def _ended_at_once(table: EventTable, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which rows were followed by nothing of their speaker but what it said in that second: more of an exception."""
    last = table.spoke.last[table.voice[rows]]
    return np.asarray(table.timed[rows] & (last - table.time[rows] < AT_ONCE))


def _below_all_clocks(table: EventTable, rows: NDArray[np.intp], iterations: Iterations) -> NDArray[np.bool_]:
    """Which rows have no clock, and none below them in their file, which counts no iteration: they came at any time.

    Where much is said below them, it went on.
    """
    counting = frozenset(np.unique(table.file[iterations.marks]).tolist())
    late = [rows[:0]]
    for file, of_file in rows_by(table.file, rows[~table.timed[rows]]):
        late.append(of_file[of_file >= _end_of_file(table, counting, file)])
    return np.isin(rows, np.concatenate(late))


def _end_of_file(table: EventTable, counting: frozenset[int], file: int) -> int:
    """The row of a file from which on no row has a clock, and few messages are said; behind it where it counts."""
    rows = table.rows_of_file(file)
    if file in counting:
        return rows.stop
    clocks = rows.start + np.flatnonzero(table.timed[rows.start : rows.stop])
    heads = rows.start + np.flatnonzero(table.head[rows.start : rows.stop])
    few = heads[-WENT_ON - 1] if len(heads) > WENT_ON else rows.start
    return int(max(few, clocks[-1] + 1 if len(clocks) else rows.start))


def _undated(table: EventTable, rows: NDArray[np.intp], iterations: Iterations) -> NDArray[np.bool_]:
    """Which rows no iteration was counted beside, and no clock: nobody knows how far the job was.

    What stands above the first clock of its file came at any time before it.
    """
    above = [rows[:0]]
    for file, of_file in rows_by(table.file, rows[~table.timed[rows]]):
        start, stop = table.rows_of_file(file).start, table.rows_of_file(file).stop
        clocks = np.flatnonzero(table.timed[start:stop])
        above.append(of_file[of_file < start + (clocks[0] if len(clocks) else 0)])
    untimed = np.flatnonzero((table.time[rows] == NO_TIME) | np.isin(rows, np.concatenate(above)))
    undated = np.zeros(len(rows), np.bool_)
    undated[untimed] = iterations.of_row[rows[untimed]] == NO_ITERATION
    return undated


def _soon(table: EventTable, judged: _Judged, iterations: Iterations) -> NDArray[np.bool_]:
    """Which rows came so shortly before the last iteration that nobody needs to have noticed them yet.

    The ranks of a launcher that was killed train on without it. Where iterations are told without a clock, that is
    believed of stops and kills alone.
    """
    ends = np.array([fact is not None and (fact.stop or fact.kind == Kind.KILLED) for fact in judged.facts], np.bool_)
    if not table.timed[iterations.marks].any():
        return ends[judged.which]
    patience = np.where(ends, GRACE, np.where(judged.is_block, NOTICE, AT_ONCE))[judged.which]
    time, ended = table.time[judged.rows], iterations.ended
    return np.asarray((time >= 0) & (ended >= 0) & (ended - time < patience), np.bool_)


def _near_the_end(table: EventTable, rows: NDArray[np.intp], iterations: Iterations) -> NDArray[np.bool_]:
    """Which rows came so shortly before all ended, where iterations are counted without a clock.

    How far the job was then nobody knows; who broke then may have ended it.
    """
    counting = np.unique(table.file[iterations.marks])
    if not len(table.spoke.last) or table.timed[iterations.marks].any():
        return np.zeros(len(rows), np.bool_)
    apart = (iterations.of_row[rows] == NO_ITERATION) & (table.time[rows] >= 0) & ~np.isin(table.file[rows], counting)
    return np.asarray(apart & (int(table.spoke.last.max()) - table.time[rows] < WAITED))


def _went_on(table: EventTable, rows: NDArray[np.intp], calm: Calm, crowd: int) -> NDArray[np.bool_]:
    """Whether much that points to no failure was said after each row."""
    around = calm.of(rows)
    alone = table.rank_of_voice[table.voice[rows]] >= 0
    much = around.of_voice - around.of_voice_before > WENT_ON * np.where(alone, 1, crowd)
    others, before = around.of_file - around.of_voice, around.of_file_before - around.of_voice_before
    went_on = ~alone & (others > WENT_ON) & (before < others * (1 - MOST))
    return np.asarray(much | (went_on & ~_silenced(table, rows)), np.bool_)


def _silenced(table: EventTable, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which rows were nearly the last that was ever said of their node: whoever else went on, it did not.

    In one file that several nodes share. A launcher may still say how its process ended.
    """
    found = np.zeros(len(rows), np.bool_)
    if len(table.nodes) < MIN_RANKS:
        return found
    own = dict(rows_by(table.node_of_voice[table.voice[rows]], np.arange(len(rows))))
    voices = rows_by(table.node_of_voice, np.arange(len(table.origins)))
    files = {node: len(np.unique(table.file_of_voice[of])) for node, of in voices}
    asked = [node for node in own if node >= 0 and files[node] == 1]
    said = np.sort(table.rows_of_voices(np.flatnonzero(np.isin(table.node_of_voice, asked)).tolist()))
    said = said[table.head[said]]
    for node, of_node in rows_by(table.node_of_voice[table.voice[said]], np.arange(len(said))):
        last = said[of_node]
        found[own[node]] = len(last) - np.searchsorted(last, rows[own[node]], side="right") <= LAST_WORDS
    return found
