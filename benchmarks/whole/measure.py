"""One diagnosis in a process of its own: what it took, and what it answered."""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

from benchmarks.whole.job import FAILED
from benchmarks.whole.steps import profiled
from bot.fetch.cache import FolderCache
from core.baseline import choose_baseline
from core.diagnose import diagnose
from core.model import Diagnosis
from sources.jobs import open_source

MEMORY = 256 << 20  # bytes of rows that are held, as FIRSTFAULT_MEMORY has it
EVERY = 0.02  # seconds between two looks at the memory of the process


@dataclass(frozen=True)
class Cost:
    """What one diagnosis took: CPU of all threads with the start of Python, peak memory and of it what is no file."""

    cpu: float
    wall: float
    peak: int
    anonymous: int
    lines: int
    bytes: int
    headline: str
    digest: str
    steps: Sequence[tuple[str, float]]


def measured_apart(jobs: Path, cache: Path | None, *, workers: int, profile: bool = False) -> Cost:
    """Diagnose in a process of its own.

    Args:
        cache: folder of what is kept between diagnoses.
        profile: tell where the time goes, in one thread; all else is then slower than it is.
    """
    command = [sys.executable, "-m", "benchmarks.whole.measure", str(jobs), "--workers", str(workers)]
    command += ["--cache", str(cache)] if cache else []
    command += ["--profile"] if profile else []
    anonymous, started = 0, time.perf_counter()
    # waiting threads of OpenBLAS, which numpy starts, would count as CPU seconds
    process = subprocess.Popen(command, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"}, stdout=subprocess.PIPE)
    while process.poll() is None:
        anonymous = max(anonymous, _anonymous(process.pid))
        time.sleep(EVERY)
    wall = time.perf_counter() - started
    output = process.stdout.read() if process.stdout else b""
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Cost(**json.loads(output) | {"anonymous": anonymous, "wall": wall})


def _anonymous(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:  # it has just ended, or this is no Linux
        return 0
    return sum(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("RssAnon"))


def main() -> None:
    """Diagnose the large job here, and print its cost as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("jobs", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    steps: Sequence[tuple[str, float]] = ()
    if options.profile:
        diagnosis, steps = profiled(lambda: _diagnosis(options, workers=1))
    else:
        diagnosis = _diagnosis(options, options.workers)
    used = resource.getrusage(resource.RUSAGE_SELF)
    cost = Cost(
        cpu=used.ru_utime + used.ru_stime,
        wall=0.0,
        peak=used.ru_maxrss * 1024,
        anonymous=0,
        lines=diagnosis.coverage.lines,
        bytes=diagnosis.coverage.bytes,
        headline=diagnosis.headline,
        digest=blake2b(repr(diagnosis).encode(), digest_size=8).hexdigest(),
        steps=steps,
    )
    print(json.dumps(asdict(cost)))


def _diagnosis(options: argparse.Namespace, workers: int) -> Diagnosis:
    source = open_source(str(options.jobs))
    job = source.job(FAILED)
    others = [source.manifest(job_id) for job_id in source.job_ids()]
    baseline = [source.job(job_id) for job_id in choose_baseline(job.manifest, others)]
    cache = FolderCache(options.cache) if options.cache else None
    return diagnose(job, baseline, cache=cache, workers=workers, memory=MEMORY)


if __name__ == "__main__":
    main()
