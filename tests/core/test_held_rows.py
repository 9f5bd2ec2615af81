"""Rows that are held in memory: as many as may be, and what they say is what the files say."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from core.course import openers
from core.course.stages import find_stages
from core.events import rows_in_memory as holding
from core.events.table import EventTable
from core.job import Job
from core.judge.candidates import find_candidates
from tests.support.jobs import at, example, job, lines, parse, raised, steps

COLUMNS = ("file", "line", "offset", "time", "timed", "voice", "event", "message", "head", "key", "node", "rank")


def talkative(times: int) -> Job:
    """Two nodes that complain so often, each in its own words."""
    return job(
        {
            f"node-{n}/rank_{n}.log": lines(*(at(k, f"[ERROR] queue of node {n} is full") for k in range(times)))
            for n in range(2)
        },
        nodes=("node-0", "node-1"),
    )


def held_of(table: EventTable) -> NDArray[np.intp]:
    assert table.in_memory is not None
    return table.in_memory.rows


def test_held_rows_say_what_the_files_say() -> None:
    """A column gives the same for a row, whether it is in memory or read."""
    table = parse(example("f07")).table
    rows = held_of(table)
    bare = replace(table, in_memory=None)

    assert len(rows)
    for name in COLUMNS:
        assert getattr(table, name)[rows].tolist() == getattr(bare, name)[rows].tolist(), name


def test_rows_of_events_are_the_same_held_or_not() -> None:
    """All head rows of every event, in table order."""
    table = parse(example("f07")).table
    bare = replace(table, in_memory=None)
    everything = range(len(table.templates))

    held, read = table.rows_of(everything), bare.rows_of(everything)

    assert {event: rows.tolist() for event, rows in held.items()} == {
        event: rows.tolist() for event, rows in read.items()
    }


@pytest.mark.parametrize("times", [100, 1000])
def test_no_more_rows_are_held_than_there_is_room_for(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often a job complains, so many rows are in memory; their number is still told."""
    monkeypatch.setattr(holding, "MAX_HELD", 20)
    monkeypatch.setattr(holding, "MAX_RARE", 0)

    parsed = parse(talkative(times))
    candidates = find_candidates(parsed)

    assert len(held_of(parsed.table)) <= 20
    assert sum(one.count for one in candidates) == 2 * times
    assert sum(len(one.rows) for one in candidates) == len(held_of(parsed.table))


def test_of_too_many_rows_the_first_and_the_last_of_each_voice_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a job starts and where it fails."""
    monkeypatch.setattr(holding, "MAX_HELD", 8)
    monkeypatch.setattr(holding, "MAX_RARE", 0)

    table = parse(talkative(50)).table

    assert table.line[held_of(table)].tolist() == [1, 2, 49, 50] * 2


def test_rare_events_are_held_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said once is there, whatever else is said a thousand times."""
    monkeypatch.setattr(holding, "MAX_HELD", 8)

    table = parse(job({"a.log": lines(*(at(k, "[ERROR] full") for k in range(99)), *raised("OSError: gone"))})).table

    said = {table.templates[event].sample for event in table.event[held_of(table)].tolist()}
    assert any("OSError: gone" in text for text in said)


def test_no_more_openers_are_held_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that evaluates after each of many iterations has stages at its end, and few of them in memory."""
    texts = [one for n, step in enumerate(steps(300)) for one in (step, at(n + 1.5, "Evaluating on 10 samples"))]
    parsed = parse(job({"node-0.log": lines(*texts), "node-1.log": lines(*steps(300))}))
    every = find_stages(parsed.table, parsed.iterations.marks)[:]
    monkeypatch.setattr(openers, "MOST", 16)

    found = openers.find_openers(
        parsed.table, parsed.iterations.marks, np.full(len(parsed.table.templates), -1, np.int8)
    )
    few = find_stages(parsed.table, parsed.iterations.marks)[:]

    assert len(found.clock) <= 16
    assert few[-3:].tolist() == every[-3:].tolist()
    assert len(np.unique(every)) == 2
