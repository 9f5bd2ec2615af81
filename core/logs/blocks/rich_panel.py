"""Tracebacks as rich prints them: frames in a panel, the exception below it, wrapped as wide as the terminal is.

rich, rich/traceback.py and rich/_wrap.py (Console.print_exception, traceback.install, RichHandler); exceptions of a
group stand in panels of their own. The width of the text is that of the panel or more, and the masks have changed the
length of rows with numbers: where a row ends is estimated.
"""

import re

from core.logs.blocks.block_rows import Read, is_blank
from core.logs.blocks.exceptions import ExceptionText, TracebackPart
from core.logs.blocks.frames import inside
from core.logs.blocks.logger_records import is_record

PANEL = re.compile(r"[╭┌+][─-]+ Traceback \(most recent c")
_FRAMES = re.compile(r"^[╭┌+][─-]+ Traceback \(")
_CODE = re.compile(r"^[╭┌+][─-]+[╮┐+]$")
_MEMBER = re.compile(r"^[╭┌+][─-]+ Sub-exception #")
_BETWEEN = re.compile(r"^[╭┌+][─-]+ Sub-exception #|^[╰└+][─-]+[╯┘+]?$|^\[NOTE\] ")
_BOTTOM = re.compile(r"^[╰└+][─-]+[╯┘+]$")
# What is no part of an exception's text, wherever it is wrapped.
_OTHER = re.compile(
    r"^\[NOTE\] |^[╭┌╰└+][─-]|Traceback \(most recent call last\)|^During handling of |^The above exception was "
    r"|^(?:Last error:|ncclSystemError:|CUDA kernel errors might be|For debugging consider )"
)
_MASK = re.compile(r"<[A-Z]+>")
_USUAL = {"<HEX>": 14, "<IP>": 12, "<TS>": 19}  # characters of what was masked; a number has those of its mask, or less
_CONSOLE = 80  # characters, where there is no terminal and nobody says otherwise (rich/console.py)
_MAX_ROWS = 60  # of an exception's text that are read; all that its verdict keeps stands in fewer


def read_panel(read: Read, start: int) -> TracebackPart:
    """The traceback whose panel opens here, with all panels of its group."""
    width, exceptions, at, end, is_due = (
        len((read(start) or "").strip()),
        list[ExceptionText](),
        start,
        start + 1,
        False,
    )
    while (row := read(at)) is not None:
        depth, text = inside(row)
        if _FRAMES.match(text) or (is_due and _CODE.match(text)):
            at, is_due = _past_panel(read, at + 1, depth)
        elif is_due and text:
            exceptions.append(wrapped(read, at, width))
            at, is_due = exceptions[-1].rows[-1] + 1, False
        elif depth or not text or _BETWEEN.match(text):
            at, is_due = at + 1, _MEMBER.match(text) is not None or (is_due and not text)
        else:
            break
        end = at if depth or text else end
    return TracebackPart(end, tuple(exceptions))


def _past_panel(read: Read, at: int, depth: int) -> tuple[int, bool]:
    """Past a panel of frames, or of a line that is no Python; and whether it was not cut off."""
    while (row := read(at)) is not None:
        bars, text = inside(row)
        if bars <= depth:
            return (at + 1, True) if bars == depth and _BOTTOM.match(text) else (at, False)
        at += 1
    return at, False


def wrapped(read: Read, at: int, width: int) -> ExceptionText:
    """The exception that starts in a row, with the rows in which it goes on."""
    depth, text = inside(read(at) or "")
    rows, last, room = [at], text, _room(text, width - 4 * depth)
    while len(rows) < _MAX_ROWS:
        following_depth, following = inside(read(rows[-1] + 1) or "")
        if following_depth != depth or not _goes_on(last, following, room):
            break
        text += ("" if _is_torn(last, room) else " ") + following
        room, last = room if _MASK.search(last) else max(room, len(last)), following
        rows.append(rows[-1] + 1)
    return ExceptionText(tuple(rows), text.replace("<NUM><NUM>", "<NUM>"))


def _room(text: str, width: int) -> int:
    """How wide the text is: as its panel, unless a row is longer, because a caller made the panel narrow."""
    shortest = len(_MASK.sub("0", text))
    return width if shortest <= width else max(width, _CONSOLE)


def _goes_on(text: str, following: str, width: int) -> bool:
    """Whether the first word of a row had no room in the row above."""
    if is_blank(following) or is_record(following) or _OTHER.search(following):
        return False
    word = following.split(" ", 1)[0]
    return _length(text) + 1 + _length(word) > width


def _is_torn(text: str, width: int) -> bool:
    """Whether a row ends within a word, because the word is longer than a row."""
    return " " not in text and _length(text) >= width


def _length(text: str) -> int:
    """About as many characters as the row had."""
    return len(text) + sum(_USUAL.get(mask, len(mask)) - len(mask) for mask in _MASK.findall(text))
