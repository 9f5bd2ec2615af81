"""The compiled engine and the reference give the same columns for any bytes."""

import io
import os
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import FunctionType

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from core.job import LogFile
from core.logs import kernel
from core.logs.columns import Columns
from core.logs.kernel import scan_blocks_fast, segments
from core.logs.learn_format import learn
from core.logs.lines import MAX_BODY, MAX_SEGMENT, SLOT_ENDS, SLOT_WORDS, Format
from core.logs.scan import SAMPLE_BYTES, scan_blocks, scan_file
from core.logs.stream import BLOCK_BYTES, blocks
from tests.support.places import ROOT

PIECES = (
    # clocks, and what only looks like one
    b"2026-11-21 03:55:34,384", b"2026/11/21T03:55:44.356Z", b"2025-06-19-09:28:35.212.164",
    b"2026-01-02_03:04:05+01:00",
    b"2026-01-02 03:04:05.1234567-0530", b"2026-01-02 03:04:05+05300", b"11/21/2026 03:47:22", b"11-21 03:47:22",
    b"0822 11:22:33.123", b"328 00:21:12.920872216", b"0822 11:22:33", b"Feb 23 16:24:18 2025", b"Feb 3 16:24:18",
    b"\n1795370356.77 ", b"\n[1795370356.1234567890] ", b"\n(1795370356.7) ", b"\nts=1795370015.602 ",
    b"\nt=1795370015.602 ",
    b"\ntime=1795370015.602 ", b"\nat=1795370015.602 ", b"\n1795370356 ", b"\n1795370356.7e3 ", b"\n1795370356. ",
    b"\n2795370356.7 ", b"\n17953703561.7 ", b"\n1795370356.7x ",
    b"22-Nov-26 13:31:49", b"22/Nov/2026:13:31:49 +0000", b"22 Nov 2026 13:31:49,123", b"22-Nov-3026 13:31:49",
    b"22-Nov-026 13:31:49", b"22-Now-26 13:31:49", b"22-Nov-26 1:31:49", b"Nov 22 Nov 26 13:31:49",
    b"22/11/2026 13:31:49",
    b"26/11/22 13:31:49", b"22/11/26 13:31:49", b"22/11/24 13:31:49", b"22/13/24 13:31:49", b"26/11/22 13:31:4",
    b"E0000 00:00:1795354109.717182", b"E0000 00:00:1795354109.7171829", b"0000 00:00:179535410.71",
    b"0001 00:00:1795354109.7",
    b"10000 00:00:1795354109.7", b"0000 00:00:1795354109.",
    b"Dec 31 16:24:18 20255", b"Feb  3 16:24:18", b"12:34:56.789", b"1:02:03,4", b"123:45:67", b"0000-00-00 00:00:00",
    b'"time_ms": 1727699318686', b'time_ms": 17276993186861', b'time_ms": 1727699318686.5e3',
    b'time_ms": 2727699318686',
    # other variables
    b"0x1f", b"0xDEADbeef", b"00x1", b"10.0.3.7:80", b"1.2.3.4", b"1.2.3", b"1234.5.6.7", b"beef0123456",
    b"01deadbeef",
    b"12345678-abcd-1234-abcd-1234567890ab", b"abcd5678-abcd-1234-abcd-1234567890ab", b"1e-5", b"1.5E+00", b"7" * 40,
    b"abcdefab-abcd-abcd-abcd-abcdefabcdef", b"bf16", b"a/b",
    # typed slots
    b"errno 111", b"[Errno 113]", b"exitcode: -9", b"exitcode  : -15", b"status=12", b"rc=0x1f", b"_rc 5", b"src=5",
    b"error: 7", b"terror 7", b"err=123456", b"HTTP 404", b'ret: ("5")', b"error       7",
    b"Xid (PCI:0000:4b:00): 79",
    b"Xid (PCI:0000:4b:00): 0x79", b"Xid (PCI:" + b"0" * 24 + b"): 79", b"Xid (PCI:" + b"0" * 25 + b"): 79",
    b"(PCI:): 7",
    # labels
    b"[default3]:", b"[rank12]: ", b"[rank1]:", b"[1,3]<stdout>:", b"[1,3]<stderr>: ", b"[rank]: ", b"[1,]<stdout>:",
    b"(Worker pid=12, ip=1.2.3.4) ", b"(W_1 pid=12) ", b"(W pid=) ", b"n-1:123:456 [7] ", b"n:1:2 [] ", b"12: ",
    # stamps of a container's runtime, and what only looks like one
    b"\n2026-11-21T13:12:42.728Z ", b"\n2026-11-21T13:12:42Z [default0]:",
    b"\n2026-11-21T13:12:42.123456789+01:00 stdout F ",
    b"\n2026-11-21T13:12:42.7281234567Z [rank1]: ", b"\n2026-11-21T13:12:4Z stdout F ", b"stderr P ", b"stdout X ",
    b"\n2026-11-21T13:12:42+0100 [rank1]: ",
    b"      3: ", b"       3: ", b"1234567: ", b"node-01: ", b"localhost: ", b"nobody: ",
    # what core.logs.wraps writes, and what only looks like it
    b"\n2026-11-22T04:27:10.477538Z \x1enode=gpu14\x1frank=2\x1e", b"\n1122 04:27:10.477538 \x1eunit=torchrun[66]\x1e",
    b"\n\x1e\x1e", b"\r2026-11-22T04:27:10Z \x1e\x1e", b"\n2026-11-22T04:27:10Z\x1e\x1e", b"\x1e", b"\x1f",
    b"\n7 \x1ea\x1e", b"\n77 2026-11-22T04:27:10Z \x1e\x1e", b"\n" + b"7" * 40 + b" \x1e\x1e",
    b"\n" + b"7" * 41 + b" \x1e\x1e",
    b"2026-11-22T04:42:09.999999", b"2026-11-22T04:42:10.477538", b"\n12:34:56 \x1e\x1e",
    b"\n11/21/2026 03:47:22 \x1e\x1e",
    # clocks without a date, where they count and where not
    b"\n04:42:25 ", b"\n[04:42:25.123] ", b"\n(23:59:59,1234567) ", b"\n24:00:00 ", b"\n12:60:00 ", b"\n1:02:03 ",
    b"\n04:42:25. ", b"\nI04:42:25 ", b"\n 04:42:25 ", b"\n04:42:25 2026-11-21 03:55:34 ", b"\n104:42:25 ",
    # signs between them
    b" ", b"  ", b" " * 40, b"\t", b" \t ", b"\v", b"\f", b"\x1c", b"-", b"_", b".", b":", b"text of some words ",
    b"x" * 33,
    b"\x1b]0;title\x07", b"\x1b]8;;http://a\x1b\\", b"\x1b]0", b"\x1b(B", b"\x1b)_", b"\x1b(", b"\x07", b"\x1b\\",
    b"\x1b[31m", b"\x1b[0", b"\x1b[1;2?3 /m", b"\x1b", b"\x1b[", b"\x1bM", b"\0", b"\xff", b"\xa0", b"\x85",
    b"\xc3\xa9", b"\xe2\x96\x88", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\xf4\x90\x80\x80", b"\xe0\x9f\xbf",
    b"\xc0\x80",
    b"\xf0\x8f\xbf\xbf", b"\xe2\x96",
    b"\n", b"\n", b"\n", b"\r", b"\r\n", b"\n\n", b"\r\r\n",
)  # fmt: skip
FORMATS = (
    Format(),
    Format(task_labels=True, hosts=(b"node-01", b"n-1", b"localhost"), year=2024),
    Format(task_labels=True, year=2026, labelled=True),
)

log_like = st.lists(st.sampled_from(PIECES) | st.binary(max_size=3), max_size=60).map(b"".join)
sizes = st.sampled_from((1, 2, 3, 7, 31, 64, 100, 1000, BLOCK_BYTES))


def rows(columns: Columns) -> list[tuple[int, int, int, bytes, bytes, int]]:
    return [
        (line, offset, length, columns.prefixes[prefix], columns.bodies[body], time)
        for line, offset, length, prefix, body, time in zip(
            columns.line.tolist(),
            columns.offset.tolist(),
            columns.length.tolist(),
            columns.prefix.tolist(),
            columns.body.tolist(),
            columns.time.tolist(),
            strict=True,
        )
    ]


def everything(columns: Columns) -> tuple[object, ...]:
    kinds = [getattr(columns, name).dtype for name in ("line", "offset", "length", "prefix", "body", "time")]
    return rows(columns), kinds, columns.prefixes, columns.bodies, columns.lines, columns.undecodable


def assert_same(text: bytes, file_format: Format, size: int = BLOCK_BYTES) -> None:
    fast, reference = (
        engine(blocks(io.BytesIO(text), size), file_format) for engine in (scan_blocks_fast, scan_blocks)
    )

    assert everything(fast) == everything(reference)


@pytest.mark.slow
@given(text=log_like, file_format=st.sampled_from(FORMATS), size=sizes)
@example(text=b"", file_format=FORMATS[0], size=1)
@example(text=b"\r", file_format=FORMATS[0], size=1)
@example(text=b"no newline 7", file_format=FORMATS[0], size=BLOCK_BYTES)
@settings(deadline=None, max_examples=600, suppress_health_check=[HealthCheck.too_slow])
def test_log_like_text_gives_the_same_columns(text: bytes, file_format: Format, size: int) -> None:
    """Whatever is put together from what logs are made of, in blocks of any size."""
    assert_same(text, file_format, size)


@given(text=st.binary(max_size=300), file_format=st.sampled_from(FORMATS), size=sizes)
@settings(deadline=None, max_examples=300)
def test_any_bytes_give_the_same_columns(text: bytes, file_format: Format, size: int) -> None:
    """NUL, carriage returns, half characters: there is nothing that only one engine understands."""
    assert_same(text, file_format, size)


@pytest.mark.slow
@given(piece=st.sampled_from(PIECES), offset=st.integers(-4, 4), place=st.sampled_from((96, MAX_BODY, MAX_SEGMENT)))
@settings(deadline=None, max_examples=150)
def test_the_limits_are_at_the_same_byte(piece: bytes, offset: int, place: int) -> None:
    """The time window, MAX_BODY and MAX_SEGMENT end where the specification ends them, whatever lies across."""
    text = b"word " * (place // 5) + b"x" * (place % 5 + 4 + offset) + piece + b" 2026-11-21 03:55:34 tail\nnext 7\n"

    assert_same(text, FORMATS[1])


@pytest.mark.parametrize(
    "letter", [b"1", b"a", b" ", b"1x", b"1a", b"a1", b"0x1", b"1.", b"1:", b"\xff", b"\x1b[", b"1e"]
)
@pytest.mark.parametrize("length", [63, 2047, MAX_SEGMENT - 1, MAX_SEGMENT, 3 * MAX_SEGMENT])
def test_endless_segments_give_the_same_columns(letter: bytes, length: int) -> None:
    """A segment may be longer than anything that is kept of it; an overlong one may end in its block or not."""
    text = letter * (length // len(letter))

    assert_same(text + b"\nnext\n" + text, FORMATS[1])
    assert_same(text + b"\nnext\n" + text, FORMATS[1], 1000)


@pytest.mark.parametrize("word", sorted((*SLOT_WORDS, *SLOT_ENDS)))
def test_both_know_the_slot_words(word: bytes) -> None:
    """A word that is added to the specification is a word of the kernel, as a whole or as an end."""
    assert_same(b"".join(form % word for form in (b"%s 7\n", b"x%s 7\n", b"%sx 7\n", b"_%s=-0x7\n")), FORMATS[0])
    assert_same(word.upper() + b": 7\n%s:     (7\n%s:      (7" % (word, word), FORMATS[0])


@pytest.mark.slow
def test_many_distinct_lines_and_prefixes_give_the_same_columns() -> None:
    """Tables and columns grow while a block is read."""
    text = b"".join(b"%s: %s\n" % (name, b"z" * 90 + name) for name in _names(20_000))

    assert_same(text, Format(hosts=tuple(_names(5_000))))


def _names(count: int) -> list[bytes]:
    letters = b"ghijklmnopqrstuvwxyz"
    return [bytes(letters[number // 20**place % 20] for place in range(4)) for number in range(count)]


def test_blocks_do_not_show_in_the_columns() -> None:
    """The same file gives the same columns, however it was cut."""
    text = b"".join(PIECES) * 5 + b"x" * 3 * MAX_SEGMENT + b"\r\xff tail\n" + b"".join(reversed(PIECES))
    whole = scan_blocks_fast(blocks(io.BytesIO(text)), FORMATS[1])

    for size in (1000, 4096, MAX_SEGMENT, MAX_SEGMENT + 1, 100_003):
        assert everything(scan_blocks_fast(blocks(io.BytesIO(text), size), FORMATS[1])) == everything(whole)


def test_threads_do_not_disturb_each_other() -> None:
    """The kernel runs without the GIL; many files at once give what each gives alone."""
    texts = [b"".join(PIECES[number:] + PIECES[:number]) * 20 for number in range(12)]
    files = [LogFile(f"{number}.log", len(text), "", partial(io.BytesIO, text)) for number, text in enumerate(texts)]

    with ThreadPoolExecutor(4) as threads:
        scans = list(threads.map(lambda file: scan_file(file, (), 2026, scan_blocks_fast), files))

    for scan, text in zip(scans, texts, strict=True):
        expected = scan_blocks(blocks(io.BytesIO(text)), learn(text[:SAMPLE_BYTES], (), 2026))
        assert everything(scan.chunks[0].wide()) == everything(expected)


def test_nothing_but_empty_lines() -> None:
    """More rows than bytes of text would lead one to expect."""
    assert_same(b"\n" * 100_000, FORMATS[0])


def _example_logs() -> Iterable[Path]:
    return sorted(path for path in ROOT.glob("examples/*/logs/**/*") if path.suffix in {".log", ".txt", ".err", ".out"})


@pytest.mark.parametrize("job", sorted({path.relative_to(ROOT).parts[1] for path in _example_logs()}))
def test_real_logs_give_the_same_columns(job: str) -> None:
    """The logs of the example jobs."""
    for path in _example_logs():
        if path.relative_to(ROOT).parts[1] == job:
            text = path.read_bytes()
            assert_same(text, learn(text[:SAMPLE_BYTES], (b"node-00", b"node-01"), 2026))


UNWRAPPED = """
from core.logs.wraps import cri
from core.logs.wraps.line_blocks import Blocks
from core.logs.wraps.unwrap import Unwrapper
line = b"2026-11-22T04:49:38.177137210Z stdout F step 7"
layers = [cri.fit([line])]
at_once = Blocks(Unwrapper(layers), layers).unwrap(2 * (line + b"\\n"))
print(at_once.splitlines() == [*Unwrapper(layers).unwrap(2 * [line])])
"""


# The loop over wrapped lines takes 2 s of CPU to compile and the scanner 20; both are compiled by one function.
@pytest.mark.slow
@pytest.mark.parametrize("trouble", ["no folder", "no space"])
def test_without_a_cache_the_kernel_is_compiled_all_the_same(trouble: str, tmp_path: Path) -> None:
    """Where numba may not write, or the disk is full, the first text is late, but right."""
    folder = tmp_path / "cache"
    before = "import io, resource\n"
    if trouble == "no folder":
        folder.write_text("a file where the folder should be")
    else:
        before += "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
    only_there = {"NUMBA_CACHE_DIR": str(folder), "NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator"}
    sooner = {"NUMBA_OPT": "0"}  # of the compiler, a third less; how fast the code is is not the matter

    done = subprocess.run(
        [sys.executable, "-c", before + UNWRAPPED], cwd=ROOT, env=os.environ | only_there | sooner, capture_output=True,
        text=True, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stdout.strip()) == (0, "True"), done.stderr


def test_numba_keeps_code_under_the_digest_of_what_it_was_made_from() -> None:
    """Before it looks whether its cache is old numba unpickles it, and fails on classes that an upgrade renamed."""
    names = {kernel._entry(segments.scan, digest).py_func.__qualname__ for digest in ("0a", "0b")}

    assert names == {"scan_0a", "scan_0b"}


def test_a_loop_is_compiled_for_its_cache_alone() -> None:
    """As a function of its own beside the one in the cache numba would compile all of it twice: 6 s of CPU more."""
    assert isinstance(segments.scan, FunctionType)
    assert isinstance(kernel.forms.unwrap, FunctionType)
