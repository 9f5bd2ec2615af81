"""All log files of a job, by as many workers as there are: threads, processes, or machines of a cluster.

What a worker does is a pure function of a file, a span of it, known host names and a year; it can be pickled, and so
can what comes back. Threads write columns straight to the heap of the job; from elsewhere they come with the result.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any

from numpy.typing import NDArray

from core.job import LogFile
from core.logs.columns import Chunk, Columns, Engine, narrow_chunk
from core.logs.heap import Cells, Heap
from core.logs.narrow import Put
from core.logs.rows import FileRows, join
from core.logs.scan import FileScan, scan_file, spans
from core.logs.stream import Span

Progress = Callable[[FileRows], None]


@dataclass(frozen=True, slots=True)
class Reader:
    """What a worker is told: how to read any file of a job.

    put: where the rows of a file go; aside: where parts of it wait for the rest.
    """

    known_hosts: tuple[bytes, ...]
    year: int
    engine: Engine
    put: Put
    aside: Put

    def read(self, file: LogFile) -> FileRows:
        """Read a whole file."""
        return self.join([self.scan(file, Span())])

    def scan(self, file: LogFile, span: Span) -> FileScan:
        """Scan a span of a file."""
        scan = scan_file(file, self.known_hosts, self.year, self.engine, span, self._keep)
        if span == Span() or not scan.chunks:
            return scan
        *kept, last = scan.chunks
        return FileScan(scan.name, scan.bytes, (*kept, self._keep(last.wide())), scan.problem)

    def join(self, scans: Sequence[FileScan]) -> FileRows:
        """Put the spans of a file together."""
        return join(scans, self.put)

    def _keep(self, columns: Columns) -> Chunk:
        return narrow_chunk(columns, self.aside)


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
    progress: Progress | None = None,
) -> list[FileRows]:
    """Read files; they come back in their order, and the same, whoever read them.

    Args:
        workers: number of threads, or whatever runs functions elsewhere.
        heap: takes the rows.
        progress: is told each file when it was read, in this thread; what it raises ends the work.
    """
    with _executor(workers) as pool, heap.scratch() as scratch:
        here = isinstance(pool, ThreadPoolExecutor)
        reader = Reader(
            tuple(known_hosts), year, engine, heap.put if here else in_memory, scratch.put if here else in_memory
        )
        found: dict[int, FileRows] = {}
        work = _Work(pool, reader, files)
        try:
            for place, rows in work.results():
                found[place] = rows if here else rows.moved(heap.put)
                if progress is not None:
                    progress(found[place])
        finally:
            work.stop()
    return [found[place] for place in range(len(files))]


class _Work:
    """Spans of files under way; the last one to be scanned of a file has the file put together."""

    def __init__(self, pool: Executor, reader: Reader, files: Sequence[LogFile]) -> None:
        self._pool, self._reader = pool, reader
        self._scans: dict[int, list[FileScan | None]] = {}
        self._under_way: dict[Future[Any], tuple[int, int | None]] = {}
        self._done: SimpleQueue[Future[Any]] = SimpleQueue()
        # the largest first, lest one worker is left with it
        for place in sorted(range(len(files)), key=lambda place: -files[place].size):
            cut = spans(files[place])
            if len(cut) == 1:
                self._submit(partial(reader.read, files[place]), place, None)
                continue
            self._scans[place] = [None] * len(cut)
            for number, span in enumerate(cut):
                self._submit(partial(reader.scan, files[place], span), place, number)

    def results(self) -> Iterator[tuple[int, FileRows]]:
        """Each file with its place, as they are done."""
        while self._under_way:
            future = self._done.get()
            place, number = self._under_way.pop(future)
            if number is None:
                yield place, future.result()
            else:
                self._put_together(place, number, future.result())

    def stop(self) -> None:
        """Begin nothing more, and wait for what is under way."""
        for future in self._under_way:
            future.cancel()
        wait(self._under_way)

    def _put_together(self, place: int, number: int, scan: FileScan) -> None:
        scans = self._scans[place]
        scans[number] = scan
        done = [scan for scan in scans if scan is not None]
        if len(done) == len(scans):
            del self._scans[place]
            self._submit(partial(self._reader.join, done), place, None)

    def _submit(self, task: Callable[[], Any], place: int, number: int | None) -> None:
        future = self._pool.submit(task)
        self._under_way[future] = place, number
        future.add_done_callback(self._done.put)


@contextmanager
def _executor(workers: int | Executor) -> Iterator[Executor]:
    if isinstance(workers, Executor):
        yield workers
        return
    with ThreadPoolExecutor(workers) as pool:
        yield pool
