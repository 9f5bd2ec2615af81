"""A traceback as CPython and loguru print it: what is indented are its frames, what is not is its exception.

CPython, Lib/traceback.py (TracebackException.format); loguru, _better_exceptions.py: a mark before the frame where the
exception was caught, values below the source, empty lines between frames of the program. Ranks without prefix that
fail at the same time mix their rows, and write several on one line.
"""

from enum import Enum, auto

from core.logs.blocks.block_rows import Read, is_blank, next_of, skip_while
from core.logs.blocks.exceptions import ExceptionText, TracebackPart, is_fused, is_known, may_be
from core.logs.blocks.frames import is_frame

_NEAR = 3  # rows to the next frame, where another program's line stands within a traceback; for each that is open
_MOST = 8  # tracebacks at once: the ranks of a node
# That are open and come to no exception: the ranks of a large job that write to one file. Where there are more, as of
# exceptions that were folded (core/logs/fold.py), one traceback would be read to the end of the log.
MOST_OPEN = 1024
_HEAD = "Traceback (most recent call last)"


class _Row(Enum):
    HEAD = auto()
    INNER = auto()
    EXCEPTION = auto()
    OTHER = auto()  # the traceback has ended, or was cut off


def read_plain(read: Read, start: int) -> TracebackPart:
    """The traceback below a head; where ranks without prefix interleave, as many as were opened."""
    opened, at, exceptions = 1, start + 1, list[ExceptionText]()
    end, is_spaced = at, read(at) == ""
    while 0 < opened <= MOST_OPEN and (text := read(at)) is not None:
        if is_blank(text):
            kind = (
                _Row.INNER if not exceptions and (is_spaced or opened > 1 or _goes_on_below(read, at)) else _Row.OTHER
            )
        else:
            kind = _kind(read, at, text, opened)
        if kind is _Row.OTHER:
            break
        if kind is _Row.EXCEPTION:
            exceptions.append(ExceptionText((at,), text.strip()))
        opened += (kind is _Row.HEAD and not exceptions) - (kind is _Row.EXCEPTION)
        at += 1
        end = end if is_blank(text) else at
    return TracebackPart(end, tuple(exceptions))


def _kind(read: Read, at: int, text: str, opened: int) -> _Row:
    if _HEAD in text:
        return _Row.HEAD
    if opened > 1 and is_fused(text):
        return _Row.EXCEPTION
    if is_inner(text):
        return _Row.INNER
    goes_on = _goes_on(read, at + 1, opened)
    if is_known(text) or (may_be(text) and not goes_on):
        return _Row.EXCEPTION
    return _Row.INNER if goes_on else _Row.OTHER


def is_inner(text: str) -> bool:
    """Whether a row stands within a traceback: it is indented, or the frame that loguru marks."""
    return text.startswith("  ") or is_frame(text) or _is_torn(text)


def _is_torn(text: str) -> bool:
    """Whether a row is a part of a frame that rich has wrapped: it prints an exception's own text as it is wide."""
    return text == "File" or text.startswith(('"/', "<NUM>, in ")) or text.endswith('", line')


def _goes_on(read: Read, at: int, opened: int) -> bool:
    """Whether frames stand near; where several tracebacks interleave, also one of their exceptions."""
    if opened == 1:
        return next_of(read, at, is_frame, _NEAR) is not None
    return next_of(read, at, lambda text: is_frame(text) or is_known(text), _NEAR * min(opened, _MOST)) is not None


def _goes_on_below(read: Read, at: int) -> bool:
    """Whether a traceback goes on below empty rows."""
    text = read(skip_while(read, at, is_blank))
    return text is not None and (is_inner(text) or is_known(text) or _HEAD in text)
