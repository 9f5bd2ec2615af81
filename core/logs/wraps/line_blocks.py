"""Whole blocks of lines without their layers: lines of known forms all at once, the others one by one."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.logs.columns import SPARE
from core.logs.wraps.line_forms import Form, make_form, tokens_of_line
from core.logs.wraps.peeled import Peeled, Wrap, never
from core.logs.wraps.unwrap import Unwrapper

FAST_BYTES = 1 << 20  # of a log that are unwrapped line by line, before it is worth to load what is compiled
_ROOM = 1 << 16  # bytes that a label may add to a line, many times
_MAX_FORMS = 48  # a logger has one for each of its calls; of more all are tried in vain with each odd line
_MAX_REFUSED = 200  # lines that were no new form: a log of which none is anything else has none

_Bytes = NDArray[np.uint8]


class Blocks:
    """The lines of one file, from where so many of them are left that it is worth it."""

    def __init__(self, unwrapper: Unwrapper, layers: Sequence[Wrap]) -> None:
        """Go on with what the unwrapper has done; ImportError when there is no numba."""
        from core.logs.kernel import unwrap_kernel  # noqa: PLC0415  # it is slow to load
        from core.logs.kernel.forms import Compiled  # noqa: PLC0415

        self._kernel, self._compile = unwrap_kernel(), Compiled
        self._one_by_one, self._layers = unwrapper, layers
        self._goes_on = any(wrap.continues is not never for wrap in layers)
        self._forms: list[Form] = []
        self._refused = 0
        self._compiled = Compiled(())
        self._form = 0
        self._above = b""  # the line above, where it was one of many

    def unwrap(self, text: bytes) -> bytes:
        """The lines of a text that ends with a newline."""
        data = np.frombuffer(text + b"\n" * SPARE, np.uint8)
        room = np.empty(2 * len(text) + _ROOM, np.uint8)
        parts, at = list[bytes](), 0
        addresses = data.ctypes.data, room.ctypes.data
        while at < len(text) and not self._one_by_one.gave_up:
            behind, unwrapped = self._known(at, len(text), addresses, room)
            if behind > at:
                self._above = text[text.rfind(b"\n", 0, behind - 1) + 1 : behind - 1]
            else:
                behind = text.index(b"\n", at) + 1
                unwrapped = self._odd(text[at : behind - 1]) + b"\n"
            parts.append(unwrapped)
            at = behind
        return b"".join(parts) + (self._one_by_one.as_it_stands(text[at:]) if at < len(text) else b"")

    def _known(self, at: int, size: int, addresses: tuple[int, int], room: _Bytes) -> tuple[int, bytes]:
        """Where the lines of known forms end that begin there, and what becomes of them.

        addresses: of the text and of the room for what becomes of it.
        """
        if not self._forms or self._one_by_one.waits:
            return at, b""
        start, out = addresses
        program = self._compiled.program
        stood, end, self._form = self._kernel(start + at, start + size, program, out, len(room), self._form)
        return stood - start, room[: end - out].tobytes()

    def _odd(self, line: bytes) -> bytes:
        """A line of no known form; what it may go on with was said above it."""
        if self._goes_on and self._above:
            self._one_by_one.say(Peeled(self._above))
        self._above = b""
        self._learn(line)
        return next(self._one_by_one.unwrap((line,)))

    def _learn(self, line: bytes) -> None:
        if len(self._forms) >= _MAX_FORMS or self._refused >= _MAX_REFUSED:
            return
        tokens = tokens_of_line(line, self._layers)
        form = make_form(line, tokens, self._say_alone) if tokens is not None else None
        if form is None:
            self._refused += 1
            return
        self._forms.append(form)
        self._compiled = self._compile(self._forms)

    def _say_alone(self, line: bytes) -> bytes:
        return next(Unwrapper(self._layers).unwrap((line,)))
