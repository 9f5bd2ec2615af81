"""What is one message: blocks of lines that a program wrote as one thing, and what they are called."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.logs.blocks import BLOCK_MARK
from core.logs.messages import find_messages, group, is_block, plain
from core.logs.scan import scan_blocks, scan_file
from tests.support.jobs import at, lines, log_file, raised


@dataclass(frozen=True)
class Said:
    """A message: its text, its first line, all lines that belong to it by its text, those that say what happened."""

    text: str
    first: int
    lines: tuple[int, ...]
    keys: tuple[int, ...]


def said(*texts: str, newline_at_end: bool = True) -> list[Said]:
    """The messages of a file of these lines, in the order of their first lines."""
    whole = lines(*texts)
    scan = scan_file(log_file("a.log", whole if newline_at_end else whole[:-1]), (), 2026, scan_blocks)
    rows = scan.chunks[0].wide()
    found = group(rows.body, rows.prefix, rows.bodies)
    message, head, key = found.message.tolist(), found.head.tolist(), found.key.tolist()
    heads = [row for row in range(len(message)) if head[row]]
    of_row = [max(at for at in heads if at <= row and message[at] == message[row]) for row in range(len(message))]
    return [
        Said(
            found.texts[message[first]],
            int(rows.line[first]),
            tuple(int(rows.line[row]) for row in range(len(message)) if of_row[row] == first),
            tuple(int(rows.line[row]) for row in range(len(message)) if of_row[row] == first and key[row]),
        )
        for first in heads
    ]


def numbers(first: int, last: int) -> tuple[int, ...]:
    return tuple(range(first, last + 1))


def test_a_line_is_a_message() -> None:
    """What is no block stands for itself, with its numbers masked."""
    assert said("loading shard 7", "done") == [
        Said("loading shard <NUM>", 1, (1,), (1,)),
        Said("done", 2, (2,), (2,)),
    ]


def test_a_traceback_is_one_message_called_by_its_exception() -> None:
    """All lines of a traceback belong together; the exception names them; what stands around it does not."""
    assert said("before", *raised("ValueError: boom 7"), "after") == [
        Said("before", 1, (1,), (1,)),
        Said("¶ ValueError: boom <NUM>", 2, numbers(2, 7), (7,)),
        Said("after", 8, (8,), (8,)),
    ]


@pytest.mark.parametrize(
    "connector",
    [
        "During handling of the above exception, another exception occurred:",
        "The above exception was the direct cause of the following exception:",
    ],
)
def test_chained_tracebacks_are_one_message(connector: str) -> None:
    """An exception and the one that it led to are one thing, called by both, the first one first."""
    chained = said(*raised("KeyError: 'lr'"), "", connector, "", *raised("RuntimeError: no schedule"), "after")

    assert chained == [
        Said("¶ KeyError: 'lr' / RuntimeError: no schedule", 1, numbers(1, 15), (6, 15)),
        Said("after", 16, (16,), (16,)),
    ]


def test_a_chain_of_many_is_called_by_its_first_and_its_last_ones() -> None:
    """However long a retry loop made the chain, the name stays short and holds where it began and ended."""
    connector = ("", "During handling of the above exception, another exception occurred:", "")
    chain = [line for n in "abcdefg" for line in (*raised(f"OSError: disk {n}"), *connector)]

    (only,) = said(*chain[: -len(connector)])

    assert only.text == "¶ OSError: disk a / OSError: disk e / OSError: disk f / OSError: disk g"


def test_tracebacks_in_a_row_that_are_not_chained_are_several_messages() -> None:
    """Two ranks that fail one after the other in a shared file failed twice."""
    assert said(*raised("ValueError: one"), *raised("ValueError: one"), "", *raised("ValueError: two")) == [
        Said("¶ ValueError: one", 1, numbers(1, 6), (6,)),
        Said("¶ ValueError: one", 7, numbers(7, 12), (12,)),
        Said("", 13, (13,), (13,)),
        Said("¶ ValueError: two", 14, numbers(14, 19), (19,)),
    ]


def test_the_traceback_of_a_data_loader_worker_belongs_to_the_one_that_carries_it() -> None:
    """torch prints the worker's traceback inside the rank's; the worker's own exception is part of the name."""
    nested = said(
        *raised("RuntimeError: Caught UnicodeDecodeError in DataLoader worker process 1."),
        "Original Traceback (most recent call last):",
        '  File "/opt/worker.py", line 30, in _worker_loop',
        "    data = fetcher.fetch(index)",
        "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
        "",
        "after",
    )

    assert nested[0].text.startswith(
        "¶ RuntimeError: Caught UnicodeDecodeError in DataLoader worker process <NUM>. / U"
    )
    assert nested[0].lines == numbers(1, 10)
    assert nested[0].keys == (6, 10)
    assert [message.text for message in nested[1:]] == ["", "after"]


BAR = " 42%|####2     | 421/1000 [01:07<01:32,  6.29it/s]"


def test_a_traceback_glued_to_a_progress_bar_is_that_of_its_rank() -> None:
    """The bar has no line end; the exception is what stands behind the rank's label, and the bar stays a bar."""
    labelled = [f"[rank0]: {line}" for line in raised("ValueError: boom")]

    found = said("[rank0]: before", f"{BAR}{labelled[0]}", *labelled[1:], "[rank0]: after")

    (bar,) = (message for message in found if "it/s" in message.text)
    assert (bar.first, bar.lines, is_block(bar.text)) == (2, (2,), False)
    (failed,) = (message for message in found if "ValueError: boom" in message.text)
    assert failed.keys == (7,)


def test_a_bar_that_is_followed_by_its_own_traceback_is_called_by_the_exception() -> None:
    """Without a label the frames stand in the same voice."""
    traceback = raised("ValueError: boom")

    (first, *_) = said(f"{BAR}{traceback[0]}", *traceback[1:], "after")

    assert (first.text, first.lines, first.keys) == ("¶ ValueError: boom", numbers(1, 6), (6,))


def test_a_traceback_that_was_cut_off_is_still_one() -> None:
    """Only a bar is excused: whoever else opens a traceback had an exception."""
    (only,) = said("worker 3 | Traceback (most recent call last):")

    assert only.text == "¶ Traceback cut off"


def test_a_remote_traceback_and_what_it_caused_are_one_message() -> None:
    """A pool's worker prints its traceback between quotes; the same exception again is named once."""
    remote = said(
        "multiprocessing.pool.RemoteTraceback: ",
        '"""',
        *raised("KeyError: 3"),
        '"""',
        "",
        "The above exception was the direct cause of the following exception:",
        "",
        *raised("KeyError: 3"),
    )

    assert remote == [Said("¶ KeyError: <NUM>", 1, numbers(1, 18), (8, 18))]


@pytest.mark.parametrize(
    "odd", [at(3, "INFO train: step 3"), "step 3 loss 2.1", '{"event": "step", "step": 3}', "Killed"]
)
def test_what_follows_a_traceback_that_was_cut_off_is_no_exception(odd: str) -> None:
    """A process that dies while it prints, or whose line was lost: the next line is not what it raised."""
    cut = said(*raised("ValueError: boom")[:3], odd, "after")

    assert (cut[0].text, cut[0].lines) == ("¶ Traceback cut off", (1, 2, 3))
    assert [one.lines for one in cut[1:]] == [(4,), (5,)]


@pytest.mark.parametrize(
    ("exception", "text"),
    [
        ("queue.Empty", "Empty in train_step (train.py)"),
        ("main.<locals>.Stuck: no progress", "Stuck: no progress"),
        ("zlib.error: Error -3 while decompressing data", "zlib.error: Error -3 while decompressing data"),
        ("hydra.errors.InstantiationException: no such class", "InstantiationException: no such class"),
        ("SystemExit: 3", "SystemExit: <NUM>"),
        ("torch.cuda.OutOfMemoryError: CUDA out of memory", "OutOfMemoryError: CUDA out of memory"),
    ],
)
def test_an_exception_is_called_without_its_module(exception: str, text: str) -> None:
    """Some printers leave it out, and versions move it; a name that says nothing alone keeps it."""
    (only,) = said(*raised(exception))

    assert only.text == f"¶ {text}"


def test_notes_between_an_exception_and_what_it_led_to_are_part_of_both() -> None:
    """Its own further lines and notes stand in between."""
    (only,) = said(
        *raised("ValueError: bad magic"),
        "shard 7 of 12",
        "",
        "During handling of the above exception, another exception occurred:",
        "",
        *raised("RuntimeError: no data"),
    )

    assert (only.text, only.keys) == ("¶ ValueError: bad magic / RuntimeError: no data", (6, 16))


def test_a_traceback_that_was_logged_line_by_line_is_one_message() -> None:
    """A logger puts its head before every line; the head is no part of the name."""
    logged = [at(0, f"ERROR train: {line}") for line in raised("ValueError: bad 3")]

    assert said(*logged, at(1, "INFO train: bye")) == [
        Said("¶ ValueError: bad <NUM>", 1, numbers(1, 6), (6,)),
        Said("<TS> INFO train: bye", 7, (7,), (7,)),
    ]


@pytest.mark.parametrize("newline_at_end", [True, False])
@pytest.mark.parametrize("kept", [1, 3, 5])
def test_a_traceback_cut_off_at_the_end_of_the_file_is_called_so(kept: int, newline_at_end: bool) -> None:
    """A process that dies while it prints leaves a traceback without an exception."""
    cut = said("before", *raised("ValueError: boom")[:kept], newline_at_end=newline_at_end)

    assert cut[1:] == [Said("¶ Traceback cut off", 2, numbers(2, 1 + kept), (2,))]


def test_a_bare_exception_says_where_it_was_raised() -> None:
    """``AssertionError`` alone names a thousand faults; the function tells which."""
    (only,) = said(*raised("AssertionError"))

    assert only.text == "¶ AssertionError in train_step (train.py)"


@pytest.mark.parametrize("label", ["", "[rank3]:"])
def test_a_stack_belongs_to_the_line_above_it(label: str) -> None:
    """C++ frames say nothing alone; torch prints them below the watchdog's line, often without its label."""
    stack = said(
        "[rank3]:[E328 00:21:12.920872216 ProcessGroupNCCL.cpp:683] [Rank 3] Watchdog caught collective timeout",
        f"{label}Exception raised from checkTimeout at ../torch/csrc/x.cpp:632 (most recent call first):",
        f"{label}frame #0: c10::Error::Error(c10::SourceLocation) + 0x96 (0x7f41 in /opt/libc10.so)",
        f"{label}frame #1: <unknown function> + 0xd (0x7fa in /lib/libc.so)",
        "after",
    )

    assert plain(stack[0].text) == "[E<TS> ProcessGroupNCCL.cpp:<NUM>] [Rank <NUM>] Watchdog caught collective timeout"
    assert (stack[0].lines, stack[0].keys) == (numbers(1, 4), (1,))
    assert stack[1:] == [Said("after", 5, (5,), (5,))]


def test_a_stack_without_label_belongs_to_the_traceback_above_it() -> None:
    """Also when the stack's voice spoke first in the file, and the traceback has a rank's label."""
    stack = said(
        "starting",
        *(f"[rank3]: {line}" for line in raised("RuntimeError: boom")),
        "Exception raised from run at ../torch/csrc/x.cpp:632 (most recent call first):",
        "frame #0: c10::Error::Error(c10::SourceLocation) + 0x96 (0x7f41 in /opt/libc10.so)",
    )

    assert stack[1:] == [Said("¶ RuntimeError: boom", 2, numbers(2, 9), (7,))]


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (["[E328 00:21:12.920872216 x.cpp:1] CUDA error: an illegal memory access"], 1),
        (["terminate called after throwing", "  what():  CUDA error: an illegal memory access"], 2),
    ],
)
def test_advice_below_an_error_is_part_of_it_and_never_its_name(head: list[str], name: int) -> None:
    """torch puts advice between an error and its stack; the stack is still that of the error."""
    advised = said(
        *head,
        "CUDA kernel errors might be asynchronously reported at some other API call",
        "For debugging consider passing CUDA_LAUNCH_BLOCKING=1",
        "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.",
        "",
        "Exception raised from c10_cuda_check_implementation at x.cpp:43 (most recent call first):",
        "frame #0: c10::Error::Error(c10::SourceLocation) + 0x96 (0x7f41 in /opt/libc10.so)",
    )

    (only,) = advised
    assert only.text.endswith("CUDA error: an illegal memory access")
    assert (only.lines, only.keys) == (numbers(1, len(head) + 6), (name,))


def report(exit_code: str) -> list[str]:
    """torchrun's own traceback and failure report; of two ranks the one with this exit code failed first."""
    return [
        *raised("torch.distributed.elastic.multiprocessing.errors.ChildFailedError: "),
        "=" * 60,
        "pretrain_gpt.py FAILED",
        "-" * 60,
        "Failures:",
        "[1]:",
        "  rank      : 5 (local_rank: 1)",
        "  exitcode  : -15 (pid: 78)",
        "  error_file: <N/A>",
        "-" * 60,
        "Root Cause (first observed failure):",
        "[0]:",
        "  rank      : 4 (local_rank: 0)",
        f"  exitcode  : {exit_code} (pid: 77)",
        "  error_file: <N/A>",
        "=" * 60,
    ]


@pytest.mark.parametrize("exit_code", ["-9", "-11", "1"])
def test_torchruns_report_is_one_message_called_by_its_first_failure(exit_code: str) -> None:
    """The exit code of the root cause decides what happened, not that of the ranks that were ended with it."""
    assert said(*report(exit_code), "after") == [
        Said(f"¶ ChildFailedError: first failure exitcode {exit_code}", 1, numbers(1, 21), (6, 19)),
        Said("after", 22, (22,), (22,)),
    ]


def test_fences_that_open_no_report_are_lines() -> None:
    """Banners are drawn with the same strokes."""
    banner = said("=" * 40, "tinymegatron 0.9.2", "=" * 40)

    assert [is_block(message.text) for message in banner] == [False, False, False]


def test_usage_text_is_one_message_called_by_its_error() -> None:
    """argparse prints pages for a wrong word; the error line is what counts."""
    assert said(
        "usage: train.py [-h] [--lr LR]",
        "                [--steps STEPS]",
        "train.py: error: unrecognized arguments: -x",
    ) == [Said("¶ train.py: error: unrecognized arguments: -x", 1, (1, 2, 3), (3,))]


def test_usage_text_without_error_is_lines() -> None:
    """``--help`` is no failure."""
    assert not any(is_block(message.text) for message in said("usage: train.py [-h]", "  --lr LR", "done"))


def test_a_dying_interpreter_is_one_message() -> None:
    """The stacks of all its threads belong to the error above them."""
    assert said(
        "Fatal Python error: Segmentation fault",
        "",
        "Thread 0x00007f12 (most recent call first):",
        '  File "a.py", line 3 in run',
        "",
        "Current thread 0x00007f13 (most recent call first):",
        "  <no Python frame>",
        "",
        "Extension modules: numpy.core (total: 33)",
        "after",
    ) == [
        Said("¶ Fatal Python error: Segmentation fault", 1, numbers(1, 9), (1,)),
        Said("after", 10, (10,), (10,)),
    ]


@pytest.mark.parametrize(
    ("killed", "kind"),
    [("Memory cgroup out of memory", "cgroup limit"), ("Out of memory", "whole machine")],
)
def test_the_kernels_report_says_which_memory_was_full(killed: str, kind: str) -> None:
    """A container's limit and a machine without memory are two faults; the report is one message."""
    assert said(
        "[  12.3] python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0",
        "[  12.3] CPU: 3 PID: 77 Comm: python",
        "[  12.3] oom-kill:constraint=CONSTRAINT,task=python,pid=77,uid=0",
        f"[  12.3] {killed}: Killed process 77 (python) total-vm:1048576kB",
        "[  13.0] eth0: link up",
    ) == [
        Said(f"¶ kernel: out of memory ({kind}): Killed process", 1, numbers(1, 4), (1, 3, 4)),
        Said("[ <NUM>] eth<NUM>: link up", 5, (5,), (5,)),
    ]


def test_ranks_that_interleave_with_labels_are_told_apart() -> None:
    """Each label is a voice; a traceback is made of the lines of one voice."""
    one, two = raised("ValueError: one"), raised("KeyError: 'two'")
    mixed = [line for pair in zip(one, two, strict=True) for line in (f"[rank0]: {pair[0]}", f"[rank1]: {pair[1]}")]

    assert said(*mixed) == [
        Said("¶ ValueError: one", 1, (1, 3, 5, 7, 9, 11), (11,)),
        Said("¶ KeyError: 'two'", 2, (2, 4, 6, 8, 10, 12), (12,)),
    ]


def test_ranks_that_interleave_without_labels_are_one_message_with_all_exceptions() -> None:
    """Nobody can tell whose frame is whose; no exception is lost, and none becomes a line of its own."""
    one, two = raised("ValueError: one"), raised("ValueError: two")
    mixed = [line for pair in zip(one, two, strict=True) for line in pair]

    assert said(*mixed, "after") == [
        Said("¶ ValueError: one / ValueError: two", 1, numbers(1, 12), (11, 12)),
        Said("after", 13, (13,), (13,)),
    ]


def test_a_block_is_never_called_like_a_line() -> None:
    """A line that looks like an exception is another event than the traceback that ends with it."""
    line, block = said("ValueError: boom", *raised("ValueError: boom"))

    assert line.text == "ValueError: boom"
    assert block.text == BLOCK_MARK + "ValueError: boom"


PIECES = st.sampled_from(
    [
        *raised("ValueError: boom"),
        *report("-9"),
        "",
        '"""',
        "usage: x",
        "x: error: bad",
        "Original Traceback (most recent call last):",
        "During handling of the above exception, another exception occurred:",
        "Exception raised from f at x.cpp:1 (most recent call first):",
        "frame #0: f + 0x1 (0x2 in lib.so)",
        "Fatal Python error: Aborted",
        "Thread 0x1 (most recent call first):",
        "terminate called after throwing an instance of 'x'",
        "  what():  y",
        "For debugging consider passing CUDA_LAUNCH_BLOCKING=1",
        "python invoked oom-killer: x",
        "Killed process 3",
        at(0, "ERROR x: Traceback (most recent call last):"),
        at(0, "ERROR x:   File"),
    ]
)
LABELS = st.sampled_from(["", "[rank0]:", "[rank1]: "])


@given(st.lists(st.tuples(LABELS, PIECES | st.text(max_size=12)), max_size=40))
def test_any_lines_are_messages(texts: list[tuple[str, str]]) -> None:
    """Whatever stands in a file, each of its lines belongs to one message, which begins with its first line."""
    whole = lines(*(label + text for label, text in texts))
    rows = scan_file(log_file("a.log", whole), (), 2026, scan_blocks).chunks[0].wide()

    found = group(rows.body, rows.prefix, rows.bodies)

    assert len(found.message) == len(found.head) == len(found.key) == len(rows.line)
    begun: set[int] = set()
    for message, head in zip(found.message.tolist(), found.head.tolist(), strict=True):
        assert 0 <= message < len(found.texts)
        assert head or message in begun  # a line that begins nothing belongs to what was begun above it
        begun.add(message)
    assert not len(rows.line) or found.head[0]


SAID = (
    b"Traceback (most recent call last):", b'  File "a.py", line <NUM>, in step', b"ValueError: boom", b"",
    b"step <NUM>", b"Exception raised from run (most recent call first):", b"frame #<NUM>: main",
)  # fmt: skip


@given(
    said=st.lists(st.tuples(st.integers(0, len(SAID) - 1), st.integers(0, 2)), min_size=1, max_size=60),
    cuts=st.sets(st.integers(1, 59), max_size=6),
)
def test_blocks_are_found_wherever_a_file_is_cut(said: list[tuple[int, int]], cuts: set[int]) -> None:
    """Rows of a voice are looked up chunk by chunk; where chunks end changes no message."""
    body, prefix = np.array(said, np.uint32).T
    bounds = [0, *sorted(cut for cut in cuts if cut < len(said)), len(said)]
    chunks = [slice(start, stop) for start, stop in pairwise(bounds)]

    cut_up = find_messages(
        [chunk.stop - chunk.start for chunk in chunks], lambda at: (body[chunks[at]], prefix[chunks[at]]), SAID
    ).messages(body)
    whole = group(body, prefix, SAID)

    assert cut_up.texts == whole.texts
    for name in ("message", "head", "key"):
        assert getattr(cut_up, name).tolist() == getattr(whole, name).tolist()
