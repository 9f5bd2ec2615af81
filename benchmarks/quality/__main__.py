"""Measure all methods on labelled jobs, and ours from every side.

The labelled jobs of the project are in lab.tar.xz and other.tar.xz beside this file: real small training jobs with
injected faults, of our lab and of other stacks. --jobs and --truth take larger sets, told apart by their ids: those of
the lab are f or s and two digits, public ones begin with "pub-", and all others are the set `other`.
--blind measures those of blind*.tar.xz too: made by authors who had seen neither rules nor results, and scored once
before their misses were read (docs/LOG.md); since then they are seen. --also takes further sets under names of their
own.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.quality.findings import METHODS_PART, PARTS, SAMENESS, examine_all
from benchmarks.quality.labels import Truth, read_truths
from benchmarks.quality.report import NoMarkers, marks, write
from benchmarks.quality.sameness import unlike
from benchmarks.quality.sections import sections
from benchmarks.unpack import unpack
from core.errors import FirstfaultError

ROOT = Path(__file__).resolve().parents[2]
LAB = Path(__file__).parent / "lab.tar.xz"  # folders jobs/ and truth/
RESULTS = ROOT / "benchmarks" / "results"
DOCUMENTS = (RESULTS / "repository.md", RESULTS / "quality.md")
OTHER = Path(__file__).parent / "other.tar.xz"  # the same, of other stacks (benchmarks/results/quality.md)
BLIND = tuple(sorted(Path(__file__).parent.glob("blind*.tar.xz")))  # the same, of jobs that no rule was written for
SETS = ("lab", "public", "other")
_OF_LAB = re.compile(r"[fs]\d\d|lab\d+-\d+")


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """Jobs under one name, at one place."""

    name: str
    jobs: str
    truths: tuple[Truth, ...]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables, and write them into the documents when asked to."""
    options = _parser().parse_args(arguments)
    archives = BLIND if options.blind else ()
    with labelled_jobs(options.jobs, options.truth) as (jobs, truth), blind_jobs(archives) as blind:
        truths = read_truths(truth)
        chosen = [LabelledSet(name, jobs, _of_set(name, truths)) for name in options.set or SETS]
        chosen += blind
        chosen += [LabelledSet(name, place, read_truths(Path(labels))) for name, place, labels in options.also]
        chosen = [jobs_set for jobs_set in chosen if jobs_set.truths]
        if not chosen:
            print(f"No truth in {truth} for: {', '.join(options.set or SETS)}.", file=sys.stderr)
            return 2
        return _measure(chosen, options)


@contextmanager
def labelled_jobs(jobs: str | None, truth: Path | None) -> Iterator[tuple[str, Path]]:
    """Where the jobs and their truth are; the project's own are unpacked for as long as they are measured."""
    if jobs is not None and truth is not None:
        yield jobs, truth
        return
    with tempfile.TemporaryDirectory() as folder:
        for archive in (LAB, OTHER):
            with tarfile.open(archive) as packed:
                unpack(packed, folder)
        yield jobs or f"{folder}/jobs", truth or Path(folder, "truth")


@contextmanager
def blind_jobs(archives: Sequence[Path] = BLIND) -> Iterator[list[LabelledSet]]:
    """The jobs of each blind set, unpacked for as long as they are measured; two sets may have the same ids."""
    with tempfile.TemporaryDirectory() as folder:
        sets = []
        for archive in archives:
            own = Path(folder, archive.name.partition(".")[0])
            with tarfile.open(archive) as packed:
                unpack(packed, own)
            sets.append(LabelledSet(own.name, f"{own}/jobs", read_truths(own / "truth")))
        yield sets


def _measure(chosen: Sequence[LabelledSet], options: argparse.Namespace) -> int:
    parts = options.part or PARTS
    try:
        with tempfile.TemporaryDirectory() as folder:
            cache = Path(folder)
            same = (
                {jobs_set.name: unlike(jobs_set.jobs, _ids(jobs_set), cache) for jobs_set in chosen}
                if SAMENESS in parts
                else None
            )
            found = {
                jobs_set.name: examine_all(jobs_set.jobs, jobs_set.truths, cache, parts=parts) for jobs_set in chosen
            }
        texts = sections(found, same, _commit())
        print("\n\n".join(f"## {name}\n\n{text}" for name, text in texts.items()))
        for document in DOCUMENTS if options.write == [] else options.write or ():
            _write(document, texts)
    except (FirstfaultError, NoMarkers) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _write(document: Path, texts: dict[str, str]) -> None:
    """Write those parts for which the document has a place; the tables of all methods every document has to have."""
    content = document.read_text(encoding="utf-8") if document.exists() else ""
    for name, text in texts.items():
        begin, end = marks(name)
        if name == "quality" or begin in content:
            write(document, text, begin, end)


def _of_set(name: str, truths: Sequence[Truth]) -> tuple[Truth, ...]:
    return tuple(truth for truth in truths if set_of(truth) == name)


def _ids(chosen: LabelledSet) -> list[str]:
    return [truth.job_id for truth in chosen.truths]


def set_of(truth: Truth) -> str:
    """The set that a job belongs to, by its id."""
    if truth.job_id.startswith("pub-"):
        return "public"
    return "lab" if _OF_LAB.fullmatch(truth.job_id) else "other"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--jobs", metavar="DIR", help="folder or URL with the jobs")
    parser.add_argument("--truth", type=Path, metavar="DIR", help="folder with one ID.json a job")
    parser.add_argument("--blind", action="store_true", help="the jobs of the blind sets too")
    parser.add_argument("--set", action="append", choices=SETS, help="only these jobs")
    parser.add_argument(
        "--also", action="append", nargs=3, default=[], metavar=("NAME", "JOBS", "TRUTH"), help="a set of that name too"
    )
    parser.add_argument(
        "--part",
        action="append",
        choices=PARTS,
        help=f"measure only this (and {METHODS_PART}, which is always measured); the rest takes some minutes",
    )
    parser.add_argument(
        "--write",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="write the tables into these documents, or repository.md and quality.md of benchmarks/results",
    )
    return parser


def _commit() -> str:
    """The commit that was measured, as text, and whether what is measured has changed since."""
    head = _git("rev-parse", "--short", "HEAD")
    changed = _git("status", "--porcelain", "--", "core", "sources")
    return f"{head} with changes" if changed else head or "unknown"


def _git(*words: str) -> str:
    if shutil.which("git") is None:
        return ""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
