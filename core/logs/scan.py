"""One pass over a log file: bytes in, columns out; nothing is held but the columns and the distinct bodies of a chunk.

A scan is a pure function of the file's bytes and its format, so files can be scanned by threads, processes or machines
in any order, and a large one in spans. ``scan_blocks`` here is the reference engine on top of ``core.logs.lines``;
``core.logs.kernel`` holds the fast one with the same contract, and a fuzz test holds them together.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO

import numpy as np

from core.errors import UnreadableLog
from core.job import LogFile
from core.logs.columns import Block, Chunk, Columns, Engine
from core.logs.lines import MAX_SEGMENT, Format, learn, segments, take_apart

BLOCK_BYTES = 1 << 20  # measured from 64 KiB to 8 MiB: smaller blocks cost calls, larger ones leave the cache
CHUNK_BYTES = 1 << 26  # of half a million lines, 20 MB as columns: two workers hold little, and a call costs nothing
SAMPLE_BYTES = 1 << 18  # enough to learn prefixes from; job scripts print less before the first rank speaks
# To import numba and load the kernel takes 0.8 s, 2 s where Python may keep no .pyc; scan_blocks reads 3 MB/s.
KERNEL_BYTES = 4 << 20
# A line costs a dozen bytes while a job is diagnosed, an empty one too; no log holds millions of lines so short.
MAX_SHORT, SHORT = 1 << 22, 8


@dataclass(frozen=True, slots=True, eq=False)
class FileScan:
    """A scanned file, or a span of one: its chunks, unpacked size, and what kept the rest of it from being read."""

    name: str
    bytes: int
    chunks: tuple[Chunk, ...]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """The lines of a file that begin from ``start`` on and before ``stop`` (None: all that follow)."""

    start: int = 0
    stop: int | None = None


def choose_engine(total_bytes: int) -> Engine:
    """The engine that is done first with so many bytes: numba takes a second to start."""
    if total_bytes < KERNEL_BYTES:
        return scan_blocks
    try:
        from core.logs.kernel import scan_blocks_fast  # noqa: PLC0415  # see above
    except ImportError:  # no numba for this Python or machine: slow, and right all the same
        return scan_blocks
    return scan_blocks_fast


def spans(file: LogFile) -> tuple[Span, ...]:
    """The spans that a file can be scanned in at the same time; a packed one has to be read from its beginning."""
    if file.size <= CHUNK_BYTES or not _is_seekable(file):
        return (Span(),)
    starts = range(0, file.size, CHUNK_BYTES)
    return tuple(Span(start, start + CHUNK_BYTES if start != starts[-1] else None) for start in starts)


def scan_file(
    file: LogFile,
    known_hosts: Iterable[bytes],
    year: int,
    engine: Engine,
    span: Span = Span(),
    keep: Callable[[Columns], Chunk] = Columns.wide,
) -> FileScan:
    """Scan a file or a span of it to its end, or to where it stops being readable.

    Args:
        keep: what becomes of a chunk when another one follows it.
    """
    reader = _Reader(file, span)
    file_format = learn(reader.sample(SAMPLE_BYTES), known_hosts, year)
    chunks: list[Chunk] = []
    for number, file_blocks in enumerate(_chunks(blocks(reader, offset=reader.begins))):
        if number:
            chunks[-1] = keep(chunks[-1].wide())
        chunks.append(_scan(file_blocks, file_format, engine))
    return FileScan(name=file.name, bytes=reader.delivered, chunks=tuple(chunks), problem=reader.problem)


def _is_seekable(file: LogFile) -> bool:
    try:
        with file.open() as stream:
            return stream.seekable()
    except UnreadableLog:
        return False


def _chunks(file_blocks: Iterator[Block]) -> Iterator[Iterator[Block]]:
    """The blocks of a file chunk by chunk, each to be taken before the next; an empty file is an empty chunk."""

    def chunk(first: Block) -> Iterator[Block]:
        size = 0
        for block in chain((first,), file_blocks):
            yield block
            size += len(block.data)
            if size >= CHUNK_BYTES and block.data.endswith(b"\n"):
                return

    first = next(file_blocks, None)
    if first is None:
        yield iter(())
    while first is not None:
        yield chunk(first)
        first = next(file_blocks, None)


def _scan(file_blocks: Iterator[Block], file_format: Format, engine: Engine) -> Columns:
    """A packed file holds many times what its size told: when it does, the kernel takes over."""
    if engine is not scan_blocks:
        return engine(file_blocks, file_format)
    ahead, size = list[Block](), 0
    for block in file_blocks:
        ahead.append(block)
        size += len(block.data)
        if size >= KERNEL_BYTES:
            return choose_engine(size)(chain(ahead, file_blocks), file_format)
    return engine(ahead, file_format)


def blocks(stream: "BinaryIO | _Reader", size: int = BLOCK_BYTES, offset: int = 0) -> Iterator[Block]:
    """Cut a stream into blocks of whole segments; of an overlong segment only the first MAX_SEGMENT bytes are kept."""
    carry, chunk = b"", stream.read(size)
    while chunk:
        newline = chunk.rfind(b"\n")
        cut = max(newline, chunk.rfind(b"\r", newline + 1)) + 1
        rest = b""
        if cut:
            yield Block(offset, b"".join((carry, memoryview(chunk)[:cut])))
            offset, carry = offset + len(carry) + cut, chunk[cut:]
        elif len(carry) + len(chunk) > MAX_SEGMENT:
            end, skipped, rest = _skip_segment(stream, size)
            yield Block(offset, (carry + chunk)[:MAX_SEGMENT] + end)
            offset, carry = offset + len(carry) + len(chunk) + skipped, b""
        else:
            carry += chunk
        chunk = rest or stream.read(size)
    if carry:
        yield Block(offset, carry)


def scan_blocks(file_blocks: Iterable[Block], file_format: Format) -> Columns:
    """The reference engine: slow, and right by definition."""
    rows: list[tuple[int, int, int, int, int, int]] = []
    prefixes: dict[bytes, int] = {}
    bodies: dict[bytes, int] = {}
    number, pending, undecodable = 1, False, 0
    for block in file_blocks:
        at = block.offset
        for piece in _physical(block.data):
            text, ended = (piece[:-1], True) if piece.endswith(b"\n") else (piece, False)
            for shift, segment in segments(text):
                if not segment and (pending or not ended):
                    continue
                kept = segment[:MAX_SEGMENT]  # as blocks() keeps of one that does not end in its block
                parts = take_apart(kept, file_format)
                prefix = prefixes.setdefault(parts.prefix, len(prefixes))
                body = bodies.setdefault(parts.body, len(bodies))
                rows.append((number, at + shift, len(kept), prefix, body, parts.time))
                undecodable += not _is_text(kept)
                pending = True
            at += len(piece)
            if ended:
                number, pending = number + 1, False
    return _columns(rows, prefixes, bodies, number - 1 + pending, undecodable)


def _physical(data: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        yield data[start:end]
        start = end


def _is_text(segment: bytes) -> bool:
    try:
        segment.decode()
    except UnicodeDecodeError:
        return False
    return True


def _columns(
    rows: list[tuple[int, int, int, int, int, int]],
    prefixes: dict[bytes, int],
    bodies: dict[bytes, int],
    lines: int,
    undecodable: int,
) -> Columns:
    table = np.array(rows, dtype=np.int64).reshape(-1, 6)
    line, offset, length, prefix, body, time = table.T
    return Columns(
        line=line.astype(np.uint32),
        offset=offset.copy(),
        length=length.astype(np.uint32),
        prefix=prefix.astype(np.uint32),
        body=body.astype(np.uint32),
        time=time.copy(),
        prefixes=tuple(prefixes),
        bodies=tuple(bodies),
        lines=lines,
        undecodable=undecodable,
    )


def _skip_segment(stream: "BinaryIO | _Reader", size: int) -> tuple[bytes, int, bytes]:
    """Read on to the end of an overlong segment: its terminator, how many bytes it took, and what follows it."""
    skipped = 0
    while chunk := stream.read(size):
        ends = [at for at in (chunk.find(b"\n"), chunk.find(b"\r")) if at >= 0]
        if ends:
            at = min(ends)
            return chunk[at : at + 1], skipped + at + 1, chunk[at + 1 :]
        skipped += len(chunk)
    return b"", skipped, b""


class _Reader:
    """The stream of a span that remembers how much it gave and turns a broken archive into an early, noted end."""

    def __init__(self, file: LogFile, span: Span = Span()) -> None:
        self.delivered = 0
        self.begins = 0  # where in the file that starts
        self.problem: str | None = None
        self._name = file.name
        self._span = span
        self._ends = 0
        self._at = 0  # bytes of the file that were read
        self._held = b""
        self._stream: BinaryIO | None = None
        try:
            self._stream = file.open()
        except UnreadableLog as error:
            self.problem = error.message

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

    def read(self, size: int) -> bytes:
        """Some more bytes; none at the end."""
        held, self._held = self._held[:size], self._held[size:]
        start = self._at - len(held) - len(self._held)
        chunk = self._up_to_the_stop(held or self._pull(size), start)
        self.delivered += len(chunk)
        self._ends += chunk.count(b"\n") + chunk.count(b"\r")
        if self._ends > MAX_SHORT and self.delivered < self._ends * SHORT:
            self._end(
                f"{self._name} holds more than {MAX_SHORT:,} lines of less than {SHORT} bytes: its rest is left out."
            )
        return chunk

    def _find_line(self) -> None:
        """Hold what follows the next line end, when it is before the stop."""
        chunk = self._held or self._pull(BLOCK_BYTES)
        self._held = b""
        while chunk:
            found = chunk.find(b"\n") + 1
            if found:
                self._held = chunk[found:]
                self.begins = self._at - len(self._held)
                if self._span.stop is not None and self.begins >= self._span.stop:
                    self._end()
                return
            if self._span.stop is not None and self._at >= self._span.stop:
                self._end()
            chunk = self._pull(BLOCK_BYTES)

    def _up_to_the_stop(self, chunk: bytes, start: int) -> bytes:
        """The part of it that belongs to the span: the line that begins before the stop is its last."""
        stop = self._span.stop
        if stop is None or start + len(chunk) < stop:
            return chunk
        end = chunk.find(b"\n", max(0, stop - 1 - start)) + 1
        if end:
            self._end()
        return chunk[:end] if end else chunk

    def _end(self, problem: str | None = None) -> None:
        self.problem, self._held = problem or self.problem, b""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _pull(self, size: int) -> bytes:
        if self._stream is None:
            return b""
        try:
            chunk = self._stream.read(size)
        except UnreadableLog as error:
            self.problem, chunk = error.message, b""
        self._at += len(chunk)
        if not chunk:
            self._stream.close()
            self._stream = None
        return chunk
