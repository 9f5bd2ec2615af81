"""One pass over a log file: bytes in, columns out; nothing is held but the columns and the distinct bodies of a chunk.

A scan is a pure function of the file's bytes and its format, so files can be scanned by threads, processes or machines
in any order, and a large one in spans. ``scan_blocks`` here is the reference engine on top of ``core.logs.lines``;
``core.logs.kernel`` holds the fast one with the same contract, and a fuzz test holds them together.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np

from core.errors import UnreadableLog
from core.job import LogFile
from core.logs.columns import CHUNK_ROWS, Block, Chunk, Columns, Engine
from core.logs.learn_format import learn
from core.logs.lines import MAX_SEGMENT, Format, segments, take_apart
from core.logs.stream import WHOLE, ByteRange, SpanStream, blocks
from core.logs.wraps.kept_text import KeptText

SPAN_BYTES = 1 << 26  # read in a fifth of a second: no worker waits long for the last one
CHUNK_BYTES = 1 << 23  # of about CHUNK_ROWS lines, 2 MB as columns: workers hold little
SAMPLE_BYTES = 1 << 18  # enough to learn prefixes from; job scripts print less before the first rank speaks
# To import numba and load the kernel takes 0.8 s, 2 s where Python may keep no .pyc; scan_blocks reads 3 MB/s.
KERNEL_BYTES = 4 << 20
KERNEL_LINES = 1 << 17  # as many as so many bytes have at 32 a line; of 2 MB of empty lines scan_blocks takes 7 s
# A line costs a dozen bytes while a job is diagnosed, an empty one too; no log holds millions of lines so short.
MAX_SHORT, SHORT = 1 << 22, 8


@dataclass(frozen=True, slots=True, eq=False)
class FileScan:
    """A scanned file, or a span of one: its chunks, unpacked size, and what kept the rest of it from being read.

    capped: what was read less exactly, as the end of a sentence about the file; empty for nothing.
    """

    name: str
    bytes: int
    chunks: tuple[Chunk, ...]
    problem: str | None = None
    capped: str = ""


def choose_engine(total_bytes: int) -> Engine:
    """The engine that is done first with so many bytes: numba takes a second to start."""
    if total_bytes < KERNEL_BYTES:
        return scan_blocks
    try:
        from core.logs.kernel import scan_blocks_fast  # noqa: PLC0415  # see above
    except ImportError:  # no numba for this Python or machine: slow, and right all the same
        return scan_blocks
    return scan_blocks_fast


def spans(file: LogFile) -> tuple[ByteRange, ...]:
    """The spans that a file can be scanned in at the same time; a packed one has to be read from its beginning."""
    if file.size <= SPAN_BYTES or not _is_seekable(file):
        return (WHOLE,)
    starts = range(0, file.size, SPAN_BYTES)
    return tuple(ByteRange(start, start + SPAN_BYTES if start != starts[-1] else None) for start in starts)


def scan_file(
    file: LogFile,
    known_hosts: Iterable[bytes],
    year: int,
    engine: Engine,
    span: ByteRange = WHOLE,
    keep: Callable[[Columns], Chunk] = Columns.wide,
) -> FileScan:
    """Scan a file or a span of it to its end, or to where it stops being readable.

    Args:
        keep: what becomes of a chunk when another one follows it.
    """
    stream = SpanStream(file, span)
    sample = stream.sample(SAMPLE_BYTES)
    file_format = learn(sample, known_hosts, year)
    # a buffer of blocks costs as much as a small file
    cut = blocks if len(sample) >= SAMPLE_BYTES else partial(blocks, size=len(sample) + 1)
    engine, file_blocks = _fitting(engine, cut(stream, offset=stream.begins))
    chunks: list[Chunk] = []
    for number, chunk_blocks in enumerate(_chunks(file_blocks)):
        if number:
            chunks[-1] = keep(chunks[-1].wide())
        chunks.append(engine(chunk_blocks, file_format))
        rows = sum(len(chunk) for chunk in chunks)
        if rows > MAX_SHORT and stream.taken < rows * SHORT:
            stream.end(
                f"{file.name} holds more than {MAX_SHORT:,} lines of less than {SHORT} bytes: its rest is left out."
            )
            break
    return FileScan(
        name=file.name, bytes=stream.taken, chunks=tuple(chunks), problem=stream.problem, capped=stream.capped
    )


def _is_seekable(file: LogFile) -> bool:
    try:
        with file.open() as stream:
            return stream.seekable() and not isinstance(stream, KeptText)  # which tells how much was read as a whole
    except UnreadableLog:
        return False


def _chunks(file_blocks: Iterator[Block]) -> Iterator[Iterator[Block]]:
    """The blocks of a file chunk by chunk; what is not taken of one is the next. An empty file is an empty chunk."""

    def chunk(first: Block) -> Iterator[Block]:
        size = 0
        for block in chain((first,), file_blocks):
            yield block
            size += block.size
            if size >= CHUNK_BYTES and block.ends_line:
                return

    first = next(file_blocks, None)
    if first is None:
        yield iter(())
    while first is not None:
        yield chunk(first)
        first = next(file_blocks, None)


def _fitting(engine: Engine, file_blocks: Iterator[Block]) -> tuple[Engine, Iterator[Block]]:
    """A packed file holds many times what its size told, or a small one very many lines: then the kernel takes over."""
    if engine is not scan_blocks:
        return engine, file_blocks
    ahead, size, lines = list[Block](), 0, 0
    for block in file_blocks:
        text = block.text
        ahead.append(Block(block.offset, text, block.size))
        size, lines = size + block.size, lines + text.count(b"\n") + text.count(b"\r")
        if size >= KERNEL_BYTES or lines >= KERNEL_LINES:
            engine = choose_engine(max(size, KERNEL_BYTES))
            break
    return engine, chain(ahead, file_blocks)


def scan_blocks(file_blocks: Iterable[Block], file_format: Format) -> Columns:
    """The reference engine: slow, and right by definition."""
    rows: list[tuple[int, int, int, int, int, int]] = []
    prefixes: dict[bytes, int] = {}
    bodies: dict[bytes, int] = {}
    number, pending, undecodable = 1, False, 0
    for block in file_blocks:
        at = block.offset
        for piece in _physical(block.text):
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
        if len(rows) >= CHUNK_ROWS and block.ends_line:
            break
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
