"""A panic of a Rust program: where, what it says, and its backtrace.

rust-lang/rust, library/std/src/panicking.rs (from 1.73 on the place stands first and the message below it, before that
both in one line) and library/std/src/backtrace_rs.
"""

import re

from core.logs.blocks.block_rows import is_blank, plainly, skip_while
from core.logs.blocks.found_block import FoundBlock, called_like
from core.logs.voice_lines import VoiceLines

PANIC = re.compile(r"^thread '[^']{0,64}' (?:\(<NUM>\) )?panicked at ")
_NOTE = re.compile(r"^note: (?:run with `RUST_BACKTRACE|[Ss]ome details are omitted)")
_FRAME = re.compile(r"^stack backtrace:$|^  +(?:<NUM>: |at )|^ ?<NUM>: ")
_MESSAGE = 20  # rows that a message may have: assert_eq! prints what it compares on lines of their own


def read_panic(lines: VoiceLines, start: int, _: int) -> FoundBlock:
    """A panic is called by the first line of its message."""
    read = plainly(lines)
    key = start + 1 if (read(start) or "").endswith(":") and not is_blank(read(start + 1) or "") else start
    end = key + 1
    while end - key < _MESSAGE and (text := read(end)) is not None and not is_blank(text) and not _ends(text):
        end += 1
    if not _ends(read(end) or ""):
        end = key + 1  # nothing tells where the message ends: it has one line
    end = skip_while(read, end, lambda text: _FRAME.search(text) is not None)
    return FoundBlock(
        start, skip_while(read, end, lambda text: _NOTE.match(text) is not None), (key,), called_like(lines[key])
    )


def _ends(text: str) -> bool:
    return _NOTE.match(text) is not None or _FRAME.match(text) is not None
