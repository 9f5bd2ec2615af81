"""How 512 small files of a job are wrapped is found out without taking each line of each apart."""

import io
from collections.abc import Sequence
from functools import partial
from itertools import cycle, islice
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.logs.lines import Format, _masked, first_time, mask, mask_start, take_apart
from core.logs.wraps import json_lines, logfmt, peeled, records, sample, speaker_heads, speaker_labels, speaker_turns
from core.logs.wraps.peeled import Peeled, Wrap
from core.logs.wraps.registry import FITS
from core.logs.wraps.sample import LEAST_LINES, SAMPLE_LINES, find_wrapping, peel_alike
from core.logs.wraps.shared_files import ALL_DIGITS_ALIKE
from core.logs.wraps.stamps import NO_STAMP
from core.logs.wraps.unwrapped_stream import OpenUnwrapped
from core.nodes import rank_levels, told_subjects
from core.nodes.told_numbers import Told, told_numbers
from core.nodes.told_subjects import Subject
from tests.core.wraps.test_forms import OBJECTS, PAIRS, TEXTS
from tests.support.jobs import job, lines, parse

LINES = 400
LEVELS = ("INFO", "DEBUG", "INFO", "WARNING")
PIECES = (
    "  ",
    "\t",
    " ",
    "step 31",
    "loss=0.25",
    "0xdeadbeef",
    "10.0.0.1",
    "2026-11-22 04:27:10,123",
    "rank 3",
    "a",
    ":",
)


def pairs(count: int) -> list[bytes]:
    """What a rank prints as logfmt, each line another in its numbers alone."""
    return [
        b'time=2026-11-22T04:27:%02dZ level=info rank=3 step=%d loss=0.%04d msg="train step"' % (n % 60, n, n)
        for n in range(count)
    ]


def plain(count: int) -> list[bytes]:
    """What a rank prints by itself, its level in brackets behind the clock."""
    return [
        f"2026-11-22 04:27:{n % 60:02} [{level}] [trainer] step {n} forward in 0.{n:04} s".encode()
        for n, level in zip(range(count), cycle(LEVELS), strict=False)
    ]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.integers(1, 60))
def test_the_start_of_a_mask_is_the_mask_of_the_whole_as_far_as_it_goes(text: str, size: int) -> None:
    """Wherever the next variable stands, and however the white space lies."""
    assert mask_start(text.encode(), size) == mask(text.encode())[:size]


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_a_text_without_digits_has_no_variable(text: str) -> None:
    """So none is looked for in it."""
    assert _masked.__wrapped__(text.encode(), 2026) == (mask(text.encode()), first_time(text.encode(), 2026))


def test_what_ranks_say_behind_labels_of_their_own_is_masked_once() -> None:
    """Tracebacks of 16,000 ranks in one file were masked line by line: a third of their diagnosis."""
    _masked.cache_clear()
    said = {take_apart(b'[rank%d]:   File "train.py", line 3, in main' % rank, Format()).body for rank in range(500)}
    assert len(said) == _masked.cache_info().misses == 1


@pytest.mark.parametrize(
    ("fit", "lines"),
    [(json_lines.fit, [*OBJECTS, *TEXTS]), (logfmt.fit, [*PAIRS, *TEXTS]), (logfmt.fit, pairs(LINES))],
)
def test_lines_that_are_made_alike_are_peeled_as_each_by_itself(fit: peeled.Fit, lines: list[bytes]) -> None:
    """Each line twice and more, so that its form is known."""
    wrap = fit([line for line in lines if line.startswith((b"{", b"t", b"level"))])
    assert wrap is not None
    lines = list(islice(cycle(lines), 3 * len(lines)))

    expected = [None if (inner := wrap.peel(line)) is None else inner.text for line in lines]
    dated = [(inner := wrap.peel(line)) is not None and inner.stamp != NO_STAMP for line in lines]

    assert list(peel_alike(wrap, lines)) == list(zip(expected, dated, strict=True))


def test_a_layer_that_has_no_forms_peels_each_line() -> None:
    """As the names of speakers do."""
    wrap = Wrap("first letter", lambda line: Peeled(line[1:]) if line else None)
    assert list(peel_alike(wrap, [b"ab", b"", b"cd"])) == [(b"b", False), (None, False), (b"d", False)]


def test_of_lines_that_are_made_alike_few_are_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are tried, and those that show a form: not more of a longer file."""
    read = 0
    record = records.read_record

    def counted(fields: Any) -> Peeled:
        nonlocal read
        read += 1
        return record(fields)

    monkeypatch.setattr(logfmt, "read_record", counted)
    costs = []
    for count in (LINES, 4 * LINES):
        read = 0
        assert [layer.name for layer in find_wrapping(b"\n".join(pairs(count))).layers] == ["logfmt"]
        costs.append(read)

    assert costs[0] == costs[1] < LINES / 2, costs


def test_no_line_is_masked_to_learn_that_levels_are_no_speakers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands in brackets is read first: to ask whether the names take turns masks all lines."""
    masked = 0

    def counted(text: bytes, size: int) -> bytes:
        nonlocal masked
        masked += 1
        return mask_start(text, size)

    monkeypatch.setattr(speaker_turns, "mask_start", counted)
    assert not find_wrapping(b"\n".join(plain(LINES)))
    assert masked == 0


@pytest.mark.parametrize(("files", "looked_at"), [(1, LINES), (SAMPLE_LINES // 100, 100), (1 << 15, LEAST_LINES)])
def test_files_share_the_lines_that_tell_how_they_are_wrapped(
    files: int, looked_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 4,000 files of 170 lines each to look at all took half of a diagnosis; few of them tell as well."""
    looked = list[int]()

    def counted(lines: Sequence[bytes]) -> None:
        looked.append(len(lines))

    monkeypatch.setattr(sample, "FITS", (counted, *FITS))
    opened = OpenUnwrapped(partial(io.BytesIO, b"\n".join(pairs(LINES))), files=files)
    opened().close()

    assert looked[0] == looked_at
    assert [layer.name for layer in opened.known[0].layers] == ["logfmt"]


def test_a_kind_is_given_up_as_soon_as_too_few_lines_can_be_of_it() -> None:
    """Most kinds are of no log: the other half of the lines is not looked at."""
    peeled_lines = list[bytes]()

    def peel(line: bytes) -> Peeled | None:
        peeled_lines.append(line)
        return Peeled(line) if line == b"a" else None

    kind = Wrap("letter", peel)
    assert peeled.usual(kind)([b"a", b"b"] * 8) is kind
    peeled_lines.clear()
    assert peeled.usual(kind)([b"b"] * 16) is None
    assert len(peeled_lines) == 9


def test_whether_a_line_has_a_clock_is_asked_where_another_clock_stands() -> None:
    """Three kinds of clocks ask of the same lines, each only where enough of them have one of its own."""
    peeled.has_known_clock.cache_clear()
    find_wrapping(b"\n".join(plain(LINES)))
    assert peeled.has_known_clock.cache_info().misses == 0

    find_wrapping(b"\n".join(b"261123-1647%02d step %d" % (n % 60, n) for n in range(40)))
    assert peeled.has_known_clock.cache_info().misses >= 40


def test_the_range_of_a_number_is_found_once_for_each_whose_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not once for each other node: who is apart from 64 nodes is as soon known as from four."""
    asked = 0
    percentile = cast(Any, rank_levels).percentile_of_sorted

    def counted(*arguments: Any) -> Any:
        nonlocal asked
        asked += 1
        return percentile(*arguments)

    monkeypatch.setattr(rank_levels, "percentile_of_sorted", counted)
    quick, slow, none = np.linspace(1.0, 1.1, 20), np.linspace(4.0, 4.1, 20), np.zeros(0, np.int64)
    nodes = [f"node-{number:02}" for number in range(64)]

    def told(name: str, usual: Any, odd: Any) -> tuple[int, str, dict[Subject, Told]]:
        values = {Subject(node, rank): odd if node == "node-07" else usual for rank, node in enumerate(nodes)}
        return 0, name, {of: Told(value, np.log2(value), np.arange(20), none) for of, value in values.items()}

    (sign,) = rank_levels.level_signs([told("forward_ms", quick, slow), told("wait_ms", slow, quick)], slow=True)

    assert sign.node == "node-07"
    assert "On node-07 forward_ms is 4.05 from the beginning on, that of all others 1.05" in sign.because
    assert asked == 2 * 2 * len(nodes)


def test_numbers_that_lines_tell_are_read_once_for_all_who_ask() -> None:
    """Whose alone changed, and what rose on all alike, is asked of the same lines: of 512 logs it takes seconds."""
    told = {f"node-{n}.log": lines(*(f"busy {n}.{step * 7 % 20:02} s" for step in range(20))) for n in range(4)}
    parsed = parse(job(told, nodes=("node-0", "node-1", "node-2", "node-3")))
    home = {0: "node-0", 1: "node-1"}

    assert told_numbers(parsed, home)
    assert told_numbers(parsed, home) is told_numbers(parsed, dict(home))
    assert told_numbers(parsed, home) is not told_numbers(parsed, {0: "node-0"})


HEADS = (" ", "[", "]", "|", ":", "=", "INFO", "rank ", "rank=", "gpu-17", "3", "1024", "2026-11-22", "04:27:10,123",
         "trainer.py:31", "step", "worker/7", "(", ")", "saved shard", "\t", "x" * 70)  # fmt: skip


@given(st.lists(st.sampled_from(HEADS), max_size=30).map("".join))
def test_which_words_may_be_speakers_does_not_depend_on_digits_nor_on_what_is_far_right(text: str) -> None:
    """Lines of other ranks, which differ in that, are looked up."""
    line = text.encode()
    looked_up = speaker_heads._columns(line[: speaker_heads._SEEN].translate(ALL_DIGITS_ALIKE))
    assert looked_up == speaker_heads._columns.__wrapped__(line)
    assert speaker_labels._shapes(line.translate(ALL_DIGITS_ALIKE)) == speaker_labels._shapes.__wrapped__(line)


def test_of_lines_that_differ_in_numbers_one_is_searched_for_speakers() -> None:
    """In all files of a job together."""
    speaker_heads._columns.cache_clear()
    for _ in range(8):
        find_wrapping(b"\n".join(plain(LINES)))
    assert speaker_heads._columns.cache_info().misses < LINES / 4


def test_the_numbers_of_a_line_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks: whether they count, whether they are ranks, and what each is of."""
    asked = 0
    find = told_subjects.numbers_of

    def counted(text: str) -> list[told_subjects.Number]:
        nonlocal asked
        asked += 1
        return find(text)

    parsed = parse(job({f"logs/node-{n}/rank_{n}.log": lines(*(f"busy 0.{m} s" for m in range(40))) for n in range(4)}))
    texts = [(row, f"busy 0.{row} s") for row in range(len(parsed.table))]
    monkeypatch.setattr(told_subjects, "numbers_of", counted)
    subjects = told_subjects.Subjects(parsed.table, texts, {}, parsed.nodes)
    told = [of for row, text in texts for of in subjects.read(row, text)]

    assert [number.value for _, number in told] == [float(f"0.{row}") for row, _ in texts]
    assert asked == len(texts)
