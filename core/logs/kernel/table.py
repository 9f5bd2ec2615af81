"""Distinct byte strings, numbered as they come: open addressing over an arena that holds them end to end.

Python owns the arrays and makes them larger between two calls; compiled code sees their addresses.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from core.logs.kernel.machine import LOOK, compiled, copy, differ, fold, put_word, word

NOT_FOUND = -1
_WORD = 8  # bytes
_MULTIPLIER = 0x2545F4914F6CDD1D  # any odd number whose bits are well mixed


class View(NamedTuple):
    """Addresses of a table's arrays, all of int64 but the arena, and how much they hold."""

    slots: int  # number + 1 of a string, 0 for none; the place follows from the hash
    last_slot: int  # slots are a power of two, less one
    hashes: int  # of each string
    ends: int  # where each string ends in the arena, behind a 0
    arena: int
    counters: int  # strings held; strings that have a slot
    max_strings: int
    max_bytes: int
    secret: int


class Table:
    """The owner of a table's arrays."""

    def __init__(self, strings: Sequence[bytes] = (), capacity: int = 1 << 10, room: int = 1 << 17) -> None:
        """Make a table that holds some strings already, with space for so many and so many bytes."""
        text = b"".join(strings)
        capacity = 1 << max(capacity, len(strings) + 1).bit_length()
        self._slots = np.zeros(2 * capacity, np.int64)
        self._hashes = np.empty(capacity, np.int64)
        self._ends = np.zeros(capacity + 1, np.int64)
        self._ends[1 : len(strings) + 1] = np.cumsum([len(string) for string in strings])
        self._arena = np.empty(len(text) + room + LOOK, np.uint8)
        self._arena[: len(text)] = np.frombuffer(text, np.uint8)
        self._counters = np.array([len(strings), 0], np.int64)
        # Who writes a log must not choose which lines collide: the hash holds a secret of this process, as dict's does.
        # It decides where a string lies, never its number.
        self._secret = hash("core.logs.kernel.table")

    def view(self) -> View:
        """What compiled code is told; valid until ``make_room``."""
        return View(
            slots=self._slots.ctypes.data,
            last_slot=len(self._slots) - 1,
            hashes=self._hashes.ctypes.data,
            ends=self._ends.ctypes.data,
            arena=self._arena.ctypes.data,
            counters=self._counters.ctypes.data,
            max_strings=len(self._hashes),
            max_bytes=len(self._arena) - LOOK,
            secret=self._secret,
        )

    def make_room(self, needed: int) -> None:
        """Double what could not take one more string of so many bytes."""
        count = int(self._counters[0])
        used = int(self._ends[count])
        if count >= len(self._hashes):
            self._slots = np.zeros(2 * len(self._slots), np.int64)
            self._hashes = np.concatenate([self._hashes, self._hashes])
            self._ends = np.concatenate([self._ends, self._ends[1:]])
            self._counters[1] = 0
        if used + needed + LOOK > len(self._arena):
            self._arena = np.concatenate([self._arena[:used], np.empty(used + needed + LOOK, np.uint8)])

    def strings(self) -> tuple[bytes, ...]:
        """All strings, in the order of their numbers."""
        ends = self._ends[: int(self._counters[0]) + 1].tolist()
        text = self._arena[: ends[-1]].tobytes()
        return tuple(text[start:end] for start, end in pairwise(ends))


@compiled
def has_room(table: View, length: int) -> bool:
    """Whether one more string of that length fits."""
    count = word(table.counters)
    return count < table.max_strings and word(table.ends + _WORD * count) + length <= table.max_bytes


@compiled
def index(table: View) -> None:
    """Give a slot to the strings that have none: those that Python put there, or all after the table has grown."""
    for number in range(word(table.counters + _WORD), word(table.counters)):
        start = word(table.ends + _WORD * number)
        length = word(table.ends + _WORD * (number + 1)) - start
        key = _hash(table.arena + start, length, table.secret)
        put_word(table.hashes + _WORD * number, key)
        put_word(_slot(table, table.arena + start, length, key), number + 1)
    put_word(table.counters + _WORD, word(table.counters))


@compiled
def find(table: View, at: int, length: int) -> int:
    """The number of the string there, or NOT_FOUND."""
    return word(_slot(table, at, length, _hash(at, length, table.secret))) - 1


@compiled
def intern(table: View, at: int, length: int) -> int:
    """The number of the string there, a new one if need be; the table must have room."""
    key = _hash(at, length, table.secret)
    slot = _slot(table, at, length, key)
    number = word(slot) - 1
    if number != NOT_FOUND:
        return number
    number = word(table.counters)
    start = word(table.ends + _WORD * number)
    for offset in range(0, length, LOOK):
        copy(table.arena + start + offset, at + offset)
    put_word(slot, number + 1)
    put_word(table.hashes + _WORD * number, key)
    put_word(table.ends + _WORD * (number + 1), start + length)
    put_word(table.counters, number + 1)
    put_word(table.counters + _WORD, number + 1)
    return number


@compiled
def _slot(table: View, at: int, length: int, key: int) -> int:
    """The address of the slot that holds the string, or could."""
    place = key & table.last_slot
    while True:
        slot = table.slots + _WORD * place
        number = word(slot) - 1
        if number == NOT_FOUND or (word(table.hashes + _WORD * number) == key and _is(table, number, at, length)):
            return slot
        place = (place + 1) & table.last_slot


@compiled
def _is(table: View, number: int, at: int, length: int) -> bool:
    start = word(table.ends + _WORD * number)
    if word(table.ends + _WORD * (number + 1)) - start != length:
        return False
    for offset in range(0, length, LOOK):
        other = differ(table.arena + start + offset, at + offset)
        if other:  # what lies behind the string does not count
            left = length - offset
            return left < LOOK and other & ((1 << left) - 1) == 0
    return True


@compiled
def _hash(at: int, length: int, secret: int) -> int:
    """Sixteen bytes a step, folded as wyhash folds them."""
    key = secret ^ length
    while length > 2 * _WORD:
        key = fold(word(at) ^ secret, word(at + _WORD) ^ key)
        at, length = at + 2 * _WORD, length - 2 * _WORD
    key = fold(_first(at, length) ^ secret, _first(at + _WORD, length - _WORD) ^ key)
    return fold(key, _MULTIPLIER)


@compiled
def _first(at: int, length: int) -> int:
    """A word of which only so many bytes count."""
    if length >= _WORD:
        return word(at)
    return word(at) & ((1 << 8 * length) - 1) if length > 0 else 0
