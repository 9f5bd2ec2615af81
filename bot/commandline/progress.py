"""A progress bar on standard error while long work runs: only for a person at a terminal, and gone afterwards."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None] | None]:
    """What the work calls with (step, done, total); None where nobody would see it."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 only where there is a bar to draw
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}", markup=False), BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("starting", total=None)

        def report(step: str, done: int, total: int) -> None:
            bars.update(task, description=step, completed=done, total=total)

        yield report
