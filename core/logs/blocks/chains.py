"""Python tracebacks that are told as one: causes and contexts, and what another process raised within a text.

CPython, Lib/traceback.py; multiprocessing/pool.py and concurrent/futures/process.py (RemoteTraceback); torch, _utils.py
(ExceptionWrapper) and multiprocessing/spawn.py; Ray, exceptions.py (RayTaskError); JAX, traceback_util.py.
"""

import re
from dataclasses import dataclass

from core.logs.blocks import java, native
from core.logs.blocks.block_rows import Read, is_blank, next_of, skip_while
from core.logs.blocks.exceptions import ExceptionText, TracebackPart
from core.logs.blocks.flat_traceback import read_flat, read_group
from core.logs.blocks.frames import is_frame
from core.logs.blocks.logger_records import is_record
from core.logs.blocks.python_traceback import read_plain
from core.logs.blocks.rich_panel import PANEL, read_panel

GROUP = r"\+ Exception Group Traceback \(most recent call last\)"
HEAD = re.compile(rf"(?:{PANEL.pattern}|{GROUP}|Traceback \(most recent call last\)):?")

_SPAWNED = r"-- Process <NUM> terminated with the following error:"
_NESTED = re.compile(rf"^(?:Original Traceback \(most recent call last\)|{_SPAWNED})")
_CONNECTOR = re.compile(
    r"^(?:  )?(?:During handling of the above exception|The above exception was the direct cause|" + _SPAWNED + ")"
)
_RULER, _JAX = re.compile(r"^-{20}$"), "For simplicity, JAX has removed its internal frames"
_SAYS = 40  # rows of an exception's own text and of its notes, before what it led to
_NEAR = 6  # rows between such words and the next head


@dataclass(frozen=True, slots=True)
class Chain:
    """Tracebacks that are told as one: where they end, their exceptions, Java's below, and the head of the last one."""

    end: int
    exceptions: tuple[ExceptionText, ...]
    causes: tuple[ExceptionText, ...]
    head: int


def read_chain(read: Read, start: int, *, is_flat: bool) -> Chain:
    """The tracebacks from a head on, with the Java or C++ stack of what they called."""
    exceptions, head = list[ExceptionText](), start
    while True:
        part = _read_one(read, head, is_flat=is_flat)
        exceptions += part.exceptions
        end = _past_notes(read, part.end)
        following = _next_head(read, end) if part.exceptions else _past_words(read, end)
        if following is None:
            break
        head = following
    end, rows = java.past_java(read, end) if exceptions else (end, ())
    causes = tuple(ExceptionText((row,), java.told(read, row)) for row in rows)
    return Chain(native.past_stack(read, end), tuple(exceptions), causes, head)


def _read_one(read: Read, head: int, *, is_flat: bool) -> TracebackPart:
    text = (read(head) or "").strip()
    if PANEL.search(text):
        return read_panel(read, head)
    if re.search(GROUP, text):
        return read_group(read, head)
    return read_flat(read, head) if is_flat or _has_lost_its_blanks(read, head) else read_plain(read, head)


def _has_lost_its_blanks(read: Read, head: int) -> bool:
    """Whether the first frame and its source begin where the head does: logcli trims each line."""
    frame = skip_while(read, head + 1, is_blank)
    source = read(frame + 1) or "  "
    return (read(frame) or "").startswith(("File ", "> File ")) and is_frame(read(frame) or "") and source[:1] != " "


def _past_notes(read: Read, at: int) -> int:
    """Past what torch and JAX add below an exception."""
    at = skip_while(read, at, native.is_advice)
    is_jax = _RULER.match(read(at) or "") and (read(at + 1) or "").startswith(_JAX)
    return at + 2 if is_jax else at


def _next_head(read: Read, at: int) -> int | None:
    """The head of the traceback that belongs to the exception that ended before a row."""
    if _goes_on_inside(read, at):
        return at - 1
    row = skip_while(read, at, lambda text: is_blank(text) or text == '"""')
    return next_of(read, row, HEAD.search, _NEAR) if _NESTED.match(read(row) or "") else _past_words(read, at)


def _past_words(read: Read, at: int) -> int | None:
    """The head below the words that join two tracebacks, if such words stand near."""
    row = next_of(read, at, _ends_an_exception, _SAYS)
    return next_of(read, row, HEAD.search, _NEAR) if row is not None and _CONNECTOR.match(read(row) or "") else None


def _goes_on_inside(read: Read, at: int) -> bool:
    """Ray puts the frames of its worker below an exception, without a head, and at times marks that lost theirs."""
    row = next_of(read, at, lambda text: not text.startswith("  ^"), _NEAR)
    text = None if row is None else read(row)
    return text is not None and is_frame(text) and text.startswith("  ")


def _ends_an_exception(text: str) -> bool:
    return _CONNECTOR.match(text) is not None or HEAD.search(text) is not None or is_record(text)
