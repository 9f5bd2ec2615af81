"""Blocks of lines that are one thing: where they end, and what their verdict is (docs/logs.md).

Tracebacks (also chained, nested and remote), C++ stacks, torchrun's failure report, argparse usage, a dying
interpreter's thread dump and the kernel's out-of-memory report. A block's text is its verdict: the exception lines of a
traceback, the exit code of a report, the error line of a usage text. It depends on nothing but the block.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from core.logs.refine import refine
from core.logs.said import Said

BLOCK_MARK = "\u00b6 "  # opens the text of a block, so that no single line can have the same text
_MAX_REPORT_ROWS = 20_000  # a report of 1,024 failed ranks has 9 rows a rank
_MAX_OOM_ROWS = 400  # the kernel prints a line a process of the cgroup
_MAX_VERDICTS = 4  # exception lines that name a traceback: the outermost and the last ones
_MAX_VERDICT = 500  # characters


@dataclass(frozen=True, slots=True)
class Found:
    """A block: rows ``start`` up to ``end`` (exclusive, within a voice), its verdict rows and its text.

    Without a text it belongs to the message in the line above, whoever said that: a stack under a ``[rank3]:`` line
    comes without the label.
    """

    start: int
    end: int
    keys: tuple[int, ...]
    text: str | None


# --- what opens, continues and ends a block --------------------------------------------------------------------------

_TRACEBACK = re.compile(r"Traceback \(most recent call last\):?")
_FAULT = re.compile(r"^Fatal Python error: ")
_TERMINATE = re.compile(r"^terminate called after throwing")
_STACK = re.compile(r"^Exception raised from .*most recent call first|^C\+\+ CapturedTraceback:")
_USAGE = re.compile(r"^usage: ")
_OOM = re.compile(r"invoked oom-killer")
_FENCE = re.compile(r"^={5,}$")
_OPENS = re.compile(
    "|".join(f"(?:{p.pattern})" for p in (_TRACEBACK, _FAULT, _TERMINATE, _STACK, _USAGE, _OOM, _FENCE))
)

# One of these is in every text that _OPENS finds: to look for them costs a tenth.
_OPENING = (
    "Traceback (most recent call last)",
    "Fatal Python error: ",
    "terminate called after throwing",
    "most recent call first",
    "C++ CapturedTraceback:",
    "usage: ",
    "invoked oom-killer",
    "=====",
)

_FILE = '  File "'
_PLACE = re.compile(r'  File "(?:[^"]*/)?([^"/]+)", line <NUM>, in (\S+)')
_EXCEPTION = re.compile(
    r"^[\w.]*(?:Error|Exception|Interrupt|Exit|Warning|Timeout|Failure|Fault|StopIteration)\b|Error(?=[A-Z:]|$)"
)
_CONNECTOR = re.compile(r"^(?:During handling of the above exception|The above exception was the direct cause)")
_NESTED = re.compile(r"^Original Traceback \(most recent call last\)")
_FRAME = re.compile(r"^frame #|^<omitting python frames>|^#\d+ |^<unknown function>|^#<NUM> ")
# What torch adds below a CUDA error; advice, never a cause (docs/logs.md, "Blocks").
_ADVICE = re.compile(
    r"^(?:CUDA kernel errors might be|For debugging consider passing|Compile with `?TORCH_USE_CUDA_DSA|"
    r"Device-side assertion tracking|Search for `cuda|To show error details|Last error:|ncclSystemError:|"
    r"ncclInternalError:|"
    r"ncclUnhandledCudaError:|ncclRemoteError:|ncclInvalidUsage:)"
)
_WHAT = re.compile(r"^(?:  )?what\(\):")
_EXITCODE = re.compile(r"exitcode\s*:\s*(-?\w+)[^()]*(?:\(pid[^)]*\))?\s*(\(SIG\w+\))?")
_DUMP = re.compile(
    r"^(?:Current thread|Thread|  File|  \.\.\.|Extension modules:|  <no Python frame>|Python runtime state)"
)


def may_open(text: str) -> bool:
    """Whether a body may be the first line of a block."""
    for letters in _OPENING:
        if letters in text:
            return _OPENS.search(text) is not None
    return False


def find_blocks(said: Said, starts: Sequence[int]) -> Iterator[Found]:
    """The blocks of one voice, from the rows that may open one."""
    done = 0
    for start in starts:
        if start < done:
            continue
        for opener, read in _READERS:
            if opener.search(said[start]):
                found = read(said, start, done)
                if found is not None:
                    done = found.end
                    yield found
                break


def _read_traceback(said: Said, start: int, _: int) -> Found | None:
    """A traceback with all that is chained to it, its C++ stack, and torchrun's report if that follows."""
    lead = said[start][: _start_of(_TRACEBACK, said[start])]
    if len(lead) > 1 and start + 1 < len(said) and said[start + 1].startswith(lead):
        return _logged_traceback(said, start, lead)
    keys: list[int] = []
    at = start
    while True:
        at, verdicts = _one_traceback(said, at)
        keys += verdicts
        at = _skip_while(said, at, _ADVICE.match)
        joint = _skip_while(said, at, lambda text: not text or text == '"""')
        if joint < len(said) and _CONNECTOR.match(said[joint]):
            joint = _skip_while(said, joint + 1, lambda text: not text)
        elif not (joint < len(said) and _NESTED.match(said[joint]) and keys):
            break
        if not (joint < len(said) and _TRACEBACK.search(said[joint])):
            break
        at = joint
    at = _skip_stack(said, at)
    if not keys and "%|" in lead:
        return None  # glued to a progress bar: the frames are in the voice of the rank whose label stands between
    verdict = _verdict(said, keys)
    if "ChildFailedError" in verdict and at < len(said) and _FENCE.match(said[at]):
        report = _read_report(said, at, at)
        if report is not None:
            return Found(start, report.end, (*keys, *report.keys), report.text)
    return (
        Found(start, at, tuple(keys), BLOCK_MARK + verdict)
        if keys
        else Found(start, at, (start,), BLOCK_MARK + "Traceback cut off")
    )


def _one_traceback(said: Said, start: int) -> tuple[int, list[int]]:
    """End and exception rows of one traceback; where ranks without prefix interleave, as many as were opened."""
    opened, at = 1, start + 1
    keys: list[int] = []
    while at < len(said) and opened:
        text = said[at]
        if _TRACEBACK.search(text) and not keys:
            opened += 1
        elif text and not text.startswith("  ") and not _FRAME.match(text):
            if _EXCEPTION.search(text) or not any(row.startswith(_FILE) for row in said.between(at + 1, at + 4)):
                keys.append(at)
                opened -= 1
        elif not text and keys:
            break
        at += 1
    return at, keys


def _logged_traceback(said: Said, start: int, lead: str) -> Found:
    """A traceback that a logger wrote line by line, each with the same head; the masks took its indentation."""
    end = _skip_while(said, start + 1, lambda text: text.startswith(lead))
    named = [row for row in range(start + 1, end) if _EXCEPTION.search(said[row].removeprefix(lead))]
    key = named[-1] if named else end - 1
    return Found(start, end, (key,), BLOCK_MARK + refine(said[key].removeprefix(lead))[:_MAX_VERDICT])


def _read_report(said: Said, start: int, _: int) -> Found | None:
    """torchrun's failure report: a fence, ``x FAILED``, a list of failures, a closing fence."""
    if not (start + 1 < len(said) and said[start + 1].rstrip().endswith("FAILED")):
        return None
    at = start + 1
    while at < len(said) and at - start < _MAX_REPORT_ROWS and not _FENCE.match(said[at]):
        at += 1
    rows = [row for row in range(start, at) if _EXITCODE.search(said[row])]
    causes = [row for row in range(start, at) if said[row].startswith("Root Cause")]
    first = [row for row in rows if causes and row > causes[0]] or rows
    codes = [match for row in first[:1] if (match := _EXITCODE.search(said[row]))]
    code = f"exitcode {codes[0][1]}{' ' + codes[0][2] if codes[0][2] else ''}" if codes else "no exitcode"
    return Found(
        start,
        min(at + 1, len(said)),
        tuple(first[:1]) or (start + 1,),
        f"{BLOCK_MARK}ChildFailedError: first failure {code}",
    )


def _read_fault(said: Said, start: int, _: int) -> Found:
    """A dying interpreter: its error and the stacks of its threads."""
    end = _skip_while(said, start + 1, lambda text: not text or _DUMP.match(text))
    return Found(start, end, (start,), BLOCK_MARK + refine(said[start])[:_MAX_VERDICT])


def _read_terminate(said: Said, start: int, _: int) -> Found:
    """``terminate called ...``, its ``what():`` and the stack below."""
    keys = [row for row in range(start + 1, min(start + 3, len(said))) if _WHAT.match(said[row])]
    end = _skip_stack(said, _skip_advice(said, keys[-1] + 1 if keys else start + 1))
    return Found(start, end, tuple(keys) or (start,), BLOCK_MARK + refine(said[(keys or [start])[0]])[:_MAX_VERDICT])


def _read_stack(said: Said, start: int, done: int) -> Found:
    """A C++ stack belongs to the message above it."""
    end = _skip_stack(said, start)
    while said.adjacent(start) and start > done and (not said[start - 1] or _ADVICE.match(said[start - 1])):
        start -= 1
    if said.adjacent(start) and start > done:
        return Found(start - 1, end, (start - 1,), BLOCK_MARK + refine(said[start - 1])[:_MAX_VERDICT])
    if said.has_row_above(start):
        return Found(start, end, (), None)
    return Found(start, end, (start,), BLOCK_MARK + refine(said[start])[:_MAX_VERDICT])


def _read_usage(said: Said, start: int, _: int) -> Found | None:
    """argparse's usage text; the error line below it says what was wrong."""
    end = _skip_while(said, start + 1, lambda text: text.startswith("  ") or not text)
    if end < len(said) and ": error: " in said[end]:
        return Found(start, end + 1, (end,), BLOCK_MARK + refine(said[end])[:_MAX_VERDICT])
    return None


def _read_oom(said: Said, start: int, _: int) -> Found:
    """The kernel's out-of-memory report, up to the line that names the killed process."""
    end = start + 1
    for row in range(start + 1, min(start + _MAX_OOM_ROWS, len(said))):
        if "Killed process" in said[row] or "oom_reaper" in said[row]:
            end = row + 1
            break
    keys = [row for row in range(start, end) if "oom-kill" in said[row] or "Killed process" in said[row]]
    kind = "cgroup limit" if any("cgroup out of memory" in said[row] for row in keys) else "whole machine"
    return Found(start, end, tuple(keys) or (start,), f"{BLOCK_MARK}kernel: out of memory ({kind}): Killed process")


_Reader = Callable[[Said, int, int], Found | None]
_READERS: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    (_TRACEBACK, _read_traceback),
    (_FENCE, _read_report),
    (_FAULT, _read_fault),
    (_TERMINATE, _read_terminate),
    (_STACK, _read_stack),
    (_USAGE, _read_usage),
    (_OOM, _read_oom),
)


def _start_of(pattern: re.Pattern[str], text: str) -> int:
    match = pattern.search(text)
    return match.start() if match else 0


def _skip_while(said: Said, at: int, wanted: Callable[[str], object]) -> int:
    while at < len(said) and wanted(said[at]):
        at += 1
    return at


def _skip_advice(said: Said, at: int) -> int:
    """Past what torch advises, with the empty lines that set it off from a stack below."""
    end = _skip_while(said, at, lambda text: not text or _ADVICE.match(text))
    return end if end < len(said) and _STACK.match(said[end]) else at


def _skip_stack(said: Said, at: int) -> int:
    """Past ``Exception raised from`` and its frames, and the empty line that ends them."""
    end = _skip_while(said, at, lambda text: _STACK.match(text) or _FRAME.match(text))
    return end + 1 if end > at and end < len(said) and not said[end] else end


def _verdict(said: Said, keys: Sequence[int]) -> str:
    """The exception lines of a traceback, outermost first, without repeats; a bare one says where it was raised."""
    distinct = list(dict.fromkeys(_named(said, key) for key in keys))
    if len(distinct) > _MAX_VERDICTS:
        distinct = [distinct[0], *distinct[1 - _MAX_VERDICTS :]]
    return " / ".join(line[:_MAX_VERDICT] for line in distinct)


def _named(said: Said, key: int) -> str:
    text = refine(said[key]).rstrip(":")
    if " " in text:
        return text
    frames = (match for row in range(key - 1, max(key - 8, -1), -1) if (match := _PLACE.match(said[row])))
    frame = next(frames, None)
    return f"{text} in {frame[2]} ({frame[1]})" if frame else text
