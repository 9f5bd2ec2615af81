"""All log files of a job, by as many workers as there are: threads, processes, or machines of a cluster.

What a worker does is a pure function of a file, a span of it, known host names and a year; it can be pickled, and so
can what comes back. Threads write columns straight to the heap of the job; from elsewhere they come with the result,
once: spans of a file are put together here.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from queue import SimpleQueue
from typing import Any

from numpy.typing import NDArray

from core.job import LogFile
from core.logs.array_store import Cells, Heap
from core.logs.columns import Chunk, Columns, Engine, narrow_chunk
from core.logs.file_rows import FileRows, join
from core.logs.fold import Limits, fold_chunk, limits, without_crowd
from core.logs.lines import NO_TIME
from core.logs.narrow import Put
from core.logs.scan import CHUNK_BYTES, FileScan, scan_file, spans
from core.logs.stream import ByteRange

Progress = Callable[[FileRows], None]
_AHEAD = 4  # tasks a thread that wait for it


@dataclass(frozen=True, slots=True)
class Reader:
    """What a worker is told: how to read any file of a job.

    put: where the rows of a file go; aside: where parts of it wait for the rest. limits: of distinct messages.
    start: of the job, in microseconds, NO_TIME when nobody knows.
    """

    known_hosts: tuple[bytes, ...]
    year: int
    engine: Engine
    put: Put
    aside: Put
    limits: Limits
    start: int = NO_TIME

    def read(self, file: LogFile) -> FileRows:
        """Read a whole file."""
        scan = self.scan(file, ByteRange())
        *before, last = scan.chunks
        return self.join([replace(scan, chunks=(*before, without_crowd(last.wide(), self.limits.chunk)))])

    def scan(self, file: LogFile, span: ByteRange) -> FileScan:
        """Scan a span of a file."""
        scan = scan_file(file, self.known_hosts, self.year, self.engine, span, self._keep)
        if span == ByteRange() or not scan.chunks:
            return scan
        *kept, last = scan.chunks
        return replace(scan, chunks=(*kept, self._keep(last.wide())))

    def join(self, scans: Sequence[FileScan]) -> FileRows:
        """Put the spans of a file together."""
        return join(scans, self.put, self.limits, self.start)

    def elsewhere(self) -> "Reader":
        """The same for another process, which sends back what it has read."""
        return replace(self, put=in_memory, aside=in_memory)

    def take(self, sent: FileScan) -> FileScan:
        """What such a process has scanned, aside where this one keeps it."""
        return replace(sent, chunks=tuple(narrow_chunk(chunk.wide(), self.aside) for chunk in sent.chunks))

    def _keep(self, columns: Columns) -> Chunk:
        return narrow_chunk(fold_chunk(columns, self.limits.chunk), self.aside)


def in_memory(array: NDArray[Any]) -> Cells:
    """Where arrays stay that are sent to another process."""
    return array


def read_files(
    files: Sequence[LogFile],
    known_hosts: Iterable[bytes],
    year: int,
    *,
    workers: int | Executor,
    engine: Engine,
    heap: Heap,
    start: int = NO_TIME,
    progress: Progress | None = None,
) -> list[FileRows]:
    """Read files; they come back in their order, and the same, whoever read them.

    Args:
        workers: number of threads, or whatever runs functions elsewhere.
        heap: takes the rows.
        start: of the job, in microseconds; it tells the day of clocks without one.
        progress: is told each file when it was read, in this thread; what it raises ends the work.
    """
    with _executors(workers) as (pool, here), heap.scratch() as scratch:
        shares = limits([file.size for file in files], CHUNK_BYTES)
        reader = Reader(tuple(known_hosts), year, engine, heap.put, scratch.put, shares, start)
        found: dict[int, FileRows] = {}
        work = _Work(pool, here, reader, files, _AHEAD * workers if isinstance(workers, int) else None)
        try:
            for place, rows in work.results():
                found[place] = rows
                if progress is not None:
                    progress(rows)
        finally:
            work.stop()
    return [found[place] for place in range(len(files))]


class _Work:
    """Files and spans of files under way; the last span of a file to be scanned has the file put together here."""

    def __init__(
        self, pool: Executor, here: Executor, reader: Reader, files: Sequence[LogFile], most: int | None
    ) -> None:
        """pool: reads; here: threads of this process, the same ones or not; most: tasks that they are given at once."""
        self._here, self._reader, self._most = here, reader, most
        self._waiting: deque[tuple[Executor, Callable[[], Any], int, int | None]] = deque()
        self._scans: dict[int, list[FileScan | None]] = {}
        self._under_way: dict[Future[Any], tuple[Executor, int, int | None]] = {}
        self._done: SimpleQueue[Future[Any]] = SimpleQueue()
        sent = reader if pool is here else reader.elsewhere()
        # the largest first, lest one worker is left with it
        for place in sorted(range(len(files)), key=lambda place: -files[place].size):
            cut = spans(files[place])
            if len(cut) == 1:
                self._waiting.append((pool, partial(sent.read, files[place]), place, None))
                continue
            self._scans[place] = [None] * len(cut)
            for number, span in enumerate(cut):
                self._waiting.append((pool, partial(sent.scan, files[place], span), place, number))
        self._begin()

    def results(self) -> Iterator[tuple[int, FileRows]]:
        """Each file with its place, as they are done."""
        while self._under_way:
            future = self._done.get()
            pool, place, number = self._under_way.pop(future)
            self._begin()
            here, got = pool is self._here, future.result()
            if number is None:
                yield place, got if here else got.moved(self._reader.put)
            else:
                self._put_together(place, number, got if here else self._reader.take(got))

    def stop(self) -> None:
        """Begin nothing more, and wait for what is under way here: it puts rows where this process keeps them.

        What runs elsewhere is not waited for: of a cluster that went away it is never done.
        """
        for future in self._under_way:
            future.cancel()
        wait([future for future, (pool, _, _) in self._under_way.items() if pool is self._here])

    def _begin(self) -> None:
        """Give out some more; of a file that was scanned nothing waits for the last one to be scanned too."""
        while self._waiting and (self._most is None or len(self._under_way) < self._most):
            self._submit(*self._waiting.popleft())

    def _put_together(self, place: int, number: int, scan: FileScan) -> None:
        scans = self._scans[place]
        scans[number] = scan
        done = [scan for scan in scans if scan is not None]
        if len(done) == len(scans):
            del self._scans[place]
            self._submit(self._here, partial(self._reader.join, done), place, None)

    def _submit(self, pool: Executor, task: Callable[[], Any], place: int, number: int | None) -> None:
        future = pool.submit(task)
        self._under_way[future] = pool, place, number
        future.add_done_callback(self._done.put)


@contextmanager
def _executors(workers: int | Executor) -> Iterator[tuple[Executor, Executor]]:
    """Who reads, and the threads of this process, which put together: the same where nobody else reads."""
    with ThreadPoolExecutor(workers if isinstance(workers, int) else None) as here:
        yield here if isinstance(workers, int) else workers, here
