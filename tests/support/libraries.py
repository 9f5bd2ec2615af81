"""Libraries for tests: a clock that ticks, and programs that use a library until they are told to stop, or killed."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from faultlib.embedding import WordHash
from faultlib.library import Library, open_library
from tests.support.places import ROOT


def ticking() -> Callable[[], datetime]:
    """A clock that is a second further each time it is read."""
    seconds = iter(range(1_000_000))
    start = datetime(2026, 11, 21, 9, tzinfo=UTC)
    return lambda: start + timedelta(seconds=next(seconds))


def opened(folder: Path, index: Literal["exact", "chroma"] = "exact") -> Library:
    return open_library(folder, WordHash(), index=index, clock=ticking())


@contextmanager
def program(name: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """``python -m tests.support.library_programs.<name>``, killed in the end if it still runs."""
    command = [sys.executable, "-m", f"tests.support.library_programs.{name}", *map(str, arguments)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> str:
    """The next line that the program prints; it has to print one."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, "the program ended too early"
    return line.rstrip("\n")


def tell(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def say(*words: object) -> None:
    """A line for the test that started this program."""
    print(*words, flush=True)  # noqa: T201 - that is how they talk
