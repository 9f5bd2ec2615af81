"""Stacks of the Java virtual machine: Spark, Hadoop, Kafka and whatever else stands beside a training job.

java.base, Throwable.printStackTrace; what logback and log4j write has the jar behind each frame.
"""

import re

from core.logs.blocks.block_rows import Read, last_before, next_of, plainly
from core.logs.blocks.found_block import FoundBlock, called
from core.logs.blocks.traceback_headers import above
from core.logs.refine import refine
from core.logs.voice_lines import VoiceLines

# Of a native method there is a caller below.
FRAME = re.compile(
    r"^(?:  )?at [\w$.<>/@-]+\((?:[\w$<>-]+\.(?:java|scala|kt|py):<NUM>|Native Method|Unknown Source|<generated>)\)"
)
# org.apache.spark.SparkException: Job aborted; in front the thread that it ended, or what it caused.
_EXCEPTION = re.compile(
    r"^(?:  )?(?:Exception in thread \"[^\"]*\" |(?P<joint>Caused by|Suppressed|Wrapped by): |: )?"
    r"(?P<told>(?:[a-z_$][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error|Throwable|Failure|Interrupt|Exit|Timeout)\b.*)$"
)
_INNER = re.compile(
    r"^(?:  )?(?:at [\w$.<>/@-]+\(|\.\.\. <NUM> (?:more|common frames)|Driver stacktrace:|\[CIRCULAR REFERENCE)"
)
_SAYS = 20  # rows of a message between its exception and the first frame; a longer one is no message


def read_java(lines: VoiceLines, start: int, done: int) -> FoundBlock | None:
    """The exception above the first frame, what caused it, and the record of a logger above; None without one."""
    read = plainly(lines)
    first = last_before(lambda at: read(at) if at >= done else None, start, _EXCEPTION.match, _SAYS)
    if first is None:
        return None
    end, named = past_java(read, first)
    keys = named or (first,)  # a suppressed one whose own exception was lost
    text = called(told(read, row) for row in keys)
    return FoundBlock(first - above(lines, first, done, text), end, keys, text)


def past_java(read: Read, at: int) -> tuple[int, tuple[int, ...]]:
    """Past an exception with its frames and causes, if one starts here; and the rows that name them."""
    keys: list[int] = []
    while (match := _EXCEPTION.match(read(at) or "")) and (match["joint"] or not keys):
        frame = next_of(read, at + 1, _INNER.match, _SAYS)
        if frame is None:
            break
        keys += [at] if match["joint"] != "Suppressed" else []
        at = _past_frames(read, frame)
    return at, tuple(keys)


def told(read: Read, row: int) -> str:
    """What an exception says, without what stands before it."""
    match = _EXCEPTION.match(read(row) or "")
    return refine(match["told"] if match else read(row) or "")


def _past_frames(read: Read, at: int) -> int:
    while (text := read(at)) is not None and (_INNER.match(text) or _is_gap(read, at, text)):
        at += 1
    return at


def _is_gap(read: Read, at: int, text: str) -> bool:
    """An empty line before the stack of Spark's driver."""
    return not text and (read(at + 1) or "").startswith("Driver stacktrace:")
