"""Measure all methods on labelled jobs.

The labelled jobs of the project are examples/ with benchmarks/quality/truth/; --jobs and --truth take larger sets. Jobs
whose id begins with "pub-" are the set `public`, all others the set `lab`.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.quality.labels import Truth, read_truths
from benchmarks.quality.measures import measure
from benchmarks.quality.methods import METHODS
from benchmarks.quality.report import NoMarkers, report, write
from benchmarks.quality.run import run
from core.errors import FirstfaultError
from sources.jobs import open_source

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = (ROOT / "README.md", ROOT / "docs" / "quality.md")
SETS = ("lab", "public")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables, and write them into the documents when asked to."""
    options = _parser().parse_args(arguments)
    truths = read_truths(options.truth)
    chosen = {name: [truth for truth in truths if set_of(truth) == name] for name in options.set or SETS}
    if not any(chosen.values()):
        print(f"No truth in {options.truth} for: {', '.join(chosen)}.", file=sys.stderr)
        return 2
    try:
        source = open_source(options.jobs)
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
    parser.add_argument("--jobs", default=str(ROOT / "examples"), metavar="DIR", help="folder or URL with the jobs")
    parser.add_argument(
        "--truth", type=Path, default=Path(__file__).parent / "truth", metavar="DIR", help="one ID.json a job"
    )
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
