"""The masked body of a text: ``core.logs.lines.mask`` and the first time of it, in one pass.

The pass copies 32 bytes at a time and stops only where a digit stands, or white space that is not a single blank. All
variables hold a digit. Those that begin with letters (``beef0123456``) are found by looking back from their first
digit, and what was copied of them is taken back.
"""

from core.logs.kernel.clocks import (
    CLOCK,
    EPOCH_DIGITS,
    MILLIS_DIGITS,
    NO_CLOCK,
    clock_at,
    is_epoch,
    is_millis,
    read_bare,
    read_clock,
    read_epoch,
    read_millis,
)
from core.logs.kernel.letters import ANY_HEX, CLASS, DIGIT, JOINS, LOW_HEX, LOWER, SPACE, WORD, as_word
from core.logs.kernel.machine import (
    LOOK,
    any_hexes_end,
    byte,
    compiled,
    copy,
    digits,
    digits_end,
    hexes,
    hexes_end,
    lowest,
    put_byte,
    put_word,
    stops,
)
from core.logs.kernel.slots import is_slot
from core.logs.lines import NO_TIME, TIME_WINDOW

_NUMBER, _IP, _HEX = -3, -2, -1  # kinds besides the clock styles, which are positive

_OPEN, _OPEN_SQUARE = b"(["
_TAB, _BLANK, _PLUS, _DASH, _DOT, _ZERO, _COLON, _E, _X = b"\t +-.0:ex"
_UUID_ALL, _UUID = (1 << 24) - 1, 0b0_1111_0_1111_0_1111_0_11111111  # its hexadecimal digits, the last twelve apart
_NODE_ALL, _HEAD_ALL = (1 << 12) - 1, (1 << 8) - 1  # its last twelve digits, and its first eight

_TS_TEXT, _IP_TEXT, _HEX_TEXT, _NUM_TEXT = (as_word(name) for name in (b"<TS>", b"<IP>", b"<HEX>", b"<NUM>"))


@compiled
def mask(text: int, end: int, out: int, year: int) -> tuple[int, int]:
    """Write the masked body of text..end; returns the end of it and the first time."""
    at = _skip_space(text, end)
    if at == end:
        return out, NO_TIME
    if at - text >= 2 and _is_blank(text) and _is_blank(text + 1):
        put_byte(out, _BLANK)
        put_byte(out + 1, _BLANK)
        out += 2
    floor, timeless, time = at, True, NO_TIME
    while True:
        copy(out, at)
        plain = lowest(stops(at))
        if plain > LOOK:
            at, out = at + LOOK, out + LOOK
            continue
        at, out = at + plain, out + plain
        if CLASS[byte(at)] & SPACE:  # the end of the line is one, so this loop comes to a halt
            at = _skip_space(at, end)
            blank = byte(out - 1) == _BLANK
            if at == end:
                return out - blank, time
            if not blank:
                put_byte(out, _BLANK)
                out += 1
            continue
        kind, head, tail = _variable(text, floor, at)
        if timeless and head - text < TIME_WINDOW:
            timeless, time = _read_time(kind, text, at, tail, year, time)
        out = _put_mask(kind, text, at, tail, out - (at - head))
        at = floor = tail


@compiled
def _read_time(kind: int, text: int, at: int, tail: int, year: int, bare: int) -> tuple[bool, int]:
    """Whether the variable is no clock with a date, and its time, or that of a bare clock before it."""
    if kind > CLOCK:
        return False, read_clock(kind, text, at, tail, year)
    if kind == _NUMBER and tail - at >= EPOCH_DIGITS and is_epoch(text, at, tail):
        return False, read_epoch(at, tail)
    if kind == _NUMBER and tail - at >= MILLIS_DIGITS and is_millis(text, at):
        return False, read_millis(at)
    if kind == CLOCK and (at == text or (at == text + 1 and (byte(text) == _OPEN or byte(text) == _OPEN_SQUARE))):
        return True, read_bare(at, tail)
    return True, bare


@compiled
def _put_mask(kind: int, text: int, at: int, tail: int, out: int) -> int:
    """Write what stands for a variable; where to go on writing."""
    if kind > 0:
        put_word(out, _TS_TEXT)
        return out + 4
    if kind == _IP:
        put_word(out, _IP_TEXT)
        return out + 4
    if is_slot(text, at, tail):
        for offset in range(0, tail - at, LOOK):
            copy(out + offset, at + offset)
        return out + tail - at
    put_word(out, _NUM_TEXT if kind == _NUMBER else _HEX_TEXT)
    return out + 5


@compiled
def _skip_space(at: int, end: int) -> int:
    while at < end and CLASS[byte(at)] & SPACE:
        at += 1
    return at


@compiled
def _is_blank(at: int) -> bool:
    return byte(at) in (_BLANK, _TAB)


# --- variables ----------------------------------------------------------------------------------------------------


@compiled
def _variable(text: int, floor: int, at: int) -> tuple[int, int, int]:
    """Kind, start and end of what the digit there belongs to; before ``floor`` all is spent."""
    head = at
    while head > floor and CLASS[byte(head - 1)] & LOW_HEX:
        head -= 1
    if head < at and _starts_word(text, head):
        end = _hex_end(head)
        if end:
            return _HEX, head, end
    run = digits(at)
    length = lowest(~run)
    if length == LOOK:
        length = digits_end(at) - at
    after = byte(at + length)
    if not CLASS[after] & JOINS:
        return _NUMBER, at, at + length
    style, end = clock_at(text, at, run, length, after)
    if style != NO_CLOCK:
        return style, at, end
    kind, end = _joined(text, at, run, length, after)
    return kind, at, end


@compiled
def _joined(text: int, at: int, run: int, length: int, after: int) -> tuple[int, int]:
    """Kind and end of digits, so many, with a byte behind them that may belong to them."""
    end = 0
    if after == _DOT:
        end = _ip_end(at, run, length)
        if end:
            return _IP, end
    elif after == _X and length == 1 and byte(at) == _ZERO and CLASS[byte(at + 2)] & ANY_HEX:
        end = any_hexes_end(at + 2)
    elif (CLASS[after] & LOW_HEX or (after == _DASH and length == 8)) and _starts_word(text, at):
        end = _hex_end(at)
    if end:
        return _HEX, end
    return _NUMBER, _number_end(at + length)


@compiled
def _starts_word(text: int, at: int) -> bool:
    return at == text or not CLASS[byte(at - 1)] & WORD


@compiled
def _hex_end(at: int) -> int:
    """The end of a UUID or of a word of hexadecimal digits that holds both digits and letters; 0 when there is none."""
    end = _uuid_end(at)
    if end:
        return end
    kinds = digits(at)
    turn = lowest(~kinds) if kinds & 1 else lowest(kinds)
    if turn >= LOOK:
        turn = _turn(at)
    end = hexes_end(at)
    return end if end - at - turn > 6 and not CLASS[byte(end)] & WORD else 0


@compiled
def _turn(at: int) -> int:
    """How many digits stand there before a letter, or letters before a digit."""
    first, end = CLASS[byte(at)] & DIGIT, at
    while CLASS[byte(end)] & (DIGIT | LOW_HEX) and CLASS[byte(end)] & DIGIT == first:
        end += 1
    return end - at


@compiled
def _uuid_end(at: int) -> int:
    """12345678-abcd-1234-abcd-1234567890ab, a digit among the first eight."""
    if byte(at + 8) != _DASH or byte(at + 13) != _DASH or byte(at + 18) != _DASH or byte(at + 23) != _DASH:
        return 0
    if hexes(at) & _UUID_ALL != _UUID or hexes(at + 24) & _NODE_ALL != _NODE_ALL or digits(at) & _HEAD_ALL == 0:
        return 0
    return 0 if CLASS[byte(at + 36)] & WORD else at + 36


@compiled
def _ip_end(at: int, run: int, length: int) -> int:
    """10.0.3.7 with a port or without; bit i of ``run`` says that byte i is a digit, the first so many are."""
    for _ in range(3):
        if not 1 <= length <= 3 or byte(at + length) != _DOT:
            return 0
        at, run = at + length + 1, run >> (length + 1)
        length = lowest(~run)
    if length == 0:
        return 0
    at += min(length, 3)
    if byte(at) == _COLON and CLASS[byte(at + 1)] & DIGIT:
        return digits_end(at + 1)
    return at


@compiled
def _number_end(at: int) -> int:
    """From the end of the first digits on: a fraction, an exponent."""
    if byte(at) == _DOT and CLASS[byte(at + 1)] & DIGIT:
        at = digits_end(at + 1)
    if byte(at) | LOWER == _E:
        sign = at + 1
        if byte(sign) in (_PLUS, _DASH):
            sign += 1
        if CLASS[byte(sign)] & DIGIT:
            return digits_end(sign)
    return at
