"""Jobs tried in dresses: read as any job is, from the bytes in its folder."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import repeat

from benchmarks.quality.case import Case, read_case
from benchmarks.quality.dresses.jobs import JOBS, Labelled, read_archives
from benchmarks.quality.dresses.outfit import Folder, Outfit
from benchmarks.quality.dresses.same import Difference, differences
from benchmarks.quality.dresses.wardrobe import BY_NAME, WARDROBE, Dress
from benchmarks.quality.dresses.wearer import Wearer
from benchmarks.support.jobs_in_memory import FakeJobs
from benchmarks.support.memory_cache import MemoryCache
from core.baseline import choose_baseline
from core.diagnose import diagnose_parsed
from core.job import Job, Manifest
from core.model import Diagnosis


@dataclass(frozen=True, slots=True)
class Tried:
    """A job in a dress. differs: None where the job can't wear it."""

    job_id: str
    dress: str
    differs: tuple[Difference, ...] | None


@dataclass
class FittingRoom:
    """Tries dresses on jobs; what was read of a job is kept."""

    labelled: Labelled = field(default_factory=read_archives)
    _cache: MemoryCache = field(default_factory=MemoryCache)
    _cases: dict[str, Case] = field(default_factory=dict)
    _answers: dict[str, Diagnosis] = field(default_factory=dict)
    _worn: dict[tuple[str, str], Job | None] = field(default_factory=dict)
    _good_jobs: dict[str, Sequence[str]] = field(default_factory=dict)

    def try_on(self, job_id: str, dress: Dress) -> Tried:
        """Compare the answer with the undressed one."""
        case = self._case(job_id)
        worn = dress.put_on(self.wearer(job_id))
        if worn is None:
            return Tried(job_id, dress.name, None)
        dressed = self.read(job_id, dress, worn)
        return Tried(job_id, dress.name, differences(case, self.answer(job_id), diagnose_parsed(dressed.parsed), worn))

    def wearer(self, job_id: str) -> Wearer:
        """The undressed job, line by line."""
        return Wearer(self._case(job_id), self.labelled.folders[job_id])

    def answer(self, job_id: str) -> Diagnosis:
        """The undressed job's."""
        if job_id not in self._answers:
            self._answers[job_id] = diagnose_parsed(self._case(job_id).parsed)
        return self._answers[job_id]

    def read(self, job_id: str, dress: Dress, worn: Outfit) -> Case:
        """The dressed job beside its successful ones, dressed alike where they would be."""
        baseline = [self._good(good, dress) for good in self._beside(job_id)]
        return read_case(self.labelled.truths[job_id], _job(job_id, worn.files), baseline, self._cache)

    def _good(self, job_id: str, dress: Dress) -> Job:
        key = job_id, dress.name
        if key not in self._worn:
            worn = dress.put_on(self.wearer(job_id)) if dress.everywhere else None
            self._worn[key] = _job(job_id, worn.files if worn else self.labelled.folders[job_id])
        job = self._worn[key]
        assert job is not None  # noqa: S101 (it was put there)
        return job

    def _beside(self, job_id: str) -> Sequence[str]:
        if job_id not in self._good_jobs:
            self._good_jobs[job_id] = choose_baseline(self._manifests[job_id], list(self._manifests.values()))
        return self._good_jobs[job_id]

    @cached_property
    def _manifests(self) -> Mapping[str, Manifest]:
        """Of every labelled job; they look for their good jobs among all."""
        source = FakeJobs(self.labelled.folders)
        return {job_id: source.manifest(job_id) for job_id in source.job_ids()}

    def _case(self, job_id: str) -> Case:
        if job_id not in self._cases:
            folders = self.labelled.folders
            baseline = [_job(good, folders[good]) for good in self._beside(job_id)]
            truth = self.labelled.truths[job_id]
            self._cases[job_id] = read_case(truth, _job(job_id, folders[job_id]), baseline, self._cache)
        return self._cases[job_id]


def _job(job_id: str, files: Folder) -> Job:
    return FakeJobs({job_id: files}).job(job_id)


def try_all(
    jobs: Iterable[str] = JOBS, dresses: Iterable[str] | None = None, workers: int | None = None
) -> Iterator[Tried]:
    """Each job in each dress, in order, in as many processes as there are cores."""
    names = tuple(dresses) if dresses is not None else tuple(dress.name for dress in WARDROBE)
    with ProcessPoolExecutor(workers or os.cpu_count()) as pool:
        for tried in pool.map(_try_job, jobs, repeat(names)):
            yield from tried


def _try_job(job_id: str, dresses: tuple[str, ...]) -> list[Tried]:
    room = _room()
    return [room.try_on(job_id, BY_NAME[dress]) for dress in dresses]


@cache
def _room() -> FittingRoom:
    """One a process: successful jobs are dressed and read once."""
    return FittingRoom()
