"""What a person at the terminal is told, and where: answers, files, errors, and a progress bar while work runs."""

import errno
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bot.text.harmless import harmless, storable
from core.errors import BadSettings, FirstfaultError

if TYPE_CHECKING:
    from rich.console import Console

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
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
        _drop_the_rest()
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise  # of a log, not of what we write
        _drop_the_rest()
        raise BadSettings(
            f"The answer cannot be written to standard output: {(error.strerror or '').lower()}.",
            "Free some space, or send it elsewhere; what was worked out is in the cache.",
        ) from error


def open_closed_streams() -> None:
    """Give each standard stream that is closed (``firstfault ... >&-``) /dev/null.

    Else the next file that is opened has its number, and takes what a library prints; Python has None in its place.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def _drop_the_rest() -> None:
    """What is left in the buffer of standard output goes nowhere, without a complaint at the end of Python."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(text: str) -> int:
    """Print an answer, in UTF-8 for sure; the exit code."""
    with patient_reader() as reader:
        sys.stdout.write(storable(text))
    return reader.exit_code


def as_json(value: object) -> str:
    """A value as one indented JSON text that ends with a newline."""
    return json.dumps(value, indent=2) + "\n"


def printed(answer: Callable[["Console"], None]) -> str:
    """What is printed to a console as wide and as coloured as standard output is."""
    from rich.console import Console  # noqa: PLC0415 loads what --help must not

    console = Console()
    with console.capture() as capture:
        answer(console)
    return capture.get()


def check_writable(path: Path) -> None:
    """Refuse before the work, not after it."""
    folder = path.parent
    if path.is_symlink() and not _is_system_s(path):
        raise BadSettings(
            f"{harmless(str(path), 300)} is a link, and a report may not change what it leads to.",
            "Name that file itself, or another one.",
        )
    if not folder.is_dir() or not os.access(folder, os.W_OK) or path.is_dir():
        raise BadSettings(
            f"Cannot write the report to {harmless(str(path), 300)}", "Choose a file in a folder that exists."
        )


def write(path: Path, report: str | bytes) -> None:
    """Write a report, a text as UTF-8."""
    try:
        put(path, report.encode() if isinstance(report, str) else report)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise BadSettings(
            f"Cannot write the report to {harmless(str(path), 300)}: {reason}", "Choose another file."
        ) from error


def put(path: Path, content: bytes) -> None:
    """Write a file that a person may have named in the folder of a hostile job. Raises OSError.

    A link there may lead to a file of the user's own, and a pipe that nobody reads would keep us waiting for ever.
    """
    follows = 0 if _is_system_s(path) else os.O_NOFOLLOW
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | follows
    with os.fdopen(os.open(path, flags, 0o666), "wb") as file:
        os.set_blocking(file.fileno(), True)  # a reader that is slow is waited for
        file.write(content)


def _is_system_s(path: Path) -> bool:
    """Whether it is a name of the system's, like /dev/stdout or the /dev/fd/63 of a shell: links, and meant so."""
    folder = Path(os.path.realpath(path.parent))
    return folder == Path("/dev") or folder.is_relative_to("/proc")  # anybody may write to /dev/shm


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


# Lines, and characters of one; chosen: import tells each mistake of a folder in a line of its own.
_MAX_LINES, _MAX_LINE = 20, 1_000


def print_error(error: FirstfaultError) -> None:
    """The message and what to try, on standard error."""
    for line in error.message.split("\n")[:_MAX_LINES]:
        typer.echo(f"error: {harmless(line, _MAX_LINE)}", err=True)
    if error.hint:
        typer.echo(f"hint: {harmless(error.hint, _MAX_LINE)}", err=True)
