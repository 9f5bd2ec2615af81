"""The files of a job while they grow: what is new in each since the last look, whatever became of it meanwhile.

Files appear, grow, are truncated, are rotated (``x.log`` becomes ``x.log.1`` or ``x.log.gz``) and are replaced. A
packed file is unpacked anew when it has changed, and only what is new of it is handed on.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from core.errors import UnreadableLog
from core.job import LogFile

MAX_READ = 4 << 20  # bytes of a file that one look takes; the rest waits for the next
MAX_LOOK = 32 << 20  # bytes of all files together
# What a job said before it was watched, the ends of its files: 16 MB of 512 ranks took 20 s on two busy cores.
BACKLOG = 8 << 20
# Of one file; chosen: some lines of each at least, half of BACKLOG of one at most.
MIN_BACKLOG, MAX_BACKLOG = 1 << 12, 4 << 20
HEAD = 256  # bytes by which a file is known again
_ROTATED = re.compile(r"(?P<stem>.+?)(?:[.-]\d{1,8})?(?:\.(?:gz|zst|xz))?")


@dataclass(frozen=True, slots=True)
class Growth:
    """What is new: bytes by file; files that begin anew; files whose beginning was left out."""

    added: dict[str, bytes]
    begun_again: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()


@dataclass(slots=True)
class _ReadPosition:
    """How far a file was read: bytes of its unpacked text, its stamp then, its first bytes."""

    offset: int
    stamp: str = ""
    head: bytes = b""


class GrowingFiles:
    """Remembers how far each file of a job was read."""

    def __init__(self) -> None:
        self._places: dict[str, _ReadPosition] = {}
        self._first = True

    def look(self, files: Iterable[LogFile]) -> Growth:
        """What was added to these files since the last look; at the first one, the last part of each."""
        now = {log.name: log for log in files}
        changed = [log for log in now.values() if log.name not in self._places or self._is_changed(log)]
        if self._first:
            return self._begin(changed)
        added: dict[str, bytes] = {}
        begun_again: list[str] = []
        room = MAX_LOOK
        # what was rotated away goes first: it holds the last lines of a file that begins anew
        for log in sorted(
            changed, key=lambda log: (log.name not in self._places, len(log.name), log.name), reverse=True
        ):
            if room <= 0:
                break
            place, again = self._place(log, now)
            data = _read_on(log, place, min(MAX_READ, room))
            room -= len(data)
            if again:
                begun_again.append(log.name)
            if data:
                added[log.name] = data
        return Growth(added, tuple(begun_again))

    def _begin(self, files: list[LogFile]) -> Growth:
        self._first = False
        each = max(MIN_BACKLOG, min(MAX_BACKLOG, BACKLOG // max(1, len(files))))
        added: dict[str, bytes] = {}
        cut: list[str] = []
        for log in files:
            place = self._places[log.name] = _ReadPosition(0)
            data, left_out = _read_end(log, place, each)
            if left_out:
                cut.append(log.name)
            if data:
                added[log.name] = data
        return Growth(added, cut=tuple(cut))

    def _is_changed(self, log: LogFile) -> bool:
        return self._places[log.name].stamp != log.stamp

    def _place(self, log: LogFile, now: Mapping[str, LogFile]) -> tuple[_ReadPosition, bool]:
        """How far this file was read, and whether it is another one than before."""
        known = self._places.get(log.name)
        another = known is not None and not _is_still(log, known)
        if known is None or another:
            known = self._adopted(log, now)
        self._places[log.name] = known
        return known, another

    def _adopted(self, log: LogFile, now: Mapping[str, LogFile]) -> _ReadPosition:
        """Where to begin with a new file: at its beginning, or where the file was left that it was before."""
        alike = [(name, place) for name, place in self._places.items() if place.head and _stem(name) == _stem(log.name)]
        head = _head(log) if alike else b""
        moved = [place for name, place in alike if head.startswith(place.head) and not _is_still(now.get(name), place)]
        known = max(moved, key=lambda place: place.offset, default=None)
        return _ReadPosition(0) if known is None else _ReadPosition(known.offset, head=known.head)


def _stem(name: str) -> str:
    match = _ROTATED.fullmatch(name)
    return match["stem"] if match else name


def _is_still(log: LogFile | None, place: _ReadPosition) -> bool:
    """Whether this is the file that was read: it begins as it did, and is not shorter."""
    if log is None or log.stamp == place.stamp:
        return log is not None
    try:
        with log.open() as stream:
            head = _exactly(stream, HEAD)
            return head.startswith(place.head) and (not stream.seekable() or log.size >= place.offset)
    except UnreadableLog:
        return True


def _read_on(log: LogFile, place: _ReadPosition, most: int) -> bytes:
    """What is new of a file."""
    try:
        with log.open() as stream:
            place.head = _exactly(stream, HEAD)
            data = _from(stream, place.head, place.offset, most)
    except UnreadableLog:
        return b""  # a packed file that is still written ends too early: its end comes later
    place.offset += len(data)
    place.stamp = log.stamp if len(data) < most else ""
    return data


def _read_end(log: LogFile, place: _ReadPosition, most: int) -> tuple[bytes, bool]:
    """The last whole lines of a file, and whether something before them was left out."""
    kept, left_out = b"", False
    try:
        with log.open() as stream:
            place.head = kept = _exactly(stream, HEAD)
            place.offset = len(kept)
            if stream.seekable() and log.size - most > place.offset:
                place.offset = stream.seek(log.size - most)
                kept, left_out = b"", True
            while chunk := stream.read(MAX_READ):
                place.offset += len(chunk)
                kept += chunk
                if len(kept) > 2 * most:
                    kept, left_out = kept[-most:], True
    except UnreadableLog:
        pass
    else:
        place.stamp = log.stamp
    if left_out or len(kept) > most:
        kept, left_out = kept[-most:], True
        kept = kept[kept.find(b"\n") + 1 :]
    return kept, left_out


def _from(stream: BinaryIO, head: bytes, offset: int, most: int) -> bytes:
    """At most so many bytes from this offset on, of a stream that stands behind its head."""
    if offset < len(head):
        return (head[offset:] + _exactly(stream, most))[:most]
    if stream.seekable():
        stream.seek(offset)
        return _exactly(stream, most)
    left = offset - len(head)
    while left > 0:
        skipped = stream.read(min(left, MAX_READ))
        if not skipped:
            return b""
        left -= len(skipped)
    return _exactly(stream, most)


def _exactly(stream: BinaryIO, count: int) -> bytes:
    data = b""
    while len(data) < count and (chunk := stream.read(count - len(data))):
        data += chunk
    return data


def _head(log: LogFile) -> bytes:
    try:
        with log.open() as stream:
            return _exactly(stream, HEAD)
    except UnreadableLog:
        return b""
