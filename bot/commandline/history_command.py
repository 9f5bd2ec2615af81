"""What ``firstfault history`` does once its words are understood."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from bot.commandline.output import check_writable, patient_reader, progress_bar, write
from bot.history.document import to_document
from bot.history.gather import HistoryRequest, gather
from bot.history.lines import lines
from bot.report.json_document import to_json
from bot.settings import load_settings
from core.errors import BadSettings
from core.history.history import history
from core.history.repeats import merged
from core.safe_import import elsewhere
from sources.reports.report_files import read_incidents

_UNITS = {"s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_TIME = re.compile(r"(\d{1,6}(?:\.\d{1,3})?) ?(s|m|min|h|d)")


def window_of(text: str) -> int:
    """Milliseconds of "30m", "1h" or "7d"; 0 of nothing. Raises BadSettings."""
    match = _TIME.fullmatch(text.strip().lower())
    milliseconds = round(float(match[1]) * _UNITS[match[2]]) if match else 0
    if text and milliseconds < 1:
        raise BadSettings("--window is no time above 0.", "A number with s, m, h or d, such as 1h.")
    return milliseconds


def tell(
    wanted: HistoryRequest, *, incidents: Sequence[Path], window: int, json: bool, html: Path | None, version: str
) -> int:
    """Tell the history of a run in the wanted form; the exit code."""
    settings = load_settings()
    if html is not None:
        check_writable(html)
    known = merged([incident for path in incidents for incident in read_incidents(str(path))])
    with progress_bar() as progress:
        run = gather(wanted, settings, progress)
    document = history(
        run.name, run.attempts, incidents=known, seconds=wanted.seconds, problems=run.problems, window=window
    )
    if html is not None:
        with elsewhere():
            from bot.history.page import render  # noqa: PLC0415 matplotlib takes half a second; only pages need it

        write(html, render(document, version=version))
        sys.stderr.write(f"Report: {html}\n")
    with patient_reader() as reader:
        sys.stdout.write(
            to_json(to_document(document)) if json else "".join(f"{line.rstrip()}\n" for line in lines(document))
        )
    return reader.exit_code
