"""Python tracebacks of any printer: the same exception is called the same, whoever prints it."""

import re
from collections.abc import Sequence

from core.logs.blocks import reports, traceback_headers
from core.logs.blocks.block_rows import Read, next_of, of_lines, plainly, without
from core.logs.blocks.chains import HEAD, Chain, read_chain
from core.logs.blocks.exceptions import ExceptionText, type_of, without_module
from core.logs.blocks.found_block import BLOCK_MARK, FoundBlock, called
from core.logs.blocks.frames import first_function, last_frame
from core.logs.blocks.logger_records import is_warning
from core.logs.refine import refine
from core.logs.voice_lines import VoiceLines

SYNTAX = re.compile(r'^  File "[^"]*", line <NUM>$')  # of the program itself: nothing was called yet
CUT_OFF = "Traceback cut off"

_SYNTAX_ERROR = re.compile(r"^(?:Syntax|Indentation|Tab)Error: ")
_TOLD_IN_ONE = re.compile(r"^:?\s*(?:\\+r)?(?P<end>\\+n|#<NUM>)")  # JSON, repr; rsyslog writes #012
_ROOT_CALLS = ("", "<module>", "_run_module_as_main")  # where the interpreter begins, whoever prints
# Exceptions that only carry the text of another one: multiprocessing/pool.py, concurrent/futures/process.py; JAX
# traceback_util.py, source_info_util.py.
_CARRIERS = frozenset((
    "RemoteTraceback", "_RemoteTraceback", "UnfilteredStackTrace", "SimplifiedTraceback",
    "JaxStackTraceBeforeTransformation",
))  # fmt: skip


def read_traceback(lines: VoiceLines, start: int, done: int) -> FoundBlock | None:
    """The tracebacks that a row opens; None when it only speaks of one."""
    match = HEAD.search(lines[start])
    if match is None:
        return None
    lead, rest = lines[start][: match.start()], lines[start][match.end() :]
    if "%|" in lead and start < lines.in_vain:
        return None
    if ended := _TOLD_IN_ONE.match(rest):
        return _told_in_one(start, lead, rest.split(ended["end"]))
    is_led = _is_led(lines, start, lead, match[0])
    read = without(lines, lead) if is_led else plainly(lines)
    chain = read_chain(read, start, is_flat=is_led)
    if not chain.exceptions:
        return _cut_off(lines, chain, start, lead)
    if is_led and is_warning(lead):  # who logs an exception as a warning has caught it, and goes on
        return FoundBlock(start, chain.end, _rows(chain), refine(lines[_rows(chain)[-1]]))
    return _with_report(lines, chain, start) or _with_header(lines, read, start, done, chain)


def _cut_off(lines: VoiceLines, chain: Chain, start: int, lead: str) -> FoundBlock | None:
    """A traceback without an exception; none where a bar was drawn, whose frames may be in the voice of another rank.

    The label of that rank stood between them.
    """
    if "%|" in lead:
        lines.in_vain = chain.end
        return None
    return FoundBlock(start, chain.end, (start,), BLOCK_MARK + CUT_OFF)


def read_syntax_error(lines: VoiceLines, start: int, _: int) -> FoundBlock | None:
    """A program that is no Python: a frame without a head."""
    row = next_of(plainly(lines), start + 1, _SYNTAX_ERROR.match, 4)
    if row is None or any(not text.startswith("  ") for text in lines.between(start, row)):
        return None
    return FoundBlock(start, row + 1, (row,), called([refine(lines[row])]))


def _is_led(lines: VoiceLines, start: int, lead: str, head: str) -> bool:
    """Whether the same stands before each row: what a logger puts there, or the blanks of a column."""
    if len(lead) < 2 or start + 1 == len(lines) or (lead.isspace() and head.startswith("+")):
        return False
    return lines[start + 1].startswith(lead) or lines[start + 1] == lead.rstrip()


def _told_in_one(start: int, lead: str, lines: Sequence[str]) -> FoundBlock | None:
    """A traceback in one line; None when its exception was beyond what is kept of a line."""
    ended = re.compile(r'(?<!\\)"' if '"' in lead else r"$")
    read = of_lines([ended.split(line, maxsplit=1)[0].replace('\\"', '"') for line in lines])
    chain = read_chain(read, 0, is_flat=True)
    return FoundBlock(start, start + 1, (start,), called(_verdicts(read, chain))) if chain.exceptions else None


def _with_report(lines: VoiceLines, chain: Chain, start: int) -> FoundBlock | None:
    """torchrun's own traceback, with the report that follows it."""
    names = any(type_of(exception.text) == "ChildFailedError" for exception in chain.exceptions)
    if not (names and chain.end < len(lines) and reports.FENCE.match(lines[chain.end])):
        return None
    report = reports.read_report(lines, chain.end, chain.end)
    return report and FoundBlock(start, report.end, (*_rows(chain), *report.keys), report.text)


def _with_header(lines: VoiceLines, read: Read, start: int, done: int, chain: Chain) -> FoundBlock:
    text = called(_verdicts(read, chain))
    logged = first_function(read, chain.head) not in _ROOT_CALLS or read(start + 1) == ""  # loguru's first row is empty
    first = start - traceback_headers.above(lines, start, done, text, logged=logged)
    return FoundBlock(first, chain.end, _rows(chain), text)


def _rows(chain: Chain) -> tuple[int, ...]:
    return tuple(row for exception in (*chain.exceptions, *chain.causes) for row in exception.rows)


# --- what an exception is called --------------------------------------------------------------------------------------


def _verdicts(read: Read, chain: Chain) -> list[str]:
    """What the exceptions are called; one that only carries another's text is none."""
    names = [without_module(_named(read, exception)) for exception in chain.exceptions]
    own = [name for name in names if type_of(name) not in _CARRIERS] or names
    return own + [cause.text for cause in chain.causes]


def _named(read: Read, exception: ExceptionText) -> str:
    """An exception as it was told; a bare one says where it was raised, because it names a thousand faults."""
    text = refine(exception.text).rstrip(":")
    frame = last_frame(read, exception.rows[0]) if " " not in text or text.startswith("AssertionError: ") else None
    if frame is None or not (" " not in text or _repeats_source(read, frame[0], text)):
        return text
    return f"{text.split(':')[0]} in {frame[2]} ({frame[1]})"


def _repeats_source(read: Read, frame: int, text: str) -> bool:
    """loguru tells the source of an assertion that says nothing."""
    return text == f"AssertionError: {refine(read(frame + 1) or '')}"
