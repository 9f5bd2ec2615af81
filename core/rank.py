"""Ranking: after the cross-job filter a fifth of the lines is left and 3 % of those matter; order is everything.

A candidate's score is the strength of its fact, less where good jobs say it too. Roots come before what peers tell, known
facts before guesses, and among equals the one that came first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from core.crossjob import Candidate
from core.job import LogFile
from core.model import Role
from core.stages import STAGES, stage_of_frames
from core.table import EventTable
from core.text import read_rows

EXCESS_SHARE = 0.3  # of the score hangs on never being said in good jobs
LATE_SHARE = 0.1  # of the score is lost by a root that comes after the first one
LATE_AFTER = 10_000_000  # microseconds: what one fault breaks breaks within seconds, time-outs come after 10 s and more
FIRST_STOP = 0.6  # strength of a teardown line that began the stop: less than the order to stop itself
MAX_FRAMES = 400  # rows of a traceback that are read for its functions
_ORDER = {Role.ROOT: 0, Role.PROPAGATED: 1, Role.TEARDOWN: 2, Role.BENIGN: 3}


def rank_candidates(
    table: EventTable, candidates: Sequence[Candidate], files: Mapping[str, LogFile], stages: np.ndarray
) -> tuple[Candidate, ...]:
    """Candidates with score and stage, most telling first."""
    onset = _onset(table, candidates)
    scored = [replace(candidate, score=_score(table, candidate, onset)) for candidate in candidates]
    staged = [replace(candidate, stage=_stage(table, candidate, files, stages)) for candidate in scored]
    return tuple(sorted(staged, key=lambda one: (_ORDER[one.role], -one.score, first_time(table, one), one.text)))


def first_time(table: EventTable, candidate: Candidate) -> int:
    """Time of the first row of a candidate, in microseconds."""
    return int(table.time[candidate.rows].min())


def _onset(table: EventTable, candidates: Sequence[Candidate]) -> int:
    """When the first strong sign of the failure came."""
    times = [first_time(table, one) for one in candidates if one.role in (Role.ROOT, Role.PROPAGATED) and one.fact.strength >= 0.5]
    return min((time for time in times if time >= 0), default=-1)


def _score(table: EventTable, candidate: Candidate, onset: int) -> float:
    strength = max(candidate.fact.strength, FIRST_STOP) if candidate.role is Role.ROOT and candidate.fact.role is Role.TEARDOWN else candidate.fact.strength
    score = strength * (1 - EXCESS_SHARE + EXCESS_SHARE * candidate.excess)
    late = onset >= 0 and first_time(table, candidate) > onset + LATE_AFTER
    return score * (1 - LATE_SHARE) if late else score


def _stage(table: EventTable, candidate: Candidate, files: Mapping[str, LogFile], stages: np.ndarray) -> object:
    row = int(candidate.rows[np.argmin(table.time[candidate.rows])])
    if table.templates[candidate.event].block:
        lines = read_rows(files, table, block_rows(table, row)[:MAX_FRAMES])
        named = stage_of_frames([lines[at] for at in sorted(lines)])
        if named is not None:
            return named
    return STAGES[int(stages[row])]


def block_rows(table: EventTable, row: int) -> np.ndarray:
    """Rows of the message that starts at a row: same voice and event, up to the next head of that voice."""
    reach = slice(row, min(len(table), row + 20_000))
    same = (table.voice[reach] == table.voice[row]) & (table.file[reach] == table.file[row])
    rows = np.flatnonzero(same) + row
    heads = np.flatnonzero(table.head[rows])
    return rows[: heads[1]] if len(heads) > 1 else rows
