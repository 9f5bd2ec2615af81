"""Jobs that count no iterations, and say something regularly."""

from typing import Any

import pytest

from core.course.iterations import find_pulse
from core.diagnose import diagnose
from core.events.column import Column
from core.job import Job
from core.model import Scope
from tests.support.jobs import at, four_nodes, parse


def running(silent: int | None, *, waits: bool = True) -> Job:
    """Samples by the million every five seconds for two minutes, then ten minutes of complaints of all but one."""
    seen = [at(5.0 * n, f"seen {3 + n * 0.065:.2f}M samples, {12_000 + n % 7} samples/s") for n in range(24)]
    late = [at(180.0 + 60 * n, f"no batch finished for {60 * (n + 1)} s") for n in range(10)] if waits else []
    return four_nodes({node: late for node in range(4) if node != silent}, usual=seen)


def test_when_it_stays_away_the_job_hangs() -> None:
    """And who said nothing after it held it up."""
    found = diagnose(running(2), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "hung" in found.headline


def test_no_iteration_is_made_of_it() -> None:
    """Nobody knows which one that was."""
    iterations = parse(running(2)).iterations

    assert iterations.last is None
    assert len(iterations.marks) == 4 * 24
    assert not iterations.of_rank
    assert diagnose(running(2), []).iterations == ()


def test_that_it_goes_on_proves_no_progress() -> None:
    """``still waiting for the lock, 60 s`` is as regular."""
    waiting = [at(10.0 * n, f"still waiting for lock {n} of cache") for n in range(60)]
    found = diagnose(four_nodes({}, usual=waiting), [])

    assert found.scope is not Scope.NONE


def test_what_comes_at_any_time_is_no_pulse() -> None:
    """Errors of a network that come in bursts."""
    bursts = [at(100.0 * n + n % 5 * (n % 3), f"retry {n} took {n} ms") for n in (0, 1, 2, 9, 40, 41, 42, 43, 99)]

    assert len(parse(four_nodes({}, usual=bursts)).iterations.marks) == 0


def test_times_are_read_once_for_each_message_that_many_say_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not once for each who says it: hundreds of messages of hundreds of ranks are no pulse."""
    reads = 0
    get = Column.__getitem__

    def counted(column: Column, key: Any) -> Any:
        nonlocal reads
        reads += 1
        return get(column, key)

    costs = []
    for kinds in (2, 40):
        words = [" ".join([chr(97 + kind // 6) * 3 + chr(97 + kind % 6) * 3] * 4) for kind in range(kinds)]
        said = [at(5.0 * n, f"{words[n % kinds]} {n}") for n in range(240)]
        table = parse(four_nodes({}, usual=said)).table
        monkeypatch.setattr(Column, "__getitem__", counted)
        reads = 0
        find_pulse(table)
        costs.append(reads)
        monkeypatch.undo()

    assert costs[1] <= costs[0] < 40, costs
