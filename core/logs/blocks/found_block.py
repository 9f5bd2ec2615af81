"""What a block is, and how it is called."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from core.logs.refine import refine
from core.logs.voice_lines import VoiceLines

BLOCK_MARK = "\u00b6 "  # opens the text of a block, so that no single line can have the same text
_MAX_VERDICTS = 4  # exceptions that name a block: the outermost and the last ones
_MAX_VERDICT = 500  # characters of each


@dataclass(frozen=True, slots=True)
class FoundBlock:
    """A block: rows ``start`` up to ``end`` (exclusive, within a voice), its verdict rows and its text.

    Without a text it belongs to the message in the line above, whoever said that: a stack under a ``[rank3]:`` line
    comes without the label. A text without BLOCK_MARK is that of a line, and tells of no failure by being a block.
    """

    start: int
    end: int
    keys: tuple[int, ...]
    text: str | None


# Reads the block that a row opens; nothing of it may stand above the third argument, where the last block ended.
Reader = Callable[[VoiceLines, int, int], FoundBlock | None]


def called(verdicts: Iterable[str]) -> str:
    """The text of a block: its exceptions without repeats, the one that is told first, and the last ones."""
    distinct = list(dict.fromkeys(verdict[:_MAX_VERDICT] for verdict in verdicts))
    if len(distinct) > _MAX_VERDICTS:
        distinct = [distinct[0], *distinct[1 - _MAX_VERDICTS :]]
    return BLOCK_MARK + " / ".join(distinct)


def called_like(line: str) -> str:
    """The text of a block that is called by one of its lines."""
    return called([refine(line)])
