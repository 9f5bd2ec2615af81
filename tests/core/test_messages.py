"""The rows of messages, one by one and many at once."""

import numpy as np
import pytest

from core.events import messages
from core.events.messages import keys_of, rows_of_messages
from core.events.table import EventTable
from tests.support.jobs import example, job, parse


def trace(frames: int, error: str, rank: int) -> str:
    """A traceback of a rank."""
    inside = (f'  File "/work/train.py", line {n}, in step_{n}' for n in range(frames))
    every = ("Traceback (most recent call last):", *inside, f"ValueError: {error}")
    return "".join(f"[rank{rank}]: {line}\n" for line in every)


def interleaved() -> EventTable:
    """Two ranks whose long and short messages cut each other, and a file that ends in the middle of one."""
    parts = [trace(3, "short", 0), trace(200, "long", 1), trace(63, "as long as the window", 0), trace(64, "longer", 1)]
    mixed = [
        line for pair in zip(*(trace(40, "mixed", rank).splitlines() for rank in (0, 1)), strict=True) for line in pair
    ]
    whole = "".join(parts) + "\n".join(mixed) + "\n"
    return parse(
        job({"a.log": whole, "b.log": trace(5, "of another file", 2) + "[rank2]: Traceback (most recent"})
    ).table


def one_by_one(table: EventTable, head: int) -> list[int]:
    """The slow twin: each row of the file after the head, up to the next head of its voice."""
    found, voice = [head], table.voice[head]
    for row in range(head + 1, table.rows_of_file(int(table.file[head])).stop):
        if table.voice[row] == voice and table.head[row]:
            break
        found += [row] if table.voice[row] == voice else []
    return found


@pytest.mark.parametrize(("together", "stretch"), [(3, 7), (4096, 1 << 16)])
@pytest.mark.parametrize("name", ["", "f07", "f42"])
def test_many_at_once_are_what_each_is(name: str, together: int, stretch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The slow twin is the specification: longer than the window, cut by others, at the end of a file."""
    monkeypatch.setattr(messages, "_TOGETHER", together)
    monkeypatch.setattr(messages, "_STRETCH", stretch)
    table = parse(example(name)).table if name else interleaved()
    heads = np.flatnonzero(table.head[:]).tolist()

    found = rows_of_messages(table, heads)

    assert [own.tolist() for own in found] == [one_by_one(table, head) for head in heads]
    assert list(keys_of(table, heads)) == heads


def test_none_are_none() -> None:
    """A job in which nothing was raised."""
    table = interleaved()
    assert rows_of_messages(table, []) == []
    assert keys_of(table, []) == {}
