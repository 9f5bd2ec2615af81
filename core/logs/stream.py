"""The bytes of a file, or of a span of one, block by block, all through one buffer: fresh memory costs like a scan."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Protocol, cast

from core.errors import UnreadableLog
from core.job import LogFile
from core.logs.columns import SPARE, Block
from core.logs.lines import MAX_SEGMENT
from core.logs.wraps.kept_text import KeptText
from core.logs.wraps.unwrapped_stream import UnwrappedStream

BLOCK_BYTES = 1 << 20  # bytes that are read at once; chosen, not measured
_FIND_BYTES = 1 << 16  # how much is read at once in search of a line's end


@dataclass(frozen=True, slots=True)
class ByteRange:
    """The lines of a file that begin from ``start`` on and before ``stop`` (None: all that follow)."""

    start: int = 0
    stop: int | None = None


WHOLE = ByteRange()


class Stream(Protocol):
    """What blocks are cut from; open files, archives and ``io.BytesIO`` are some."""

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Fill the buffer or a part of it; how many bytes that are, none at the end."""


def blocks(stream: Stream, size: int = BLOCK_BYTES, offset: int = 0) -> Iterator[Block]:
    """Cut a stream into blocks of whole segments; each is gone when the next one is asked for.

    Of an overlong segment only the first MAX_SEGMENT bytes are kept.
    """
    buffer = bytearray(max(size, MAX_SEGMENT) + size + SPARE)
    view = memoryview(buffer)
    searched = end = 0  # a segment has begun in front of ``held``; from there to ``end`` nobody has looked for its end
    while True:
        if searched == end:
            end += stream.readinto(view[searched : searched + size]) or 0
            if searched == end:
                break
        cut = _behind_last_end(buffer, searched, end)
        if cut:
            yield Block(offset, buffer, cut)
            offset, searched, end = offset + cut, 0, end - cut
            view[:end] = bytes(view[cut : cut + end])
            searched = end
        elif end <= MAX_SEGMENT:
            searched = end
        else:
            offset_behind, kept, rest = _skip_segment(stream, buffer, offset + end, size)
            yield Block(offset, buffer, kept)
            offset, searched, end = offset_behind, 0, len(rest)
            view[:end] = rest
    if searched:
        view[searched : searched + SPARE] = b"\n" * SPARE
        yield Block(offset, buffer, searched)


def _behind_last_end(buffer: bytearray, start: int, stop: int) -> int:
    """The place behind the last newline or carriage return, 0 when there is none."""
    newline = buffer.rfind(b"\n", start, stop)
    return max(newline, buffer.rfind(b"\r", max(newline, start), stop)) + 1


def _skip_segment(stream: Stream, buffer: bytearray, offset: int, size: int) -> tuple[int, int, bytes]:
    """Read on to the end of a segment of which MAX_SEGMENT bytes are kept, from where in the file the buffer ends.

    Gives the offset behind it, how many bytes of the buffer it takes with its end, and what was read behind that.
    """
    view = memoryview(buffer)[MAX_SEGMENT : MAX_SEGMENT + size]
    while got := stream.readinto(view) or 0:
        stop = MAX_SEGMENT + got
        found = [at for end in b"\n\r" if (at := buffer.find(end, MAX_SEGMENT, stop)) >= 0]
        if found:
            at = min(found)
            rest = bytes(buffer[at + 1 : stop])
            buffer[MAX_SEGMENT] = buffer[at]
            return offset + at + 1 - MAX_SEGMENT, MAX_SEGMENT + 1, rest
        offset += got
    buffer[MAX_SEGMENT : MAX_SEGMENT + SPARE] = b"\n" * SPARE
    return offset, MAX_SEGMENT, b""


class SpanStream:
    """The bytes of a span; a broken archive is an early end, and the reason of it is noted."""

    def __init__(self, file: LogFile, span: ByteRange = WHOLE) -> None:
        """Open the file."""
        self.taken = 0  # bytes of the log, however few of them are handed on where it was unwrapped
        self.begins = 0  # where in the file that starts
        self.problem: str | None = None
        self._span = span
        self._at = 0  # bytes of the file that were read
        self._held = b""
        self._stream: BinaryIO | None = None
        try:
            self._stream = file.open()
        except UnreadableLog as error:
            self.problem = error.message
        self._unwrapped = _if_unwrapped(self._stream)

    def sample(self, size: int) -> bytes:
        """The first bytes of the file; then the span is what is read."""
        while len(self._held) < size and (chunk := self._pull(size)):
            self._held += chunk
        sample, start = self._held, self._span.start
        if start and self._stream is not None:
            self._stream.seek(start - 1)
            self._at, self._held = start - 1, b""
        if start:
            self._held = self._held[start - 1 :]  # of a file that ended within the sample
            self._find_line()
        return sample

    @property
    def capped(self) -> str:
        """What was read less exactly so far, as the end of a sentence about the file; empty for nothing."""
        return self._unwrapped.capped if self._unwrapped else ""

    def readinto(self, buffer: memoryview, /) -> int:
        """Some more bytes; none at the end."""
        if self._held:
            got = min(len(buffer), len(self._held))
            buffer[:got] = self._held[:got]
            start, self._held = self._at - len(self._held), self._held[got:]
        else:
            start, got = self._at, self._fill(buffer)
        got = self._up_to_the_stop(buffer, got, start)
        self.taken = self._unwrapped.taken if self._unwrapped else self.taken + got
        return got

    def end(self, problem: str | None = None) -> None:
        """Read no further, for a reason if there is one."""
        self.problem, self._held = problem or self.problem, b""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _find_line(self) -> None:
        """Hold what follows the next line end, when it is before the stop."""
        chunk = self._held or self._pull(_FIND_BYTES)
        self._held = b""
        while chunk:
            found = chunk.find(b"\n") + 1
            if found:
                self._held = chunk[found:]
                self.begins = self._at - len(self._held)
                if self._span.stop is not None and self.begins >= self._span.stop:
                    self.end()
                return
            if self._span.stop is not None and self._at >= self._span.stop:
                self.end()
            chunk = self._pull(_FIND_BYTES)

    def _up_to_the_stop(self, buffer: memoryview, got: int, start: int) -> int:
        """How many of the bytes belong to the span: the line that begins before the stop is its last."""
        stop = self._span.stop
        if stop is None or start + got < stop:
            return got
        last = max(0, stop - 1 - start)
        end = bytes(buffer[last:got]).find(b"\n") + 1
        if end:
            self.end()
        return last + end if end else got

    def _pull(self, size: int) -> bytes:
        buffer = bytearray(size)
        return bytes(memoryview(buffer)[: self._fill(memoryview(buffer))])

    def _fill(self, buffer: memoryview) -> int:
        if self._stream is None:
            return 0
        try:
            got = cast(Stream, self._stream).readinto(buffer) or 0
        except UnreadableLog as error:
            self.problem, got = error.message, 0
        self._at += got
        if not got:
            self._stream.close()
            self._stream = None
        return got


def _if_unwrapped(stream: object) -> UnwrappedStream | KeptText | None:
    return stream if isinstance(stream, UnwrappedStream | KeptText) else None
