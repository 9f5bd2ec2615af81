"""torchrun's failure report: a fence, ``x FAILED``, a list of failures, a closing fence.

torch, distributed/elastic/multiprocessing/errors: ChildFailedError.format_msg.
"""

import re

from core.logs.blocks.found import BLOCK_MARK, FoundBlock
from core.logs.said import VoiceLines

FENCE = re.compile(r"^={5,}$")
_MAX_ROWS = 20_000  # a report of 1,024 failed ranks has 9 rows a rank
_EXITCODE = re.compile(r"exitcode\s*:\s*(-?\w+)[^()]*(?:\(pid[^)]*\))?\s*(\(SIG\w+\))?")


def read_report(said: VoiceLines, start: int, _: int) -> FoundBlock | None:
    """The report, called by the exit code of the failure that came first; None for a fence that opens none."""
    if not (start + 1 < len(said) and said[start + 1].rstrip().endswith("FAILED")):
        return None
    at = start + 1
    while at < len(said) and at - start < _MAX_ROWS and not FENCE.match(said[at]):
        at += 1
    first = _first_failure(said, start, at)
    keys = (start + 1,) if first is None else (first,)
    return FoundBlock(
        start, min(at + 1, len(said)), keys, f"{BLOCK_MARK}ChildFailedError: first failure {_code(said, first)}"
    )


def _first_failure(said: VoiceLines, start: int, end: int) -> int | None:
    """The row with the exit code of the root cause."""
    codes = [row for row in range(start, end) if _EXITCODE.search(said[row])]
    causes = [row for row in range(start, end) if said[row].startswith("Root Cause")]
    return next((row for row in codes if causes and row > causes[0]), codes[0] if codes else None)


def _code(said: VoiceLines, row: int | None) -> str:
    match = None if row is None else _EXITCODE.search(said[row])
    if match is None:
        return "no exitcode"
    return f"exitcode {match[1]}{' ' + match[2] if match[2] else ''}"
