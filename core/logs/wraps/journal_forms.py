"""``journalctl -o export`` and ``-o verbose``: an entry is a field a line.

Export (systemd.io/JOURNAL_EXPORT_FORMATS): ``NAME=text``, or for what is no text a line with the name, the size in
eight bytes and so many bytes; an empty line ends the entry. Verbose: a line with time and cursor, then the fields,
indented.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from core.logs.wraps.documents import MAX_RECORD, DocumentPart
from core.logs.wraps.entries import is_entry, read_entry
from core.logs.wraps.stamps import NO_STAMP, iso

EXPORT = re.compile(rb"__CURSOR=[^\n]*\n__REALTIME_TIMESTAMP=[0-9]+\n")
VERBOSE = re.compile(
    rb"(?m)^[A-Z][a-z]{2} (?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:.]++)(?P<zone>[^\n\[]*)\[s=[^\n]*\n(?=    [A-Z_])"
)
_FIELD = re.compile(rb"(?m)^    (?P<name>[A-Z_0-9]+)=(?P<value>[^\n]*(?:\n {5,}[^\n]*)*)")
_SIZE_BYTES = 8  # of a field that is no text: a number of 64 bits before it (systemd, Journal Export Format)


@dataclass(frozen=True, slots=True)
class _Entry:
    """Fields of an entry, where its message begins, and where it ends."""

    fields: dict[str, object]
    message: int
    end: int


def read_export(blocks: Iterable[bytes]) -> Iterator[DocumentPart]:
    """The entries of an export, each at the line of its message."""
    pending = b""
    for block in blocks:
        pending, at = pending + block, 0
        while (entry := _exported(pending, at)) is not None:
            yield _part(pending[at : entry.end], entry, entry.message - at)
            at = entry.end
        pending = pending[at:]
        if len(pending) > MAX_RECORD:
            yield DocumentPart(pending, broken=True)
            pending = b""
    if pending:
        entry = _exported(pending + b"\n\n", 0)
        yield DocumentPart(pending, broken=True) if entry is None else _part(pending, entry, entry.message)


def _exported(pending: bytes, at: int) -> _Entry | None:
    """The entry that begins there; None when it does not end."""
    fields, message = dict[str, object](), at
    while (newline := pending.find(b"\n", at)) >= 0:
        name, equals, value = pending[at:newline].partition(b"=")
        if not name and not equals:
            return _Entry(fields, message, newline + 1)
        begins, at = at, newline + 1
        if not equals:
            size = int.from_bytes(pending[at : at + _SIZE_BYTES], "little")
            begins, at = at + _SIZE_BYTES, at + _SIZE_BYTES + size + 1
            value = pending[begins : at - 1]
        if name == b"MESSAGE":
            message = begins
        fields[name.decode("ascii", "replace")] = value
    return None


def read_verbose(blocks: Iterable[bytes]) -> Iterator[DocumentPart]:
    """The entries of a verbose print, each at the line of its message."""
    pending = b""
    for block in blocks:
        pending += block
        *whole, last = [0, *(match.start() for match in VERBOSE.finditer(pending) if match.start())]
        for begins, ends in zip(whole, [*whole[1:], last], strict=True):
            yield _printed(pending[begins:ends])
        pending = pending[last:]
        if len(pending) > MAX_RECORD:
            yield DocumentPart(pending, broken=True)
            pending = b""
    if pending:
        yield _printed(pending)


def _printed(raw: bytes) -> DocumentPart:
    head = VERBOSE.match(raw)
    fields, message = dict[str, object](), 0
    for match in _FIELD.finditer(raw):
        indent = b"\n" + b" " * (match.start("value") - match.start())
        fields[match["name"].decode()] = match["value"].replace(indent, b"\n")
        if match["name"] == b"MESSAGE":
            message = match.start()
    utc = head is not None and head["zone"].strip() in (b"UTC", b"GMT")
    stamp = iso(head["time"] + b"Z" * utc) if head else NO_STAMP
    if not is_entry(fields):
        return DocumentPart(raw)
    return DocumentPart(raw, read_entry(fields, stamp), raw.count(b"\n", 0, message))


def _part(raw: bytes, entry: _Entry, message: int) -> DocumentPart:
    peeled = read_entry(entry.fields) if is_entry(entry.fields) else None
    return DocumentPart(raw, peeled, raw.count(b"\n", 0, message))
