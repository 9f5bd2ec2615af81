r"""One log file while it grows: bytes in, finished segments out; what has no end yet waits for it.

Segments end at ``\n`` and at ``\r`` (a progress bar is one line for hours), lines are numbered by ``\n``, as
``core.logs.lines`` has it. The format is learned again as the first bytes come.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from core.logs.label import as_people_write, what_was_said
from core.logs.learn_format import learn
from core.logs.lines import BARE, DAY, MAX_SEGMENT, NO_TIME, Format, take_apart
from core.logs.scan import SAMPLE_BYTES

NO_LINE = 0  # of a file whose beginning was left out
MAX_TEXT = 1_000  # bytes of a line that are kept to be shown


@dataclass(frozen=True, slots=True)
class Heard:
    """A finished segment: its line, who speaks, the masked body, the time of its own clock, and its raw beginning."""

    line: int
    prefix: bytes
    body: bytes
    time: int
    raw: bytes

    @property
    def text(self) -> str:
        """The text as it is shown, as far as it is kept."""
        return as_people_write(self.raw).decode("utf-8", "replace")

    @property
    def unlabelled(self) -> str:
        """The text without the label of a wrapper, as far as it is kept."""
        return what_was_said(self.raw).decode("utf-8", "replace")


class Tail:
    """The state of one file: what has no end yet, the number of its line, and its format."""

    def __init__(self, known_hosts: Iterable[bytes], year: int, *, numbered: bool = True) -> None:
        self._hosts = tuple(known_hosts)
        self._year = year
        self._format = Format(year=year)
        self._sample = b""
        self._learned = 0
        self._numbered = numbered
        self._line = 1
        self._open = b""  # the beginning of a segment without its end

    def feed(self, data: bytes) -> Iterator[Heard]:
        """The segments that these bytes finish."""
        self._learn(data)
        start = 0
        for end in _ends(data):
            yield from self._segment(self._open + data[start:end])
            self._open, start = b"", end + 1
            if data[end] == _NEWLINE:
                self._line += 1
        self._open = (self._open + data[start:])[:MAX_SEGMENT]

    def _segment(self, segment: bytes) -> Iterator[Heard]:
        if segment.strip():
            parts = take_apart(segment[:MAX_SEGMENT], self._format)
            line = self._line if self._numbered else NO_LINE
            time = parts.time if parts.time >= BARE + DAY else NO_TIME  # the caller has the clock of the watch
            yield Heard(line, parts.prefix, parts.body, time, segment[:MAX_TEXT])

    def _learn(self, data: bytes) -> None:
        """From the first bytes, again whenever there are twice as many: a job script speaks before the first rank."""
        if len(self._sample) >= SAMPLE_BYTES:
            return
        self._sample += data[: SAMPLE_BYTES - len(self._sample)]
        if len(self._sample) >= 2 * self._learned:
            self._learned = len(self._sample)
            self._format = learn(self._sample, self._hosts, self._year)


_NEWLINE = 10  # of ASCII


def _ends(data: bytes) -> Iterator[int]:
    newline, carriage = data.find(b"\n"), data.find(b"\r")
    while newline >= 0 or carriage >= 0:
        at = min(end for end in (newline, carriage) if end >= 0)
        yield at
        if at == newline:
            newline = data.find(b"\n", at + 1)
        else:
            carriage = data.find(b"\r", at + 1)
