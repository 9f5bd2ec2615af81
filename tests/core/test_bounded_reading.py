"""A job in which everything is different is read as often as another: what is read grows with its lines alone."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
import pytest

from core.diagnose import diagnose
from core.events.column import Column
from core.events.table import EventTable
from core.job import Job
from core.nodes.spatial import missing_signs
from core.parsing.parse import read_job
from tests.support.jobs import job, lines

FEW, MANY = 60, 480
GROWTH = 2 * MANY / FEW  # a square would be eight times as many, of these
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def exceptions(count: int) -> Job:
    """Each exception another, and no line has a clock."""
    head = ("Traceback (most recent call last):", '  File "train.py", line 3, in <module>', "    main()")
    said = [(*head, f"{_word(n).title()}Error: {_word(n + 7)} {_word(n + 13)}") for n in range(count)]
    return job({"logs/train.log": lines(*(line for one in said for line in one))})


def ranks(count: int) -> Job:
    """Each rank fails once, and no line has a clock."""
    return job(
        {
            "logs/train.log": lines(
                *(f"[rank{n}]: RuntimeError: NCCL error: unhandled system error" for n in range(count))
            )
        }
    )


def tracebacks_of_ranks(count: int) -> Job:
    """Each rank raises once, in a file of all, so that its message ends where nobody of the file speaks again."""
    said = ("Traceback (most recent call last):", '  File "train.py", line 3, in main', "    step()")
    every = ((rank, text) for rank in range(count) for text in (*said, f"RuntimeError: {_word(rank)}"))
    return job({"logs/train.log": lines(*(f"[rank{rank}]: {text}" for rank, text in every))})


def kills(count: int) -> Job:
    """Each process is killed in other words, after each was asked to end in others, and no line has a clock."""
    asked = (f"Sending process {n} closing signal SIGTERM for {_word(n)}" for n in range(count))
    killed = (f"{_word(n)}.sh: line 12: {n} Killed {_word(n)}" for n in range(count))
    return job({"logs/train.log": lines(*asked, *killed)})


def _word(number: int) -> str:
    return "".join(LETTERS[number // 26**place % 26] for place in range(4))


@pytest.mark.parametrize("flood", [exceptions, ranks, kills, tracebacks_of_ranks])
def test_what_is_read_grows_with_the_lines(flood: Callable[[int], Job], monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight times the lines have eight times as much read, and not sixty-four."""
    read = 0
    get, each = Column.__getitem__, EventTable.each_row_of

    def counted(column: Column, key: Any) -> Any:
        nonlocal read
        values = get(column, key)
        read += int(np.size(values))
        return values

    def passed(table: EventTable, voices: Any) -> Iterator[Any]:
        nonlocal read
        read += len(table)
        return each(table, voices)

    monkeypatch.setattr(Column, "__getitem__", counted)
    monkeypatch.setattr(EventTable, "each_row_of", passed)
    costs = []
    for count in (FEW, MANY):
        read = 0
        diagnose(flood(count), [])
        costs.append(read)

    assert costs[1] < GROWTH * costs[0], costs


def test_nodes_that_never_spoke_are_found_in_one_look() -> None:
    """Whoever spoke is looked at once, and not once for each node of the job."""
    looks = 0

    class Spoke(list[str]):
        def __iter__(self) -> Iterator[str]:
            nonlocal looks
            looks += 1
            return super().__iter__()

    nodes = [f"node-{number}" for number in range(100)]
    signs = missing_signs({}, [], nodes, Spoke(nodes[1:]), [], began=False)

    assert [sign.node for sign in signs] == ["node-0"]
    assert looks == 1


def test_the_first_bytes_of_a_file_are_read_once_for_all_that_is_asked_of_them() -> None:
    """Year, day and clock are looked for in the same bytes."""
    opened = 0
    whole = job({"logs/train.log": b"no date at all\n"})
    (log,) = whole.logs

    def counted() -> BinaryIO:
        nonlocal opened
        opened += 1
        return log.open()

    read_job(replace(whole, logs=(replace(log, open=counted),)))

    assert opened <= 3, "for the samples, for its rows, and for who speaks"
