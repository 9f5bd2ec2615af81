"""Measure all methods on labelled jobs.

The labelled jobs of the project are in lab.tar.xz beside this file: real small training jobs with injected faults.
--jobs and --truth take larger sets. Jobs whose id begins with "pub-" are the set `public`, all others the set `lab`.
"""

import argparse
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.quality.labels import Truth, read_truths
from benchmarks.quality.measures import measure
from benchmarks.quality.methods import METHODS
from benchmarks.quality.report import NoMarkers, report, write
from benchmarks.quality.run import run
from core.errors import FirstfaultError
from sources.jobs import open_source

ROOT = Path(__file__).resolve().parents[2]
LAB = Path(__file__).parent / "lab.tar.xz"  # folders jobs/ and truth/
DOCUMENTS = (ROOT / "README.md", ROOT / "docs" / "quality.md")
SETS = ("lab", "public")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables, and write them into the documents when asked to."""
    options = _parser().parse_args(arguments)
    with labelled_jobs(options.jobs, options.truth) as (jobs, truth):
        return _measure(options, jobs, truth)


@contextmanager
def labelled_jobs(jobs: str | None, truth: Path | None) -> Iterator[tuple[str, Path]]:
    """Where the jobs and their truth are; the project's own are unpacked for as long as they are measured."""
    if jobs is not None and truth is not None:
        yield jobs, truth
        return
    with tempfile.TemporaryDirectory() as folder, tarfile.open(LAB) as lab:
        lab.extractall(folder, filter="data")
        yield jobs or f"{folder}/jobs", truth or Path(folder, "truth")


def _measure(options: argparse.Namespace, jobs: str, truth: Path) -> int:
    truths = read_truths(truth)
    chosen = {name: [truth for truth in truths if set_of(truth) == name] for name in options.set or SETS}
    if not any(chosen.values()):
        print(f"No truth in {truth} for: {', '.join(chosen)}.", file=sys.stderr)
        return 2
    try:
        source = open_source(jobs)
        scores = {name: run(source, members, METHODS) for name, members in chosen.items() if members}
        sets = {name: {method: measure(own) for method, own in of.items()} for name, of in scores.items()}
        text = report(sets, _commit())
        print(text)
        for document in DOCUMENTS if options.write == [] else options.write or ():
            write(document, text)
    except (FirstfaultError, NoMarkers) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def set_of(truth: Truth) -> str:
    """The set that a job belongs to, by its id."""
    return "public" if truth.job_id.startswith("pub-") else "lab"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--jobs", metavar="DIR", help="folder or URL with the jobs")
    parser.add_argument("--truth", type=Path, metavar="DIR", help="folder with one ID.json a job")
    parser.add_argument("--set", action="append", choices=SETS, help="only these jobs")
    parser.add_argument(
        "--write",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="write the tables into these documents, or README.md and docs/quality.md",
    )
    return parser


def _commit() -> str:
    """The commit that was measured, as text."""
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else "unknown"


if __name__ == "__main__":
    sys.exit(main())
