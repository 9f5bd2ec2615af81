"""Who speaks: the end of the labels before a text, as core.logs.lines has them; a matcher gives 0 for "not mine"."""

from typing import NamedTuple

from core.logs.kernel.clocks import CLOCK, clock_at, read_clock
from core.logs.kernel.letters import CLASS, DIGIT, LETTER, NAME, WORD, as_word
from core.logs.kernel.machine import byte, compiled, digits, digits_end, lowest, word
from core.logs.kernel.table import NOT_FOUND, View, find
from core.logs.lines import FAR, LABEL_MARK, MAX_LABELS, MAX_STAMP, NO_TIME

_BLANK, _COMMA, _DOT, _COLON, _UNDERSCORE, _DASH, _PLUS, _T, _Z, _F, _P = b" ,.:_-+TZFP"
_OPEN, _CLOSE, _OPEN_SQUARE, _CLOSE_SQUARE = b"()[]"
_MARK = LABEL_MARK[0]
_MAX_TASK_BLANKS = _MAX_TASK_DIGITS = 6  # as in core.logs.lines: TASK

_DEFAULT, _RANK, _STDOUT, _STDERR, _PID, _IP, _OUT, _ERR = (
    as_word(letters)
    for letters in (b"default", b"rank", b"<stdout>", b"<stderr>", b" pid=", b", ip=", b"stdout ", b"stderr ")
)


class Labels(NamedTuple):
    """What was learned of the file: see ``core.logs.lines.Format``."""

    tasks: bool
    hosts: View
    labelled: bool


@compiled
def label_end(at: int, tail: int) -> tuple[int, int]:
    """Where a label of ``core.logs.wraps`` begins, with a stamp before it or none, and where it ends (0 for none)."""
    begins = at
    if byte(at) != _MARK:
        if not CLASS[byte(at)] & DIGIT:
            return at, 0
        while CLASS[byte(begins)] & DIGIT or byte(begins) in (_T, _COLON, _DOT, _Z, _BLANK, _DASH, _PLUS):
            begins += 1
        if byte(begins) != _MARK or byte(begins - 1) != _BLANK or not at + 1 < begins <= at + MAX_STAMP + 1:
            return at, 0
    end = begins + 1
    while end < tail and byte(end) != _MARK:
        end += 1
    return (begins, end + 1) if end < tail else (at, 0)


@compiled
def stamp_time(at: int, label: int, year: int) -> int:
    """The time of the stamp before a label; NO_TIME when there is none."""
    if at == label:
        return NO_TIME
    run = digits(at)
    length = lowest(~run)
    style, end = clock_at(at, at, run, length, byte(at + length))
    return read_clock(style, at, at, end, year) if style > CLOCK else NO_TIME


@compiled
def far(time: int, stamped: int) -> bool:
    """Whether the clock of a text is another one than that of the stamp before it."""
    return stamped != NO_TIME and abs(time - stamped) >= FAR


@compiled
def stamp_end(at: int) -> tuple[int, int]:
    """Where a container's stamp ends (0 when there is none), and where its clock reading does.

    ``2026-11-21T13:12:42.728Z ``, and ``2026-11-21T13:12:42.728Z stdout F ``; the caller asks for labels behind it.
    """
    if byte(at + 10) != _T or byte(at + 4) != _DASH or byte(at + 7) != _DASH:
        return 0, 0
    if byte(at + 13) != _COLON or byte(at + 16) != _COLON or digits_end(at) != at + 4:
        return 0, 0
    for place in range(5, 18, 3):  # month, day, hour, minute, second
        if digits_end(at + place) != at + place + 2:
            return 0, 0
    clock = at + 19
    if byte(clock) == _DOT:
        end = digits_end(clock + 1)
        if not clock + 1 < end <= clock + 10:
            return 0, 0
        clock = end
    clock = _zone_end(clock)
    return (clock + 1, clock) if clock and byte(clock) == _BLANK else (0, 0)


@compiled
def _zone_end(at: int) -> int:
    """``Z`` or ``+01:00``."""
    if byte(at) == _Z:
        return at + 1
    is_offset = (byte(at) == _PLUS or byte(at) == _DASH) and digits_end(at + 1) == at + 3 and byte(at + 3) == _COLON
    return at + 6 if is_offset and digits_end(at + 4) == at + 6 else 0


@compiled
def stream_end(at: int) -> int:
    """``stdout F `` behind a stamp; the same place when there is none."""
    named = _starts(at, _OUT, 7) or _starts(at, _ERR, 7)
    whole = byte(at + 7) == _F or byte(at + 7) == _P
    return at + 9 if named and whole and byte(at + 8) == _BLANK else at


@compiled
def labels_end(text: int, labels: Labels) -> int:
    """Where the labels end that a text starts with; the text itself when there are none."""
    for _ in range(MAX_LABELS):
        end = _label_end(text, labels)
        if end == 0:
            break
        text = end
    return text


@compiled
def _label_end(at: int, labels: Labels) -> int:
    first = byte(at)
    if first == _OPEN_SQUARE:
        return _bracket_end(at)
    if first == _OPEN:
        return _ray_end(at)
    if first == _BLANK:
        return _task_end(at) if labels.tasks else 0
    if CLASS[first] & WORD and first != _UNDERSCORE:
        return _name_end(at, labels)
    return 0


@compiled
def _name_end(at: int, labels: Labels) -> int:
    """A label that starts with a name, or a task without blanks."""
    colon = at
    while CLASS[byte(colon)] & NAME:
        colon += 1
    if byte(colon) != _COLON:
        return 0
    if byte(colon + 1) != _BLANK:
        return 0 if digits_end(at) == colon else _nccl_end(colon)  # 18:06:52 [4] is a clock
    end = _task_end(at) if labels.tasks else 0
    if end == 0 and find(labels.hosts, at, colon - at) != NOT_FOUND:
        end = colon + 2
    return end


@compiled
def _task_end(at: int) -> int:
    """`` 12: ``, from srun --label."""
    number = at
    while byte(number) == _BLANK and number < at + _MAX_TASK_BLANKS:
        number += 1
    end = digits_end(number)
    if not number < end <= number + _MAX_TASK_DIGITS or byte(end) != _COLON or byte(end + 1) != _BLANK:
        return 0
    return end + 2


@compiled
def _nccl_end(colon: int) -> int:
    """The rest of ``GPU-719:3198547:3203306 [6] `` from its first colon on."""
    end = digits_end(colon + 1)
    if end == colon + 1 or byte(end) != _COLON:
        return 0
    start, end = end + 1, digits_end(end + 1)
    if end == start or byte(end) != _BLANK or byte(end + 1) != _OPEN_SQUARE:
        return 0
    end = _closed(end + 2)
    return end + 1 if end and byte(end) == _BLANK else 0


@compiled
def _bracket_end(at: int) -> int:
    """``[default3]:``, ``[rank3]: `` and ``[1,3]<stdout>: ``; a blank behind the last two belongs to them.

    mpirun writes none: two behind its label are how the line is indented.
    """
    if _starts(at + 1, _DEFAULT, 7):
        return _colon_end(_closed(at + 8))
    of_rank = _starts(at + 1, _RANK, 4)
    end = _colon_end(_closed(at + 5) if of_rank else _stream_end(at))
    return end + (end > 0 and byte(end) == _BLANK and (of_rank or byte(end + 1) != _BLANK))


@compiled
def _closed(at: int) -> int:
    """The end of one digit or more and a square bracket."""
    end = digits_end(at)
    return end + 1 if end > at and byte(end) == _CLOSE_SQUARE else 0


@compiled
def _stream_end(at: int) -> int:
    """``[1,3]<stdout>``."""
    comma = digits_end(at + 1)
    end = _closed(comma + 1) if comma > at + 1 and byte(comma) == _COMMA else 0
    return end + 8 if end and (_starts(end, _STDOUT, 8) or _starts(end, _STDERR, 8)) else 0


@compiled
def _colon_end(end: int) -> int:
    return end + 1 if end and byte(end) == _COLON else 0


@compiled
def _ray_end(at: int) -> int:
    """``(Worker pid=2113, ip=10.0.3.7) ``, ``(Worker pid=2113) ``, ``(raylet, ip=10.0.3.7) ``."""
    name = at + 1
    if not CLASS[byte(name)] & LETTER:
        return 0
    while CLASS[byte(name)] & WORD:
        name += 1
    end, has_pid = name, _starts(name, _PID, 5)
    if has_pid:
        end = digits_end(name + 5)
        if end == name + 5:
            return 0
    if not (has_pid or _starts(end, _IP, 5)):
        return 0
    if _starts(end, _IP, 5):
        start = end = end + 5
        while CLASS[byte(end)] & DIGIT or byte(end) == _DOT:
            end += 1
        if end == start:
            return 0
    return end + 2 if byte(end) == _CLOSE and byte(end + 1) == _BLANK else 0


@compiled
def _starts(at: int, letters: int, count: int) -> bool:
    """Whether the first so many bytes are these letters, lowest first."""
    return (word(at) ^ letters) << 8 * (8 - count) == 0
