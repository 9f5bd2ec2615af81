"""What faulthandler prints: a dying interpreter with the stacks of its threads, and stacks that somebody asked for.

CPython, Python/traceback.c (_Py_DumpTracebackThreads, _Py_DumpStack) and Modules/faulthandler.c; logging's
``stack_info`` too.
"""

import re

from core.logs.blocks.block_rows import Read, is_blank, plainly, skip_while, without
from core.logs.blocks.found_block import FoundBlock, called_like
from core.logs.blocks.logger_records import is_fatal
from core.logs.refine import refine
from core.logs.voice_lines import VoiceLines

FATAL = re.compile(r"^Fatal Python error: ")
# A collector of a container's two streams puts its level for one of them before each line (Google's: ERROR).
_STREAM = r"^(?P<stream>(?:INFO|NOTICE|WARNING|ERROR) )?"
THREAD = re.compile(
    rf"{_STREAM}(?:(?:Current thread|Thread) <HEX>[^()]*\(most recent call first\):|Stack \(most recent call first\):"
    r"|Current thread's C stack trace \(most recent call first\):)"
)
STACK = re.compile(r"^(?:  )?Stack \(most recent call last\):")
STACK_DUMP = (
    "Stack dump of all threads"  # no error: on SIGUSR1 or SIGTERM, or when a time is over (dump_traceback_later)
)

_INNER = re.compile(  # blanks behind a level are folded (core.logs.lines)
    r"^(?:Current thread|Thread|(?:  )?File \"|  Binary file|  \.\.\.|  <|  Garbage-collecting|Extension modules:"
    r"|Python runtime state|Stack \(most recent call first\)|<Cannot show all threads)"
)


def read_fatal(lines: VoiceLines, start: int, done: int) -> FoundBlock:
    """A dying interpreter: its error and the stacks of its threads; the fatal record above says why it was aborted."""
    end = _past_threads(plainly(lines), start + 1)
    key = start - 1 if start > done and is_fatal(lines[start - 1]) else start
    return FoundBlock(key, end, (key,), called_like(lines[key]))


def read_dump(lines: VoiceLines, start: int, _: int) -> FoundBlock:
    """Stacks of threads, which say where a program stood and not that it failed."""
    head = THREAD.match(lines[start])
    read = without(lines, head["stream"]) if head and head["stream"] else plainly(lines)
    return FoundBlock(start, _past_threads(read, start), (start,), STACK_DUMP)


def read_stack_of_record(lines: VoiceLines, start: int, done: int) -> FoundBlock | None:
    """The stack below a logger's record (``stack_info=True``): where the record was written."""
    end = skip_while(plainly(lines), start + 1, lambda text: text.startswith("  "))
    if start <= done:
        return None
    return FoundBlock(start - 1, end, (start - 1,), refine(lines[start - 1]))


def _past_threads(read: Read, at: int) -> int:
    """Past the stacks; empty lines stand between them only."""
    end = at
    while (text := read(at)) is not None and (is_blank(text) or _INNER.match(text)):
        at += 1
        end = end if is_blank(text) else at
    return end
