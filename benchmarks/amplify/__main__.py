"""Grow labelled jobs to many nodes, and measure what the program makes of them (benchmarks/results/scale.md).

    python -m benchmarks.amplify make --job f07 --nodes 256 --faulty 1 --seed 3 --out DIR
    python -m benchmarks.amplify measure --write

``make`` writes DIR/jobs/ID and DIR/truth/ID.json. ``measure`` makes, diagnoses and deletes jobs one by one.
"""

import argparse
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from benchmarks.amplify.cast import CannotGrow, Original, choose_cast
from benchmarks.amplify.grow import grow, read_original
from benchmarks.amplify.measure import FAULTY, GrownJob, Outcome, make_plans, measure, seen_by_ranks
from benchmarks.amplify.table import BEGIN, END, tables, told
from benchmarks.quality.report import NoMarkers, write
from benchmarks.unpack import unpack

ROOT = Path(__file__).resolve().parents[2]
LAB = ROOT / "benchmarks" / "quality" / "lab.tar.xz"  # folders jobs/ and truth/
DOCUMENT = ROOT / "benchmarks" / "results" / "scale.md"
SEEDS = {64: 2, 256: 1, 1024: 1}  # how many seeds of each size: all of it takes less than 20 minutes on two cores
OTHER = 64  # nodes; the size at which jobs are compared with others than the successful jobs as they are


def main(arguments: Sequence[str] | None = None) -> int:
    """Make one job, or measure many."""
    options = _parser().parse_args(arguments)
    with _labelled_jobs(options.lab) as lab:
        try:
            return _make(options, lab) if options.command == "make" else _measure(options, lab)
        except (CannotGrow, NoMarkers) as error:
            print(error, file=sys.stderr)
            return 2


@contextmanager
def _labelled_jobs(lab: Path | None) -> Iterator[Path]:
    """A folder with jobs/ and truth/; the project's own are unpacked for as long as they are used."""
    if lab is not None:
        yield lab
        return
    with tempfile.TemporaryDirectory() as folder, tarfile.open(LAB) as packed:
        unpack(packed, folder)
        yield Path(folder)


def _make(options: argparse.Namespace, lab: Path) -> int:
    original = read_original(lab / "jobs", lab / "truth", options.job)
    cast = choose_cast(original, options.nodes, options.faulty, options.seed)
    grown = grow(cast, options.out / "jobs", options.out / "truth")
    print(f"{options.out / 'jobs' / grown.job_id}: {grown.files} files, {grown.lines} lines, {grown.size} bytes")
    return 0


def _measure(options: argparse.Namespace, lab: Path) -> int:
    plans = _plans(options, _originals(lab, options.job))
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        outcomes = measure(plans, lab, Path(scratch), workers=options.workers, report=_tell)
    text = tables(outcomes)
    print(text)
    if options.write is not None:
        write(options.write, text, BEGIN, END)
    return 0


def _originals(lab: Path, chosen: Sequence[str] | None) -> list[Original]:
    ids = sorted(path.stem for path in (lab / "truth").glob("*.json"))
    return [read_original(lab / "jobs", lab / "truth", job_id) for job_id in ids if not chosen or job_id in chosen]


def _plans(options: argparse.Namespace, originals: Sequence[Original]) -> list[GrownJob]:
    faulty = options.faulty or FAULTY
    plans = [
        plan
        for nodes in options.nodes or SEEDS
        for plan in make_plans(originals, (nodes,), faulty, range(options.seeds or SEEDS.get(nodes, 1)))
    ]
    if options.other_history:
        failed = [original for original in originals if original.truth["failed"]]
        for history in (None, OTHER):
            plans.extend(make_plans(failed, (OTHER,), faulty[:1], (0,), history))
    if options.ranks_only:
        told_by_ranks = [original for original in originals if seen_by_ranks(original)]
        for nodes in options.nodes or (OTHER,):
            plans.extend(replace(plan, ranks_only=True) for plan in make_plans(told_by_ranks, (nodes,), faulty, (0,)))
    return plans


def _tell(outcome: Outcome) -> None:
    print(told(outcome), file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.amplify", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lab", type=Path, metavar="DIR", help="folder with jobs/ and truth/ of labelled jobs")
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("make", help="write one grown job")
    make.add_argument("--job", required=True, metavar="ID", help="the labelled job")
    make.add_argument("--nodes", type=int, default=256, help="how many nodes (256)")
    make.add_argument("--faulty", type=int, default=1, help="how many of them have the fault (1)")
    make.add_argument("--seed", type=int, default=0, help="another seed puts the fault elsewhere (0)")
    make.add_argument("--out", type=Path, required=True, metavar="DIR", help="where jobs/ and truth/ are written")
    many = commands.add_parser("measure", help="make, diagnose and delete many")
    many.add_argument("--job", action="append", metavar="ID", help="only these jobs")
    many.add_argument("--nodes", type=int, action="append", help="only these sizes")
    many.add_argument("--faulty", type=int, action="append", help="only these numbers of nodes at fault")
    many.add_argument("--seeds", type=int, help="seeds of each size")
    many.add_argument(
        "--other-history", action="store_true", help=f"also with no successful jobs, and with ones of {OTHER} nodes"
    )
    many.add_argument(
        "--ranks-only", action="store_true", help="also with nothing of launchers, node daemons and the scheduler"
    )
    many.add_argument("--workers", type=int, default=2, help="jobs at a time (2)")
    many.add_argument("--scratch", type=Path, metavar="DIR", help="where jobs lie while they are diagnosed")
    many.add_argument(
        "--write", nargs="?", type=Path, const=DOCUMENT, metavar="FILE", help="write the tables into scale.md"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
