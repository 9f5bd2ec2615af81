"""Dumps that were made to be dear, or to break what reads them."""

import io
from collections.abc import Callable
from time import process_time
from typing import Any

import pytest

from core.dumps.job_dumps import read_dumps
from core.dumps.recorder import read_recording
from core.dumps.stacks import MAX_LINES, read_text
from core.job import LogFile, Manifest

MANY = 1_500  # entries of a recording, each of a group of its own
SQUARE = 10  # times as long: of four times as much something linear takes four, something quadratic sixteen


def grows(read: Callable[[int], object], count: int) -> float:
    """How many times as long four times as much takes: the least of some tries."""

    def seconds(count: int) -> float:
        begin = process_time()
        read(count)
        return process_time() - begin

    return min(seconds(4 * count) for _ in range(3)) / max(1e-4, min(seconds(count) for _ in range(3)))


def dumped(data: bytes, name: str = "dumps/stacks.txt") -> LogFile:
    return LogFile(name, len(data), "", lambda: io.BytesIO(data))


def test_numbers_of_thousands_of_digits_are_none() -> None:
    """Python refuses to read them, and the whole diagnosis ended."""
    digits = "9" * 5_000
    text = (
        f'Process {digits}: python\nThread {digits} (idle): "MainThread"\n    step (train.py:{digits})\n'
        f'Current thread 0x1 (most recent call first):\n  File "train.py", line {digits} in step\n'
        f"Thread 1 (Thread 0x7 (LWP {digits})):\n#0  0x1 in step () at train.c:{digits}\n"
    )

    assert all(process.pid is None for process in read_text(text, "d"))


def test_many_groups_are_not_compared_with_all_entries() -> None:
    """Four times the groups take about four times as long, not sixteen."""

    def read(count: int) -> None:
        entries = [{"pg_id": n, "process_group": [str(n), ""], "collective_seq_id": n} for n in range(count)]
        value: dict[str, Any] = {"version": "2.9", "entries": entries, "pg_config": {str(n): {} for n in range(count)}}
        read_recording(value, "d", 0)

    assert grows(read, MANY) < SQUARE


@pytest.mark.parametrize("start", ["", "#0 "])
def test_a_line_without_an_end_takes_no_square(start: str) -> None:
    """A dump is not cut into short lines before it is read, as logs are; here is no host and no frame of gdb."""
    text = "Thread 1 (Thread 0x7 (LWP 1)):\n#0  step ()\n"

    assert grows(lambda count: read_text(f"{text}{start}{'a' * count}\n", "d"), 4_000) < SQUARE


def test_a_dump_of_too_many_lines_is_left_out_and_told() -> None:
    """Each line is asked for several forms; one of a byte costs as much as any other."""
    dumps = read_dumps([dumped(b"\n" * (MAX_LINES + 1))], Manifest("j"))

    assert dumps.problems == (f"dumps/stacks.txt was not read: it has more than {MAX_LINES:,} lines.",)


def test_the_longest_name_of_a_node_in_the_name_of_a_file_counts() -> None:
    """As a whole word, and at any place."""
    text = b'Thread 1 (idle): "MainThread"\n    step (train.py:1)\n'
    nodes = ("gpu-1", "gpu-1.rack", "pu-1", "rack")
    names = ("stacks_gpu-1.rack-4.txt", "gpu-1.txt", "xgpu-1.txt", "py.rack-gpu-1x.txt")

    dumps = read_dumps([dumped(text, f"dumps/{name}") for name in names], Manifest("j", nodes=nodes))

    assert [process.node for process in dumps.processes] == ["gpu-1.rack", "gpu-1", None, "rack"]
