"""Reports that children of end-to-end tests draw: the same answer gives the same bytes, so each is drawn once.

A report, its sheets for a phone and its plot take 1.5 to 2 s of CPU, and most tests only wait for them. DRAWN names the
folder in which they are kept for all tests of a session.
"""

import hashlib
import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from bot.jobs import tasks
from bot.jobs.messages import Draw
from bot.jobs.tasks import TaskOutput
from bot.state.answers import SavedAnswer, answer_text

TASK = "tests.support.drawn_once:draw"
_FILES = (tasks.REPORT, tasks.SHEETS, tasks.PLOT)
_WORDS = "plot.txt"  # what the plot shows


def draw(order: Draw, output: TaskOutput) -> SavedAnswer:
    """As ``bot.jobs.tasks.draw``; a history is drawn each time, for it is read anew from the logs."""
    if order.answer.history:
        return tasks.draw(order, output)
    key = hashlib.sha256(f"{answer_text(order.answer)} {order.version}".encode()).hexdigest()
    kept = Path(os.environ["DRAWN"], key)
    if not kept.exists():
        _keep(tasks.draw(order, output), kept)
    shutil.copytree(kept, order.folder, dirs_exist_ok=True)
    report, sheets, plot = (str(file) if (file := Path(order.folder, name)).exists() else "" for name in _FILES)
    plot_text = Path(order.folder, _WORDS).read_text(encoding="utf-8")
    return replace(order.answer, report=report, sheets=sheets, plot=plot, plot_text=plot_text)


def _keep(drawn: SavedAnswer, kept: Path) -> None:
    """A folder of its files, which is there whole or not at all: others may draw the same."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(dir=kept.parent))
    for file in (drawn.report, drawn.sheets, drawn.plot):
        if file:
            shutil.copy(file, making)
    (making / _WORDS).write_text(drawn.plot_text, encoding="utf-8")
    with suppress(OSError):
        making.rename(kept)
