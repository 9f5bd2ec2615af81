"""Files that several processes write to: which lines begin a record, and which may have lines below them."""

import re

from core.logs.wraps.line_forms import Cut, Run, RunKind, Token

LEVEL = rb"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)"  # names nobody
ALL_DIGITS_ALIKE = bytes.maketrans(b"123456789", b"0" * 9)  # to look at lines once that differ in numbers
HEAD = 120  # bytes; a speaker further right is somebody that the line talks about
# By torch, which writes between, by mpirun, and by NCCL (src/debug.cc, 2.21), in whose head the number is of a device
LABELLED = re.compile(
    rb"\[rank[0-9]+\]:|\[default[0-9]+\]:|\[[0-9]+,[0-9]+\]<std(?:out|err)>:|\[[DIWEF][0-9]{4} "
    rb"|(?: {0,6}[0-9]{1,6}: )?[A-Za-z0-9][\w.-]{0,62}:[0-9]{1,10}:[0-9]{1,10} \[[0-9]{1,4}\] NCCL "
)
_CLOCK = re.compile(rb"[0-9]{1,2}:[0-9]{2}:[0-9]{2}")
_CLOCK_WINDOW = 96  # as core.logs.lines looks for one
_ERROR = re.compile(rb"\b(?:ERROR|CRITICAL|FATAL|EXCEPTION|SEVERE)\b|(?i:\b(?:traceback|error|exception|fail\w*)\b)")


def has_clock(line: bytes) -> bool:
    """Whether a record begins here."""
    return _CLOCK.search(line, 0, _CLOCK_WINDOW) is not None


def has_no_clock(line: bytes) -> bool:
    """Whether a line may go on with the record above it."""
    return not has_clock(line)


def tells_of_an_error(record: bytes) -> bool:
    """Whether a traceback below a record is the record's own, and not that of another process that writes there."""
    return _ERROR.search(record) is not None


def cut_rank(line: bytes, begins: int, digits: tuple[int, int], ends: int) -> Cut:
    """A line that stays as it is, as tokens: clocks and numbers, the rank in its head, and the rest.

    Args:
        begins, ends: of the word that names the rank.
        digits: where its number begins and ends.
    """
    start, end = digits
    before, at = list[Token](), 0
    for clock in _NUMBERS.finditer(line, 0, begins):
        before += [line[at : clock.start()], Run(RunKind.SHAPE, shape=_DIGIT.sub(b"9", clock[0]))]
        at = clock.end()
    return Cut((*before, line[at:start], Run(RunKind.COUNT, 6), line[end:ends]), line[ends:])


_NUMBERS = re.compile(rb"[0-9][0-9:.,TZ/+ -]*[0-9]|[0-9]")
_DIGIT = re.compile(rb"[0-9]")
