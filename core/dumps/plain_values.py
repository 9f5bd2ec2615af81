"""Plain values of a dump file: JSON, or a pickle read by an interpreter that knows plain containers and scalars only.

Python's own unpickler can be told to refuse classes, but a hostile memo index makes it take memory before it refuses.
This one has no opcode for names, calls, persistent ids or extensions at all, so nothing in a file can be looked up.
"""

import json
import struct
from collections.abc import Callable
from typing import Any

from core.errors import UnreadableLog

MAX_BYTES = 64 << 20  # 2,000 entries, as many as torch keeps unless told, with 30 frames each are a pickle of 1.3 MB
MAX_VALUES = 4_000_000  # objects of one dump: what so many bytes can honestly hold
MAX_DEPTH = 16  # torch nests four deep, py-spy five
_MARK = object()


def read_json(data: bytes, name: str) -> Any:
    """The value that a JSON file holds."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UnreadableLog(f"{name} is broken JSON.", "Was the dump cut off while it was written?") from error
    _check(value, name)
    return value


def read_pickle(data: bytes, name: str) -> Any:
    """The value that a pickle holds, when it is made of dicts, lists, tuples, strings, bytes and numbers."""
    try:
        value = _Reader(data).run()
    except _Refused as error:
        raise UnreadableLog(f"{name} was not read: {error}.", "Dumps hold plain dicts, lists and numbers.") from error
    except (IndexError, KeyError, TypeError, ValueError, struct.error) as error:
        raise UnreadableLog(f"{name} is a broken pickle.", "Was the dump cut off while it was written?") from error
    _check(value, name)
    return value


class _Refused(Exception):
    """The pickle asks for more than plain values."""


class _Reader:
    """A pickle machine without names: a stack, a memo, and one method for each kind of opcode."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def run(self) -> Any:
        """The value that the pickle holds; runs its opcodes up to STOP."""
        data, size = self._data, len(self._data)
        while self._at < size:
            code = data[self._at]
            self._at += 1
            if code == _STOP:
                value = self.pop()
                if self._stack:
                    raise ValueError("more than one value")
                return value
            step = _STEPS.get(code)
            if step is None:
                raise _Refused(f"its opcode {bytes([code])!r} makes more than plain values")
            step(self)
        raise ValueError("no STOP")

    def push(self, value: Any) -> None:
        """Put a value on the stack."""
        self._stack.append(value)

    def pop(self) -> Any:
        """The value on top; a mark is none."""
        value = self._stack.pop()
        if value is _MARK:
            raise ValueError("a mark for a value")
        return value

    def top(self, kind: type) -> Any:
        """The container of this kind on top of the stack, which stays there."""
        value = self._stack[-1]
        if not isinstance(value, kind):
            raise TypeError("no such container")
        return value

    def since_mark(self) -> list[Any]:
        """All values above the last mark, which goes too."""
        for place in range(len(self._stack) - 1, -1, -1):
            if self._stack[place] is _MARK:
                values = self._stack[place + 1 :]
                del self._stack[place:]
                return values
        raise ValueError("no mark")

    def take(self, count: int) -> bytes:
        """So many bytes of the file, and never more than it has."""
        if not 0 <= count <= len(self._data) - self._at:
            raise ValueError("cut off")
        self._at += count
        return self._data[self._at - count : self._at]

    def byte(self) -> int:
        """The next byte as a number."""
        self._at += 1
        return self._data[self._at - 1]

    def number(self, form: str) -> Any:
        """A number in the form of struct."""
        self._at += _SIZES[form[1]]
        return struct.unpack_from(form, self._data, self._at - _SIZES[form[1]])[0]

    def text(self, form: str) -> str:
        """A string with its length before it."""
        return self.take(self.number(form)).decode("utf-8", "replace")

    def long(self, form: str) -> int:
        """An integer of several bytes; a recorder's have eight."""
        size = self.number(form)
        if not 0 <= size <= 16:
            raise _Refused("it holds an integer of many digits")
        return int.from_bytes(self.take(size), "little", signed=True)

    def keep(self, place: int) -> None:
        """The value on top in the memo: as many places as there were values, whatever their numbers."""
        if self._stack[-1] is _MARK:
            raise ValueError("a mark for a value")
        self._memo[place] = self._stack[-1]

    def keep_next(self) -> None:
        """The value on top in the next place."""
        self.keep(len(self._memo))

    def recall(self, place: int) -> None:
        """A value of the memo on the stack."""
        self._stack.append(self._memo[place])

    def tuple_of(self, count: int) -> None:
        """The last values as a tuple."""
        values = [self.pop() for _ in range(count)]
        self._stack.append(tuple(reversed(values)))

    def set_items(self, values: list[Any]) -> None:
        """Keys and values into the dict below them."""
        if len(values) % 2 or not all(isinstance(key, str | int | float | bool | bytes | None) for key in values[::2]):
            raise ValueError("no keys")
        self.top(dict).update(zip(values[::2], values[1::2], strict=True))

    def set_item(self) -> None:
        """One key and value into the dict below them."""
        value, key = self.pop(), self.pop()
        self.set_items([key, value])

    def append(self) -> None:
        """One value into the list below it."""
        value = self.pop()
        self.top(list).append(value)

    def extend(self, values: list[Any]) -> None:
        """Values into the list below them."""
        self.top(list).extend(values)

    def dict_of(self, values: list[Any]) -> None:
        """A dict of keys and values."""
        self._stack.append({})
        self.set_items(values)


_SIZES = {"B": 1, "H": 2, "I": 4, "i": 4, "Q": 8, "d": 8}
_STOP = ord(".")
_STEPS: dict[int, Callable[[_Reader], None]] = {
    0x80: lambda r: _discard(r.number("<B")),  # PROTO
    0x95: lambda r: _discard(r.number("<Q")),  # FRAME: a hint how much to read
    ord("("): lambda r: r.push(_MARK),
    ord("N"): lambda r: r.push(None),
    0x88: lambda r: r.push(True),  # noqa: FBT003 - a value of the pickle
    0x89: lambda r: r.push(False),  # noqa: FBT003 - as above
    ord("K"): lambda r: r.push(r.byte()),
    ord("M"): lambda r: r.push(r.number("<H")),
    ord("J"): lambda r: r.push(r.number("<i")),
    ord("G"): lambda r: r.push(r.number(">d")),
    0x8A: lambda r: r.push(r.long("<B")),
    ord("X"): lambda r: r.push(r.text("<I")),
    0x8C: lambda r: r.push(r.text("<B")),
    0x8D: lambda r: r.push(r.text("<Q")),
    ord("U"): lambda r: r.push(r.text("<B")),
    ord("T"): lambda r: r.push(r.text("<I")),
    ord("C"): lambda r: r.push(r.take(r.number("<B"))),
    ord("B"): lambda r: r.push(r.take(r.number("<I"))),
    ord("}"): lambda r: r.push({}),
    ord("]"): lambda r: r.push([]),
    ord(")"): lambda r: r.push(()),
    ord("d"): lambda r: r.dict_of(r.since_mark()),
    ord("l"): lambda r: r.push(r.since_mark()),
    ord("t"): lambda r: r.push(tuple(r.since_mark())),
    0x85: lambda r: r.tuple_of(1),
    0x86: lambda r: r.tuple_of(2),
    0x87: lambda r: r.tuple_of(3),
    ord("s"): lambda r: r.set_item(),
    ord("u"): lambda r: r.set_items(r.since_mark()),
    ord("a"): lambda r: r.append(),
    ord("e"): lambda r: r.extend(r.since_mark()),
    ord("q"): lambda r: r.keep(r.byte()),
    ord("r"): lambda r: r.keep(r.number("<I")),
    0x94: lambda r: r.keep_next(),
    ord("h"): lambda r: r.recall(r.byte()),
    ord("j"): lambda r: r.recall(r.number("<I")),
}


def _discard(_: object) -> None:
    """Leave a number of the file alone."""


def _check(value: Any, name: str) -> None:
    """Refuse what is nested deeper, or unfolds to more values, than any dump: a value may hold another many times."""
    waiting, seen = [(value, 0)], 0
    while waiting:
        one, depth = waiting.pop()
        seen += 1
        inside: list[Any] = []
        if isinstance(one, dict):
            inside = list(one.values())
        elif isinstance(one, list | tuple):
            inside = list(one)
        if depth > MAX_DEPTH or seen + len(waiting) + len(inside) > MAX_VALUES:
            raise UnreadableLog(f"{name} was not read: it is nested deeper or holds more values than any dump.")
        waiting += [(child, depth + 1) for child in inside]
