"""Lines of known forms without their layers: ``core.logs.wraps.line_forms``, compiled.

Forms are a program: for each its tokens as operations of four numbers, and the pieces of what comes out. A line is
tried with the form of the line before it first, because lines of a form come in a row.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.logs.kernel.letters import CLASS, DIGIT, NAME, WORD
from core.logs.kernel.machine import LOOK, byte, compiled, copy, digits_end, put_byte, put_word, word
from core.logs.wraps.line_forms import NO_OBJECT, Form, Run, RunKind

_REST, _TEXT, _PLAIN, _QUOTED, _NAME, _HOST, _DIGITS, _COUNT, _NUMBER, _SHAPE, _SOME, _BARE = (
    int(kind) for kind in RunKind
)
_LITERAL, _NO_OBJECT, _END = 16, 17, 18  # other operations, beyond all kinds of runs
_OPERATION = 4  # words: what, two of its own, the run
_WORD = 8  # bytes

_NEWLINE, _RETURN, _ESCAPE, _MARK, _BLANK, _QUOTE, _EQUALS, _BACKSLASH, _OPEN, _CLOSE = b'\n\r\x1b\x1e "=\\{}'
_ZERO, _NINE, _DASH, _PLUS, _DOT, _E, _UPPER_E, _UNDERSCORE, _TILDE = b"09-+.eE_~"


class FormArrays(NamedTuple):
    """How many forms there are, and addresses of arrays, all of int64 but the arena."""

    forms: int
    starts: int  # of the operations of each form
    operations: int
    outs: int  # the first piece of each form
    pieces: int  # place in the arena and size, or -1 and the number of a run
    arena: int
    spans: int  # start and end of each run of the line at hand


class Compiled:
    """The owner of a program's arrays.

    program: what compiled code is told; valid while its owner lives.
    """

    def __init__(self, forms: Sequence[Form]) -> None:
        """Write the program of some forms."""
        self._arena = bytearray()
        starts, operations, outs, pieces, runs = [0], list[int](), [0], list[int](), 0
        for form in forms:
            operations += self._operations(form)
            starts.append(len(operations) // _OPERATION)
            for piece in form.pieces:
                pieces += [*self._kept(piece)] if isinstance(piece, bytes) else [-1, piece]
            outs.append(len(pieces) // 2)
            runs = max(runs, sum(isinstance(token, Run) for token in form.tokens))
        self._arrays = [np.array(numbers or [0], np.int64) for numbers in (starts, operations, outs, pieces)]
        self._bytes = np.frombuffer(bytes(self._arena) + b"\0" * LOOK, np.uint8)
        self._spans = np.zeros(2 * runs + 2, np.int64)
        # once: numpy takes microseconds for an address, and the program is asked for after each odd line
        arrays: tuple[NDArray[Any], ...] = (*self._arrays, self._bytes, self._spans)
        addresses = [array.ctypes.data for array in arrays]
        self.program = FormArrays(len(forms), *addresses)

    def _operations(self, form: Form) -> list[int]:
        found, run = list[int](), 0
        for token in form.tokens:
            if isinstance(token, bytes):
                found += [_LITERAL, *self._kept(token), 0]
            elif token is NO_OBJECT:
                found += [_NO_OBJECT, 0, 0, 0]
            else:
                at, size = self._kept(token.shape)
                found += [int(token.kind), size if token.kind is RunKind.SHAPE else token.most, at, run]
                run += 1
        return [*found, _END, 0, 0, 0]

    def _kept(self, text: bytes) -> tuple[int, int]:
        at = len(self._arena)
        self._arena += text
        return at, len(text)


def unwrap(at: int, stop: int, program: FormArrays, out: int, room: int, form: int) -> tuple[int, int, int]:
    """Unwrap lines until one has no known form, or the text or the room ends.

    Every line ends with a newline. Gives where the first line stands that is left, the end of what was written, and the
    form of the last line.
    """
    limit = out + room
    while at < stop:
        end = 0
        for number in range(program.forms):
            tried = form if number == 0 else number - 1 if number <= form else number
            end = _match(at, program, word(program.starts + _WORD * tried), stop)
            if end:
                form = tried
                break
        if end == 0:
            break
        written = _write(program, form, out, limit)
        if written == 0:
            break
        at, out = end + 1, written
    return at, out, form


@compiled
def _match(at: int, program: FormArrays, operation: int, stop: int) -> int:
    """The end of the line there, when it is of the form whose operations start there; else 0."""
    line = at
    while True:
        here = program.operations + _WORD * _OPERATION * operation
        what, one, two = word(here), word(here + _WORD), word(here + 2 * _WORD)
        operation += 1
        if what == _LITERAL:
            for place in range(two):
                if byte(at + place) != byte(program.arena + one + place):
                    return 0
            at += two
        elif what == _END:
            return at if byte(at) == _NEWLINE and at < stop else 0
        elif what == _NO_OBJECT:
            if not _is_beside(at, line):
                return 0
        else:
            end = _run_end(what, at, one, program.arena + two)
            if end < 0:
                return 0
            run = word(here + 3 * _WORD)
            put_word(program.spans + 2 * _WORD * run, at)
            put_word(program.spans + 2 * _WORD * run + _WORD, end)
            at = end


@compiled
def _run_end(kind: int, at: int, most: int, shape: int) -> int:
    """Where a run ends that starts there, -1 when there is none."""
    if kind == _SHAPE:
        return _shape_end(at, most, shape)
    end = _free_end(kind, at)
    return end if end - at <= most else -1


@compiled
def _shape_end(at: int, size: int, shape: int) -> int:
    for place in range(size):
        letter, wanted = byte(at + place), byte(shape + place)
        if (letter != wanted) if wanted != _NINE else not _ZERO <= letter <= _NINE:
            return -1
    return at + size


@compiled
def _free_end(kind: int, at: int) -> int:
    if kind == _REST:
        end = at
        while byte(end) not in (_NEWLINE, _RETURN, _ESCAPE, _MARK):
            end += 1
        return end
    if kind in (_TEXT, _SOME, _PLAIN, _QUOTED):
        return _string_end(kind, at)
    if kind in (_NAME, _HOST, _BARE):
        return _name_end(kind, at)
    if kind == _NUMBER:
        return _number_end(at)
    end = digits_end(at)
    return end if kind == _DIGITS or (end > at and (byte(at) != _ZERO or end == at + 1)) else -1


@compiled
def _string_end(kind: int, at: int) -> int:
    """The end of a string without escapes."""
    end, is_odd = at, False
    while byte(end) >= _BLANK and byte(end) != _QUOTE and byte(end) != _BACKSLASH:
        is_odd |= byte(end) == _BLANK or byte(end) == _EQUALS
        end += 1
    if kind == _TEXT:
        return end
    fits = not is_odd if kind == _PLAIN else is_odd if kind == _QUOTED else True
    return end if fits and end > at else -1


@compiled
def _name_end(kind: int, at: int) -> int:
    end = at
    if kind == _HOST:
        while CLASS[byte(end)] & NAME:
            end += 1
        return end if end > at and CLASS[byte(at)] & WORD and byte(at) != _UNDERSCORE else -1
    while _BLANK < byte(end) <= _TILDE and byte(end) != _QUOTE and byte(end) != _BACKSLASH:
        if kind == _BARE and byte(end) == _EQUALS:
            return -1
        end += 1
    return end if end > at else -1


@compiled
def _number_end(at: int) -> int:
    """The end of a number as JSON has it, or a place before the start."""
    start = at + (byte(at) == _DASH)
    end = digits_end(start)
    if end == start:
        return -1
    if byte(start) == _ZERO:
        end = start + 1
    if byte(end) == _DOT and CLASS[byte(end + 1)] & DIGIT:
        end = digits_end(end + 1)
    if byte(end) == _E or byte(end) == _UPPER_E:
        sign = end + 1 + (byte(end + 1) == _DASH or byte(end + 1) == _PLUS)
        power = digits_end(sign)
        end = power if power > sign else end
    return end


@compiled
def _is_beside(at: int, line: int) -> bool:
    """Whether what stands there begins as no object does, and the line ends as none does."""
    while byte(at) == _BLANK or (0x09 <= byte(at) <= 0x0D and byte(at) != _NEWLINE):
        at += 1
    if byte(at) == _OPEN:
        return False
    while byte(at) != _NEWLINE:
        at += 1
    return not (at - line >= 2 and byte(at - 1) == _CLOSE and byte(at - 2) == _QUOTE)


@compiled
def _write(program: FormArrays, form: int, out: int, limit: int) -> int:
    """Write what becomes of the line that was matched, and a newline; the end of it, 0 when there is no room."""
    first, last = word(program.outs + _WORD * form), word(program.outs + _WORD * (form + 1))
    for piece in range(first, last):
        start, size = word(program.pieces + 2 * _WORD * piece), word(program.pieces + 2 * _WORD * piece + _WORD)
        if start < 0:
            run = program.spans + 2 * _WORD * size
            start, size = word(run), word(run + _WORD) - word(run)
        else:
            start += program.arena
        if out + size + LOOK > limit:
            return 0
        for offset in range(0, size, LOOK):
            copy(out + offset, start + offset)
        out += size
    put_byte(out, _NEWLINE)
    return out + 1
