"""torchrun's failure report: a fence, ``x FAILED``, a list of failures, a closing fence.

torch, distributed/elastic/multiprocessing/errors: ChildFailedError.format_msg.
"""

import re

from core.logs.blocks.found_block import BLOCK_MARK, FoundBlock
from core.logs.voice_lines import VoiceLines

FENCE = re.compile(r"^={5,}$")
_MAX_ROWS = 20_000  # a report of 1,024 failed ranks has 9 rows a rank
_EXITCODE = re.compile(r"exitcode\s*:\s*(-?\w+)[^()]*(?:\(pid[^)]*\))?\s*(\(SIG\w+\))?")


def read_report(lines: VoiceLines, start: int, _: int) -> FoundBlock | None:
    """The report, called by the exit code of the failure that came first; None for a fence that opens none."""
    if not (start + 1 < len(lines) and lines[start + 1].rstrip().endswith("FAILED")):
        return None
    at = start + 1
    while at < len(lines) and at - start < _MAX_ROWS and not FENCE.match(lines[at]):
        at += 1
    first = _first_failure(lines, start, at)
    keys = (start + 1,) if first is None else (first,)
    return FoundBlock(
        start, min(at + 1, len(lines)), keys, f"{BLOCK_MARK}ChildFailedError: first failure {_code(lines, first)}"
    )


def _first_failure(lines: VoiceLines, start: int, end: int) -> int | None:
    """The row with the exit code of the root cause."""
    codes = [row for row in range(start, end) if _EXITCODE.search(lines[row])]
    causes = [row for row in range(start, end) if lines[row].startswith("Root Cause")]
    return next((row for row in codes if causes and row > causes[0]), codes[0] if codes else None)


def _code(lines: VoiceLines, row: int | None) -> str:
    match = None if row is None else _EXITCODE.search(lines[row])
    if match is None:
        return "no exitcode"
    return f"exitcode {match[1]}{' ' + match[2] if match[2] else ''}"
