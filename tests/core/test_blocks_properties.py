"""What holds for the blocks of any text: their rows, their printers, and what it takes to read them."""

import io
import logging
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from rich.console import Console

from core.logs.blocks import find_blocks, may_open
from core.logs.lines import Format, take_apart
from core.logs.voice_lines import VoiceLines
from tests.core.test_blocks import said

PRINTED = sorted((Path(__file__).parent / "tracebacks").glob("*.txt"))
BODIES = sorted(
    {
        take_apart(line, Format()).body.decode("utf-8", "replace")
        for path in PRINTED
        for line in path.read_bytes().split(b"\n")
    }
)
OPENERS = [body for body in BODIES if may_open(body)]


class Rows:
    """Rows of a voice that has its file for itself."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def rows(self, start: int, stop: int) -> NDArray[np.intp]:
        return np.arange(start, min(stop, self._count), dtype=np.intp)


class Counting(VoiceLines):
    """What a voice said, and how often it was read."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__(Rows(len(texts)), lambda rows: [texts[row] for row in rows.tolist()])
        self.reads = 0

    def __getitem__(self, at: int) -> str:
        self.reads += 1
        return super().__getitem__(at)


def starts(texts: Sequence[str]) -> list[int]:
    return [row for row, text in enumerate(texts) if may_open(text)]


@given(st.lists(st.sampled_from(OPENERS) | st.sampled_from(BODIES) | st.text(max_size=20), max_size=60))
def test_blocks_are_rows_in_a_row_and_never_share_one(texts: list[str]) -> None:
    """Whatever is said, blocks stand one after the other, each with its key rows within."""
    done = 0
    for found in find_blocks(Counting(texts), starts(texts)):
        assert done <= found.start < found.end <= len(texts)
        assert all(found.start <= key < found.end for key in found.keys)
        assert found.keys or found.text is None
        done = found.end


@given(st.sampled_from(PRINTED), st.integers(0, 400), st.integers(0, 400))
def test_whatever_is_left_of_an_output_is_read(path: Path, first: int, last: int) -> None:
    """Files are cut at both ends, and within a traceback."""
    texts = [take_apart(line, Format()).body.decode() for line in path.read_bytes().split(b"\n")][first:last]

    assert all(found.end <= len(texts) for found in find_blocks(Counting(texts), starts(texts)))


@pytest.mark.parametrize("body", OPENERS)
def test_reading_takes_as_long_as_the_text(body: str) -> None:
    """A hostile log repeats what opens a block; each row is looked at so many times, however many there are."""
    for texts in ([body] * 2_000, [body, ""] * 1_000, [body, "  x"] * 1_000, [body, "KeyError"] * 1_000):
        counted = Counting(texts)
        list(find_blocks(counted, starts(texts)))
        assert counted.reads < len(texts) * 500  # most look ahead of a few rows; a bare exception looks for its frame


def by_python(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def by_logger(error: BaseException) -> str:
    record = logging.LogRecord(
        "train", logging.ERROR, "train.py", 3, "training failed", None, (type(error), error, None)
    )
    record.exc_info = (type(error), error, error.__traceback__)
    return logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s").format(record)


def by_logger_on_each_line(error: BaseException) -> str:
    return "".join(f"2026-11-22 04:00:00,123 ERROR train: {line}\n" for line in by_python(error).splitlines())


def by_rich(error: BaseException, width: int = 80, *, show_locals: bool = False) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    try:
        raise error
    except BaseException:  # noqa: BLE001  # any exception is printed
        console.print_exception(width=width, show_locals=show_locals)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


RAISE = """
def fail(error):
    try:
        raise error
    except BaseException as raised:
        return raised
"""


def fail(error: BaseException, folder: Path) -> BaseException:
    """The error as it was raised by a program in some folder, where rich looks for it."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "train.py"
    program.write_text(RAISE)
    names: dict[str, Any] = {}
    exec(compile(RAISE, str(program), "exec"), names)
    raised: BaseException = names["fail"](error)
    return raised


WORDS = st.lists(st.text("abcdefghijklmnopqrstuvwxyz/_-.'", min_size=1, max_size=30), max_size=40).map(" ".join)


@pytest.mark.slow
@settings(deadline=None)  # rich reads the source of this file for each panel
@given(
    kind=st.sampled_from([ValueError, RuntimeError, KeyboardInterrupt, FileNotFoundError]),
    says=WORDS,
    folder=st.text("abc_/-", max_size=120).filter(lambda folder: not folder.startswith("/")),
    width=st.integers(60, 200),
    show_locals=st.booleans(),
)
def test_equal_exceptions_have_equal_texts_whoever_prints_them(
    kind: Callable[[str], BaseException], says: str, folder: str, width: int, *, show_locals: bool
) -> None:
    """The interpreter, loggers and rich at any width, wherever the program is installed."""
    with TemporaryDirectory() as home:
        error = fail(kind(says) if says else kind(), Path(home, folder))  # type: ignore[call-arg]
        printed = by_logger(error), by_logger_on_each_line(error), by_rich(error, width, show_locals=show_locals)
    (expected,) = {one.text for one in said(by_python(error)) if one.text.startswith("¶")}

    for text in printed:
        assert expected in {one.text for one in said(*text.splitlines())}
