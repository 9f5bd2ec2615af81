"""Try the jobs in all dresses, print the tables and write dresses.md; 1 when a pair differs that is not known.

With ``--layouts`` jobs are laid out anew at random in place of dressed, and those with mistaken writers are listed.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.quality.dresses.jobs import JOBS
from benchmarks.quality.dresses.known import KNOWN
from benchmarks.quality.dresses.layout_trial import COUNT, SEED, layout_table, try_layouts
from benchmarks.quality.dresses.report import DOCUMENT, tables
from benchmarks.quality.dresses.trial import try_all
from benchmarks.quality.dresses.wardrobe import BY_NAME
from benchmarks.quality.report import marks, write


def main(arguments: Sequence[str] | None = None) -> int:
    """Some jobs or dresses only are printed, and not written."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.dresses", description=__doc__)
    parser.add_argument("--job", action="append", choices=JOBS, help="only this one")
    parser.add_argument("--dress", action="append", choices=list(BY_NAME), help="only this one")
    parser.add_argument("--layouts", type=int, nargs="?", const=COUNT, metavar="COUNT", help="so many, and no dress")
    parser.add_argument("--seed", type=int, default=SEED, help="of the layouts; only those of %(default)s are written")
    parser.add_argument("--workers", type=int, help="processes; as many as there are cores when not told")
    parser.add_argument(
        "--write", type=Path, metavar="FILE", default=DOCUMENT, help="between the marks of this document"
    )
    options = parser.parse_args(arguments)
    if options.layouts:
        return _lay_out(options)
    tried = list(try_all(options.job or JOBS, options.dress, options.workers))
    text = tables(tried)
    print(text)
    if not options.job and not options.dress:
        write(options.write, text, *marks("quality.dresses"))
    differing = {(item.job_id, item.dress) for item in tried if item.differs}
    for pair in sorted(differing - KNOWN.keys()):
        print("Differs, and is not known:", *pair, file=sys.stderr)
    return 1 if differing - KNOWN.keys() else 0


def _lay_out(options: argparse.Namespace) -> int:
    tried = list(try_layouts(options.layouts, options.seed, workers=options.workers))
    for item in tried:
        if not (item.is_right and item.same):
            shares = f"machine {item.node:.2f}, rank {item.rank:.2f}, verdict {'the same' if item.same else 'another'}"
            print(item.job_id, item.layout, shares, item.wrong, sep="; ", file=sys.stderr)
    text = layout_table(tried)
    print(text)
    if (options.layouts, options.seed) == (COUNT, SEED):
        write(options.write, text, *marks("quality.layouts"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
