"""Sets of flows drawn at random: any seed gives plans that can be made, and the same one each time."""

import random
from typing import Any

import pytest

from lab.flows.fabric import Fabric
from lab.flows.plans import FEWEST, RANKS, Deck, Draw, Free, Further, Uneven, Unusual


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


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("draw", [Unusual, Further, Free, Uneven])
def test_unusual_sets_can_be_made(draw: type[Unusual], seed: int) -> None:
    """Three tenants at most, each NIC of one alone; ports of faults exist, at a switch or in a server."""
    chance = random.Random(seed)
    deck = Deck(chance)
    for plan in [draw(chance, deck, f"x{number}", busy=False).plan() for number in range(12)]:
        fabric = Fabric(plan["id"], plan["servers"], plan["rails"], plan["leaves"], plan["pods"])
        ports = {str(link["port"]) for link in fabric.topology()["links"]} | {f"down{leaf}" for leaf in range(9)}
        ports |= {f"{server}/eth{rail}" for server in range(plan["servers"]) for rail in range(plan["rails"])}
        taken: list[tuple[int, int]] = []
        for job in plan["jobs"]:
            servers = range(job["first_server"], job["first_server"] + job["pp"] * job["dp"])
            rails = range(job.get("rail", 0), job.get("rail", 0) + job["tp"])
            taken += [(server, rail) for server in servers for rail in rails]
            for fault in job["faults"]:
                assert set(fault.get("ports", [])) <= ports
        assert len(set(taken)) == len(taken) <= draw.ranks
        assert {server for server, _ in taken} <= set(range(plan["servers"]))
        assert len(plan["jobs"]) <= FEWEST


def test_ports_belong_to_switches_of_three_levels() -> None:
    """Leaves below pods, pods below the spine; the topology and the records say the same."""
    fabric = Fabric("x", servers=8, rails=1, leaves=4, pods=2)

    assert [fabric.exporter(port) for port in ("p7n0", "up3", "down3", "podup1", "poddown1")] == [
        "leaf-3", "leaf-3", "pod-1", "pod-1", "spine-0",
    ]  # fmt: skip
    trunks = {(link["a"], link["b"]) for link in fabric.topology()["links"] if "." not in link["a"]}
    assert {("leaf-0", "pod-0"), ("leaf-3", "pod-1"), ("pod-0", "spine-0"), ("pod-1", "spine-0")} <= trunks


def test_no_kind_of_fault_comes_again_before_all_have() -> None:
    """As cards do; a kind that is not wanted stays for the next one."""
    deck = Deck(random.Random(0))
    whole = sorted([deck.draw("slow_switch"), *(deck.draw() for _ in range(17))])

    assert whole == sorted(deck.draw() for _ in range(18))
