r"""What a program said at once: a line, or a block of lines that is one thing.

Tracebacks (also chained, nested and remote), C++ stacks, torchrun's failure report, argparse usage, a dying
interpreter's thread dump and the kernel's out-of-memory report become one message each, whose text is its verdict:
the exception lines of a traceback, the exit codes of a report, the error line of a usage text. A message's text depends
on nothing but the message itself, so it is the same in every job and any order of files.

Blocks are found within one voice (a file and a prefix), because ranks interleave in shared files.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BLOCK_MARK = "\u00b6 "  # opens the text of a block, so that no single line can have the same text
_MAX_REPORT_ROWS = 20_000  # a report of 1,024 failed ranks has 9 rows a rank
_MAX_VERDICTS = 4  # exception lines that name a traceback: the outermost and the last ones
_MAX_VERDICT = 500  # characters


@dataclass(frozen=True, slots=True, eq=False)
class Messages:
    """Rows of a file grouped into messages.

    message: uint32 a row, place in ``texts``. head: bool a row, True where a message starts.
    key: bool a row, True on the rows that say what happened (the line itself, or the verdict lines of a block).
    """

    message: NDArray[np.uint32]
    head: NDArray[np.bool_]
    key: NDArray[np.bool_]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """A block: rows ``start`` up to ``end`` (exclusive, within a voice), its verdict rows and its text.

    Without a text it belongs to the message in the line above, whoever said that: a stack under a ``[rank3]:`` line
    comes without the label.
    """

    start: int
    end: int
    keys: tuple[int, ...]
    text: str | None


class _Said(list[str]):
    """What one voice said, and on which rows of the file."""

    def __init__(self, texts: Sequence[str], rows: NDArray[np.intp]) -> None:
        super().__init__(texts)
        self._rows = rows

    def adjacent(self, at: int) -> bool:
        """Whether the text before ``at`` stands in the row just above it."""
        return at > 0 and int(self._rows[at]) - int(self._rows[at - 1]) == 1

    def has_row_above(self, at: int) -> bool:
        """Whether the file has a row above ``at`` at all."""
        return int(self._rows[at]) > 0


def group(body: NDArray[np.uint32], prefix: NDArray[np.uint32], bodies: Sequence[bytes]) -> Messages:
    """Group the rows of one file into messages.

    Args:
        body: uint32 a row, place in ``bodies``.
        prefix: uint32 a row; rows of one prefix are one voice.
        bodies: the distinct masked bodies of the file.
    """
    raw = [text.decode("utf-8", "replace") for text in bodies]
    texts: dict[str, int] = {}
    of_body = np.array([texts.setdefault(refine(text), len(texts)) for text in raw], dtype=np.uint32)
    message = of_body[body] if len(body) else np.zeros(0, np.uint32)
    head, key = np.ones(len(body), np.bool_), np.ones(len(body), np.bool_)
    opens = np.array([_OPENS.search(text) is not None for text in raw], dtype=np.bool_)
    for voice in _voices(prefix, opens[body] if len(body) else np.zeros(0, np.bool_)):
        said = _Said([raw[at] for at in body[voice]], voice)
        for found in _blocks(said, np.flatnonzero(opens[body[voice]])):
            rows = voice[found.start : found.end]
            above = int(rows[0]) - 1
            message[rows] = message[above] if found.text is None else texts.setdefault(found.text, len(texts))
            head[rows if found.text is None else rows[1:]] = False
            key[rows] = False
            key[voice[list(found.keys)]] = True
    return Messages(message=message, head=head, key=key, texts=tuple(texts))


def is_block(text: str) -> bool:
    """Whether a message's text stands for a block."""
    return text.startswith(BLOCK_MARK)


def plain(text: str) -> str:
    """A message's text without the mark of a block."""
    return text.removeprefix(BLOCK_MARK)


# --- masks that need more than one look; applied once to each distinct body ----------------------------------------

_REFINEMENTS: tuple[tuple[re.Pattern[str], str], ...] = (
    # IPv6 addresses, whole or in pieces: [fdff:ffff:<NUM>:<NUM>:bc<NUM>:<NUM>d:<NUM>:<NUM>]
    (re.compile(r"\[(?:(?:[0-9a-f]|<NUM>|<HEX>|<TS>)*:){2,8}(?:[0-9a-f]|<NUM>|<HEX>|<TS>)*\]"), "[<IP>]"),
    (re.compile(r"(?<![\w>])-<NUM>"), "<NUM>"),
    # progress bars: |███▌      |
    (re.compile(r"\|[\u2580-\u259f# ]+\||\|[\u2580-\u259f]+(?=<NUM>|\|)"), "|<BAR>|"),
    # words where letters and digits alternate are generated ids: f<NUM>_piuf<NUM>rhy<NUM>
    (re.compile(r"(?:[A-Za-z]*<NUM>[A-Za-z_]*){3,}(?:<NUM>)?"), "<ID>"),
    (re.compile(r"<NUM>(?:, ?<NUM>){3,}"), "<NUM>, ..."),
    (re.compile(r"={5,}"), "====="),
    (re.compile(r"-{5,}"), "-----"),
    (re.compile(r"\*{5,}"), "*****"),
    (re.compile(r"\^{2,}|~{3,}\^*~*"), "^^"),
)


def refine(body: str) -> str:
    """Fold what the fast masks leave apart; slow, so only distinct bodies come here."""
    text = body.strip()
    if "<" in text or len(text) > 4:
        for pattern, name in _REFINEMENTS:
            text = pattern.sub(name, text)
    return text


# --- blocks -------------------------------------------------------------------------------------------------------

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

_FILE = '  File "'
_PLACE = re.compile(r'  File "(?:[^"]*/)?([^"/]+)", line <NUM>, in (\S+)')
_EXCEPTION = re.compile(
    r"^[\w.]*(?:Error|Exception|Interrupt|Exit|Warning|Timeout|Failure|Fault|StopIteration)\b|Error(?=[A-Z:]|$)"
)
_CONNECTOR = re.compile(r"^(?:During handling of the above exception|The above exception was the direct cause)")
_NESTED = re.compile(r"^(?:Original )?Traceback \(most recent call last\)|^\"\"\"$")
_FRAME = re.compile(r"^frame #|^<omitting python frames>|^#\d+ |^<unknown function>|^#<NUM> ")
# What torch adds below a CUDA error; advice, never a cause (METHOD, section 3, "never anchors").
_ADVICE = re.compile(
    r"^(?:CUDA kernel errors might be|For debugging consider passing|Compile with `?TORCH_USE_CUDA_DSA|"
    r"Device-side assertion tracking|Search for `cuda|To show error details|Last error:|ncclSystemError:|ncclInternalError:|"
    r"ncclUnhandledCudaError:|ncclRemoteError:|ncclInvalidUsage:)"
)
_WHAT = re.compile(r"^(?:  )?what\(\):")
_EXITCODE = re.compile(r"exitcode\s*:\s*(-?\w+)[^()]*(?:\(pid[^)]*\))?\s*(\(SIG\w+\))?")
_DUMP = re.compile(
    r"^(?:Current thread|Thread|  File|  \.\.\.|Extension modules:|  <no Python frame>|Python runtime state)"
)


def _voices(prefix: NDArray[np.uint32], opens: NDArray[np.bool_]) -> Iterable[NDArray[np.intp]]:
    """Rows of each prefix that holds a block, in file order."""
    order = np.argsort(prefix, kind="stable")
    bounds = np.flatnonzero(np.diff(prefix[order])) + 1
    return [rows for rows in np.split(order, bounds) if opens[rows].any()]


def _blocks(said: _Said, starts: NDArray[np.intp]) -> Iterable[_Found]:
    """The blocks of one voice, from the rows that may open one."""
    done = 0
    for start in starts.tolist():
        if start < done:
            continue
        for opener, read in _READERS:
            if opener.search(said[start]):
                found = read(said, start, done)
                if found is not None:
                    done = found.end
                    yield found
                break


def _read_traceback(said: _Said, start: int, _: int) -> _Found | None:
    """A traceback with all that is chained to it, its C++ stack, and torchrun's report if that follows."""
    lead = said[start][: _start_of(_TRACEBACK, said[start])]
    if len(lead) > 1 and start + 1 < len(said) and said[start + 1].startswith(lead):
        return _logged_traceback(said, start, lead)
    at, keys = start, []
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
    verdict = _verdict(said, keys)
    if "ChildFailedError" in verdict and at < len(said) and _FENCE.match(said[at]):
        report = _read_report(said, at, at)
        if report is not None:
            return _Found(start, report.end, (*keys, *report.keys), report.text)
    return (
        _Found(start, at, tuple(keys), BLOCK_MARK + verdict)
        if keys
        else _Found(start, at, (start,), BLOCK_MARK + "Traceback cut off")
    )


def _one_traceback(said: _Said, start: int) -> tuple[int, list[int]]:
    """End and exception rows of one traceback; where ranks without prefix interleave, as many as were opened."""
    opened, at, keys = 1, start + 1, []
    while at < len(said) and opened:
        text = said[at]
        if _TRACEBACK.search(text) and not keys:
            opened += 1
        elif text and not text.startswith("  ") and not _FRAME.match(text):
            if _EXCEPTION.search(text) or not any(row.startswith(_FILE) for row in said[at + 1 : at + 4]):
                keys.append(at)
                opened -= 1
        elif not text and keys:
            break
        at += 1
    return at, keys


def _logged_traceback(said: _Said, start: int, lead: str) -> _Found:
    """A traceback that a logger wrote line by line, each with the same head; the masks took its indentation."""
    end = _skip_while(said, start + 1, lambda text: text.startswith(lead))
    named = [row for row in range(start + 1, end) if _EXCEPTION.search(said[row].removeprefix(lead))]
    key = named[-1] if named else end - 1
    return _Found(start, end, (key,), BLOCK_MARK + refine(said[key].removeprefix(lead))[:_MAX_VERDICT])


def _read_report(said: _Said, start: int, _: int) -> _Found | None:
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
    return _Found(
        start,
        min(at + 1, len(said)),
        tuple(first[:1]) or (start + 1,),
        f"{BLOCK_MARK}ChildFailedError: first failure {code}",
    )


def _read_fault(said: _Said, start: int, _: int) -> _Found:
    """A dying interpreter: its error and the stacks of its threads."""
    end = _skip_while(said, start + 1, lambda text: not text or _DUMP.match(text))
    return _Found(start, end, (start,), BLOCK_MARK + refine(said[start])[:_MAX_VERDICT])


def _read_terminate(said: _Said, start: int, _: int) -> _Found:
    """``terminate called ...``, its ``what():`` and the stack below."""
    keys = [row for row in range(start + 1, min(start + 3, len(said))) if _WHAT.match(said[row])]
    end = _skip_stack(said, keys[-1] + 1 if keys else start + 1)
    return _Found(start, end, tuple(keys) or (start,), BLOCK_MARK + refine(said[(keys or [start])[0]])[:_MAX_VERDICT])


def _read_stack(said: _Said, start: int, done: int) -> _Found:
    """A C++ stack belongs to the message above it."""
    end = _skip_stack(said, start)
    if said.adjacent(start) and start > done:
        return _Found(start - 1, end, (start - 1,), BLOCK_MARK + refine(said[start - 1])[:_MAX_VERDICT])
    if said.has_row_above(start):
        return _Found(start, end, (), None)
    return _Found(start, end, (start,), BLOCK_MARK + refine(said[start])[:_MAX_VERDICT])


def _read_usage(said: _Said, start: int, _: int) -> _Found | None:
    """argparse's usage text; the error line below it says what was wrong."""
    end = _skip_while(said, start + 1, lambda text: text.startswith("  ") or not text)
    if end < len(said) and ": error: " in said[end]:
        return _Found(start, end + 1, (end,), BLOCK_MARK + refine(said[end])[:_MAX_VERDICT])
    return None


def _read_oom(said: _Said, start: int, _: int) -> _Found:
    """The kernel's out-of-memory report, up to the line that names the killed process."""
    end = start + 1
    for row in range(start + 1, min(start + 400, len(said))):
        if "Killed process" in said[row] or "oom_reaper" in said[row]:
            end = row + 1
            break
    keys = [row for row in range(start, end) if "oom-kill" in said[row] or "Killed process" in said[row]]
    kind = "cgroup limit" if any("cgroup out of memory" in said[row] for row in keys) else "whole machine"
    return _Found(start, end, tuple(keys) or (start,), f"{BLOCK_MARK}kernel: out of memory ({kind}): Killed process")


_Reader = Callable[[_Said, int, int], _Found | None]
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


def _skip_while(said: _Said, at: int, wanted: Callable[[str], object]) -> int:
    while at < len(said) and wanted(said[at]):
        at += 1
    return at


def _skip_stack(said: _Said, at: int) -> int:
    """Past ``Exception raised from`` and its frames, and the empty line that ends them."""
    end = _skip_while(said, at, lambda text: _STACK.match(text) or _FRAME.match(text))
    return end + 1 if end > at and end < len(said) and not said[end] else end


def _verdict(said: _Said, keys: Sequence[int]) -> str:
    """The exception lines of a traceback, outermost first, without repeats; a bare one says where it was raised."""
    distinct = list(dict.fromkeys(_named(said, key) for key in keys))
    if len(distinct) > _MAX_VERDICTS:
        distinct = [distinct[0], *distinct[1 - _MAX_VERDICTS :]]
    return " / ".join(line[:_MAX_VERDICT] for line in distinct)


def _named(said: _Said, key: int) -> str:
    text = refine(said[key]).rstrip(":")
    if " " in text:
        return text
    frames = (match for row in range(key - 1, max(key - 8, -1), -1) if (match := _PLACE.match(said[row])))
    frame = next(frames, None)
    return f"{text} in {frame[2]} ({frame[1]})" if frame else text
