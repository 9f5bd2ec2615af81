"""One pass over one log file: bytes in, columns out; nothing is held but the columns and the distinct bodies.

A scan is a pure function of the file's bytes and its format, so files can be scanned by threads, processes or machines
in any order. ``scan_blocks`` here is the reference engine on top of ``core.logs.lines``; ``core.logs.kernel`` holds the
fast one with the same contract, and a fuzz test holds them together.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO

import numpy as np

from core.errors import UnreadableLog
from core.job import LogFile
from core.logs.columns import Block, Columns, Engine
from core.logs.lines import MAX_SEGMENT, Format, learn, segments, take_apart

BLOCK_BYTES = 1 << 20  # measured from 64 KiB to 8 MiB: smaller blocks cost calls, larger ones leave the cache
SAMPLE_BYTES = 1 << 18  # enough to learn prefixes from; job scripts print less before the first rank speaks
# To import numba and load the kernel takes 0.8 s, 2 s where Python may keep no .pyc; scan_blocks reads 3 MB/s.
KERNEL_BYTES = 4 << 20
# A line costs 120 bytes of memory while a job is diagnosed, an empty one too; no log holds millions of lines so short.
MAX_SHORT, SHORT = 1 << 22, 8


@dataclass(frozen=True, slots=True, eq=False)
class FileScan:
    """A scanned file: its columns, unpacked size, and what kept the rest of it from being read."""

    name: str
    bytes: int
    columns: Columns
    problem: str | None = None


def choose_engine(total_bytes: int) -> Engine:
    """The engine that is done first with so many bytes: numba takes a second to start."""
    if total_bytes < KERNEL_BYTES:
        return scan_blocks
    try:
        from core.logs.kernel import scan_blocks_fast  # noqa: PLC0415  # see above
    except ImportError:  # no numba for this Python or machine: slow, and right all the same
        return scan_blocks
    return scan_blocks_fast


def scan_files(
    files: Sequence[LogFile],
    known_hosts: Iterable[bytes],
    year: int,
    *,
    workers: int,
    engine: Engine,
    progress: Callable[[FileScan], None] | None = None,
) -> list[FileScan]:
    """Scan files by threads; the scans are in the order of the files, whatever the number of workers.

    progress is told each scan when it is there, in this thread; what it raises ends the work.
    """
    hosts = tuple(known_hosts)
    largest_first = sorted(range(len(files)), key=lambda place: -files[place].size)  # lest one worker is left with it
    with ThreadPoolExecutor(workers) as pool:
        scans = {place: pool.submit(scan_file, files[place], hosts, year, engine) for place in largest_first}
        try:
            for scan in as_completed(scans.values()):
                if progress is not None:
                    progress(scan.result())
        finally:
            pool.shutdown(cancel_futures=True)
    return [scans[place].result() for place in range(len(files))]


def scan_file(file: LogFile, known_hosts: Iterable[bytes], year: int, engine: Engine) -> FileScan:
    """Scan a file to its end, or to where it stops being readable."""
    reader = _Reader(file)
    sample = reader.peek(SAMPLE_BYTES)
    columns = _scan(blocks(reader), learn(sample, known_hosts, year), engine)
    return FileScan(name=file.name, bytes=reader.delivered, columns=columns, problem=reader.problem)


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


def blocks(stream: "BinaryIO | _Reader", size: int = BLOCK_BYTES) -> Iterator[Block]:
    """Cut a stream into blocks of whole segments; of an overlong segment only the first MAX_SEGMENT bytes are kept."""
    offset, carry, chunk = 0, b"", stream.read(size)
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
    """A file's stream that remembers how much it gave and turns a broken archive into an early, noted end."""

    def __init__(self, file: LogFile) -> None:
        self.delivered = 0
        self.problem: str | None = None
        self._name = file.name
        self._ends = 0
        self._held = b""
        self._stream: BinaryIO | None = None
        try:
            self._stream = file.open()
        except UnreadableLog as error:
            self.problem = error.message

    def peek(self, size: int) -> bytes:
        while len(self._held) < size and (chunk := self._pull(size)):
            self._held += chunk
        return self._held

    def read(self, size: int) -> bytes:
        held, self._held = self._held[:size], self._held[size:]
        chunk = held or self._pull(size)
        self.delivered += len(chunk)
        self._ends += chunk.count(b"\n") + chunk.count(b"\r")
        if self._ends > MAX_SHORT and self.delivered < self._ends * SHORT:
            self._stop(
                f"{self._name} holds more than {MAX_SHORT:,} lines of less than {SHORT} bytes: its rest is left out."
            )
        return chunk

    def _stop(self, problem: str) -> None:
        self.problem, self._held = problem, b""
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
        if not chunk:
            self._stream.close()
            self._stream = None
        return chunk
