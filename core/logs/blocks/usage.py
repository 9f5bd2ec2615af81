"""argparse's usage text; the error line below it says what was wrong."""

import re

from core.logs.blocks.block_rows import plainly, skip_while
from core.logs.blocks.found_block import FoundBlock, called_like
from core.logs.voice_lines import VoiceLines

USAGE = re.compile(r"^usage: ")


def read_usage(lines: VoiceLines, start: int, _: int) -> FoundBlock | None:
    """The text up to its error line; None when there is none, because ``--help`` is no failure."""
    end = skip_while(plainly(lines), start + 1, lambda text: text.startswith("  ") or not text)
    if end < len(lines) and ": error: " in lines[end]:
        return FoundBlock(start, end + 1, (end,), called_like(lines[end]))
    return None
