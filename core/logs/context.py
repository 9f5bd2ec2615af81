"""The raw lines around a cited line, so that a reader can judge a claim without opening the logs.

Each file is streamed once, block by block; of a line only its head and its tail are kept, because the longest lines
are progress bars with the traceback at their end (docs/reference/logs.md).
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from core.errors import SourceUnavailable, UnreadableLog
from core.job import Job, LogFile
from core.logs.label import as_people_write
from core.model import Line

MAX_CHARACTERS = 2_000  # of a line that is shown; its tail gets a quarter of it
_TAIL = MAX_CHARACTERS // 4
_BLOCK = 1 << 18  # bytes read at once

Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A cited line (file, number) with its neighbours; ``missing`` says in words what could not be read."""

    file: str
    line: int
    lines: tuple[Line, ...] = ()
    missing: str = ""


def lines_around(job: Job, places: Iterable[Place], radius: int = 8) -> Mapping[Place, Excerpt]:
    """An excerpt for each place (file, line number from 1), in the order of file and line."""
    numbers_of: dict[str, set[int]] = {}
    for name, number in places:
        numbers_of.setdefault(name, set()).add(number)
    files = {log.name: log for log in (*job.logs, *job.dumps)}
    excerpts: dict[Place, Excerpt] = {}
    for name, numbers in sorted(numbers_of.items()):
        lines, problem = _read(files.get(name), numbers, radius)
        for number in sorted(numbers):
            excerpts[name, number] = _excerpt(name, number, radius, lines, problem)
    return excerpts


def _excerpt(name: str, number: int, radius: int, lines: Mapping[int, str], problem: str) -> Excerpt:
    near = range(max(1, number - radius), number + radius + 1)
    shown = tuple(Line(name, at, lines[at]) for at in near if at in lines)
    missing = problem if problem and near[-1] not in lines else ""
    if number not in lines and not missing:
        missing = "The file has no such line."
    return Excerpt(name, number, shown, missing)


def _read(log: LogFile | None, numbers: Iterable[int], radius: int) -> tuple[Mapping[int, str], str]:
    """The wanted lines that could be read, and a sentence about the trouble, if there was any."""
    if log is None:
        return {}, "The job has no such file."
    gatherer = _Gatherer(_ranges(numbers, radius))
    try:
        with log.open() as stream:
            gatherer.read(stream)
    except (UnreadableLog, SourceUnavailable) as trouble:
        return gatherer.lines(), trouble.message
    return gatherer.lines(), ""


def _ranges(numbers: Iterable[int], radius: int) -> Sequence[tuple[int, int]]:
    """The wanted lines as ranges (first, last), sorted and apart from each other."""
    ranges: list[tuple[int, int]] = []
    for number in sorted(numbers):
        first, last = max(1, number - radius), number + radius
        if ranges and first <= ranges[-1][1] + 1:
            ranges[-1] = ranges[-1][0], last
        else:
            ranges.append((first, last))
    return ranges


class _Gatherer:
    """Collects the wanted lines of one stream and stops behind the last of them."""

    def __init__(self, ranges: Sequence[tuple[int, int]]) -> None:
        self._firsts = [first for first, _ in ranges]
        self._lasts = [last for _, last in ranges]
        self._kept: dict[int, _Clipped] = {}

    def read(self, stream: BinaryIO) -> None:
        """Read until the last wanted line is complete or the stream ends."""
        at = 1  # the line that the next byte belongs to
        while at <= self._lasts[-1] and (block := stream.read(_BLOCK)):
            newlines = block.count(b"\n")
            if self._next_wanted(at) <= at + newlines:
                self._take(block, at)
            at += newlines

    def lines(self) -> dict[int, str]:
        """The lines that were collected, decoded and clipped."""
        return {number: line.text() for number, line in self._kept.items()}

    def _next_wanted(self, at: int) -> int:
        """The first wanted line from ``at`` on."""
        index = bisect_right(self._firsts, at) - 1
        if index >= 0 and at <= self._lasts[index]:
            return at
        return self._firsts[index + 1] if index + 1 < len(self._firsts) else self._lasts[-1] + 1

    def _take(self, block: bytes, at: int) -> None:
        parts = block.split(b"\n")
        for index, part in enumerate(parts):
            ended_by_block = index == len(parts) - 1 and not part  # nothing of this line has been seen yet
            if not ended_by_block and self._next_wanted(at + index) == at + index:
                self._kept.setdefault(at + index, _Clipped()).add(part)


class _Clipped:
    """The head and the tail of a line that arrives in pieces; UTF-8 needs up to four bytes a character."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = b""
        self._rest = 0  # bytes that came after the head

    def add(self, part: bytes) -> None:
        room = max(0, MAX_CHARACTERS * 4 - len(self._head))
        self._head += part[:room]
        if len(part) > room:
            self._rest += len(part) - room
            self._tail = (self._tail + part[max(room, len(part) - _TAIL * 4) :])[-_TAIL * 4 :]

    def text(self) -> str:
        """At most MAX_CHARACTERS characters: all of it, or head, ellipsis and tail."""
        gap = self._rest > len(self._tail)
        if not gap:
            whole = _decode(bytes(self._head) + self._tail)
            if len(whole) <= MAX_CHARACTERS:
                return whole
            return whole[: MAX_CHARACTERS - _TAIL - 3] + " … " + whole[-_TAIL:]
        return _decode(bytes(self._head))[: MAX_CHARACTERS - _TAIL - 3] + " … " + _decode(self._tail)[-_TAIL:]


def _decode(line: bytes) -> str:
    segments = line.removesuffix(b"\r").split(b"\r")
    return b"\r".join(map(as_people_write, segments)).decode("utf-8", errors="replace")
