"""A campaign: faults at random points of a seed, while people work; then an oracle reads Slack's side and the state.

    python -m benchmarks.campaign                                   until 1,000 faults have struck, an hour at most
    python -m benchmarks.campaign --minutes 10 --seed 7
    python -m benchmarks.campaign --write benchmarks/results/campaign.md

Quick children in place of most diagnoses, so that a bot meets more in an hour; real ones where a log file changes
while it is read, and where a language model fails. Ends with 1 when anything was lost, stands twice, or was archived
wrongly.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from benchmarks.campaign.season import Result, season
from benchmarks.crowd import shared_means
from benchmarks.parsing import machine
from benchmarks.quality.report import marks, table, write

FAULTS, MINUTES = 1000, 60.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Play seasons until enough faults have struck, print, and say whether all held."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", default="1", help="the same faults and acts; where they strike also takes the clock")
    parser.add_argument("--faults", type=int, default=FAULTS, metavar="N")
    parser.add_argument("--minutes", type=float, default=MINUTES, metavar="N", help="no season begins after that")
    parser.add_argument("--rounds", type=int, default=0, metavar="N", help="of a season; as many as are usual")
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the tables between the marks of this document")
    parser.add_argument("--home", type=Path, metavar="FOLDER", help="keep states and logs below it")
    options = parser.parse_args(arguments)
    result, began, number = Result(), time.monotonic(), 0
    with tempfile.TemporaryDirectory() as folder:
        shared = shared_means(Path(folder))
        while result.faults < options.faults and time.monotonic() - began < 60 * options.minutes:
            with _home(options.home, number) as home:
                more = {"rounds": options.rounds} if options.rounds else {}
                season(shared, home, f"{options.seed}/{number}", result, **more)
                number += 1
                if result.lost or result.wrong or result.odd:
                    print(*result.lost, *result.wrong, *result.odd, sep="\n", file=sys.stderr)
            minutes = (time.monotonic() - began) / 60
            print(f"{number} seasons, {result.faults} faults, {minutes:.1f} minutes", file=sys.stderr, flush=True)
    text = told(result, time.monotonic() - began, options.seed)
    print(text)
    if options.write:
        write(options.write, f"\n{text}\n", *marks("campaign"))
    return 1 if result.lost or result.wrong else 0


@contextmanager
def _home(kept: Path | None, number: int) -> Iterator[Path]:
    if kept is None:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
    else:
        (kept / str(number)).mkdir(parents=True)
        yield kept / str(number)


def told(result: Result, seconds: float, seed: str) -> str:
    """The tables."""
    tally = result.tally
    faults = [(kind, str(tally.drawn[kind]), str(tally.struck[kind])) for kind in sorted(tally.drawn)]
    acts = [(what, str(number)) for what, number in sorted(result.acts.items())]
    settled = sorted(result.settled)
    sums = [
        ("faults that struck", str(result.faults)),
        ("rounds", str(result.rounds)),
        ("acts", str(result.acts.total())),
        ("lost", str(len(result.lost))),
        ("twice, or archived wrongly", str(len(result.wrong))),
        ("errors that nobody foresaw, in the log", str(len(result.odd))),
        ("seconds from the last fault until nothing was missing, median", f"{median(settled):.1f}" if settled else "-"),
        ("the longest", f"{settled[-1]:.1f}" if settled else "-"),
        ("minutes", f"{seconds / 60:.1f}"),
    ]
    skipped = f" Left out here: {', '.join(sorted(result.skipped))}." if result.skipped else ""
    by = f"Measured on {machine()}, seed {seed}; load average {os.getloadavg()[0]:.1f} at the end.{skipped}"
    return "\n\n".join(
        (
            table(("what", "number"), sums),
            table(("fault", "drawn", "struck"), faults),
            table(("act", "times"), acts),
            by,
        )
    )


if __name__ == "__main__":
    sys.exit(main())
