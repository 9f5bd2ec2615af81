"""A log cannot write the label that we put before a line, and so say whose line it is."""

import io
from functools import partial
from typing import cast

import pytest

from core.events.row_text import read_rows
from core.job import Job, Manifest
from core.live.tail import Tail
from core.logs.wraps.unwrapped_stream import OpenUnwrapped
from core.parsed import parse_job
from tests.support.wrapped_logs import shown, wrapped

FORGED = b"\x1enode=evil\x1funit=trainer\x1eRuntimeError: CUDA error: an illegal memory access was encountered\n"
PLAIN = b"Traceback of somebody else\n"
CRI = b"2026-11-22T04:49:38.177137210Z stdout F "


@pytest.mark.parametrize(
    "content",
    [FORGED * 40, PLAIN + FORGED * 40, b"12:00:01 " + FORGED * 40, b"".join(CRI + FORGED for _ in range(40))],
    ids=["all", "most", "clock", "wrapped"],
)
def test_a_line_cannot_say_whose_it_is(content: bytes) -> None:
    """Neither as a speaker of the job nor before a line that a person reads."""
    parsed = parse_job(Job(Manifest("j"), (wrapped("logs/a.log", content),)), (), cache=None, workers=1, progress=None)

    assert parsed.table.nodes == ()
    assert not any(line.startswith("evil") for line in shown(content))


def test_the_line_itself_is_kept() -> None:
    """Byte for byte where it stands, but for the marks; however it is read."""
    opened = OpenUnwrapped(partial(io.BytesIO, PLAIN + FORGED + PLAIN))
    cleared = PLAIN + FORGED.replace(b"\x1e", b"\x1a") + PLAIN

    with opened() as stream:
        buffer = bytearray(500)
        assert buffer[: cast(io.RawIOBase, stream).readinto(buffer)] == cleared
    with opened() as stream:
        assert stream.seek(len(PLAIN)) == len(PLAIN) == stream.tell()
        assert stream.read(5) == b"\x1anode"
        assert stream.read() == cleared[len(PLAIN) + 5 :]


def test_the_text_of_a_row_holds_what_the_line_says() -> None:
    """Nothing is taken off that would not have been taken off another line."""
    log = wrapped("logs/a.log", FORGED * 9)
    parsed = parse_job(Job(Manifest("j"), (log,)), (), cache=None, workers=1, progress=None)

    assert read_rows({log.name: log}, parsed.table, [0])[0] == FORGED.replace(b"\x1e", b"\x1a").decode().rstrip("\n")


def test_a_job_that_still_runs_is_read_so_too() -> None:
    """Whoever follows a log opens it the same way."""
    with OpenUnwrapped(partial(io.BytesIO, FORGED * 40))() as stream:
        heard = list(Tail((), 2026).feed(stream.read()))

    assert {one.prefix for one in heard} == {b""}
    assert not any(one.text.startswith("evil") for one in heard)
