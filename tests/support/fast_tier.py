"""Which tests a person runs between two edits: a list of those that are left out, and what the rest may take.

Seconds of CPU are counted, of a test with all its cases and its children: by the clock a loaded machine takes longer.
``pytest --update-slow`` writes the list anew; what did not run keeps its place there.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

LIST = Path(__file__).parents[1] / "slow_tests.txt"
FUNCTION_SECONDS = 0.75  # 44 of 2,534 functions took more, a third of the CPU of all (docs/LOG.md, 2026-11-27)
TIER_SECONDS = 240.0  # two minutes on each of two cores
_HEAD = "# Tests that take more than {most} s of CPU with all their cases: written by pytest --update-slow.\n"


def cpu_seconds() -> float:
    """Of this process and of its children that have ended."""
    return sum(os.times()[:4])


def function_of(nodeid: str) -> str:
    """The test without its case."""
    return nodeid.partition("[")[0]


def listed(path: Path = LIST) -> dict[str, float]:
    """Seconds of each test that is left out, by ``file::function``."""
    rows = [line.split() for line in path.read_text(encoding="ascii").splitlines() if not line.startswith("#")]
    return {name: float(seconds) for seconds, name in rows}


def written(before: Mapping[str, float], measured: Mapping[str, float]) -> str:
    """The list after a measurement."""
    kept = {name: seconds for name, seconds in before.items() if name not in measured}
    slow = {name: seconds for name, seconds in measured.items() if seconds > FUNCTION_SECONDS}
    rows = (f"{seconds:.2f} {name}\n" for name, seconds in sorted({**kept, **slow}.items()))
    return _HEAD.format(most=FUNCTION_SECONDS) + "".join(rows)


def too_dear(total: float, *, words: str, places: Iterable[str]) -> str:
    """What is wrong with a run that took so many seconds of CPU; empty when nothing is, or it was no whole fast tier.

    Args:
        words: of ``-m``. places: files and folders that were asked for.
    """
    if words != "not slow" or any(places) or total <= TIER_SECONDS:
        return ""
    return (
        f"The fast tier took {total:.0f} s of CPU, and may take {TIER_SECONDS:.0f}: pytest --update-slow -m 'not slow'"
    )
