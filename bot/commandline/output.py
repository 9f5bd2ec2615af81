"""Where answers go: standard output, whose reader may leave at any time, and files."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.text.harmless import harmless
from core.errors import BadSettings

READER_LEFT = 141  # the exit code of a program that died of SIGPIPE


class Reader:
    """Whether the one who reads standard output is still there."""

    exit_code = 0


@contextmanager
def patient_reader() -> Iterator[Reader]:
    """Write to standard output; a reader that leaves early (``| head``) is no error."""
    reader = Reader()
    try:
        yield reader
        sys.stdout.flush()
    except BrokenPipeError:
        reader.exit_code = READER_LEFT
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left in the buffer goes nowhere


def check_writable(path: Path) -> None:
    """Refuse before the work, not after it."""
    folder = path.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK) or path.is_dir():
        raise BadSettings(
            f"Cannot write the report to {harmless(str(path), 300)}", "Choose a file in a folder that exists."
        )


def write(path: Path, report: str | bytes) -> None:
    """Write a report, a text as UTF-8."""
    try:
        path.write_bytes(report.encode() if isinstance(report, str) else report)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise BadSettings(
            f"Cannot write the report to {harmless(str(path), 300)}: {reason}", "Choose another file."
        ) from error
