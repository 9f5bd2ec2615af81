"""Whether five runs give the same bytes: fresh processes, other hash seeds, one worker and two, old profiles and new.

As a program it prints the digest of each job's answer, a job a line:
``python -m benchmarks.quality.sameness JOBS CACHE WORKERS ID ...``; with an empty CACHE nothing is known from before.
"""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from benchmarks.support.memory_cache import MemoryCache
from bot.fetch.cache import FolderCache
from bot.report.contract import to_contract
from bot.report.json_document import to_json
from core.baseline import choose_baseline
from core.cache import ByteCache
from core.diagnose import diagnose
from core.errors import FirstfaultError
from sources.jobs import JobSource, open_source

ROOT = Path(__file__).resolve().parents[2]
NO_ANSWER = "no answer"


@dataclass(frozen=True, slots=True)
class Run:
    """One of the runs that are compared; kept: with what is known of successful jobs from before."""

    hash_seed: int
    workers: int
    kept: bool = True


RUNS = (Run(0, 1, kept=False), Run(1, 2), Run(2, 1), Run(3, 2), Run(4, 1))


def unlike(jobs: str, job_ids: Sequence[str], cache_folder: Path, runs: Sequence[Run] = RUNS) -> tuple[str, ...]:
    """Ids of the jobs whose answers are not the same bytes in all runs."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        printed = list(pool.map(lambda run: _run(jobs, job_ids, cache_folder, run), runs))
    return tuple(job_id for job_id in job_ids if len({answers[job_id] for answers in printed}) > 1)


def digests(source: JobSource, job_ids: Iterable[str], cache: ByteCache, workers: int) -> Iterator[str]:
    """A digest of the bytes that ``firstfault diagnose --json`` prints of each job."""
    manifests = [source.manifest(job_id) for job_id in source.job_ids()]
    for job_id in job_ids:
        try:
            job = source.job(job_id)
            baseline = [source.job(good) for good in choose_baseline(job.manifest, manifests)]
            diagnosis = diagnose(job, baseline, cache=cache, workers=workers)
        except FirstfaultError:
            yield NO_ANSWER
        else:
            yield blake2b(to_json(to_contract(diagnosis)).encode(), digest_size=16).hexdigest()


def _run(jobs: str, job_ids: Sequence[str], cache_folder: Path, run: Run) -> dict[str, str]:
    words = [jobs, str(cache_folder) if run.kept else "", str(run.workers), *job_ids]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.quality.sameness", *words],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": str(run.hash_seed)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return dict(line.split("\t") for line in done.stdout.splitlines())


def main() -> int:
    """Print a digest for each job."""
    jobs, cache_folder, workers, *job_ids = sys.argv[1:]
    source, cache = open_source(jobs), FolderCache(Path(cache_folder)) if cache_folder else MemoryCache()
    for job_id, digest in zip(job_ids, digests(source, job_ids, cache, int(workers)), strict=True):
        print(f"{job_id}\t{digest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
