"""Try the jobs in all dresses, print the tables and write dresses.md; 1 when a pair differs that is not known."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.quality.dresses.jobs import JOBS
from benchmarks.quality.dresses.known import KNOWN
from benchmarks.quality.dresses.report import DOCUMENT, tables
from benchmarks.quality.dresses.trial import try_all
from benchmarks.quality.dresses.wardrobe import BY_NAME
from benchmarks.quality.report import marks, write


def main(arguments: Sequence[str] | None = None) -> int:
    """Some jobs or dresses only are printed, and not written."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.dresses", description=__doc__)
    parser.add_argument("--job", action="append", choices=JOBS, help="only this one")
    parser.add_argument("--dress", action="append", choices=list(BY_NAME), help="only this one")
    parser.add_argument("--workers", type=int, help="processes; as many as there are cores when not told")
    parser.add_argument(
        "--write", type=Path, metavar="FILE", default=DOCUMENT, help="between the marks of this document"
    )
    options = parser.parse_args(arguments)
    tried = list(try_all(options.job or JOBS, options.dress, options.workers))
    text = tables(tried)
    print(text)
    if not options.job and not options.dress:
        write(options.write, text, *marks("quality.dresses"))
    differing = {(item.job_id, item.dress) for item in tried if item.differs}
    for pair in sorted(differing - KNOWN.keys()):
        print("Differs, and is not known:", *pair, file=sys.stderr)
    return 1 if differing - KNOWN.keys() else 0


if __name__ == "__main__":
    sys.exit(main())
