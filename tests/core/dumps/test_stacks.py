"""Stack dumps in every form that people collect them in."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.dumps.stacks import Frame, Process, looks_like_stacks, read_document, read_text

PYSPY = """\
Process 11: /usr/bin/python3 -u train.py
Python v3.11.7 (/usr/bin/python3.11)

Thread 11 (idle): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:1316)
    <module> (train.py:9)
Thread 12 (idle): "Thread-1 (_loop)"
    _loop (telemetry.py:50)
"""
FAULTHANDLER = """\
Fatal Python error: Aborted

Thread 0x00007f52 (most recent call first):
  File "telemetry.py", line 50 in _loop

Current thread 0x00007f51 (most recent call first):
  File "torch/distributed/distributed_c10d.py", line 1316 in all_reduce
  File "train.py", line 9 in <module>
"""
GDB = """\
Thread 2 (Thread 0x7f52 (LWP 12) "python3"):
#0  0x00007f11 in __poll (fds=0x5, n=1) at ../sysdeps/poll.c:29
Thread 1 (Thread 0x7f51 (LWP 11) "python3"):
#0  0x00007f12 in ncclGroupEnd () from /lib/libnccl.so.2
#1  main (argc=1) at main.c:3
"""


def main_of(process: Process) -> tuple[str, ...]:
    return tuple(frame.where for thread in process.threads if thread.name == "MainThread" for frame in thread.frames)


ALL_REDUCE = ("all_reduce (torch/distributed/distributed_c10d.py:1316)", "<module> (train.py:9)")


@pytest.mark.parametrize(
    ("text", "frames"),
    [
        (PYSPY, ALL_REDUCE),
        (FAULTHANDLER, ALL_REDUCE),
        (GDB, ("ncclGroupEnd (/lib/libnccl.so.2)", "main (main.c:3)")),
        (PYSPY.replace("\n", "\r\n"), ALL_REDUCE),
        (PYSPY[PYSPY.index("Thread 11") :], ALL_REDUCE),
    ],
    ids=["py-spy", "faulthandler", "gdb", "carriage returns", "without a header"],
)
def test_the_main_thread_is_found_in_every_form(text: str, frames: tuple[str, ...]) -> None:
    """Its frames, innermost first, wherever it stands in the dump."""
    (process,) = read_text(text, "d")

    assert looks_like_stacks(text)
    assert main_of(process) == frames
    assert len(process.threads) == (2 if "12" in text or "50" in text else 1)


def test_the_place_of_a_thread_can_be_cited() -> None:
    """Line number and text are those of the file."""
    (process,) = read_text(PYSPY, "d")

    assert [(one.at, one.text) for one in process.threads] == [
        (number, PYSPY.split("\n")[number - 1]) for number in (5, 8)
    ]


def test_several_processes_in_a_file_are_kept_apart() -> None:
    """By their headers, and without headers at every main thread; each with what is said of it before."""
    headed = "".join(f"# rank {rank} node n{rank}\n{PYSPY.replace('11', str(90 + rank))}\n" for rank in range(3))
    bare = "".join(f"=== rank {rank} ===\n{PYSPY[PYSPY.index('Thread 11') :]}" for rank in range(3))

    assert [(one.rank, one.node, one.pid) for one in read_text(headed, "d")] == [
        (0, "n0", 90),
        (1, "n1", 91),
        (2, "n2", 92),
    ]
    assert [(one.rank, len(one.threads)) for one in read_text(bare, "d")] == [(0, 2), (1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("label", "expected"),
    [("node4{}: ", [(None, "node40"), (None, "node41")]), ("[rank{}]: ", [(0, None), (1, None)])],
)
def test_interleaved_lines_are_told_apart_by_their_labels(label: str, expected: list[tuple[int | None, str]]) -> None:
    """As pdsh and torchrun write them: every line says whose it is."""
    text = "".join(f"{label.format(host)}{line}\n" for line in PYSPY.splitlines() for host in range(2))

    found = read_text(text, "d")

    assert looks_like_stacks(text)
    assert [(one.rank, one.node) for one in found] == expected
    assert [main_of(one) for one in found] == [ALL_REDUCE] * 2


def test_json_of_py_spy_is_the_same_process() -> None:
    """``py-spy dump --json`` names the process in each thread."""
    frames = [{"name": "all_reduce", "filename": "/x/c10d.py", "short_filename": "c10d.py", "line": 7}]
    thread = {"pid": 11, "thread_name": "MainThread", "frames": frames, "process_info": {"command_line": "python t.py"}}
    document = json.loads(json.dumps([thread, thread | {"thread_name": "other"}, thread | {"pid": 12}]))

    first, second = read_document(document, "d")

    assert (first.pid, first.command, len(first.threads), second.pid) == (11, "python t.py", 2, 12)
    assert first.threads[0].frames == (Frame("all_reduce", "c10d.py", 7),)


def test_names_of_a_dump_are_printable_and_short() -> None:
    """Function names are what somebody else wrote."""
    (process,) = read_text('Thread 1 (idle): "MainThread"\n    f\x1b[31m\x07g (a.py:3)\n', "d")

    (frame,) = process.threads[0].frames
    assert frame.where == "f [31m g (a.py:3)"


@given(st.text(alphabet='Thread 0x1(:"Main)\n F#[rank]node.py', max_size=300))
def test_any_text_is_read(text: str) -> None:
    """No text breaks the reader, and no frame is invented."""
    for process in read_text(text, "d"):
        assert all(thread.frames and 1 <= thread.at <= text.count("\n") + 1 for thread in process.threads)


@pytest.mark.parametrize("value", [None, {}, [1], [{"frames": 3}], [{"frames": [None, {}], "pid": "x"}]])
def test_any_document_is_read(value: object) -> None:
    """JSON of something else holds no process with frames."""
    assert all(
        not thread.frames or thread.frames[0].function == "?"
        for one in read_document(value, "d")
        for thread in one.threads
    )
