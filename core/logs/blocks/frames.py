"""Frames of a traceback: file, line and function, whoever printed them.

``read_frames`` reads raw lines, for whoever asks where a program stood; the rest reads masked rows.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from core.logs.blocks.block_rows import Read

# CPython, with the mark of loguru; faulthandler has no comma before "in", a syntax error no function.
FRAME = re.compile(r'^(?:  )?(?:> )?File "(?P<file>[^"]*)", line <NUM>(?:,? in(?: (?P<function>.*))?)?$')
# rich: /opt/train.py:12 in main, between bars; a narrow panel tears the path, and the number too
_BARRED = re.compile(r"^(?P<file>[^\"'│|]+?) ?:(?: ?<NUM>)+ in (?P<function>\S+)$")
_MARKS = re.compile(r"^[\^~ ]+$|^[│└|]|^\[Previous line repeated |^\.\.\.<NUM> lines>\.\.\.$")
_BARS = "│|"  # rich draws plain ones where the encoding has no others
_REACH = 400  # rows between an exception and the last frame above it: loguru and rich draw values in between


class TracebackFrame(NamedTuple):
    """A call: the file, its line, and the function."""

    file: str
    line: int
    function: str


def is_frame(text: str) -> bool:
    """Whether a row names a file and a line."""
    return FRAME.match(text) is not None


def is_mark(text: str) -> bool:
    """Whether a row points at parts of the source above it, or draws their values."""
    return _MARKS.match(text.strip()) is not None


def inside(text: str) -> tuple[int, str]:
    """How many bars stand before the text of a row between bars, and that text."""
    depth, rest = 0, text.lstrip()
    while rest[:1] in _BARS and rest:
        depth, rest = depth + 1, rest[1:].lstrip()
    return depth, rest.rstrip(" " + _BARS) if depth else rest.rstrip()


def last_frame(read: Read, before: int) -> tuple[int, str, str] | None:
    """Row, file name and function of the last frame above a row of a traceback."""
    for row in range(before - 1, max(-1, before - 1 - _REACH), -1):
        text = read(row)
        if text is None or "Traceback (most recent call" in text:
            return None
        match = FRAME.match(text) or _BARRED.match(_barred(read, row, text))
        if match and match["function"]:
            return row, match["file"].replace(" ", "").rpartition("/")[2], match["function"]
    return None


def first_function(read: Read, head: int) -> str:
    """The function of the first frame below the head of a traceback; empty when there is none near."""
    for row in range(head + 1, head + 4):
        text = read(row) or ""
        match = FRAME.match(text) or _BARRED.match(_barred(read, row, text))
        if match:
            return match["function"] or ""
    return ""


def _barred(read: Read, row: int, text: str) -> str:
    """What rich says of a frame whose first row this is: all rows up to an empty one; empty for other rows."""
    depth, rest = inside(text)
    if not depth or not rest or _is_within(read(row - 1) or ""):
        return ""
    rows = [rest]
    while len(rows) < _WRAPPED and (rest := inside(read(row + len(rows)) or "")[1]):
        rows.append(rest)
    return " ".join(rows)


def _is_within(above: str) -> bool:
    """Whether a row between bars says something, so that the row below it begins nothing."""
    depth, rest = inside(above)
    return bool(depth and rest)


# --- raw lines --------------------------------------------------------------------------------------------------------

_RAW = re.compile(r'File \\*"(?P<file>[^"\\]*)\\*", line (?P<line>\d+),? in (?P<function>[^\s\\"]+)')
_RAW_BARRED = re.compile(r"^(?P<file>[^\"'❱│|]+):(?P<line>\d+) in (?P<function>\S+)$")
_BAR = re.compile(r"[│|]")


def read_frames(lines: Sequence[str]) -> Iterator[TracebackFrame]:
    """The frames that some raw lines of a message name, in the order of the lines."""
    wrapped: list[str] = []
    for line in lines:
        text = _between_bars(line)
        if text:
            wrapped.append(text)
            continue
        yield from _of_rich(wrapped)
        wrapped = []
        yield from (_frame(match) for match in _RAW.finditer(line))
    yield from _of_rich(wrapped)


def _between_bars(line: str) -> str:
    """What rich printed between the outermost bars of a row; empty for other rows, and for those that part frames."""
    bar = _BAR.search(line)
    return inside(line[bar.start() :])[1] if bar and line.rstrip().endswith(tuple(_BARS)) else ""


def _of_rich(rows: Sequence[str]) -> Iterator[TracebackFrame]:
    """The frame that rows between two empty ones name: rich wraps long paths, within words if need be."""
    match = _RAW_BARRED.match(" ".join(rows[:_WRAPPED])) if rows else None
    if match:
        yield _frame(match)


def _frame(match: re.Match[str]) -> TracebackFrame:
    return TracebackFrame(match["file"].replace(" ", ""), int(match["line"]), match["function"])


_WRAPPED = 12  # rows of a path of 4,096 characters at usual widths
