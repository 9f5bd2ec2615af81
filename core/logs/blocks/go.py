"""Stacks of Go programs: kubelet, operators, device plugins, exporters.

go, src/runtime/panic.go and traceback.go.
"""

import re

from core.logs.blocks.block_rows import Read, is_blank, last_before, plainly, skip_while
from core.logs.blocks.dumps import STACK_DUMP
from core.logs.blocks.found_block import FoundBlock, called
from core.logs.refine import refine
from core.logs.voice_lines import VoiceLines

GOROUTINE = re.compile(r"^goroutine (?:<NUM>|\d+)(?: [\w=]+)* \[[^\]]*\]:")
_PANIC = re.compile(r"^(?:  )?(?:panic|fatal error|unexpected fault address|runtime): ")
_SIGNAL = re.compile(r"^SIG[A-Z]+: ")
_REGISTER = re.compile(r"^(?:r[a-z]{2}|r<NUM>|rflags|[cdefgs]s|eflags|lr|sp|pc|fault|[xr]<NUM>) +(?:<HEX>|<NUM>)$")
_PLACES = ("/", "  /", "created by ", "...additional frames elided...", "_cgo_gotypes.go:")
_REACH = 12  # rows between what went wrong and the first stack: a panic for each one that was recovered, the signal


def read_go(lines: VoiceLines, start: int, done: int) -> FoundBlock | None:
    """A panic with all its goroutines; asked for by a signal they are no error."""
    read = plainly(lines)
    within = last_before(lambda at: read(at) if at >= done else None, start, _opens, _REACH)
    end = _past_goroutines(read, start)
    if within is None:
        return FoundBlock(start, end, (start,), STACK_DUMP)
    if _SIGNAL.match(lines[within]):
        return FoundBlock(
            within, end, (within,), STACK_DUMP if lines[within].startswith("SIGQUIT") else called([lines[within]])
        )
    first = _first_panic(read, within, done)
    keys = tuple(row for row in range(first, start) if _PANIC.match(lines[row]))
    return FoundBlock(first, end, keys, called(refine(lines[row]) for row in keys))


def _opens(text: str) -> bool:
    return _PANIC.match(text) is not None or _SIGNAL.match(text) is not None


def _first_panic(read: Read, at: int, done: int) -> int:
    """A panic while another one was handled stands below it, indented."""
    while at > done and _PANIC.match(read(at - 1) or ""):
        at -= 1
    return at


def _past_goroutines(read: Read, at: int) -> int:
    """Past each stack, which an empty line ends, and the registers below the last one."""
    end = at
    while GOROUTINE.match(read(at) or ""):
        end = skip_while(read, at + 1, _is_frame)
        at = skip_while(read, end, is_blank)
    registers = skip_while(read, at, _REGISTER.match)
    return registers if registers > at else end


def _is_frame(text: str) -> bool:
    """Whether a row is a call, or the place of it."""
    return text.endswith((")", "stack unavailable")) or text.startswith(_PLACES)
