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

SLACK = 1.5  # a speaker may say an event half as often again as any in good jobs: the spread over the lab's good jobs
SPARE = 1  # and once more: events that good jobs have once or never by chance
RECOVERY = 3  # iterations after which an error was survived; docs/logs.md allows for prefetch and asynchronous saving
MOST = 0.8  # share of what others say that must follow for an error of the job's script to have stopped nobody
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
    for event, rows in table.rows_of.items():
        fact = facts[event]
        if fact is None:
            continue
        # good jobs hold stops too, after their own end; a job that failed was not at its end
        kept, excess = (rows, 1.0) if fact.stop else beyond_normal(table, event, rows, parsed.usual)
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
    attempts in one file). Errors of the job's script do not stop what its ranks say later.

    Args:
        crowd: ranks that share a voice without rank; after the failure of one the others go on for a while.
    """
    if iterations.last is not None:
        later = iterations.of_row[rows] + RECOVERY <= iterations.last
        if iterations.began is not None:
            later |= table.time[rows] < iterations.began
    else:
        later = _went_on(table, rows, facts, crowd)
    latest = np.lexsort((rows, table.time[rows]))[-1]
    if table.templates[table.event[rows[0]]].block and not later[latest]:
        return np.zeros(len(rows), np.bool_)
    return later


def _went_on(table: EventTable, rows: NDArray[np.intp], facts: Sequence[Fact | None], crowd: int) -> NDArray[np.bool_]:
    """Whether much that points to no failure was said after each row."""
    quiet = table.head & np.array([fact is None for fact in facts], dtype=np.bool_)[table.event]
    later = np.zeros(len(table), np.bool_)
    for voice, said in rows_by(table.voice, rows):
        same = np.flatnonzero(quiet & (table.voice == voice))
        alone = table.origins[voice].rank is not None
        later[said] = len(same) - np.searchsorted(same, said) > WENT_ON * (1 if alone else crowd)
        if not alone:
            others = np.flatnonzero(quiet & (table.file == table.file[said[0]]) & (table.voice != voice))
            if len(others) > WENT_ON:
                later[said] |= np.searchsorted(others, said) < len(others) * (1 - MOST)
    return later[rows]
