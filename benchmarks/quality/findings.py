"""All that is measured of one labelled job, and of many at once: a job is read once and asked everything."""

import os
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from time import perf_counter

from benchmarks.quality.ablation import answers_alone, answers_without
from benchmarks.quality.case import Case, Shelf
from benchmarks.quality.labels import Truth
from benchmarks.quality.methods import METHODS, OURS, Method
from benchmarks.quality.robustness import Varied, vary
from benchmarks.quality.score import Score, score_job
from bot.fetch.cache import FolderCache
from core.errors import FirstfaultError
from core.model import Diagnosis, Pictures
from sources.jobs import open_source

METHODS_PART, ROBUSTNESS, ABLATION, SAMENESS = PARTS = ("methods", "robustness", "ablation", "sameness")


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found of a job.

    scores: by method. diagnosis: ours; None when the job could not be read. varied: ours under worse conditions.
    without: ours with a part switched off; alone: ours with one channel only.
    """

    truth: Truth
    scores: Mapping[str, Score]
    diagnosis: Diagnosis | None = None
    varied: Mapping[str, Varied] = field(default_factory=dict)
    without: Mapping[str, Score] = field(default_factory=dict)
    alone: Mapping[str, Score] = field(default_factory=dict)

    @property
    def ours(self) -> Score:
        """How the method of this project did."""
        return self.scores[OURS]


def examine_all(
    jobs: str,
    truths: Sequence[Truth],
    cache_folder: Path,
    *,
    parts: Collection[str] = (METHODS_PART,),
    workers: int | None = None,
) -> list[Finding]:
    """Examine labelled jobs in as many processes as there are cores, in the order of their truths."""
    examine_one = partial(_examine_at, jobs, cache_folder, frozenset(parts))
    with ProcessPoolExecutor(workers or os.cpu_count()) as pool:
        return list(pool.map(examine_one, truths))


def examine(
    shelf: Shelf, truth: Truth, methods: Mapping[str, Method] = METHODS, *, parts: Collection[str] = (METHODS_PART,)
) -> Finding:
    """Read a job, and ask each method for it; a method without an answer is all wrong."""
    try:
        case = shelf.case(truth)
    except FirstfaultError:
        return Finding(truth, {name: score_job(truth, None, {}) for name in methods})
    asked = {name: _ask(case, method) for name, method in methods.items()}
    ours = asked[OURS][0] if OURS in asked else None
    finding = Finding(truth, {name: score for name, (_, score) in asked.items()}, _light(ours))
    if ours is not None and ROBUSTNESS in parts:
        finding = replace(finding, varied=vary(case, ours))
    if ours is not None and ABLATION in parts:
        without, alone = answers_without(case.parsed), answers_alone(case.parsed)
        finding = replace(
            finding,
            without={part: case.score(diagnosis) for part, diagnosis in without.items()},
            alone={channel: case.score(diagnosis) for channel, diagnosis in alone.items()},
        )
    return finding


def _ask(case: Case, method: Method) -> tuple[Diagnosis | None, Score]:
    started = perf_counter()
    try:
        diagnosis = method(case.parsed)
    except FirstfaultError:
        return None, score_job(case.truth, None, {})
    return diagnosis, case.score(diagnosis, perf_counter() - started)


def _examine_at(jobs: str, cache_folder: Path, parts: frozenset[str], truth: Truth) -> Finding:
    return examine(_shelf(jobs, cache_folder), truth, parts=parts)


@cache
def _shelf(jobs: str, cache_folder: Path) -> Shelf:
    """One a process: successful jobs are read once by whoever needs them first."""
    return Shelf(open_source(jobs), FolderCache(cache_folder))


def _light(diagnosis: Diagnosis | None) -> Diagnosis | None:
    """What travels between processes: without what plots would show."""
    return replace(diagnosis, pictures=Pictures()) if diagnosis else None
