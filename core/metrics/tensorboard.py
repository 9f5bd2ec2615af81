"""TensorBoard's event files: scalars out of records with check sums, without TensorBoard.

Framing: TFRecord (tensorflow/core/lib/io/record_writer.h): length, its check sum, data, its check sum. Data: a message
Event (tensorflow/core/util/event.proto, framework/summary.proto, tensor.proto) in the wire format of protocol buffers.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

MAX_SCALAR = 4_096  # bytes of a record that may hold scalars; larger ones are pictures, histograms and graphs
MAX_TAG = 256  # bytes of a name
_FRAME, _FOOT = 12, 4  # bytes around a record of TFRecord: its length and the sum of that before it, its own sum behind
_POLYNOMIAL = 0x82F63B78  # CRC-32C, reflected (RFC 3720, appendix B.4)
_MASK = 0xA282EAD8  # of TFRecord, added to the turned sum
_WALL_TIME, _STEP, _SUMMARY = 1, 2, 5  # fields of Event
_VALUE, _TAG, _SIMPLE, _TENSOR = 1, 1, 2, 8  # of Summary, and of Summary.Value
_DTYPE, _CONTENT, _FLOATS, _DOUBLES = 1, 4, 5, 6  # of TensorProto
_KINDS = {1: "<f", 2: "<d"}  # DT_FLOAT, DT_DOUBLE

Field = tuple[int, int | bytes]


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value of a tag at a step; time: seconds since 1970."""

    tag: str
    time: float
    step: int
    value: float


@dataclass(frozen=True, slots=True)
class Events:
    """What a file holds. broken: records whose check sum is wrong; cut: whether it ends within a record."""

    scalars: tuple[Scalar, ...]
    broken: int = 0
    cut: bool = False


def is_events(data: bytes) -> bool:
    """Whether these are the first bytes of an event file: the check sum of the first length tells."""
    return len(data) >= _FRAME and _sum_of(data[:8]) == struct.unpack_from("<I", data, 8)[0]


def read_events(data: bytes) -> Events:
    """The scalars of an event file; behind a broken length nothing can be found."""
    starts, sizes, cut = _records(data)
    good = np.zeros(len(starts), np.bool_)
    for size in np.unique(sizes).tolist():
        mine = np.flatnonzero(sizes == size)
        checksums = [struct.unpack_from("<I", data, int(starts[at]) + size)[0] for at in mine.tolist()]
        good[mine] = _sums(data, starts[mine].tolist(), size) == np.array(checksums, np.uint32)
    found = [
        scalar
        for start, size in zip(starts[good].tolist(), sizes[good].tolist(), strict=True)
        for scalar in _scalars(data[start : start + size])
    ]
    return Events(tuple(found), int((~good).sum()), cut)


def _records(data: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64], bool]:
    """Where the data of each small record begins, how long it is, and whether the file ends within one."""
    starts, sizes, at = [], [], 0
    while at + _FRAME <= len(data):
        size, checksum = struct.unpack_from("<QI", data, at)
        if at + _FRAME + size + _FOOT > len(data) or _sum_of(data[at : at + 8]) != checksum:
            break
        if size <= MAX_SCALAR:
            starts.append(at + _FRAME)
            sizes.append(size)
        at += _FRAME + size + _FOOT
    return np.array(starts, np.int64), np.array(sizes, np.int64), at < len(data)


def _sums(data: bytes, starts: list[int], size: int) -> NDArray[np.uint32]:
    """The masked check sums of pieces of one size, all at once."""
    values, table = np.frombuffer(data, np.uint8), _table()
    at = np.array(starts, np.int64)
    state = np.full(len(at), 0xFFFFFFFF, np.uint32)
    for place in range(size):
        state = table[(state ^ values[at + place]) & 0xFF] ^ (state >> np.uint32(8))
    state = ~state
    masked: NDArray[np.uint32] = (state >> np.uint32(15) | state << np.uint32(17)) + np.uint32(_MASK)
    return masked


@lru_cache(maxsize=MAX_SCALAR)
def _sum_of(length: bytes) -> int:
    """The check sum of a length; most records have one of a few."""
    return int(_sums(length, [0], len(length))[0])


@cache
def _table() -> NDArray[np.uint32]:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> np.uint32(1)) ^ np.uint32(_POLYNOMIAL), table >> np.uint32(1))
    return table.astype(np.uint32)


# --- protocol buffers -------------------------------------------------------------------------------------------------


def _fields(data: bytes) -> Iterator[Field]:
    """Numbers and contents of the fields of a message; ends where it makes no sense."""
    at = 0
    try:
        while at < len(data):
            key, at = _varint(data, at)
            kind = key & 7
            if kind == 0:
                value, at = _varint(data, at)
                yield key >> 3, value
            elif kind in (1, 5):
                width = 8 if kind == 1 else 4
                yield key >> 3, data[at : at + width]
                at += width
            elif kind == 2:
                size, at = _varint(data, at)
                yield key >> 3, data[at : at + size]
                at += size
            else:
                return
    except IndexError:
        return


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(10):
        byte = data[at + place]
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value, at + place + 1
    raise IndexError


def _scalars(event: bytes) -> Iterator[Scalar]:
    time, step, summaries = 0.0, 0, list[bytes]()
    for number, content in _fields(event):
        if number == _WALL_TIME and isinstance(content, bytes) and len(content) == 8:
            time = float(struct.unpack("<d", content)[0])
        elif number == _STEP and isinstance(content, int):
            step = content if content < 1 << 63 else -1
        elif number == _SUMMARY and isinstance(content, bytes):
            summaries.append(content)
    for summary in summaries:
        for number, content in _fields(summary):
            if number == _VALUE and isinstance(content, bytes) and (named := _value(content)) is not None:
                yield Scalar(named[0], time, step, named[1])


def _value(content: bytes) -> tuple[str, float] | None:
    """Tag and number of a value; None of what is no scalar."""
    tag, value = "", None
    for number, content_of in _fields(content):
        if not isinstance(content_of, bytes):
            continue
        if number == _TAG:
            tag = content_of[:MAX_TAG].decode("utf-8", "replace")
        elif number == _SIMPLE and len(content_of) == 4:
            value = float(struct.unpack("<f", content_of)[0])
        elif number == _TENSOR:
            value = _of_tensor(content_of)
    return (tag, value) if tag and value is not None else None


def _of_tensor(content: bytes) -> float | None:
    """The one number of a tensor; None of one with more."""
    fields = list(_fields(content))
    kind = next((numbers for number, numbers in fields if number == _DTYPE and isinstance(numbers, int)), 0)
    form = _KINDS.get(kind)
    numbers = [text for number, text in fields if number in (_CONTENT, _FLOATS, _DOUBLES) and isinstance(text, bytes)]
    if form is None or len(numbers) != 1 or len(numbers[0]) != struct.calcsize(form):
        return None
    return float(struct.unpack(form, numbers[0])[0])
