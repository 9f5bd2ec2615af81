"""Sets of flows drawn at random: any seed gives plans that can be made, and the same one each time."""

import random
from typing import Any

import pytest

from lab.flows.fabric import Fabric
from lab.flows.plans import RANKS, Deck, Draw


def plans(seed: int, sets: int = 12) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    deck = Deck(chance)
    return [Draw(chance, deck, f"x{number}", busy=False).plan() for number in range(sets)]


def test_same_seed_same_plans() -> None:
    """And another seed others."""
    assert plans(1) == plans(1)
    assert plans(1) != plans(2)


@pytest.mark.parametrize("seed", range(5))
def test_faults_lie_within_their_jobs(seed: int) -> None:
    """Ranks, servers and ports exist, no server has two jobs, and steps are those of the job."""
    for plan in plans(seed):
        fabric = Fabric(plan["id"], plan["servers"], plan["rails"], plan["leaves"])
        ports = {link["port"] for link in fabric.topology()["links"]} | {f"down{leaf}" for leaf in range(fabric.leaves)}
        first = 0
        ranks = 0
        for job in plan["jobs"]:
            ranks += job["pp"] * job["dp"] * job["tp"]
            assert job["first_server"] == first
            first += job["pp"] * job["dp"]
            for fault in job["faults"]:
                assert set(fault["ranks"]) <= set(range(job["pp"] * job["dp"] * job["tp"]))
                assert set(fault.get("ports", [])) <= ports
                assert 0 < fault["first_step"] <= fault["last_step"] < job["steps"]
        assert first == plan["servers"]
        assert ranks <= RANKS


def test_no_kind_of_fault_comes_again_before_all_have() -> None:
    """As cards do; a kind that is not wanted stays for the next one."""
    deck = Deck(random.Random(0))
    whole = sorted([deck.draw("slow_switch"), *(deck.draw() for _ in range(17))])

    assert whole == sorted(deck.draw() for _ in range(18))
