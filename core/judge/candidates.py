"""Cross-job: which rows the successful jobs do not explain (L4, section 4.2), and which of them point to a failure.

Differs: L4 deletes every event that good jobs often have. Here each speaker may say an event as often as the speaker
that says it most in a good job, in the same place of the job; what goes beyond is excess. Good jobs hold 16 % of the
indicating events, so presence proves nothing, and the first time is as normal as the last.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from core.baseline import Normal, speaker
from core.course.iterations import NO_ITERATION, Iterations
from core.events.table import EventTable, rows_by
from core.facts import Fact, fact_of
from core.job import Manifest
from core.judge.calm import Calm, count_calm
from core.kinds import Kind
from core.logs.lines import NO_TIME
from core.logs.telling import level
from core.model import Role, Stage
from core.parsed import Parsed

SLACK = 1.5  # a speaker may say an event half as often again as any in good jobs: the spread over the lab's good jobs
SPARE = 1  # and once more: events that good jobs have once or never by chance
RECOVERY = 3  # iterations after which an error was survived; logs.md allows for prefetch and asynchronous saving
MOST = 0.8  # share of what others say that must follow for an error of the job's script to have stopped nobody
NOTICE = 5_000_000  # microseconds until the others notice a death: gloo and torchrun poll by the second
AT_ONCE = 1_000_000  # microseconds: syslog counts seconds, and what is said on two streams comes in any order
GRACE = 30_000_000  # microseconds: torchrun and schedulers wait 10 to 30 s between SIGTERM and SIGKILL
KILLED = Kind.KILLED
WENT_ON = 25  # further messages of the speaker that say so too, where no iteration is counted


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """An event that may point to the failure.

    event: place in the table's templates. rows: head rows that good jobs do not explain; of very many the first and
    last of each voice. count: how many there are. excess: 0..1, how far beyond good jobs (1: they never say it).
    survived: share of the rows after which the job went on. nodes, ranks: who says it. iteration: that it names itself.
    """

    event: int
    text: str
    fact: Fact
    rows: NDArray[np.intp]
    count: int
    excess: float
    survived: float
    nodes: tuple[str, ...]
    ranks: tuple[int, ...]
    role: Role
    score: float = 0.0
    stage: Stage = Stage.UNKNOWN
    why: str = ""
    quote: str = ""  # the first line that says it, without its time and labels
    iteration: int | None = None

    def with_role(self, role: Role, why: str) -> "Candidate":
        """The same candidate in another role, and the reason."""
        return replace(self, role=role, why=why)


def find_candidates(parsed: Parsed) -> tuple[Candidate, ...]:
    """Events that a rule or their wording ties to failures, as far as good jobs do not explain them."""
    table, iterations, crowd = parsed.table, parsed.iterations, _crowd(parsed.job.manifest)
    facts = [
        fact_of(template.sample, block=template.block) if event in parsed.telling else None
        for event, template in enumerate(table.templates)
    ]
    telling = {event: fact for event, fact in enumerate(facts) if fact is not None}
    said = table.rows_of(telling)
    unexplained = {
        event: kept
        for event, rows in said.items()
        if len((kept := _unexplained(parsed, event, rows, telling[event])).rows)
    }
    # A guess that was survived once is none, also where good jobs explain the times that this job survived.
    judged = {event: one.rows if telling[event].known else said[event] for event, one in unexplained.items()}
    calm, rows = None, np.sort(np.concatenate([np.zeros(0, np.intp), *judged.values()]))
    ends = cache(partial(_end_of_file, table, frozenset(np.unique(table.file[iterations.marks]).tolist())))
    if len(rows) and (iterations.last is None or _undated(table, rows, iterations).any()):
        calm = count_calm(table, rows, np.array([fact is None for fact in facts], np.bool_), parsed.memory)
    return tuple(
        _candidate(
            table,
            event,
            telling[event],
            one,
            survived(table, judged[event], iterations, facts, calm, ends, crowd=crowd),
        )
        for event, one in sorted(unexplained.items())
    )


@dataclass(frozen=True, slots=True, eq=False)
class Unexplained:
    """Rows of an event that good jobs do not explain, how many there are, and how far they go beyond them (0..1)."""

    rows: NDArray[np.intp]
    count: int
    excess: float


def _unexplained(parsed: Parsed, event: int, rows: NDArray[np.intp], fact: Fact) -> Unexplained:
    """Rows of an event with a fact that neither good jobs nor the start of a program explain."""
    table = parsed.table
    if fact.again:
        spoken = _by_speaker(table, event, rows)
        later = [said.rows[np.argsort(table.time[said.rows], kind="stable")][1:] for said in spoken]
        return Unexplained(np.concatenate(later), int(table.heads[event]) - len(spoken), 1.0)
    if fact.stop:  # good jobs hold stops too, after their own end; a job that failed was not at its end
        return Unexplained(rows, int(table.heads[event]), 1.0)
    return beyond_normal(table, event, rows, parsed.usual)


def _crowd(manifest: Manifest) -> int:
    """How many ranks may share a voice that names none: those of a node."""
    return max(1, (manifest.world_size or 1) // max(1, len(manifest.nodes)))


def beyond_normal(table: EventTable, event: int, rows: NDArray[np.intp], normal: Normal | None) -> Unexplained:
    """Rows of an event that good jobs do not explain."""
    if normal is None:
        return Unexplained(rows, int(table.heads[event]), 1.0)
    template = table.templates[event].id
    kept, count, worst = [rows[:0]], 0, 0.0
    for said in _by_speaker(table, event, rows):
        allowed = normal.most.get((said.cohort, template), 0) or normal.anywhere.get(template, 0)
        if allowed == 0:
            kept.append(said.rows)
            count, worst = count + said.count, 1.0
        elif said.count > allowed * SLACK + SPARE:
            kept.append(said.rows[allowed:])
            count, worst = count + said.count - allowed, max(worst, 1.0 - allowed / said.count)
    return Unexplained(np.concatenate(kept), count, worst)


@dataclass(frozen=True, slots=True, eq=False)
class _Spoken:
    """Rows of an event of one speaker, sorted; of very many the first and last. count: how many there are."""

    cohort: str
    rows: NDArray[np.intp]
    count: int


def _by_speaker(table: EventTable, event: int, rows: NDArray[np.intp]) -> Sequence[_Spoken]:
    groups: dict[tuple[str, str], list[tuple[NDArray[np.intp], int]]] = {}
    whole = len(rows) == table.heads[event]
    for voice, said in rows_by(table.voice, rows):
        origin, count = table.origins[voice], len(said) if whole else table.said.count(voice, event)
        who = speaker(origin, table.files[table.file_of_voice[voice]])
        groups.setdefault((origin.cohort, who), []).append((said, count))
    return [
        _Spoken(cohort, np.sort(np.concatenate([said for said, _ in parts])), sum(count for _, count in parts))
        for (cohort, _), parts in groups.items()
    ]


def _candidate(
    table: EventTable, event: int, fact: Fact, unexplained: Unexplained, later: NDArray[np.bool_]
) -> Candidate:
    origins = [table.origins[voice] for voice in np.unique(table.voice[unexplained.rows]).tolist()]
    return Candidate(
        event=event,
        text=table.templates[event].sample,
        fact=fact,
        rows=unexplained.rows,
        count=unexplained.count,
        excess=unexplained.excess,
        survived=float(np.mean(later)),
        nodes=tuple(sorted({origin.node for origin in origins if origin.node})),
        ranks=tuple(sorted({origin.rank for origin in origins if origin.rank is not None})),
        role=fact.role,
    )


def survived(
    table: EventTable,
    rows: NDArray[np.intp],
    iterations: Iterations,
    facts: Sequence[Fact | None],
    calm: Calm | None,
    ends: Callable[[int], int],
    *,
    crowd: int = 1,
) -> NDArray[np.bool_]:
    """Whether the job went on after each row: later iterations, or much more from the same speaker.

    An exception ends a process; one that comes again at the end was not survived the times before either (several
    attempts in one file). Errors of the job's script do not stop what its ranks say later. Fast iterations go on until
    a stop takes hold, or the others notice that one has died.

    Args:
        calm: what was said around the rows that points to no failure, where no iteration is counted or they have no
            clock.
        ends: of a file, the row from which on its end is near (``_end_of_file``).
        crowd: ranks that share a voice without rank; after the failure of one the others go on for a while.
    """
    if iterations.last is not None:
        later = (iterations.of_row[rows] + RECOVERY <= iterations.last) & ~_soon(table, rows, iterations, facts)
        if iterations.began is not None:
            later = later | (table.time[rows] < iterations.began)
        if calm is not None:
            later = np.where(_undated(table, rows, iterations), _went_on(table, rows, calm, crowd), later)
    elif calm is not None:
        later = _went_on(table, rows, calm, crowd)
    else:
        later = np.zeros(len(rows), np.bool_)
    latest = np.lexsort((rows, table.time[rows]))[-1]
    template, fact = table.templates[table.event[rows[0]]], facts[table.event[rows[0]]]
    if template.block:
        later = later & ~_ended_at_once(table, rows) & ~_below_all_clocks(table, rows, ends)
    # an error that was retried until the end, before any iteration; of a warning that proves nothing
    given_up = iterations.last is None and fact is not None and fact.known and level(template.sample) != "W"
    if (template.block or given_up) and not later[latest]:
        return np.zeros(len(rows), np.bool_)
    return np.asarray(later, np.bool_)


def _ended_at_once(table: EventTable, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which rows were followed by nothing of their speaker but what it said in that second: more of an exception."""
    last = table.spoke.last[table.voice[rows]]
    return np.asarray(table.timed[rows] & (last - table.time[rows] < AT_ONCE))


def _below_all_clocks(table: EventTable, rows: NDArray[np.intp], ends: Callable[[int], int]) -> NDArray[np.bool_]:
    """Which rows have no clock, and none below them in their file, which counts no iteration: they came at any time.

    Where much is said below them, it went on.
    """
    late = [rows[:0]]
    for file, said in rows_by(table.file, rows[~table.timed[rows]]):
        late.append(said[said >= ends(file)])
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
    """Which rows no iteration was counted beside, and no clock: nobody knows how far the job was."""
    untimed = np.flatnonzero(table.time[rows] == NO_TIME)
    found = np.zeros(len(rows), np.bool_)
    found[untimed] = iterations.of_row[rows[untimed]] == NO_ITERATION
    return found


def _soon(
    table: EventTable, rows: NDArray[np.intp], iterations: Iterations, facts: Sequence[Fact | None]
) -> NDArray[np.bool_]:
    """Which rows came so shortly before the last iteration that nobody needs to have noticed them yet.

    The ranks of a launcher that was killed train on without it. Where iterations are told without a clock, that is
    believed of stops and kills alone.
    """
    fact, block = facts[table.event[rows[0]]], table.templates[table.event[rows[0]]].block
    ends = fact is not None and (fact.stop or fact.kind == KILLED)
    if not table.timed[iterations.marks].any():
        return np.full(len(rows), ends)
    patience = GRACE if ends else NOTICE if block else AT_ONCE
    ended = iterations.ended
    return np.asarray((table.time[rows] >= 0) & (ended >= 0) & (ended - table.time[rows] < patience), np.bool_)


def _went_on(table: EventTable, rows: NDArray[np.intp], calm: Calm, crowd: int) -> NDArray[np.bool_]:
    """Whether much that points to no failure was said after each row."""
    around = calm.of(rows)
    alone = table.rank_of_voice[table.voice[rows]] >= 0
    much = around.of_voice - around.of_voice_before > WENT_ON * np.where(alone, 1, crowd)
    others, before = around.of_file - around.of_voice, around.of_file_before - around.of_voice_before
    went_on = ~alone & (others > WENT_ON) & (before < others * (1 - MOST))
    return np.asarray(much | went_on, np.bool_)
