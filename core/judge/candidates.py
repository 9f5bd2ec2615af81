"""Cross-job: which rows the successful jobs do not explain (L4, section 4.2), and which of them point to a failure.

Differs: L4 deletes every event that good jobs often have. Here each speaker may say an event as often as the speaker
that says it most in a good job, in the same place of the job; what goes beyond is excess. Good jobs hold 16 % of the
indicating events, so presence proves nothing, and the first time is as normal as the last.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.baseline import Normal, speaker
from core.events.table import EventTable, rows_by
from core.facts import Fact, fact_of
from core.failure_kinds import Kind
from core.job import Manifest
from core.judge.survived_errors import survived
from core.model import Role, Stage
from core.parsed import Parsed

SLACK = 1.5  # a speaker may say an event half as often again as any in good jobs: the spread over the lab's good jobs
SPARE = 1  # and once more: events that good jobs have once or never by chance


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """An event that may point to the failure.

    event: place in the table's templates. rows: head rows that good jobs do not explain; of very many the first and
    last of each voice. count: how many there are. excess: 0..1, how far beyond good jobs (1: they never say it).
    survived: share of the rows after which the job went on. nodes, ranks: who says it. iteration: that it names itself.
    ordinary: well jobs say it too, and a finding shows in it (core.answer.finding_lines).
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
    ordinary: bool = False

    def with_role(self, role: Role, why: str) -> "Candidate":
        """The same candidate in another role, and the reason."""
        return replace(self, role=role, why=why)


def find_candidates(parsed: Parsed) -> tuple[Candidate, ...]:
    """Events that a rule or their wording ties to failures, as far as good jobs do not explain them."""
    table, iterations = parsed.table, parsed.iterations
    facts = [
        fact_of(template.sample, block=template.block) if event in parsed.telling else None
        for event, template in enumerate(table.templates)
    ]
    telling = {event: fact for event, fact in enumerate(facts) if fact is not None}
    rows_of_event = table.rows_of(telling)
    unexplained = {
        event: kept
        for event, rows in rows_of_event.items()
        if len((kept := _unexplained(parsed, event, rows, telling[event])).rows)
    }
    # A guess that was survived once is none, also where good jobs explain the times that this job survived.
    judged = {
        event: remaining.rows if telling[event].known else rows_of_event[event]
        for event, remaining in unexplained.items()
    }
    later = survived(table, judged, iterations, facts, crowd=_crowd(parsed.job.manifest), memory=parsed.memory)
    ordered = sorted(unexplained.items())
    voices = _voices(table, [remaining.rows for _, remaining in ordered])
    return tuple(
        _candidate(table, event, telling[event], remaining, own, later[event])
        for (event, remaining), own in zip(ordered, voices, strict=True)
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
        later = [_not_at_start(parsed, spoken_by.rows) for spoken_by in spoken]
        at_start = sum(len(by.rows) - len(rows) for by, rows in zip(spoken, later, strict=True))
        return Unexplained(np.concatenate(later), int(table.heads[event]) - at_start, 1.0)
    if fact.stop:  # good jobs hold stops too, after their own end; a job that failed was not at its end
        return Unexplained(rows, int(table.heads[event]), 1.0)
    return beyond_normal(table, event, rows, parsed.usual)


def _not_at_start(parsed: Parsed, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """What a speaker said of what all say when they start: all but the first; it, too, where the job already worked."""
    table, marks = parsed.table, parsed.iterations.marks
    ordered = rows[np.argsort(table.time[rows], kind="stable")]
    first, worked = ordered[0], table.time[marks[table.timed[marks]]]
    at_start = not (table.timed[first] and len(worked) and table.time[first] > worked.min())
    return ordered[int(at_start) :]


def _crowd(manifest: Manifest) -> int:
    """How many ranks may share a voice that names none: those of a node."""
    return max(1, (manifest.world_size or 1) // max(1, len(manifest.nodes)))


def beyond_normal(table: EventTable, event: int, rows: NDArray[np.intp], normal: Normal | None) -> Unexplained:
    """Rows of an event that good jobs do not explain."""
    if normal is None:
        return Unexplained(rows, int(table.heads[event]), 1.0)
    template = table.templates[event].id
    kept, count, worst = [rows[:0]], 0, 0.0
    for spoken in _by_speaker(table, event, rows):
        allowed = normal.most.get((spoken.cohort, template), 0) or normal.anywhere.get(template, 0)
        if allowed == 0:
            kept.append(spoken.rows)
            count, worst = count + spoken.count, 1.0
        elif spoken.count > allowed * SLACK + SPARE:
            kept.append(spoken.rows[allowed:])
            count, worst = count + spoken.count - allowed, max(worst, 1.0 - allowed / spoken.count)
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
    for voice, of_voice in rows_by(table.voice, rows):
        origin, count = table.origins[voice], len(of_voice) if whole else table.counts.count(voice, event)
        who = speaker(origin, table.files[table.file_of_voice[voice]])
        groups.setdefault((origin.cohort, who), []).append((of_voice, count))
    return [
        _Spoken(cohort, np.sort(np.concatenate([of_voice for of_voice, _ in parts])), sum(count for _, count in parts))
        for (cohort, _), parts in groups.items()
    ]


def _voices(table: EventTable, rows: Sequence[NDArray[np.intp]]) -> list[NDArray[np.uint32]]:
    """The different voices of each of several events; asked for at once, as there may be thousands."""
    voices: NDArray[np.uint32] = table.voice[np.concatenate([np.zeros(0, np.intp), *rows])]
    return [np.unique(own) for own in np.split(voices, np.cumsum([len(own) for own in rows])[:-1])] if rows else []


def _candidate(
    table: EventTable, event: int, fact: Fact, unexplained: Unexplained, voices: NDArray[np.uint32], later: float
) -> Candidate:
    nodes, ranks = said_by(table, voices)
    return Candidate(
        event=event,
        text=table.templates[event].sample,
        fact=fact,
        rows=unexplained.rows,
        count=unexplained.count,
        excess=unexplained.excess,
        survived=later,
        nodes=nodes,
        ranks=ranks,
        role=fact.role,
    )


def said_by(table: EventTable, voices: NDArray[np.uint32]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The nodes and the ranks that some voices are of, sorted."""
    origins = [table.origins[voice] for voice in np.unique(voices).tolist()]
    nodes, ranks = {origin.node for origin in origins if origin.node}, {origin.rank for origin in origins}
    return tuple(sorted(nodes)), tuple(sorted(rank for rank in ranks if rank is not None))


_NO_NUMBER = re.compile(r"\b(?:nan|inf|infinity|not a number|non-?finite)\b", re.IGNORECASE)


def is_about_numbers(candidates: Sequence[Candidate]) -> bool:
    """Whether a direct trace complains of a number that is none, in whatever words."""
    return any(
        candidate.role is Role.ROOT
        and (candidate.fact.kind == Kind.NUMERICS or (not candidate.fact.known and _NO_NUMBER.search(candidate.text)))
        for candidate in candidates
    )
