"""The raw lines around a cited line."""

import io
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import UnreadableLog
from core.job import Job, LogFile, Manifest
from core.logs.context import MAX_CHARACTERS, Excerpt, lines_around
from core.model import Line


class Trickle(io.RawIOBase):
    """A stream that gives a few bytes a read, and then perhaps breaks."""

    def __init__(self, content: bytes, step: int, breaks_at: int | None = None) -> None:
        self._content, self._step, self._at, self._breaks_at = content, step, 0, breaks_at
        self.reads = 0

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        if self._breaks_at is not None and self._at >= self._breaks_at:
            raise UnreadableLog("logs/a.log.gz ends in the middle", "Copy it again.")
        self.reads += 1
        part = self._content[self._at : self._at + min(size, self._step)]
        self._at += len(part)
        return part


def job(content: bytes, step: int = 1 << 20, breaks_at: int | None = None) -> Job:
    """A job with one file."""

    def opened() -> BinaryIO:
        return Trickle(content, step, breaks_at)  # type: ignore[return-value]  # has what is used of it

    return Job(Manifest("j"), (LogFile("logs/a.log", len(content), "s", opened),))


def naive(content: bytes, number: int, radius: int) -> tuple[Line, ...]:
    """The slow twin: all lines, then a slice."""
    lines = content.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    near = range(max(1, number - radius), min(len(lines), number + radius) + 1)
    return tuple(Line("logs/a.log", at, lines[at - 1].removesuffix(b"\r").decode(errors="replace")) for at in near)


@given(
    st.lists(st.sampled_from([b"a", b"\n", b"\n\n", b"\xff", b"\r\n", "é".encode()]), max_size=60).map(b"".join),
    st.sets(st.integers(min_value=1, max_value=40), min_size=1, max_size=4),
    st.integers(min_value=0, max_value=3),
    st.integers(min_value=1, max_value=9),
)
def test_excerpts_are_those_of_the_slow_twin(content: bytes, numbers: set[int], radius: int, step: int) -> None:
    """However the bytes arrive, the lines and their numbers are right."""
    excerpts = lines_around(job(content, step), [("logs/a.log", number) for number in numbers], radius)
    for number in numbers:
        assert excerpts["logs/a.log", number].lines == naive(content, number, radius)


def test_a_line_that_is_not_there_is_said() -> None:
    """A wrong place is told in words."""
    places = [("logs/a.log", 9), ("logs/b.log", 1)]
    excerpts = lines_around(job(b"one\ntwo\n"), places, 2)
    assert excerpts["logs/a.log", 9] == Excerpt("logs/a.log", 9, (), "The file has no such line.")
    assert excerpts["logs/b.log", 1].missing == "The job has no such file."


def test_what_could_be_read_of_a_damaged_file_is_shown() -> None:
    """A file that breaks behind the cited line still shows it, and the trouble is told."""
    excerpt = lines_around(job(b"one\ntwo\nthree\n", step=4, breaks_at=8), [("logs/a.log", 2)], 2)["logs/a.log", 2]
    assert [line.text for line in excerpt.lines] == ["one", "two"]
    assert excerpt.missing == "logs/a.log.gz ends in the middle"


def test_reading_stops_behind_the_last_wanted_line() -> None:
    """A citation at the start of a large file costs nothing."""
    stream = Trickle(b"line\n" * 1_000, 50)
    source = Job(Manifest("j"), (LogFile("logs/a.log", 1, "s", lambda: stream),))  # type: ignore[arg-type,return-value]
    lines_around(source, [("logs/a.log", 3)], 1)
    assert stream.reads == 1


@pytest.mark.parametrize("size", [MAX_CHARACTERS, MAX_CHARACTERS + 1, 5 * MAX_CHARACTERS, 3_000_000])
def test_a_long_line_keeps_head_and_tail(size: int) -> None:
    """A progress bar is one line with the traceback at its end; it is shown clipped, and never held whole."""
    content = b"start" + b"." * (size - 8) + b"end\nnext"
    excerpt = lines_around(job(content, 1 << 16), [("logs/a.log", 1)], 1)["logs/a.log", 1]
    text = excerpt.lines[0].text
    assert len(text) == min(size, MAX_CHARACTERS)
    assert text.startswith("start.")
    assert text.endswith(".end")
    assert excerpt.lines[1].text == "next"
