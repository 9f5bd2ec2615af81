"""A block of a file, segment by segment: where each ends, what must be tidied first, and its row."""

from typing import NamedTuple

from core.logs.kernel.clocks import ISO, read_clock
from core.logs.kernel.labels import Labels, far, label_end, labels_end, stamp_end, stamp_time, stream_end
from core.logs.kernel.letters import CLASS, WORD
from core.logs.kernel.machine import LOOK, byte, compiled, copy, ends, lowest, odd, put_byte, put_half, put_word
from core.logs.kernel.masks import mask
from core.logs.kernel.table import View, has_room, index, intern
from core.logs.lines import MAX_BODY, MAX_SEGMENT, NO_TIME

_NEWLINE, _RETURN, _ESCAPE, _BELL, _BACKSLASH, _UNDERSCORE = b"\n\r\x1b\x07\\_"
_OPEN_SQUARE, _CLOSE_SQUARE, _SEMICOLON, _QUESTION, _OPEN, _CLOSE = b"[];?()"


class Text(NamedTuple):
    """Address, size and place in the file of a piece that ends with a segment; a newline stands behind it."""

    data: int
    size: int
    offset: int


class RowBuffers(NamedTuple):
    """How many rows there is space for, and the addresses of the columns."""

    capacity: int
    line: int
    offset: int
    length: int
    prefix: int
    body: int
    time: int


class ScanBuffers(NamedTuple):
    """All that a scan works with. Scratch takes a segment, out a body three times as long, both with SPARE."""

    year: int
    labels: Labels
    prefixes: View
    bodies: View
    rows: RowBuffers
    scratch: int
    out: int


class ScanState(NamedTuple):
    """What one call hands to the next."""

    at: int = 0  # bytes of the text that are done
    rows: int = 0  # rows that are filled
    line: int = 1  # number of the physical line
    begun: bool = False  # whether that line has a row
    undecodable: int = 0  # segments that are not UTF-8


def scan(text: Text, buffers: ScanBuffers, state: ScanState) -> ScanState:
    """Fill rows until the text ends, or until there is no room for one more segment."""
    index(buffers.labels.hosts)
    index(buffers.prefixes)
    index(buffers.bodies)
    at, stop = text.data + state.at, text.data + text.size
    row, line, begun, undecodable = state.rows, state.line, state.begun, state.undecodable
    while at < stop and _has_room(buffers, row):
        end, is_odd = _segment_end(at)
        ended = end < stop and byte(end) == _NEWLINE
        if end > at or (ended and not begun):
            length = min(end - at, MAX_SEGMENT)
            start, tail = at, at + length
            if is_odd or at + length < end:
                start, tail, is_text = _tidy(at, length, buffers.scratch)
                undecodable += not is_text
            begins, text_start, stamped = _prefix(start, tail, buffers)
            body_end, time = mask(text_start, tail, buffers.out, buffers.year)
            if time == NO_TIME or far(time, stamped):
                time = stamped
            put_half(buffers.rows.line + 4 * row, line)
            put_word(buffers.rows.offset + 8 * row, text.offset + at - text.data)
            put_half(buffers.rows.length + 4 * row, length)
            put_half(buffers.rows.prefix + 4 * row, intern(buffers.prefixes, begins, text_start - begins))
            put_half(
                buffers.rows.body + 4 * row, intern(buffers.bodies, buffers.out, min(body_end - buffers.out, MAX_BODY))
            )
            put_word(buffers.rows.time + 8 * row, time)
            row, begun = row + 1, True
        if ended:
            line, begun = line + 1, False
        at = end + 1
    return ScanState(min(at, stop) - text.data, row, line, begun, undecodable)


@compiled
def _prefix(start: int, tail: int, buffers: ScanBuffers) -> tuple[int, int, int]:
    """Where the prefix of a text begins and ends, and the time of a stamp before it."""
    if buffers.labels.labelled:
        begins, end = label_end(start, tail)
        if end:
            return begins, labels_end(end, buffers.labels), stamp_time(start, begins, buffers.year)
    stamped, clock = stamp_end(start)
    begins = stream_end(stamped) if stamped else start
    text_start = labels_end(begins, buffers.labels)
    if stamped and (begins > stamped or text_start > begins):
        return begins, text_start, read_clock(ISO, start, start, clock, buffers.year)
    if stamped:
        text_start = labels_end(start, buffers.labels)  # a clock of the program's own
    return start, text_start, NO_TIME


@compiled
def _has_room(buffers: ScanBuffers, row: int) -> bool:
    """Asked before a segment, so that nothing needs to be undone."""
    return (
        row < buffers.rows.capacity and has_room(buffers.bodies, MAX_BODY) and has_room(buffers.prefixes, MAX_SEGMENT)
    )


@compiled
def _segment_end(at: int) -> tuple[int, bool]:
    """The newline or carriage return that ends the segment, and whether an odd byte comes before it."""
    seen = 0
    while True:
        found, strange = ends(at), odd(at)
        if found:
            place = lowest(found)
            return at + place, (seen | strange & ((1 << place) - 1)) != 0
        seen, at = seen | strange, at + LOOK


# --- odd segments -------------------------------------------------------------------------------------------------


@compiled
def _tidy(at: int, length: int, scratch: int) -> tuple[int, int, bool]:
    """A copy without ANSI sequences, cut to length: its start and end, and whether the original is UTF-8."""
    for offset in range(0, length, LOOK):
        copy(scratch + offset, at + offset)
    put_byte(scratch + length, _NEWLINE)
    is_text = _is_utf8(scratch, scratch + length)
    tail = _drop_ansi(scratch, scratch + length)
    return scratch, tail, is_text


@compiled
def _is_utf8(at: int, end: int) -> bool:
    """As strict as ``bytes.decode``: no overlong forms, no surrogates, nothing above U+10FFFF."""
    while at < end:
        first = byte(at)
        if first < 0x80:
            at += 1
            continue
        if first < 0xC2 or first > 0xF4:
            return False
        lowest_second = 0xA0 if first == 0xE0 else (0x90 if first == 0xF0 else 0x80)
        highest_second = 0x9F if first == 0xED else (0x8F if first == 0xF4 else 0xBF)
        if not lowest_second <= byte(at + 1) <= highest_second:
            return False
        at += 2
        for _ in range((first >= 0xE0) + (first >= 0xF0)):
            if byte(at) & 0xC0 != 0x80:
                return False
            at += 1
    return True


@compiled
def _drop_ansi(at: int, end: int) -> int:
    """Remove what ``core.logs.lines`` calls ANSI in place; the new end."""
    out = at
    while at < end:
        behind = _ansi_end(at, end) if byte(at) == _ESCAPE else 0
        if behind:
            at = behind
            continue
        put_byte(out, byte(at))
        at, out = at + 1, out + 1
    put_byte(out, _NEWLINE)
    return out


@compiled
def _ansi_end(at: int, end: int) -> int:
    """The end of a sequence that an escape starts, 0 when there is none."""
    kind, tail = byte(at + 1), at + 2
    if kind == _OPEN_SQUARE:  # ESC [ 0-9;? blank-/ @-~
        while 0x30 <= byte(tail) <= 0x39 or byte(tail) == _SEMICOLON or byte(tail) == _QUESTION:
            tail += 1
        while 0x20 <= byte(tail) <= 0x2F:
            tail += 1
        return tail + 1 if 0x40 <= byte(tail) <= 0x7E else 0
    if kind == _CLOSE_SQUARE:  # ESC ] ... BEL, or ESC \\ as its end
        while tail < end and byte(tail) != _BELL and byte(tail) != _ESCAPE and byte(tail) != _RETURN:
            tail += 1
        if byte(tail) == _BELL and tail < end:
            return tail + 1
        return tail + 2 if byte(tail) == _ESCAPE and byte(tail + 1) == _BACKSLASH and tail + 1 < end else 0
    if kind in (_OPEN, _CLOSE):
        return tail + 1 if tail < end and CLASS[byte(tail)] & WORD and byte(tail) != _UNDERSCORE else 0
    return 0
