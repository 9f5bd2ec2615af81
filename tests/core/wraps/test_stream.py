"""The stream: a plain log is read byte for byte, a wrapped one has a line for each line, however it is read."""

import io
import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import UnreadableLog
from core.events.messages import unlabelled
from core.events.row_text import read_rows
from core.job import Job, Manifest
from core.logs.array_store import Heap
from core.logs.file_rows import HEAD, join, refine_seconds
from core.logs.lines import LABEL_MARK, NO_TIME
from core.logs.scan import scan_blocks, scan_file, spans
from core.logs.stream import WHOLE
from core.logs.wraps.kept_text import KeptText, TextKeeper
from core.logs.wraps.unwrapped_stream import OpenUnwrapped
from core.parsed import parse_job
from tests.support.wrapped_logs import sample, unwrapped, wrapped

CRI = b"2026-11-22T04:49:38.177137210Z stdout F step %d loss 2.5\n"
PIECES = (
    *(CRI % step for step in range(4)), b"2026-11-22T04:49:38.1Z stdout P half ", b"2026-11-22T04:4",
    b"\n", b"\r\n", b"\r", b"\x1e", b"\x1f", b"\xff\xfe\0", b"\x1b[31m",
    b'{"log":"step 31\\n","stream":"stdout","time":"2026-11-22T04:49:38.1Z"}\n', b'{"log":"half', b'"}\n',
    b'{"event":"e","level":"info","exception":"Traceback\\n  File\\r\\nX"}\n', b'{"a":{"b":' * 50,
    b"Nov 22 04:27:10 gpu14 torchrun[66]: text\n", b"   text\n", b"[pod/a/b] text\n", b"3: text\n",
    b'{"event":"\\ud800"}\n', b'{"level":"info","msg":"\\u001e\\u001e","rank":1e400,"time":99999999999999999999}\n',
)  # fmt: skip
log_like = st.lists(st.sampled_from(PIECES) | st.binary(max_size=5), max_size=40).map(b"".join)


def test_a_plain_log_is_read_as_it_stands() -> None:
    """Byte for byte, and it can be read in spans."""
    text = b"step 31 loss 2.5\n" * 9

    with OpenUnwrapped(partial(io.BytesIO, text))() as stream:
        assert stream.seekable()
        assert stream.tell() == 0
        assert stream.read() == text


@pytest.mark.parametrize(("room", "opened"), [(1 << 10, 1), (9, 3)])
def test_a_small_plain_log_is_opened_once(room: int, opened: int) -> None:
    """Of ten thousands of them most of the time went to opening each for each question."""
    text, streams = b"step 31 loss 2.5\n", list[io.BytesIO]()

    def stored() -> io.BytesIO:
        streams.append(io.BytesIO(text))
        return streams[-1]

    log = OpenUnwrapped(stored, room)

    for _ in range(3):
        with log() as stream:
            assert stream.read() == text
            assert stream.seek(5) == 5
            assert stream.read(2) == b"31"
    assert len(streams) == opened


def test_a_wrapped_log_is_read_from_its_beginning() -> None:
    """Where a line stands is known when those before it were unwrapped."""
    log = wrapped("logs/a.log", CRI % 1)

    with log.open() as stream:
        assert not stream.seekable()
    assert spans(log) == (WHOLE,)


class _Broken(io.BytesIO):
    """An archive that ends too early, and cannot be sought in."""

    def seekable(self) -> bool:
        return False

    def read(self, size: int | None = -1, /) -> bytes:
        got = super().read(size)
        if not got:
            raise UnreadableLog("a.gz ends in the middle.", "Copy it again.")
        return got


@pytest.mark.parametrize("line", [b"plain\n", CRI % 1])
def test_what_a_broken_archive_gives_comes_first(line: bytes) -> None:
    """The reason comes with the read behind it."""
    opened = OpenUnwrapped(partial(_Broken, line * 3))

    with opened() as stream:
        assert stream.read(1 << 20).count(b"\n") == 3
        with pytest.raises(UnreadableLog):
            stream.read(1)


def test_what_opens_a_log_can_be_sent_elsewhere() -> None:
    """Files are scanned by other processes and machines too."""
    opened = OpenUnwrapped(partial(io.BytesIO, CRI % 1))
    opened().close()

    with pickle.loads(pickle.dumps(opened))() as stream:
        assert stream.read() == unwrapped(CRI % 1)


@pytest.mark.slow
@given(text=log_like, size=st.sampled_from((1, 7, 100, 1 << 20)))
@settings(deadline=None, max_examples=300)
def test_there_is_a_line_out_for_each_line_in(text: bytes, size: int) -> None:
    """Whatever the log holds, and however much is read at once; the same every time."""
    opened = OpenUnwrapped(partial(io.BytesIO, text))
    with opened() as stream:
        parts = list(iter(lambda: stream.read(size), b""))

    assert b"".join(parts) == unwrapped(text)
    assert b"".join(parts).count(b"\n") == text.count(b"\n")
    assert all(len(part) == size for part in parts[:-1])


@given(text=log_like)
@settings(deadline=None, max_examples=100)
def test_no_text_forges_a_label(text: bytes) -> None:
    """A mark is written before and behind each label, and nowhere else."""
    assert all(
        piece.count(LABEL_MARK) in (0, 2) for piece in unwrapped(CRI % 1 * 80 + text).replace(b"\r", b"\n").split(b"\n")
    )


def test_an_endless_line_is_handed_on_in_pieces() -> None:
    """A progress bar of days inside the log of a container: its segments are of one line, and its end is not lost."""
    bar = b"".join(b"\r%7d it" % at for at in range(600_000))
    text = CRI % 1 * 9 + b"2026-11-22T04:49:38.1Z stdout F " + bar + b"\rTraceback\n" + CRI % 2

    out = unwrapped(text)

    assert out.count(b"\n") == 11
    assert b"\x1e 599999 it\r" in out
    assert len(out) < len(text)
    assert out.endswith(b"Traceback\n2026-11-22T04:49:38.177137Z \x1e\x1estep 2 loss 2.5\n")


def test_what_a_launcher_labelled_inside_a_wrapper_has_no_labels() -> None:
    """The text of a row comes without those of the wrapper, so only those of the launcher are left to take off."""
    line = b"2026-11-22T04:49:38.177137210Z stdout F %d:   exitcode  : -9 (pid: 17734)\n"
    log = wrapped("logs/a.log", b"".join(line % task for task in (0, 1)))
    table = parse_job(Job(Manifest("j1"), (log,)), (), cache=None, workers=1, progress=None).table

    texts = read_rows({log.name: log}, table, [0, 1])

    assert {unlabelled(table, row, text) for row, text in texts.items()} == {"  exitcode  : -9 (pid: 17734)"}


def test_what_stands_between_the_records_of_a_document_is_no_message() -> None:
    """Brackets and keys of an answer that is printed over many lines: rows, as any line, but nobody says them."""
    record = b'{\n  "MESSAGE": "step 31",\n  "_HOSTNAME": "gpu17",\n  "__REALTIME_TIMESTAMP": "1795321630477538"\n}\n'
    scan = scan_file(wrapped("logs/journal.json", record * 3), (), 2026, scan_blocks)

    rows = join([scan], Heap(None).put).parts[0]

    assert (rows.marks[:] & HEAD).tolist() == [0, 1, 0, 0, 0] * 3
    assert rows.line[:].tolist() == [*range(1, 16)]


def test_whole_seconds_of_a_wrapper_do_not_go_back() -> None:
    """logcli and journalctl -o short: a traceback is no older than the line above it, of which the clock is finer."""
    seconds = np.array([5.3, 5, 5, 6, NO_TIME / 1e6, 6.25, 6, 7, 6])

    refined = refine_seconds((seconds * 1e6).round().astype(np.int64)) / 1e6

    assert refined.tolist() == [5.3, 5.3, 5.3, 6, NO_TIME / 1e6, 6.25, 6.25, 7, 6]


def test_rows_have_the_physical_lines_of_the_log() -> None:
    """A traceback in a field is many rows of one line."""
    (columns,) = scan_file(wrapped("logs/a.log", sample("structlog.jsonl")), (), 2026, scan_blocks).chunks

    assert sorted(set(columns.line[:].tolist())) == [1, 2, 3]
    assert columns.lines == 3
    assert {columns.prefixes[prefix] for prefix in columns.prefix[:].tolist()} == {b"\x1enode=gpu17\x1frank=3\x1e"}
    assert columns.bodies[0] == b"INFO train_step grad_norm=NaN loss=<NUM> step=<NUM>"


def test_a_text_that_was_read_to_its_end_is_not_unwrapped_again() -> None:
    """As long as there is room for it, packed if need be; half of a text is none."""
    opened: list[bool] = []

    def stored() -> io.BytesIO:
        opened.append(True)
        return io.BytesIO(b"".join(CRI % step for step in range(50)))

    with OpenUnwrapped(stored)() as stream:
        text = stream.read()
    for room, times in ((len(text), 1), (len(text) - 1, 1), (40, 2), (0, 2)):
        log = OpenUnwrapped(stored, room)
        opened.clear()
        with log() as stream:
            stream.read(10)
        opened.clear()
        for _ in range(2):
            with log() as stream:
                assert stream.read() == text
        assert len(opened) == times


@pytest.mark.parametrize("room", [1 << 20, 4_000], ids=["as it is", "packed"])
def test_a_kept_text_is_read_from_anywhere(room: int) -> None:
    """Each of its blocks alone, and over their ends."""
    blocks = [b"".join(b"step %d loss 2.%d\n" % (step, step % 7) for step in range(at, at + 300)) for at in (0, 7, 900)]
    text, keeper = b"".join(blocks), TextKeeper(room)

    kept = [keeper.add(block) for block in blocks]
    stream = KeptText(keeper.done(17, "in part"))

    assert kept == [True] * 3
    assert (stream.taken, stream.capped) == (17, "in part")
    assert stream.read() == text
    for at, size in (
        (0, 10),
        (len(blocks[0]) - 3, 9),
        (len(text) - 4, 9),
        (len(text), 5),
        (len(text) + 9, 1),
        (8, 9_000),
    ):
        assert stream.seek(at) == at
        assert stream.read(size) == text[at : at + size]
    assert stream.seek(-5, io.SEEK_END) == len(text) - 5
    assert stream.seek(2, io.SEEK_CUR) == len(text) - 3


def test_a_kept_text_is_not_sent_elsewhere() -> None:
    """Whoever reads a span in another process opens the log there."""
    content = CRI % 1 * 50
    log = OpenUnwrapped(partial(io.BytesIO, content), 1 << 20)
    before = len(pickle.dumps(log))
    with log() as stream:
        text = stream.read()

    again = pickle.loads(pickle.dumps(log))

    assert len(pickle.dumps(log)) < before + len(text)
    assert log().seekable()
    with again() as stream:
        assert not stream.seekable()
        assert stream.read() == text
