"""Cross-job: which rows the successful jobs do not explain (L4, section 4.2), and which of them point to a failure.

Differs: L4 deletes every event that good jobs often have. Here each speaker may say an event as often as the speaker
that says it most in a good job, in the same place of the job; what goes beyond is excess. Good jobs hold 16 % of the
indicating events, so presence proves nothing, and the first time is as normal as the last.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.baseline import Normal, speaker
from core.facts import Fact, fact_of
from core.iterations import Iterations
from core.job import Manifest
from core.model import Role, Stage
from core.parsed import Parsed
from core.table import EventTable, rows_by
from core.templates import level

SLACK = 1.5  # a speaker may say an event half as often again as any in good jobs: the spread over the lab's good jobs
SPARE = 1  # and once more: events that good jobs have once or never by chance
RECOVERY = 3  # iterations after which an error was survived; docs/logs.md allows for prefetch and asynchronous saving
MOST = 0.8  # share of what others say that must follow for an error of the job's script to have stopped nobody
NOTICE = 5_000_000  # microseconds until the others notice a death: gloo and torchrun poll by the second
GRACE = 30_000_000  # microseconds: torchrun and schedulers wait 10 to 30 s between SIGTERM and SIGKILL
WENT_ON = 25  # further messages of the speaker that say so too, where no iteration is counted


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """An event that may point to the failure.

    event: place in the table's templates. rows: head rows that good jobs do not explain. excess: 0..1, how far beyond
    them (1: they never say it). survived: share of the rows after which the job went on. nodes, ranks: who says it.
    """

    event: int
    text: str
    fact: Fact
    rows: NDArray[np.intp]
    excess: float
    survived: float
    nodes: tuple[str, ...]
    ranks: tuple[int, ...]
    role: Role
    score: float = 0.0
    stage: Stage = Stage.UNKNOWN
    why: str = ""
    quote: str = ""  # the first line that says it, without its time and labels

    def with_role(self, role: Role, why: str) -> "Candidate":
        """The same candidate in another role, and the reason."""
        return replace(self, role=role, why=why)


def find_candidates(parsed: Parsed) -> tuple[Candidate, ...]:
    """Events that a rule or their wording ties to failures, as far as good jobs do not explain them."""
    table, iterations = parsed.table, parsed.iterations
    facts = [fact_of(template.sample, block=template.block) for template in table.templates]
    found = []
    telling = {event: fact for event, fact in enumerate(facts) if fact is not None}
    for event, rows in table.rows_of(telling).items():
        fact = telling[event]
        kept, excess = _unexplained(parsed, event, rows, fact)
        if len(kept):
            found.append(
                _candidate(
                    table,
                    event,
                    fact,
                    kept,
                    excess,
                    np.asarray(survived(table, kept, iterations, facts, crowd=_crowd(parsed.job.manifest))),
                )
            )
    return tuple(sorted(found, key=lambda candidate: candidate.event))


def _unexplained(parsed: Parsed, event: int, rows: NDArray[np.intp], fact: Fact) -> tuple[NDArray[np.intp], float]:
    """Rows of an event with a fact that neither good jobs nor the start of a program explain, and their excess."""
    table = parsed.table
    if fact.again:
        spoken = _by_speaker(table, rows)
        return np.concatenate([said[np.argsort(table.time[said], kind="stable")][1:] for said in spoken]), 1.0
    if fact.stop:  # good jobs hold stops too, after their own end; a job that failed was not at its end
        return rows, 1.0
    return beyond_normal(table, event, rows, parsed.usual)


def _crowd(manifest: Manifest) -> int:
    """How many ranks may share a voice that names none: those of a node."""
    return max(1, (manifest.world_size or 1) // max(1, len(manifest.nodes)))


def beyond_normal(
    table: EventTable, event: int, rows: NDArray[np.intp], normal: Normal | None
) -> tuple[NDArray[np.intp], float]:
    """Rows of an event that good jobs do not explain, and how far they go beyond them (0..1)."""
    if normal is None:
        return rows, 1.0
    template = table.templates[event].id
    kept, worst = [], 0.0
    for group in _by_speaker(table, rows):
        cohort = table.origins[table.voice[group[0]]].cohort
        allowed = normal.most.get((cohort, template), 0) or normal.anywhere.get(template, 0)
        if allowed == 0:
            kept.append(group)
            worst = 1.0
        elif len(group) > allowed * SLACK + SPARE:
            kept.append(group[allowed:])
            worst = max(worst, 1.0 - allowed / len(group))
    return (np.concatenate(kept) if kept else rows[:0]), worst


def _by_speaker(table: EventTable, rows: NDArray[np.intp]) -> Sequence[NDArray[np.intp]]:
    groups: dict[tuple[str, str], list[NDArray[np.intp]]] = {}
    for voice, said in rows_by(table.voice, rows):
        origin = table.origins[voice]
        groups.setdefault((origin.cohort, speaker(origin, table.files[table.file[said[0]]])), []).append(said)
    return [np.sort(np.concatenate(parts)) for parts in groups.values()]


def _candidate(
    table: EventTable,
    event: int,
    fact: Fact,
    rows: NDArray[np.intp],
    excess: float,
    later: NDArray[np.bool_],
) -> Candidate:
    origins = [table.origins[voice] for voice in np.unique(table.voice[rows]).tolist()]
    return Candidate(
        event=event,
        text=table.templates[event].sample,
        fact=fact,
        rows=rows,
        excess=excess,
        survived=float(np.mean(later)),
        nodes=tuple(sorted({origin.node for origin in origins if origin.node})),
        ranks=tuple(sorted({origin.rank for origin in origins if origin.rank is not None})),
        role=fact.role,
    )


def survived(
    table: EventTable, rows: NDArray[np.intp], iterations: Iterations, facts: Sequence[Fact | None], *, crowd: int = 1
) -> NDArray[np.bool_]:
    """Whether the job went on after each row: later iterations, or much more from the same speaker.

    An exception ends a process; one that comes again at the end was not survived the times before either (several
    attempts in one file). Errors of the job's script do not stop what its ranks say later. Fast iterations go on until
    a stop takes hold, or the others notice that one has died.

    Args:
        crowd: ranks that share a voice without rank; after the failure of one the others go on for a while.
    """
    if iterations.last is not None:
        later = (iterations.of_row[rows] + RECOVERY <= iterations.last) & ~_soon(table, rows, iterations, facts)
        if iterations.began is not None:
            later = later | (table.time[rows] < iterations.began)
    else:
        later = _went_on(table, rows, facts, crowd)
    latest = np.lexsort((rows, table.time[rows]))[-1]
    template, fact = table.templates[table.event[rows[0]]], facts[table.event[rows[0]]]
    # an error that was retried until the end, before any iteration; of a warning that proves nothing
    given_up = iterations.last is None and fact is not None and fact.known and level(template.sample) != "W"
    if (template.block or given_up) and not later[latest]:
        return np.zeros(len(rows), np.bool_)
    return np.asarray(later, np.bool_)


def _soon(
    table: EventTable, rows: NDArray[np.intp], iterations: Iterations, facts: Sequence[Fact | None]
) -> NDArray[np.bool_]:
    """Which rows came so shortly before the last iteration that nobody needs to have noticed them yet."""
    fact, block = facts[table.event[rows[0]]], table.templates[table.event[rows[0]]].block
    patience = GRACE if fact is not None and fact.stop else NOTICE if block else 0
    ended = iterations.ended
    return np.asarray((table.time[rows] >= 0) & (ended >= 0) & (ended - table.time[rows] < patience), np.bool_)


def _went_on(table: EventTable, rows: NDArray[np.intp], facts: Sequence[Fact | None], crowd: int) -> NDArray[np.bool_]:
    """Whether much that points to no failure was said after each row."""
    is_quiet = np.array([fact is None for fact in facts], dtype=np.bool_)
    later = np.zeros(len(rows), np.bool_)
    for file, places in rows_by(table.file[rows], np.arange(len(rows))):
        beside = table.rows_of_file(file)
        here = slice(beside.start, beside.stop)
        quiet = np.flatnonzero(table.head[here] & is_quiet[table.event[here]]) + beside.start
        speaker = table.voice[quiet]
        for voice, mine in rows_by(table.voice[rows], places):
            said, same = rows[mine], quiet[speaker == voice]
            alone = table.origins[voice].rank is not None
            later[mine] = len(same) - np.searchsorted(same, said) > WENT_ON * (1 if alone else crowd)
            if not alone:
                others = quiet[speaker != voice]
                if len(others) > WENT_ON:
                    later[mine] |= np.searchsorted(others, said) < len(others) * (1 - MOST)
    return later
