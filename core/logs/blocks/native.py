"""Stacks of native code: torch's C++ frames, ``terminate called``, and the failure handlers of glog, abseil and Paddle.

torch, c10/util/Exception.cpp and Backtrace.cpp; gcc, libsupc++/vterminate.cc; glog, src/signalhandler.cc and
logging.cc; abseil, debugging/failure_signal_handler.cc; Paddle, paddle/fluid/platform/init.cc.
"""

import re

from core.logs.blocks.block_rows import Read, is_blank, next_of, plainly, skip_while
from core.logs.blocks.found_block import FoundBlock, called_like
from core.logs.blocks.logger_records import is_fatal
from core.logs.voice_lines import VoiceLines

STACK = re.compile(r"^Exception raised from .*most recent call first|^C\+\+ CapturedTraceback:")
TERMINATE = re.compile(r"^terminate called ")
GLOG = re.compile(r"^\*\*\* (?:Check failure stack trace:|Aborted at <NUM> \(unix time\)|SIG[A-Z]+ received at time=)")
PADDLE = re.compile(r"^C\+\+ Traceback \(most recent call last\):")

_FRAME = re.compile(r"^frame #|^<omitting python frames>|^#\d+ |^<unknown function>|^#<NUM> ")
_WHAT = re.compile(r"^(?:  )?what\(\):")
_SIGNAL = re.compile(r"^\*\*\* SIG[A-Z]+ ")
_GLOG_FRAME = re.compile(r"^PC: @ |^(?:  )?@ (?:<HEX>|<NUM>|\(unknown\))")
_SUMMARY = re.compile(r"^Error Message Summary:")
_PADDLE_ROWS = 400  # C++ frames between the head of Paddle's report and its summary; real ones have below a hundred
# What torch adds below a CUDA error; advice, never a cause (docs/reference/logs.md, "Blocks").
_ADVICE = re.compile(
    r"^(?:CUDA kernel errors might be|For debugging consider passing|Compile with `?TORCH_USE_CUDA_DSA|"
    r"Device-side assertion tracking|Search for `cuda|To show error details|Last error:|ncclSystemError:|"
    r"ncclInternalError:|ncclUnhandledCudaError:|ncclRemoteError:|ncclInvalidUsage:)"
)


def is_advice(text: str) -> bool:
    """Whether a row is what torch advises below an error."""
    return _ADVICE.match(text) is not None


def past_stack(read: Read, at: int) -> int:
    """Past ``Exception raised from`` and its frames, and the empty line that ends them."""
    end = skip_while(read, at, lambda text: STACK.match(text) or _FRAME.match(text))
    return end + 1 if end > at and read(end) == "" else end


def read_stack(lines: VoiceLines, start: int, done: int) -> FoundBlock:
    """A C++ stack belongs to the message above it."""
    end = past_stack(plainly(lines), start)
    while lines.adjacent(start) and start > done and (not lines[start - 1] or is_advice(lines[start - 1])):
        start -= 1
    if lines.adjacent(start) and start > done:
        return FoundBlock(start - 1, end, (start - 1,), called_like(lines[start - 1]))
    if lines.has_row_above(start):
        return FoundBlock(start, end, (), None)
    return FoundBlock(start, end, (start,), called_like(lines[start]))


def read_terminate(lines: VoiceLines, start: int, _: int) -> FoundBlock:
    """``terminate called ...``, its ``what():`` and the stacks below."""
    read = plainly(lines)
    what = next_of(read, start + 1, _WHAT.match, 2)
    key = start if what is None else what
    end = _past_glog(read, past_stack(read, _past_advice(read, key + 1)))
    return FoundBlock(start, end, (key,), called_like(lines[key]))


def read_glog(lines: VoiceLines, start: int, done: int) -> FoundBlock:
    """What glog or abseil print of a signal; below a failed check it belongs to the fatal record above."""
    end = _past_glog(plainly(lines), start)
    if start > done and is_fatal(lines[start - 1]):
        return FoundBlock(start - 1, end, (start - 1,), called_like(lines[start - 1]))
    key = next((row for row in range(start, end) if _SIGNAL.match(lines[row])), start)
    return FoundBlock(start, end, (key,), called_like(lines[key]))


def read_paddle(lines: VoiceLines, start: int, _: int) -> FoundBlock | None:
    """Paddle's report of a signal: C++ frames, a summary between rulers, when and by which signal."""
    read = plainly(lines)
    summary = next_of(read, start + 1, _SUMMARY.match, _PADDLE_ROWS)
    key = None if summary is None else next_of(read, summary + 1, lambda text: text.strip("- ") != "", 3)
    if key is None:
        return None
    end = skip_while(read, key + 1, lambda text: text.startswith("  ["))
    return FoundBlock(start, end, (key,), called_like(lines[key]))


def _past_advice(read: Read, at: int) -> int:
    """Past what torch advises, with the empty lines that set it off from a stack below."""
    end = skip_while(read, at, lambda text: is_blank(text) or is_advice(text))
    return end if STACK.match(read(end) or "") else at


def _past_glog(read: Read, at: int) -> int:
    return skip_while(read, at, lambda text: GLOG.match(text) or _SIGNAL.match(text) or _GLOG_FRAME.match(text))
