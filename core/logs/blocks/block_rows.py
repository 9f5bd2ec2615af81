"""The rows of one voice, one by one: as they were said, or without what a logger puts before each of them."""

from collections.abc import Callable, Sequence

from core.logs.voice_lines import VoiceLines

# The text of a row; None where the voice, or what is told in one breath, has ended.
Read = Callable[[int], str | None]


def plainly(lines: VoiceLines) -> Read:
    """The rows as they were said."""
    return lambda at: lines[at] if 0 <= at < len(lines) else None


def without(lines: VoiceLines, lead: str) -> Read:
    """What stands behind the same lead in all rows that have it."""
    empty = lead.rstrip()  # a masked body has no blanks at its end

    def read(at: int) -> str | None:
        text = lines[at] if 0 <= at < len(lines) else None
        if text is None or not text.startswith(lead):
            return "" if text == empty else None
        return text[len(lead) :]

    return read


def of_lines(lines: Sequence[str]) -> Read:
    """The rows of a text that was told in one."""
    return lambda at: lines[at] if 0 <= at < len(lines) else None


def skip_while(read: Read, at: int, wanted: Callable[[str], object]) -> int:
    """The first row from ``at`` on that is not wanted, or the end."""
    while (text := read(at)) is not None and wanted(text):
        at += 1
    return at


def next_of(read: Read, at: int, wanted: Callable[[str], object], reach: int) -> int | None:
    """The first of so many rows from ``at`` on that is wanted."""
    for row in range(at, at + reach):
        text = read(row)
        if text is None:
            return None
        if wanted(text):
            return row
    return None


def last_before(read: Read, at: int, wanted: Callable[[str], object], reach: int) -> int | None:
    """The last of so many rows before ``at`` that is wanted."""
    for row in range(at - 1, at - 1 - reach, -1):
        text = read(row)
        if text is None:
            return None
        if wanted(text):
            return row
    return None


def is_blank(text: str) -> bool:
    """Whether a row holds nothing."""
    return not text or text.isspace()
