"""Reports of a failure: torchrun's, argparse's usage text, HCCL's table of links, the kernel's of its OOM killer."""

import re

from core.logs.blocks.block_rows import plainly, skip_while
from core.logs.blocks.found_block import BLOCK_MARK, FoundBlock, called_like
from core.logs.voice_lines import VoiceLines

FENCE = re.compile(r"^={5,}$")
_MAX_ROWS = 20_000  # a report of 1,024 failed ranks has 9 rows a rank
_EXITCODE = re.compile(r"exitcode\s*:\s*(-?\w+)[^()]*(?:\(pid[^)]*\))?\s*(\(SIG\w+\))?")


def read_report(lines: VoiceLines, start: int, _: int) -> FoundBlock | None:
    """torchrun's report, called by the exit code of the failure that came first; None for a fence that opens none.

    A fence, ``x FAILED``, a list of failures, a closing fence: torch, distributed/elastic/multiprocessing/errors,
    ChildFailedError.format_msg.
    """
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


USAGE = re.compile(r"^usage: ")


def read_usage(lines: VoiceLines, start: int, _: int) -> FoundBlock | None:
    """argparse's text up to its error line; None when there is none, because ``--help`` is no failure."""
    end = skip_while(plainly(lines), start + 1, lambda text: text.startswith("  ") or not text)
    if end < len(lines) and ": error: " in lines[end]:
        return FoundBlock(start, end + 1, (end,), called_like(lines[end]))
    return None


OOM = re.compile(r"invoked oom-killer")
_MAX_OOM_ROWS = 400  # the kernel prints a line a process of the cgroup


def read_oom(lines: VoiceLines, start: int, _: int) -> FoundBlock:
    """The kernel's report, called by which memory was full: of a container, or of a machine, which are two faults."""
    last = min(start + _MAX_OOM_ROWS, len(lines))
    killed = (row for row in range(start + 1, last) if "Killed process" in lines[row] or "oom_reaper" in lines[row])
    end = next(killed, start) + 1
    keys = [row for row in range(start, end) if "oom-kill" in lines[row] or "Killed process" in lines[row]]
    kind = "cgroup limit" if any("cgroup out of memory" in lines[row] for row in keys) else "whole machine"
    return FoundBlock(
        start, end, tuple(keys) or (start,), f"{BLOCK_MARK}kernel: out of memory ({kind}): Killed process"
    )


LINKS = re.compile(r"_LINK_ERROR_INFO_")
_RULE = "_" * 20  # closes the table
_LINK = re.compile(
    r"\(<NUM>\) {0,16}\| {0,16}(?:server|client) {0,16}\| {0,16}([a-z]{2,16}(?: [a-z]{2,16}){0,3}) {0,16}\|"
)
_MAX_LINKS = 1_024  # rows: one of each peer of a rank


def read_links(lines: VoiceLines, start: int, _: int) -> FoundBlock | None:
    """HCCL's table of the peers that a rank could not connect, called by how they fared (comm_base.cc of CANN 8.0)."""
    last = min(start + _MAX_LINKS, len(lines))
    end = next((row for row in range(start + 1, last) if lines[row].endswith(_RULE)), last)
    found = {row: match[1] for row in range(start + 1, end) if (match := _LINK.search(lines[row]))}
    if not found:
        return None
    states = " | ".join(sorted(set(found.values())))
    return FoundBlock(start, min(end + 1, last), tuple(found), f"{BLOCK_MARK}HCCL _LINK_ERROR_INFO_: | {states} |")
