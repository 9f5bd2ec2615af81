"""Exception groups as CPython and loguru print them: bars before each row, a fence before each exception in the group.

CPython, Lib/traceback.py (_ExceptionPrintContext).
"""

import re

from core.logs.blocks.block_rows import Read
from core.logs.blocks.flat_traceback import read_flat
from core.logs.blocks.traceback_part import ExceptionText, TracebackPart

_BARRED = re.compile(r"^(?:  )?[|+]")
_NUMBERED = re.compile(r"^\+(?:-\+)?-{4,} (?:<NUM>|\.\.\.) -{4,}$")
_HEAD = "Traceback (most recent call last)"


def read_group(read: Read, start: int) -> TracebackPart:
    """The group whose head a row is: its exception, and those in it."""
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
