"""A whole diagnosis, first and again: CPU, clock, memory and where the time goes, for jobs that are made for it.

    python -m benchmarks.whole --gb 1 --nodes 256
    python -m benchmarks.whole --gb 1 --nodes 256 --dirty
    python -m benchmarks.whole --gb 10 --nodes 1024 --folder DIR      keep the job and the cache there
    python -m benchmarks.whole --write                                the sizes of speed.md, and into it

Every number is of a process of its own, with the start of Python; logs are in the page cache. Logs of most nodes are
hard links: a job takes as much disk as 33 of its logs.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.parsing import machine
from benchmarks.quality.report import marks, table, write
from benchmarks.whole.job import make_jobs
from benchmarks.whole.measure import Cost, measured_apart

DOCUMENT = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "speed.md"
RUNS = 3  # of the second diagnosis: the best one


@dataclass(frozen=True)
class Size:
    """A job to be measured."""

    gb: float
    nodes: int
    dirty: bool = False

    def __str__(self) -> str:
        return f"{self.gb:g} GB, {self.nodes:,} nodes{', dirty' * self.dirty}"


SIZES = (Size(1, 256), Size(1, 256, dirty=True), Size(10, 1024))


def main(arguments: Sequence[str] | None = None) -> int:
    """Make jobs, measure, print."""
    options = _parser().parse_args(arguments)
    sizes = SIZES if options.write else (Size(options.gb, options.nodes, options.dirty),)
    parts, rows = [], []
    for size in sizes:
        with _folder(options.folder) as folder:
            found, steps = _measured(size, folder, options)
            rows += found
            parts.append(f"Where the time goes, {size}, CPU seconds in one thread with the profiler's own cost:")
            parts.append(steps)
    head = ("job", "", "CPU s", "wall s", "peak MB", "of it anonymous")
    circumstances = (
        f"Measured on {machine()}, {options.workers} threads; load average {os.getloadavg()[0]:.1f} at the end."
    )
    text = "\n\n".join((table(head, rows, texts=(0, 1)), *(parts if not options.no_profile else ()), circumstances))
    print(text)
    if options.write:
        write(DOCUMENT, f"\n{text}\n", *marks("whole"))
    return 0


def _measured(size: Size, folder: Path, options: argparse.Namespace) -> tuple[list[tuple[str, ...]], str]:
    jobs, cache = folder / "jobs", folder / "cache"
    if not jobs.exists():
        make_jobs(jobs, size=int(size.gb * 1e9), nodes=size.nodes, dirty=size.dirty)
    first = measured_apart(jobs, cache, workers=options.workers)
    again = [measured_apart(jobs, cache, workers=options.workers) for _ in range(RUNS)]
    if {cost.digest for cost in (first, *again)} != {first.digest}:
        raise SystemExit("The answers differ.")
    print(f"{size}: {first.lines:,} lines, {first.bytes / 1e9:.2f} GB. {first.headline}", file=sys.stderr)
    second = min(again, key=lambda cost: cost.cpu)
    rows = [_row(f"{size}, {first.lines / 1e6:.1f} million lines", "first diagnosis", first)]
    rows.append(_row("", "the second one, from the cache", second))
    return rows, "" if options.no_profile else _steps(jobs, folder, cache)


def _row(job: str, which: str, cost: Cost) -> tuple[str, ...]:
    peaks = (f"{peak / 1e6:.0f}" for peak in (cost.peak, cost.anonymous))
    return (job, which, f"{cost.cpu:.1f}", f"{cost.wall:.1f}", *peaks)


def _steps(jobs: Path, folder: Path, cache: Path) -> str:
    first = dict(measured_apart(jobs, folder / "profiled", workers=1, profile=True).steps)
    second = dict(measured_apart(jobs, cache, workers=1, profile=True).steps)
    labels = [*first, *(label for label in second if label not in first)]
    rows = [(label, _seconds(first.get(label)), _seconds(second.get(label))) for label in labels]
    return table(("step", "first", "second"), rows)


def _seconds(spent: float | None) -> str:
    return "" if spent is None else f"{spent:.2f}"


@contextmanager
def _folder(path: Path | None) -> Iterator[Path]:
    if path is not None:
        path.mkdir(parents=True, exist_ok=True)
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="benchmarks.whole", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gb", type=float, default=1, help="of logs (1)")
    parser.add_argument("--nodes", type=int, default=256, help="each with a log (256)")
    parser.add_argument("--dirty", action="store_true", help="labels, progress bars, colours, bytes that are no text")
    parser.add_argument("--workers", type=int, default=2, help="threads that read (2)")
    parser.add_argument("--folder", type=Path, help="make the job there, keep it, and find it there the next time")
    parser.add_argument("--no-profile", action="store_true", help="leave out where the time goes")
    parser.add_argument("--write", action="store_true", help="measure all sizes of speed.md, and write them there")
    return parser


if __name__ == "__main__":
    sys.exit(main())
