"""Columns in few bytes, arrays that lie on disk, and files that were kept: what was put in is what comes out."""

import errno
import io
import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.support.memory_cache import MemoryCache
from bot.fetch.cache import FolderCache
from core.diagnose import diagnose_parsed
from core.events.table import EventTable
from core.job import Job, LogFile
from core.logs import log_files as reading
from core.logs import scan, stream
from core.logs.array_store import Heap, NoSpace
from core.logs.columns import Block
from core.logs.file_rows import COLUMNS, FileRows
from core.logs.log_files import in_memory, read_files
from core.logs.narrow import BLOCK_ROWS, narrow
from core.logs.read_cache import read_kept, write_kept
from core.logs.scan import scan_blocks
from core.memory import Memory
from core.parsed import parse_job
from core.parsing.parse import read_job
from tests.support.jobs import example, job, lines, raised, steps

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

VALUES = st.lists(st.sampled_from([-1, 0, 1, 255, 256, 70_000, 1 << 33, 1 << 60]), max_size=40)
TEXT = lines(*steps(40), *raised("ValueError: boom 7"), "no clock here", *steps(80, first=41))


def of_rows(file: FileRows) -> tuple[object, ...]:
    """All that is known of a file."""
    columns = {name: [getattr(part, name)[:].tolist() for part in file.parts] for name in COLUMNS}
    tally = {
        name: getattr(file.tally, name).tolist() for name in ("prefix", "message", "heads", "rows", "first", "last")
    }
    known = (file.name, file.size, file.lines, file.undecodable, file.problem, file.prefixes, file.texts)
    return known, {name: [value for part in parts for value in part] for name, parts in columns.items()}, tally


def logs(*texts: str) -> list[LogFile]:
    return [LogFile(f"{at}.log", len(text), "", partial(io.BytesIO, text.encode())) for at, text in enumerate(texts)]


def read(files: Sequence[LogFile], workers: int | Executor = 1, heap: Heap | None = None) -> list[FileRows]:
    return read_files(files, (), 2026, workers=workers, engine=scan_blocks, heap=heap or Heap())


@given(values=VALUES, slope=st.sampled_from([0, 1, -3]), times=st.integers(1, 2 * BLOCK_ROWS // 40))
def test_a_narrow_column_gives_back_its_values(values: list[int], slope: int, times: int) -> None:
    """Any numbers, by slices and by places, in memory and on disk."""
    wide = np.array(values * times, np.int64)
    some = np.arange(0, len(wide), 3)

    for put in (in_memory, Heap(0).put):
        column = narrow(wide, put, slope=slope)
        assert column[:].tolist() == wide.tolist()
        assert column[3:-2].tolist() == wide[3:-2].tolist()
        assert column[some].tolist() == wide[some].tolist()


def test_a_constant_column_takes_no_space() -> None:
    """One prefix, lines that count up: nothing is written a row."""
    assert narrow(np.full(10_000, 7), in_memory).above is None
    assert narrow(np.arange(10_000), in_memory, slope=1).above is None


def test_a_heap_holds_what_its_memory_allows_and_writes_the_rest() -> None:
    """In memory up to the budget, then to disk; what is read is the same."""
    heap = Heap(100)
    arrays = [np.arange(10 * n, 10 * n + 10, dtype=np.int64) for n in range(5)]

    cells = [heap.put(array) for array in arrays]

    assert [isinstance(cell, np.ndarray) for cell in cells] == [True, False, False, False, False]
    assert [cell[:].tolist() for cell in cells] == [array.tolist() for array in arrays]
    assert cells[3][np.array([9, 0, 9])].tolist() == [39, 30, 39]
    assert pickle.loads(pickle.dumps(cells[3])).tolist() == arrays[3].tolist()


def test_the_file_of_a_heap_has_no_name(tmp_path: Path) -> None:
    """Nobody has to clean up, whatever becomes of the process."""
    heap = Heap(0, tmp_path)

    cells = heap.put(np.arange(1000))

    assert list(tmp_path.iterdir()) == []
    assert cells[999:].tolist() == [999]


@pytest.mark.parametrize("trouble", ["no folder", "full"])
def test_a_full_disk_is_told_with_a_way_out(trouble: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who may write nothing there learns where to write instead."""

    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if trouble == "full":
        monkeypatch.setattr(os, "pwrite", full)
    folder = tmp_path / "none" if trouble == "no folder" else tmp_path

    with pytest.raises(NoSpace) as raised_error:
        Heap(0, folder).put(np.arange(10))

    assert str(folder) in raised_error.value.message
    assert "TMPDIR" in raised_error.value.hint


def in_blocks_of(size: int) -> Callable[..., Iterator[Block]]:
    """Cuts streams into blocks of that size, whatever is asked for: small files have a buffer of their own."""
    return lambda read_from, offset=0, **_: stream.blocks(read_from, size, offset)


def test_memory_and_spans_change_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """On disk or not, in one piece or in many that end anywhere: the rows are the same."""
    files = logs(TEXT, "", "x" * 700 + "\nafter", TEXT.replace("iteration", "[rank3]: iteration"), "\n\r\n a\rb\n" * 90)
    expected = [of_rows(file) for file in read(files)]

    for size in (100, 333, 1000):
        monkeypatch.setattr(scan, "SPAN_BYTES", size)
        monkeypatch.setattr(scan, "CHUNK_BYTES", size // 2)
        monkeypatch.setattr(scan, "blocks", in_blocks_of(size // 3))
        assert [of_rows(file) for file in read(files, 3, Heap(0))] == expected


def test_after_so_many_rows_another_chunk_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded by rows as by bytes, and no row is lost between two chunks."""
    files = logs(TEXT, "\n" * 500, "a\rb\r" * 50 + "\nc")
    expected = [of_rows(file) for file in read(files)]
    monkeypatch.setattr(scan, "CHUNK_ROWS", 7)
    monkeypatch.setattr(scan, "blocks", in_blocks_of(40))

    assert [len(scan.scan_file(file, (), 2026, scan.scan_blocks).chunks) > 5 for file in files] == [True, True, False]
    assert [of_rows(file) for file in read(files)] == expected


@pytest.mark.parametrize("text", ["\n" * 60_000, "a\r" * 30_000 + "b\n" * 30_000])
def test_a_log_of_nothing_but_line_ends_is_left(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gigabyte of newlines would be a billion rows; what was read by then is kept, and the reader is told."""
    monkeypatch.setattr(scan, "MAX_SHORT", 10_000)
    monkeypatch.setattr(scan, "CHUNK_ROWS", 1000)
    monkeypatch.setattr(scan, "blocks", in_blocks_of(1000))

    (found,) = read(logs(text))

    assert found.problem is not None
    assert "more than 10,000 lines of less than 8 bytes" in found.problem
    assert 10_000 < sum(len(part) for part in found.parts) < 35_000  # the first line of one has 30,000 parts


def test_packed_files_come_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be entered in its middle is read from its beginning, and never held as a whole."""

    class Packed(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def readinto(self, buffer: "WriteableBuffer", /) -> int:
            return super().readinto(memoryview(buffer)[:200])

    file = LogFile("a.log.gz", len(TEXT), "", partial(Packed, TEXT.encode()))
    (expected,) = read([file])
    monkeypatch.setattr(scan, "CHUNK_BYTES", 500)

    (found,) = read([file])

    assert len(scan.spans(file)) == 1
    assert of_rows(found) == of_rows(expected)


@pytest.mark.slow
def test_any_executor_reads_the_same() -> None:
    """Threads, processes, and so the machines of a cluster: what goes to them and what comes back can be pickled."""
    files = example("f01").logs[:6]
    expected = [of_rows(file) for file in read(files)]

    with ProcessPoolExecutor(2) as processes, ThreadPoolExecutor(2) as threads:
        assert [of_rows(file) for file in read(files, processes, Heap(0))] == expected
        assert [of_rows(file) for file in read(files, threads)] == expected


# --- what is kept -------------------------------------------------------------------------------------------------


def test_kept_rows_are_the_rows(tmp_path: Path) -> None:
    """A job that was read once is there again, with all that is known of its files."""
    heap = Heap(0)
    files = read(logs(TEXT, "[rank1]: caf\u00e9 7\n", ""), heap=heap)
    path = tmp_path / "rows"
    kept = write_kept(files, heap)
    path.write_bytes(os.pread(kept, 1 << 24, 0))

    found = read_kept(os.open(path, os.O_RDONLY))

    assert found is not None
    assert [of_rows(file) for file in found] == [of_rows(file) for file in files]


@pytest.mark.parametrize(
    "harm", [lambda data: data[:-1], lambda data: data[:0], lambda data: data[:-60] + b"x" + data[-59:]]
)
def test_damaged_rows_are_none(harm: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """A file that was cut short or changed counts as not there."""
    heap = Heap(0)
    kept = write_kept(read(logs(TEXT), heap=heap), heap)
    path = tmp_path / "rows"
    path.write_bytes(harm(os.pread(kept, 1 << 24, 0)))

    assert read_kept(os.open(path, os.O_RDONLY)) is None


def large(monkeypatch: pytest.MonkeyPatch) -> Job:
    """A job that counts as large."""
    monkeypatch.setattr("core.parsing.parse.KERNEL_BYTES", 1000)
    monkeypatch.setattr(reading, "scan_file", scan.scan_file)
    return job({"node-0.log": TEXT, "node-1.log": TEXT + lines(*raised("OSError: gone"))})


def test_a_job_is_not_read_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second diagnosis opens the logs only for the lines that it cites, and says the same."""
    one, cache = large(monkeypatch), FolderCache(tmp_path)
    first = parse_job(one, (), cache=cache, workers=1, progress=None)
    expected = diagnose_parsed(first)
    monkeypatch.setattr(reading, "scan_file", None)  # who calls it fails
    monkeypatch.setattr(EventTable, "heads_in", None)  # nor does anybody look through all rows again

    second = parse_job(one, (), cache=cache, workers=1, progress=None)

    assert [of_rows(file) for file in second.reading.scans] == [of_rows(file) for file in first.reading.scans]
    assert diagnose_parsed(second) == expected


def test_a_job_without_room_in_the_cache_is_read_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that is full or broken costs time, nothing else."""
    one = large(monkeypatch)
    (tmp_path / "file").write_text("")

    for cache in (
        FolderCache(tmp_path / "file" / "cache"),
        FolderCache(tmp_path / "small", max_bytes=10),
        MemoryCache(),
    ):
        assert read_job(one, cache=cache).counts() == read_job(one).counts()


def test_an_answer_is_computed_once() -> None:
    """The same question about the same thing; another thing has answers of its own."""
    cache, asked = MemoryCache(), list[str]()

    def compute() -> bytes:
        asked.append("asked")
        return b"answer"

    assert [Memory(cache, key).of("why", compute) for key in ("a", "a", "b")] == [b"answer"] * 3
    assert len(asked) == 2
