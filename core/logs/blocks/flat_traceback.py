"""A traceback without its indentation: behind what a logger puts before each line, in columns, or told in one line.

The masks of ``core.logs.lines`` keep blanks at the start of a body only. So the order of the rows tells what each is:
a file, its source, marks below that; what is none of these is the exception.
"""

from core.logs.blocks.block_rows import Read, is_blank, next_of
from core.logs.blocks.exceptions import is_told, may_be
from core.logs.blocks.frames import is_frame, is_mark
from core.logs.blocks.traceback_part import ExceptionText, TracebackPart

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
