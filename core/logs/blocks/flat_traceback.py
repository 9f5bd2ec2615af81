"""A traceback without its indentation: behind what a logger puts before each line, in columns, or told in one line.

The masks of ``core.logs.lines`` keep blanks at the start of a body only. So the order of the rows tells what each is:
a file, its source, marks below that; what is none of these is the exception.
"""

import re

from core.logs.blocks.block_rows import Read, is_blank, next_of
from core.logs.blocks.exceptions import ExceptionText, TracebackPart, is_told, may_be
from core.logs.blocks.frames import is_frame, is_mark

_NEAR = 3  # rows: a source of several lines, or wrapped in a column


def read_flat(read: Read, start: int) -> TracebackPart:
    """The traceback below a head."""
    at, has_source = start + 1, True
    while (row := read(at)) is not None:
        text = row.strip()
        if is_frame(text):
            has_source = False
        elif not (is_blank(text) or is_mark(text)):
            if is_told(text) or (has_source and may_be(text)):
                return TracebackPart(at + 1, (ExceptionText((at,), text),))
            if has_source and next_of(read, at + 1, _goes_on, _NEAR) is None:
                break
            has_source = True
        at += 1
    return TracebackPart(at)


def _goes_on(row: str) -> bool:
    text = row.strip()
    return is_frame(text) or is_mark(text) or is_told(text)


_BARRED = re.compile(r"^(?:  )?[|+]")
_NUMBERED = re.compile(r"^\+(?:-\+)?-{4,} (?:<NUM>|\.\.\.) -{4,}$")
_HEAD = "Traceback (most recent call last)"


def read_group(read: Read, start: int) -> TracebackPart:
    """The group whose head a row is: its exception, and those in it.

    As CPython (Lib/traceback.py, _ExceptionPrintContext) and loguru print it: bars before each row, a fence before each
    exception in it.
    """
    exceptions, at = list[ExceptionText](), start
    rows = _barred(read)
    while (text := rows(at)) is not None:
        if _HEAD in text:
            part = read_flat(rows, at)
            exceptions += part.exceptions
            at = part.end
        elif _NUMBERED.match(text) and _HEAD not in (following := rows(at + 1) or _HEAD):
            exceptions.append(ExceptionText((at + 1,), following))
            at += 2
        else:
            at += 1
    return TracebackPart(max(at, start + 1), tuple(exceptions))


def _barred(read: Read) -> Read:
    """The rows without their bars; None where there are none any more."""

    def rows(at: int) -> str | None:
        text = read(at)
        if text is None or not _BARRED.match(text):
            return None
        return text.strip().removeprefix("|").strip()

    return rows
