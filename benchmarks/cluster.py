"""From which size on other processors are worth a cluster: two minutes on two free cores.

    python -m benchmarks.cluster                          print the table
    python -m benchmarks.cluster --write benchmarks/results/cluster.md  and write it into the document

Logs of each size are read by one thread of this machine, by two, and by two workers of a Dask cluster on this machine
with one thread each, as `dask worker` starts them. Two workers beside two threads show what the cluster costs; beside
one thread they are a cluster twice as strong as the machine that asks, and show from where on that pays.

A number is the wall clock from the question to the rows, best of some runs, each in a new process that has loaded
neither Dask nor the kernel; the workers have read something before. In it are loading, connecting, asking the workers
what they are, and the way back of all rows, which here is no network: what a real one adds cannot be measured on one
machine.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from benchmarks import generate
from benchmarks.parsing import machine
from benchmarks.quality.report import marks, table, write
from benchmarks.support.dask_cluster import Cluster
from bot.fetch.cluster import readers
from core.logs.array_store import Heap
from core.logs.log_files import read_files
from core.logs.scan import choose_engine
from sources.folder import job_at

LOG_BYTES = 64 << 20  # of one log; a job has as many as its size needs
LOGS = (1, 2, 4, 8, 16, 32)
RUNS = 2
ONE, TWO, CLUSTER = "one thread", "two threads", "two workers"
Seconds = dict[str, float]


def main() -> None:
    """Measure, print, write."""
    options = _arguments()
    if options.measure:
        print(_read(options.measure, options.threads, options.scheduler))
        return
    with tempfile.TemporaryDirectory() as folder:
        rows = list(_rows(Path(folder), options.seed))
    text = "\n\n".join((_table(rows), pays(rows), f"Measured on {machine()}, {os.getloadavg()[0]:.1f} load average."))
    print(text)
    if options.write:
        write(options.write, f"\n{text}\n", *marks("cluster"))


def pays(rows: Iterable[tuple[int, Seconds]]) -> str:
    """From which size on two workers are sooner than one thread."""
    sooner = 0
    for size, seconds in sorted(rows, reverse=True):
        if seconds[CLUSTER] >= seconds[ONE]:
            break
        sooner = size
    if not sooner:
        return "Two workers were never sooner than one thread."
    return f"Two workers are sooner than one thread from {sooner >> 20:,} MiB on."


def _rows(folder: Path, seed: int) -> Iterator[tuple[int, Seconds]]:
    log = folder / "rank.log"
    generate.write(log, LOG_BYTES, seed=seed)
    with closing(Cluster(folder)) as cluster:
        for name in ("one", "two"):
            cluster.add_worker(name)
        _measured_apart(_job(folder, log, max(LOGS)), 2, cluster.address)  # loads and compiles what is to be loaded
        for count in LOGS:
            job = _job(folder, log, count)
            ways = {ONE: (1, ""), TWO: (2, ""), CLUSTER: (2, cluster.address)}
            yield (
                log.stat().st_size * count,
                {
                    way: min(_measured_apart(job, threads, address) for _ in range(RUNS))
                    for way, (threads, address) in ways.items()
                },
            )


def _job(folder: Path, log: Path, count: int) -> Path:
    """A job of the same log so many times."""
    logs = folder / f"job-{count}" / "logs"
    if not logs.exists():
        logs.mkdir(parents=True)
        for rank in range(count):
            (logs / f"rank_{rank}.log").hardlink_to(log)
    return logs.parent


def _measured_apart(job: Path, threads: int, scheduler: str) -> float:
    command = [sys.executable, "-m", "benchmarks.cluster", "--measure", str(job), "--threads", str(threads)]
    done = subprocess.run([*command, "--scheduler", scheduler], check=True, capture_output=True, text=True)
    return float(done.stdout)


def _read(folder: str, threads: int, scheduler: str) -> float:
    """Seconds until all rows are here."""
    job = job_at(folder)
    began = time.perf_counter()
    engine = choose_engine(sum(log.size for log in job.logs))
    with readers(scheduler, (job,), threads=threads, least=0, insecure=True) as workers:
        read_files(job.logs, (), 2026, workers=workers, engine=engine, heap=Heap())
    return time.perf_counter() - began


def _table(rows: Iterable[tuple[int, Seconds]]) -> str:
    lines = [(f"{size >> 20:,}", *(f"{seconds[way]:.1f}" for way in (ONE, TWO, CLUSTER))) for size, seconds in rows]
    return table(("MiB", f"{ONE}, s", f"{TWO}, s", f"{CLUSTER}, s"), lines, texts=())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the table into this document")
    parser.add_argument("--seed", type=int, default=1, help="of the generated log (1)")
    parser.add_argument("--measure", help=argparse.SUPPRESS)  # one way, in a process of its own
    parser.add_argument("--threads", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--scheduler", default="", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
