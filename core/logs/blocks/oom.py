"""The kernel's out-of-memory report, up to the line that names the killed process."""

import re

from core.logs.blocks.found_block import BLOCK_MARK, FoundBlock
from core.logs.voice_lines import VoiceLines

OOM = re.compile(r"invoked oom-killer")
_MAX_ROWS = 400  # the kernel prints a line a process of the cgroup


def read_oom(lines: VoiceLines, start: int, _: int) -> FoundBlock:
    """The report, called by which memory was full: a container's limit and a machine without memory are two faults."""
    last = min(start + _MAX_ROWS, len(lines))
    killed = (row for row in range(start + 1, last) if "Killed process" in lines[row] or "oom_reaper" in lines[row])
    end = next(killed, start) + 1
    keys = [row for row in range(start, end) if "oom-kill" in lines[row] or "Killed process" in lines[row]]
    kind = "cgroup limit" if any("cgroup out of memory" in lines[row] for row in keys) else "whole machine"
    return FoundBlock(
        start, end, tuple(keys) or (start,), f"{BLOCK_MARK}kernel: out of memory ({kind}): Killed process"
    )
