"""Rounds of stacks of a slow job: who is late in most of them is named, and chance names nobody."""

from typing import Any

import pytest

from core.diagnose import diagnose
from core.dumps.stack_rounds import flagged_signs, rounds_of
from core.job import Job, Manifest, Status
from core.model import Diagnosis
from tests.support.jobs import log_file

REDUCE = "all_reduce (torch/distributed/distributed_c10d.py:1316)"
WAITS = f'Process {{pid}}: python\nThread {{pid}} (idle): "MainThread"\n    {REDUCE}\n    train (t.py:5)\n'
WORKS = WAITS.replace(REDUCE, "forward (layers.py:7)")
NODES = {f"n{n}": (2 * n, 2 * n + 1) for n in range(4)}


def look(number: int, late: set[int]) -> dict[str, str]:
    """One round: the late ranks work, the others wait for them; where nobody is late all work."""
    return {
        f"dumps/round_{number}/pyspy_rank{n}.txt": (WORKS if n in late or not late else WAITS).format(pid=100 + n)
        for n in range(8)
    }


def answer(rounds: list[set[int]], **manifest: Any) -> Diagnosis:
    files = {name: text for number, late in enumerate(rounds, 1) for name, text in look(number, late).items()}
    known: dict[str, Any] = {"job_id": "j1", "status": Status.CANCELLED, "world_size": 8, "nodes": tuple(NODES)}
    dumps = tuple(log_file(name, text) for name, text in sorted(files.items()))
    return diagnose(Job(Manifest(**known, node_ranks=NODES, **manifest), (), dumps), [])


def test_who_is_late_in_three_rounds_of_five_is_named() -> None:
    """With the numbers and a line of a round; in two rounds everybody worked."""
    found = answer([{5}, set(), {5}, set(), {5}])

    assert [one.node for one in found.nodes] == ["n2"]
    assert "In 3 of 5 rounds of stacks n2 stood where few do." in found.nodes[0].because
    assert found.nodes[0].lines[0].file == "dumps/round_1/pyspy_rank5.txt"


@pytest.mark.parametrize(
    "rounds",
    [
        [{5}, set(), {5}, set(), set()],  # twice
        [{5}, {1}, {5}, {1}],  # as often as another one
        [{0}, {2}, {4}, {6}, {1}],  # each time somebody else
        [set()] * 5,
        [{5}, {5}, {5}, *[set[int]()] * 4],  # three of seven
    ],
)
def test_chance_names_nobody(rounds: list[set[int]]) -> None:
    """Less than three of five, and ties."""
    assert answer(rounds).nodes == ()


def test_the_group_around_them_is_flagged_where_several_are_late() -> None:
    """Ranks of two nodes that make a pipeline: both are as likely, and less than one that is late alone."""
    late = answer([{1, 5}] * 4, extra={"parallel": {"tp": "2", "pp": "2", "dp": "2"}})
    alone = answer([{5}] * 4)

    assert {one.node for one in late.nodes} == {"n0", "n2"}
    assert max(one.score for one in late.nodes) < alone.nodes[0].score


def test_one_look_is_no_rounds() -> None:
    """A single folder is read as before."""
    assert rounds_of([log_file("dumps/round_1/pyspy_rank0.txt", "")]) == ()
    assert flagged_signs([], (), str) == []
