"""Reading a file once: blocks, formats that are learned, broken archives, threads, and which engine."""

import io
import subprocess
import sys
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import UnreadableLog
from core.job import LogFile
from core.logs.array_store import Heap
from core.logs.columns import Block, Columns, Engine
from core.logs.file_rows import FileRows
from core.logs.lines import MAX_SEGMENT, Format
from core.logs.log_files import read_files
from core.logs.scan import (
    KERNEL_BYTES,
    SAMPLE_BYTES,
    FileScan,
    choose_engine,
    scan_blocks,
    scan_file,
)
from core.logs.stream import blocks
from tests.support.places import ROOT

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class BrokenStream(io.BytesIO):
    """Gives what it holds, then fails as a truncated archive does."""

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        got = super().readinto(buffer)
        if not got:
            raise UnreadableLog("The archive ends early.")
        return got


def log(text: bytes, name: str = "a.log") -> LogFile:
    return LogFile(name, len(text), "", lambda: io.BytesIO(text))


def only(scan: FileScan) -> Columns:
    """The columns of a file that is one chunk."""
    (chunk,) = scan.chunks
    return chunk.wide()


def pieces(text: bytes, size: int) -> list[tuple[int, bytes]]:
    """Offset and text of each block; a block itself is gone when the next one comes."""
    return [(block.offset, block.text) for block in blocks(io.BytesIO(text), size)]


def lines_of(columns: Columns) -> list[bytes]:
    return [columns.prefixes[p] + columns.bodies[b] for p, b in zip(columns.prefix, columns.body, strict=True)]


@given(text=st.binary(max_size=200) | st.text("ab\r\n").map(str.encode), size=st.integers(1, 50))
def test_blocks_are_the_text_cut_behind_line_ends(text: bytes, size: int) -> None:
    """Put together they are the file, each at its offset, and no segment lies in two."""
    found = pieces(text, size)

    assert b"".join(piece for _, piece in found) == text
    assert [offset for offset, _ in found] == [sum(len(p) for _, p in found[:n]) for n in range(len(found))]
    assert all(piece.endswith((b"\n", b"\r")) for _, piece in found[:-1])


@pytest.mark.parametrize("end", [b"\n", b"\r"])
def test_of_an_overlong_segment_only_the_beginning_is_kept(end: bytes) -> None:
    """A file without line ends does not fill the memory; what follows keeps its place."""
    long = b"x" * (5 * MAX_SEGMENT)

    found = pieces(b"first\n" + long + end + b"last\n", MAX_SEGMENT)

    assert found[0] == (0, b"first\n")
    assert found[1] == (6, b"x" * MAX_SEGMENT + end)
    assert found[-1] == (6 + len(long) + 1, b"last\n")


def test_an_overlong_segment_may_end_the_file() -> None:
    """Nothing is read twice, nothing is lost but its tail."""
    assert pieces(b"x" * (3 * MAX_SEGMENT), 1000) == [(0, b"x" * MAX_SEGMENT)]


def test_lines_are_counted_at_newlines_and_rows_are_segments() -> None:
    """The numbers are those of an editor; a progress bar has a row for each of its updates."""
    text = b"one\n\n 1%\r 2%\rTraceback\r\nfour"

    columns = scan_blocks(blocks(io.BytesIO(text)), Format())

    assert columns.line.tolist() == [1, 2, 3, 3, 3, 4]
    assert columns.offset.tolist() == [0, 4, 5, 9, 13, 24]
    assert columns.length.tolist() == [3, 0, 3, 3, 9, 4]
    assert columns.lines == 4


def test_segments_that_are_no_text_are_counted() -> None:
    """A reader is told how much could not be decoded."""
    text = b"good\nna\xefve\n\xc3\xa9t\xc3\xa9\n\xed\xa0\x80\n"

    assert scan_blocks(blocks(io.BytesIO(text)), Format()).undecodable == 2


def test_an_empty_file_has_empty_columns() -> None:
    """No rows, no lines, and the types of any other file."""
    scan = scan_file(log(b""), (), 2026, scan_blocks)

    assert (scan.bytes, scan.problem, only(scan).lines, only(scan).bodies) == (0, None, 0, ())
    assert only(scan).offset.dtype == np.int64


def test_a_truncated_archive_keeps_what_came_before() -> None:
    """What could be read is scanned, and the scan says why there is no more."""
    text = b"step 1\nstep 2\nhal"
    file = LogFile("a.log.gz", 9, "", lambda: BrokenStream(text))

    scan = scan_file(file, (), 2026, scan_blocks)

    assert lines_of(only(scan)) == [b"step <NUM>", b"step <NUM>", b"hal"]
    assert (scan.bytes, scan.problem) == (len(text), "The archive ends early.")


def test_a_file_that_does_not_open_is_an_empty_scan_with_a_problem() -> None:
    """One forbidden file does not end a diagnosis."""

    def refuse() -> io.BytesIO:
        raise UnreadableLog("Permission denied.")

    scan = scan_file(LogFile("a.log", 9, "", refuse), (), 2026, scan_blocks)

    assert (only(scan).lines, scan.problem) == (0, "Permission denied.")


def test_the_format_is_learned_from_the_beginning_of_each_file() -> None:
    """Labels that the first 256 KiB show are taken off all lines, in that file only."""
    labelled = log(b"".join(b"gpu-01: 0: step %d\n" % step for step in range(2 * SAMPLE_BYTES // 16)))

    scan = scan_file(labelled, (), 2026, scan_blocks)

    assert only(scan).prefixes == (b"gpu-01: ",)
    assert only(scan_file(log(b"gpu-01: 0: step 7\n"), (), 2026, scan_blocks)).prefixes == (b"",)
    assert only(scan_file(log(b"gpu-01: a\n"), (b"gpu-01",), 2026, scan_blocks)).prefixes == (b"gpu-01: ",)


# --- many files ---------------------------------------------------------------------------------------------------


def many(count: int) -> list[LogFile]:
    return [log(b"step 1\n" * (count - number), f"{number:03}.log") for number in range(count)]


@pytest.mark.parametrize("workers", [1, 3])
def test_scans_come_in_the_order_of_the_files(workers: int) -> None:
    """Whatever the number of workers, and whichever file is done first."""
    files = many(20)

    scans = read_files(files, iter((b"known",)), 2026, workers=workers, engine=scan_blocks, heap=Heap())

    assert [(scan.name, scan.lines) for scan in scans] == [(file.name, file.size // 7) for file in files]


def test_progress_hears_of_every_file_in_the_thread_that_asked() -> None:
    """Who shows progress needs no lock."""
    heard: list[tuple[str, int]] = []

    read_files(
        many(9), (), 2026, workers=3, engine=scan_blocks, heap=Heap(),
        progress=lambda scan: heard.append((scan.name, threading.get_ident())),
    )  # fmt: skip

    assert sorted(heard) == [(file.name, threading.get_ident()) for file in many(9)]


def test_what_progress_raises_ends_the_work() -> None:
    """Cancel does not wait for the files that nobody has begun."""
    begun: list[int] = []

    def engine(file_blocks: Iterable[Block], file_format: Format) -> Columns:
        begun.append(1)
        return scan_blocks(file_blocks, file_format)

    def cancel(scan: FileRows) -> None:
        raise KeyboardInterrupt(scan.name)

    with pytest.raises(KeyboardInterrupt):
        read_files(many(2000), (), 2026, workers=1, engine=engine, heap=Heap(), progress=cancel)

    assert len(begun) < 2000


def test_no_files_are_no_scans() -> None:
    """A job may have no logs."""
    assert read_files([], (), 2026, workers=2, engine=scan_blocks, heap=Heap()) == []


# --- engines ------------------------------------------------------------------------------------------------------


def test_a_small_job_does_not_wait_for_numba() -> None:
    """The reference is done before numba is imported; the kernel is for what takes longer."""
    script = f"""
import sys
from core.logs.scan import choose_engine
print(choose_engine({KERNEL_BYTES - 1}).__name__, "numba" in sys.modules)
print(choose_engine({KERNEL_BYTES}).__name__, "numba" in sys.modules)
"""

    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout.split("\n")[:2] == ["scan_blocks False", "scan_blocks_fast True"]


def test_without_numba_the_reference_reads_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python or machine that numba does not know is slow, not wrong."""
    monkeypatch.setitem(sys.modules, "core.logs.kernel", None)

    assert choose_engine(1 << 40) is scan_blocks


def test_a_small_file_of_very_many_lines_is_read_by_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two megabytes of empty lines took seven seconds, for engines were chosen by bytes alone."""
    chosen = []

    def noted(total_bytes: int) -> Engine:
        chosen.append(total_bytes)
        return scan_blocks

    monkeypatch.setattr("core.logs.scan.choose_engine", noted)
    monkeypatch.setattr("core.logs.scan.KERNEL_LINES", 100)
    for text in (b"\n" * 99, b"\n" * 100, b"\r" * 100):
        scan_file(log(text), (), 2026, scan_blocks)

    assert chosen == [KERNEL_BYTES, KERNEL_BYTES]
