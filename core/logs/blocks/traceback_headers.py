"""The record of a logger above a traceback: it belongs to it, and is no failure of its own.

Only the one right above, and only when it says nothing of its own: an exception of another type, an exit code or an
errno is another fact.
"""

import re

from core.logs.blocks.logger_records import is_error, message_of
from core.logs.voice_lines import VoiceLines

# What printers of tracebacks write above them, whatever the level: the usual words of excepthooks, and those of loguru
# _logger.py, CPython threading.py, multiprocessing/process.py and pool.py, concurrent/futures/process.py, asyncio, and
# hydra utils.py.
_KNOWN = re.compile(
    r"\bAn error has been caught in function '|\b(?:Unhandled|Uncaught|Unexpected) (?:exception|error)\b"
    r"|^Exception in thread |^Process [\w<>-]+:$|\bException in callback |\bTask exception was never retrieved"
    r"|^Error executing job with overrides|^(?:[\w.]+\.)?_?RemoteTraceback:$",
    re.IGNORECASE,
)
_QUOTE, _FUTURE = '"""', "future: <"  # second rows of the RemoteTraceback and of asyncio's record
# An exception that a record names, and how it begins: ValueError: boom, ValueError('boom')
_TOLD = re.compile(r"([A-Z]\w*(?:Error|Exception|Interrupt|Exit|Timeout|Warning|Failure)\b)(?:: |\()?(\w*)")
_QUOTES = re.compile("['\"]")
_SLOT = re.compile(r"\d")  # masks leave digits in typed slots only: errno, exit codes, signals
# Words of records that only announce a traceback. Where a traceback may be that of the interpreter, which nobody
# logged, a record above it that says anything else is a line of its own.
_GENERIC = frozenset((
    "a", "an", "and", "at", "by", "due", "during", "for", "from", "got", "has", "have", "in", "is", "of", "on", "the",
    "to", "was", "were", "while", "with", "abort", "aborted", "aborting", "catch", "caught", "crash", "crashed", "died",
    "encountered", "end", "ended", "ending", "error", "errors", "exception", "exceptions", "execute", "executing",
    "execution", "exit", "exited", "exiting", "fail", "failed", "failing", "fails", "failure", "fatal", "job", "loop",
    "main", "occurred", "process", "program", "raise", "raised", "rank", "run", "running", "script", "step", "stopped",
    "stopping", "task", "terminated", "traceback", "train", "trainer", "training", "uncaught", "unexpected",
    "unhandled", "worker",
))  # fmt: skip
_WORD = re.compile(r"(?<![\w.'\"=/<])[A-Za-z]+(?![\w:='\"/>]|\.\w)")


def above(lines: VoiceLines, start: int, done: int, text: str, *, logged: bool = True) -> int:
    """How many rows above a traceback belong to it.

    Args:
        done: where the block above ends.
        text: what the traceback is called by.
        logged: whether it is known that a logger printed it; else only what any logger might say is taken.
    """
    if start <= done:
        return 0
    row = lines[start - 1]
    if start - 1 > done and (row == _QUOTE or row.startswith(_FUTURE)):
        return 2 if _KNOWN.search(lines[start - 2]) else 0
    is_known = _KNOWN.search(row) is not None
    if not (is_known or is_error(row)):
        return 0
    if exceptions := _TOLD.findall(_QUOTES.sub("", row)):
        return int(all(f"{name}: {word}".rstrip(": ") in _QUOTES.sub("", text) for name, word in exceptions))
    return int((logged or is_known or _is_generic(row)) and not _SLOT.search(row))


def _is_generic(row: str) -> bool:
    return all(word.lower() in _GENERIC for word in _WORD.findall(message_of(row)))
