"""JSON objects of logs, which may hold anything: no error but "this is none"."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

MAX_DEPTH = 4  # objects in objects, of which the fields are told

# Numbers stay as they were written: 6.3304, 1e18, -0, NaN, and those of 5,000 digits.
DECODER = json.JSONDecoder(strict=False, parse_float=str, parse_int=str, parse_constant=str)


def read_object(line: bytes) -> dict[str, Any] | None:
    """The object that a line is, with numbers as they were written; None when it is none."""
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        value = DECODER.decode(as_text(line))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def names_of(line: bytes) -> bytes:
    """The names of the fields of the object that a line is, with those of objects in it; empty when it is none."""
    record = read_object(line)
    return b"" if record is None else as_bytes("\0".join(_names(record)))


def _names(record: Mapping[str, Any], depth: int = 1) -> Iterator[str]:
    for name, value in record.items():
        yield name
        if isinstance(value, dict) and depth < MAX_DEPTH:
            yield from _names(value, depth + 1)


def as_text(line: bytes) -> str:
    """Bytes as text; those that are not UTF-8 come back as they were."""
    return line.decode("utf-8", "surrogateescape")


def as_bytes(text: object) -> bytes:
    r"""Text as bytes, whatever it is; halves of a character (``\\ud83d``) become question marks."""
    decoded = str(text)
    try:
        return decoded.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return decoded.encode("utf-8", "replace")
