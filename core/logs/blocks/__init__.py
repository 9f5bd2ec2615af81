"""Blocks of lines that are one thing: where they end, and what their verdict is (docs/reference/logs.md).

Exceptions of any printer, stacks, failure reports, usage texts. A block's text is its verdict: the exception as the
program raised it, whoever printed it, the exit code of a report, the error line of a usage text. It depends on nothing
but the block. One file a printer:

    tracebacks   Python's, with all that is chained to them; frames of ``plain``, ``group`` (of exceptions), ``panel``
                 (rich) and ``flat`` texts; ``headers``: the record of a logger above them
    dumps        faulthandler: a dying interpreter, and stacks of threads
    native       C++ stacks of torch, glog and abseil
    java, go, rust   their stacks and panics
    reports      torchrun's, argparse's usage text, HCCL's table of links, the kernel's of its OOM killer
"""

import re
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from core.logs.blocks import chains, dumps, go, java, native, python_traceback, reports, rust, tracebacks
from core.logs.blocks.found_block import BLOCK_MARK, FoundBlock, Reader
from core.logs.voice_lines import VoiceLines

__all__ = ["BLOCK_MARK", "Found", "are_too_many_open", "find_blocks", "may_open"]

# Who reads a block, by what opens one; and letters that are in every such text, because to look for them costs a tenth.
_CALLS = "(most recent call"
_READERS: tuple[tuple[re.Pattern[str], Reader, tuple[str, ...]], ...] = (
    (native.PADDLE, native.read_paddle, (_CALLS,)),
    (chains.HEAD, tracebacks.read_traceback, (_CALLS,)),
    (reports.FENCE, reports.read_report, ("=====",)),
    (dumps.FATAL, dumps.read_fatal, ("Fatal Python error: ",)),
    (native.TERMINATE, native.read_terminate, ("terminate called ",)),
    (native.STACK, native.read_stack, ("most recent call first", "C++ CapturedTraceback:")),
    (native.GLOG, native.read_glog, ("*** ",)),
    (dumps.THREAD, dumps.read_dump, (_CALLS,)),
    (dumps.STACK, dumps.read_stack_of_record, (_CALLS,)),
    (tracebacks.SYNTAX, tracebacks.read_syntax_error, ('File "',)),
    (java.FRAME, java.read_java, (".java:", ".scala:")),
    (go.GOROUTINE, go.read_go, ("goroutine ",)),
    (rust.PANIC, rust.read_panic, ("panicked at ",)),
    (reports.USAGE, reports.read_usage, ("usage: ",)),
    (reports.LINKS, reports.read_links, ("_LINK_ERROR_INFO_",)),
    (reports.OOM, reports.read_oom, ("invoked oom-killer",)),
)
_LETTERS = dict.fromkeys(letters for _, _, of_reader in _READERS for letters in of_reader)
_OPENERS = tuple(
    (letters, re.compile("|".join(f"(?:{opener.pattern})" for opener, _, of_it in _READERS if letters in of_it)))
    for letters in _LETTERS
)


def may_open(text: str) -> bool:
    """Whether a body may be the first line of a block, or the first by which one is known."""
    for letters, openers in _OPENERS:  # noqa: SIM110  # any() takes three times as long, for each distinct body
        if letters in text and openers.search(text):
            return True
    return False


def are_too_many_open(found: FoundBlock, starts: NDArray[np.intp]) -> bool:
    """Whether a block is of tracebacks of which so many began, and none ended, that no more of them were read.

    Args:
        starts: rows of the voice that may open a block, in order.
    """
    is_open = found.text == BLOCK_MARK + tracebacks.CUT_OFF
    return is_open and bool(np.ptp(np.searchsorted(starts, (found.start, found.end))) > python_traceback.MOST_OPEN)


def find_blocks(lines: VoiceLines, starts: Iterable[int]) -> Iterator[FoundBlock]:
    """The blocks of one voice, from the rows that may open one; those that would cost too much are left unasked for."""
    done = 0
    for start in starts:
        if start >= done and (found := _read(lines, start, done)) is not None:
            done = found.end
            yield found
        if lines.are_spent:
            return


def _read(lines: VoiceLines, start: int, done: int) -> FoundBlock | None:
    text = lines[start]
    return next((read(lines, start, done) for opener, read, _ in _READERS if opener.search(text)), None)
