"""Packed logs: every packing gives the same bytes, damage costs no more than what is damaged, bombs do not go off."""

import gzip
import io
import lzma
import random
import tracemalloc
import zlib
from collections.abc import Callable
from functools import partial
from typing import BinaryIO, cast

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from core.errors import UnreadableLog
from sources.limits import Limits
from sources.unpack import open_log

TEXT = b"".join(b"2026-11-21 03:55:%02d rank %d iteration %d\n" % (n % 60, n % 8, n) for n in range(60_000))
PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".zst": zstandard.compress,
    ".xz": lambda content: lzma.compress(content, preset=0),
}
packings = pytest.mark.parametrize("suffix", PACK)


def opened(content: bytes, name: str, limits: Limits | None = None) -> BinaryIO:
    return open_log(lambda: io.BytesIO(content), name, limits or Limits())


def everything(stream: BinaryIO, size: int = 70_001) -> tuple[bytes, UnreadableLog | None]:
    """All that a stream gives, and how it ended."""
    got = io.BytesIO()
    with stream:
        try:
            while part := stream.read(size):
                got.write(part)
        except UnreadableLog as failure:
            return got.getvalue(), failure
    return got.getvalue(), None


@packings
@pytest.mark.parametrize("size", [1 << 20, 4097, 1])
def test_every_packing_gives_the_text(suffix: str, size: int) -> None:
    """Unpacked bytes are the same for blocks of any size."""
    text = TEXT if size > 1 else TEXT[:5000]

    assert everything(opened(PACK[suffix](text), f"a.log{suffix}"), size) == (text, None)


@packings
def test_members_in_a_row_are_one_text(suffix: str) -> None:
    """Archives that were appended to, and their padding with zeros, read as one log; an empty member is no end."""
    pack = PACK[suffix]
    content = pack(TEXT[:1000]) + pack(b"") + pack(TEXT[1000:9000]) + pack(TEXT[9000:]) + bytes(512)

    assert everything(opened(content, f"a{suffix}")) == (TEXT, None)


def test_many_small_members_are_one_text() -> None:
    """A log that was flushed into a new gzip member every few lines is read whole."""
    content = b"".join(gzip.compress(TEXT[at : at + 100], 1) for at in range(0, 300_000, 100))

    assert everything(opened(content, "a.gz")) == (TEXT[:300_000], None)


def test_frames_to_be_skipped_are_skipped() -> None:
    """Parallel zstd begins with a frame that holds no text."""
    skipped = b"\x50\x2a\x4d\x18\x04\x00\x00\x00\x00\x00\x00\x00"

    assert everything(opened(skipped + zstandard.compress(TEXT) + skipped, "a.zst")) == (TEXT, None)


@packings
def test_the_content_decides_and_not_the_name(suffix: str) -> None:
    """A packed file called .log is unpacked, a plain one called .gz is read as it is."""
    assert everything(opened(PACK[suffix](TEXT), "a.log")) == (TEXT, None)
    assert everything(opened(PACK[suffix](TEXT), "a.gz")) == (TEXT, None)
    assert everything(opened(TEXT, f"a{suffix}")) == (TEXT, None)


@packings
@pytest.mark.parametrize("part", [0.9, 0.5, 0.02])
def test_a_truncated_archive_gives_all_up_to_the_cut(suffix: str, part: float) -> None:
    """A log cut short, as when the job was killed, gives its lines, then says where it ends."""
    content = PACK[suffix](TEXT)

    got, failure = everything(opened(content[: int(len(content) * part)], f"logs/a{suffix}"))

    assert TEXT.startswith(got)
    assert len(got) >= len(TEXT) * part * 0.4 - 300_000  # a block of zstd or xz may be lost
    assert failure is not None
    assert f"logs/a{suffix} ends in the middle of its" in failure.message
    assert f"after {len(got):,} unpacked bytes" in failure.message
    assert failure.hint


@packings
@pytest.mark.parametrize("length", [1, 2])
def test_an_archive_cut_within_its_first_bytes_is_no_text(suffix: str, length: int) -> None:
    """One byte of a packed file is told as truncated, not read as a line."""
    got, failure = everything(opened(PACK[suffix](TEXT)[:length], f"a{suffix}"))

    assert got == b""
    assert failure is not None
    assert "ends in the middle" in failure.message


@packings
def test_a_corrupt_archive_is_told(suffix: str) -> None:
    """Damage in the middle ends the log there with a sentence; it never crashes and never goes unnoticed."""
    content = bytearray(PACK[suffix](TEXT))
    content[len(content) // 2 : len(content) // 2 + 8] = b"\xff" * 8

    _, failure = everything(opened(bytes(content), f"a{suffix}"))

    assert failure is not None
    assert "is corrupt after" in failure.message or "ends in the middle" in failure.message


@packings
def test_what_follows_an_archive_and_is_none_is_told(suffix: str) -> None:
    """Text appended to a packed file cannot be unpacked; what stands before it is given."""
    got, failure = everything(opened(PACK[suffix](TEXT) + b"plain text", f"a{suffix}"))

    assert got == TEXT
    assert failure is not None


@packings
def test_a_failure_is_told_at_every_later_read(suffix: str) -> None:
    """Whoever reads on after the error gets it again, not an end of file."""
    content = PACK[suffix](TEXT)
    with opened(content[:-20], f"a{suffix}") as stream:
        stream.read(len(TEXT))
        for _ in range(2):
            with pytest.raises(UnreadableLog):
                stream.read(1)


@packings
def test_a_bomb_is_stopped_after_what_it_may_unpack(suffix: str) -> None:
    """A file that unpacks to far more than any log is read up to the limit, with little memory."""
    content = PACK[suffix](bytes(64 << 20))
    limits = Limits(unpacked_bytes=1 << 20, ratio=100)
    tracemalloc.start()

    got, failure = 0, ""
    with opened(content, f"a{suffix}", limits) as stream:
        try:
            while part := stream.read(1 << 16):
                got += len(part)
        except UnreadableLog as error:
            failure = error.message
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert "unpacks to more than 100 times its size" in failure
    assert max(1 << 20, 50 * len(content)) <= got <= max(2 << 20, 110 * len(content))
    assert peak < 48 << 20  # a step of zstd may hold 32 MB


@packings
def test_a_repetitive_log_below_the_allowance_is_read(suffix: str) -> None:
    """One line over and over packs like a bomb, and is an honest log."""
    text = b"WARNING: connection refused, will be tried again\n" * 100_000

    assert everything(opened(PACK[suffix](text), f"a{suffix}")) == (text, None)


def test_the_default_limits_let_real_logs_through_and_stop_zeros() -> None:
    """Gzip packs a repeated line less than the default ratio, and zeros more."""
    line = b"WARNING: connection refused by 10.0.0.1:4242, will be tried again in 7 s\n"

    repeated, zeros = line * 200_000, bytes(20_000_000)

    assert len(repeated) / len(gzip.compress(repeated)) < Limits().ratio < len(zeros) / len(gzip.compress(zeros))


@pytest.mark.slow
def test_a_greedy_xz_header_gets_no_memory() -> None:
    """A dictionary of over a gigabyte is refused instead of allocated."""
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 20}]
    content = bytearray(lzma.compress(TEXT, format=lzma.FORMAT_XZ, filters=filters))
    block = content.index(b"\x21\x01", 12)
    content[block + 2] = 39  # 3 GiB, in the coding of LZMA2
    header = bytes(content[12 : 12 + (content[12] + 1) * 4 - 4])
    content[12 + len(header) : 12 + len(header) + 4] = zlib.crc32(header).to_bytes(4, "little")

    got, failure = everything(opened(bytes(content), "a.xz"))

    assert got == b""
    assert failure is not None


def test_a_disk_that_fails_while_reading_is_told() -> None:
    """An error of the system in the middle of a file is an UnreadableLog with the system's words."""

    class Failing(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            self._fail_at_the_end()
            return super().read(size)

        def readinto(self, buffer: bytearray, /) -> int:  # type: ignore[override]  # narrower, for the test
            self._fail_at_the_end()
            return super().readinto(buffer)

        def _fail_at_the_end(self) -> None:
            if self.tell() >= 1000:
                raise OSError(5, "Input/output error")

    for name, content in (("a.log", TEXT[:1000]), ("a.gz", gzip.compress(random.Random(1).randbytes(900_000))[:1000])):
        got, failure = everything(open_log(partial(Failing, content), name), 500)

        assert got
        assert failure is not None
        assert failure.message == f"{name} cannot be read: Input/output error."


def test_a_folder_in_place_of_a_file_is_told() -> None:
    """What opening raises is translated as well."""

    def forbidden() -> BinaryIO:
        raise PermissionError(13, "Permission denied")

    def folder() -> BinaryIO:
        raise IsADirectoryError(21, "Is a directory")

    with pytest.raises(UnreadableLog, match="logs/a may not be read"):
        open_log(forbidden, "logs/a")
    with pytest.raises(UnreadableLog, match="logs/a cannot be read: Is a directory"):
        open_log(folder, "logs/a")


def test_a_stream_closes_its_file_when_it_is_closed() -> None:
    """Thousands of files are opened one after the other; none is left open."""
    for content in (TEXT, gzip.compress(TEXT)):
        packed: list[BinaryIO] = [io.BytesIO(content)]
        with open_log(packed.copy().pop, "a") as stream:
            stream.read(10)

        assert packed[0].closed


def test_a_plain_log_can_be_read_from_any_place() -> None:
    """Plain files seek, so that single lines of a large log are found fast; packed ones say that they cannot."""
    with opened(TEXT, "a") as stream:
        stream.seek(1000)
        assert stream.read(5) == TEXT[1000:1005]
        assert stream.tell() == 1005
    with opened(gzip.compress(TEXT), "a.gz") as stream:
        assert not stream.seekable()


def test_a_stream_can_be_read_line_by_line() -> None:
    """Python's own buffered reader works on top, for whoever wants lines."""
    for content in (TEXT, gzip.compress(TEXT)):
        with io.BufferedReader(cast("io.RawIOBase", opened(content, "a"))) as lines:
            assert list(lines) == TEXT.splitlines(keepends=True)


@given(
    content=st.binary(max_size=300), magic=st.sampled_from([b"", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00"])
)
def test_any_bytes_end_in_bytes_or_an_unreadable_log(content: bytes, magic: bytes) -> None:
    """Nothing that a file can hold raises anything but UnreadableLog."""
    everything(opened(magic + content, "a.gz"))
