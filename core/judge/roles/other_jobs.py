"""What a scheduler says of other jobs: its log is one for the whole cluster, and is copied as it stands."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np

from core.events.row_text import read_rows
from core.judge.candidates import Candidate
from core.judge.roles.row_queries import without
from core.parsed import Parsed

MAX_READ = 4096  # lines that are read for their ids: a day of a busy controller
# Slurm: "_job_complete: JobId=900353 done", "StepId=900353.0", "*** JOB 77 ON n042 CANCELLED", "*** STEP 77.0 ON n042"
_ID = re.compile(r"\b(?:JobId=|StepId=|Job[Ii][Dd][ =]|\*\*\* (?:JOB|STEP) )(\d{2,12})\b")
_OWN = re.compile(r"\*\*\* (?:JOB|STEP) (\d{2,12})[. ]|\bSLURM_JOB(?:_?ID)=(\d{2,12})\b")
_ALLOCATED = re.compile(r"\bAllocate JobId=(\d{2,12}) NodeList=(\S{1,512})")
_NUMBER = re.compile(r"\d{4,12}")  # of a job in the name of a file: slurm-900353.out


def clear_other_jobs(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates without lines that tell of another job by its id, where the id of this one is known."""
    table = parsed.table
    naming = [event for event, template in enumerate(table.templates) if _names_a_job(template.sample)]
    if not naming:
        return candidates
    rows = table.all_rows_of(naming)
    chosen = {candidate.event: candidate for candidate in candidates if candidate.event in set(naming)}
    asked = np.union1d(
        rows[-MAX_READ:], np.concatenate([rows[:0], *(item.rows[:MAX_READ] for item in chosen.values())])
    )
    texts = read_rows(parsed.files, table, asked)
    named = {row: match[1] for row, text in texts.items() if (match := _ID.search(text))}
    ours = set(_own_ids(parsed, texts.values())) & set(named.values())
    foreign = np.array([row for row, job in sorted(named.items()) if job not in ours], np.intp)
    if not ours or not len(foreign):
        return candidates

    def clear(candidate: Candidate) -> Candidate | None:
        if candidate.event not in chosen or not np.isin(candidate.rows, foreign).any():
            return candidate
        if np.isin(candidate.rows, foreign).all():
            return None
        left = without(table, candidate, lambda rows: np.isin(rows, foreign), "")
        return replace(left, count=len(left.rows))

    return [left for candidate in candidates if (left := clear(candidate)) is not None]


def _names_a_job(sample: str) -> bool:
    return "JobId" in sample or "StepId" in sample or "*** JOB" in sample or "*** STEP" in sample


def _own_ids(parsed: Parsed, texts: Iterable[str]) -> Iterator[str]:
    """What this job's id may be: in job.json, of its own steps, of its allocation, and in the names of its files."""
    yield parsed.job.manifest.job_id
    for name in parsed.table.files:
        yield from _NUMBER.findall(PurePosixPath(name).name)
    nodes = parsed.nodes
    for text in texts:
        if own := _OWN.search(text):
            yield own[1] or own[2]
        allocated = _ALLOCATED.search(text)
        if allocated and any(node in allocated[2].split(",") for node in nodes):
            yield allocated[1]
