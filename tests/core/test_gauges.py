"""Numbers that nodes measure of themselves: the one that changed with the pace of the job, on one node alone."""

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from core.model import Scope
from tests.support.jobs import at, job, lines

NODES = tuple(f"sw-0{n}" for n in range(1, 5))


def probed(values: dict[str, tuple[str, str]], name: str = "rtt", onset: int = 20) -> Job:
    """A job of four that is slow from some iteration on, with a probe on each node.

    Args:
        values: of each node what its probe shows before and after.
    """
    files = {}
    for n, node in enumerate(NODES):
        clock, said = 0.0, []
        for step in range(1, 41):
            clock += 0.2 if step < onset else 1.0
            said.append(at(clock, f"step {step}, loss 0.0232"))
        files[f"{node}/rank_{n}.log"] = lines(*said)
        changed = 0.2 * onset
        probe = [(t, values[node][t > changed]) for t in (0.5, 1.5, 2.5, 3.5, 8.5, 12.5, 16.5, 20.5, 24.0)]
        files[f"{node}/probe.log"] = lines(*(at(t, f"probe of the link {name}={value}") for t, value in probe))
    return job(files, nodes=NODES, node_ranks={node: (n,) for n, node in enumerate(NODES)}, status=Status.CANCELLED)


STEADY = dict.fromkeys(NODES, ("0.12", "0.15"))


def test_the_node_whose_number_changed_with_the_pace_is_where_to_look() -> None:
    """All steps are slow alike; its link is."""
    found = diagnose(probed(STEADY | {"sw-03": ("0.12", "87.1")}), [])

    assert (found.scope, [one.node for one in found.nodes]) == (Scope.NODE, ["sw-03"])
    assert (
        "On sw-03 rtt went from 0.12 to 87.1 when the pace of the job changed; not so elsewhere."
        in found.nodes[0].because
    )


@pytest.mark.parametrize(
    "values",
    [
        STEADY,  # of none
        dict.fromkeys(NODES, ("0.12", "87.1")),  # of all: what they wait for is elsewhere
        STEADY | {"sw-02": ("0.12", "80.0"), "sw-03": ("0.12", "87.1")},  # of half of them
        dict.fromkeys(NODES, ("0.12", "0.3")) | {"sw-03": ("0.12", "0.5")},  # noise
    ],
)
def test_a_number_that_moves_otherwise_names_nobody(values: dict[str, tuple[str, str]]) -> None:
    """Nobody is special in it."""
    assert not diagnose(probed(values), []).nodes


def test_what_is_each_ones_own_names_nobody() -> None:
    """A port, a process."""
    assert not diagnose(probed(STEADY | {"sw-03": ("0.12", "87.1")}, name="port"), []).nodes


def test_messages_that_begin_alike_are_one() -> None:
    """Behind the number stands which program runs, and it is another one since then."""
    values = dict.fromkeys(NODES, ("18.0 top=python", "19.0 top=python")) | {
        "sw-03": ("18.0 top=python", "390 top=scan")
    }

    assert [one.node for one in diagnose(probed(values, name="load1"), []).nodes] == ["sw-03"]


def test_the_line_that_shows_it_is_the_first_one_with_the_new_number() -> None:
    """A probe that speaks every half minute may say the old one after the job had become slow."""
    found = diagnose(probed(STEADY | {"sw-03": ("0.12", "87.1")}), [])
    shown = [line.text for event in found.events for line in event.lines if "sw-03" in line.file]

    assert any("rtt=87.1" in text for text in shown)
    assert not any("rtt=0.12" in text for text in shown)
