"""A file that grows gives the same lines, however its bytes come."""

import io
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from core.live.tail import Tail
from core.logs.lines import Format
from core.logs.scan import scan_blocks
from core.logs.stream import blocks

_PIECES = st.sampled_from(
    [b"\n", b"\r", b"\r\n", b"12%|", b" x", b"\x1b[31m", b"\xff\x00", b"[rank3]: ", b"2026-11-21 03:55:34"]
)
TEXTS = st.lists(st.one_of(_PIECES, st.binary(max_size=6))).map(b"".join)


@given(TEXTS, st.lists(st.integers(0, 200), max_size=6))
def test_lines_do_not_depend_on_how_the_bytes_come(text: bytes, cuts: list[int]) -> None:
    """Half lines, half carriage returns and half characters wait for their other half."""
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[start:end] for start, end in pairwise(edges)]
    whole, torn = Tail((), 2026), Tail((), 2026)

    at_once = [(said.line, said.raw) for said in whole.feed(text)]
    in_pieces = [(said.line, said.raw) for piece in pieces for said in torn.feed(piece)]

    assert in_pieces == at_once


@given(TEXTS)
def test_a_live_line_is_the_line_that_a_diagnosis_reads(text: bytes) -> None:
    """Number, prefix, masked body and clock are those of core.logs; only blank and unfinished lines are left out."""
    text += b"\n"
    columns = scan_blocks(blocks(io.BytesIO(text)), Format(year=2026))

    live = [(said.line, said.prefix, said.body, said.time) for said in Tail((), 2026).feed(text)]

    rows = zip(
        columns.line.tolist(), columns.prefix.tolist(), columns.body.tolist(), columns.time.tolist(), strict=True
    )
    read = [(line, columns.prefixes[prefix], columns.bodies[body], time) for line, prefix, body, time in rows]
    starts = zip(columns.offset.tolist(), columns.length.tolist(), strict=True)
    blank = [not text[start : start + length].strip() for start, length in starts]
    assert live == [row for row, empty in zip(read, blank, strict=True) if not empty]


def test_a_line_without_an_end_is_not_said() -> None:
    """The next bytes may finish it."""
    tail = Tail((), 2026)

    first, second = list(tail.feed(b"iteration 12/ 2")), list(tail.feed(b"00 | loss\n"))

    assert first == []
    assert [said.text for said in second] == ["iteration 12/ 200 | loss"]


def test_a_line_that_never_ends_is_held_only_in_part() -> None:
    """A binary that is called .log fills no memory."""
    tail = Tail((), 2026)

    for _ in range(50):
        assert list(tail.feed(b"x" * 100_000)) == []

    assert len(tail._open) <= 1 << 16
