"""Replay: every node in two groups, what failed groups and counts mean, and how often that is right."""

from itertools import combinations

import numpy as np
import pytest

from core.errors import BadSettings
from core.replay.plan import Plan, make_plan, runs_for, third_phase
from core.replay.replay_results import ReplayVerdict, Result, meet, read


def plan_of(nodes: int, **wanted: float) -> Plan:
    return make_plan([f"node-{number}" for number in range(nodes)], **wanted)  # type: ignore[arg-type]


def played(plan: Plan, bad: set[int], rng: np.random.Generator, others: float = 0.0) -> dict[str, Result]:
    """Counts of a replay in which faulty nodes show it by the plan's chance, and runs fail otherwise too."""
    passes = {group: (1 - others) * (1 - plan.chance) ** len(bad & set(group.members)) for group in plan.groups}
    return {group.name: Result(plan.runs, int(rng.binomial(plan.runs, 1 - passes[group]))) for group in plan.groups}


@pytest.mark.parametrize(("nodes", "pipeline"), [(24, 4), (64, 1), (64, 2), (100, 3), (7, 1)])
def test_no_two_nodes_share_a_group_twice(nodes: int, pipeline: int) -> None:
    """Each node is once in each phase, and a pair in at most one group."""
    plan = plan_of(nodes, pipeline=pipeline)
    pairs = [pair for group in plan.groups for pair in combinations(group.members, 2)]
    seen = [[x for group in plan.groups if group.phase == phase for x in group.members] for phase in (1, 2)]

    assert plan.unique
    assert len(pairs) == len(set(pairs))
    assert all(sorted(members) == list(range(len(plan.nodes))) for members in seen)
    assert {*plan.nodes, *plan.left} == {f"node-{number}" for number in range(nodes)}


def test_the_papers_example_meets_in_machine_13() -> None:
    """ByteRobust, figure 6: groups of four, {12..15} and {1, 7, 13, 19}."""
    plan = plan_of(24, pipeline=4, parts=1)
    members = {group.name: group.members for group in plan.groups}

    assert (members["1-3"], members["2-1"]) == ((12, 13, 14, 15), (1, 7, 13, 19))
    assert meet(4, 6, {3}, {1}) == (ReplayVerdict.MACHINES, [13])


@pytest.mark.parametrize(
    ("first", "second", "verdict", "suspects"),
    [
        ({3, 4}, {1, 2}, ReplayVerdict.AMBIGUOUS, [25, 26, 33, 34]),
        ({4}, {3, 4}, ReplayVerdict.MACHINES, [35, 36]),
        (set(), set(), ReplayVerdict.NOT_REPRODUCED, []),
        ({2}, set(), ReplayVerdict.ONE_PHASE, [16, 17, 18, 19, 20, 21, 22, 23]),
    ],
)
def test_failed_groups_meet_in_their_nodes(
    first: set[int], second: set[int], verdict: ReplayVerdict, suspects: list[int]
) -> None:
    """One failed group in either phase is exact; several in both are not; one phase alone names nobody."""
    assert meet(8, 8, first, second) == (verdict, suspects)


def test_more_nodes_a_group_than_groups_are_not_exact() -> None:
    """Eight nodes a group and four groups: two nodes of a group are in the same group again."""
    assert meet(8, 4, {0}, {1}) == (ReplayVerdict.AMBIGUOUS, [1, 5])


def test_runs_are_those_that_the_chance_needs() -> None:
    """Chance .5: five runs, which show it in both phases in 94 %; a fault that always shows needs one."""
    assert [runs_for(chance) for chance in (1.0, 0.8, 0.5, 0.2)] == [1, 2, 5, 14]
    assert plan_of(64).both == pytest.approx(0.9385, abs=1e-4)


def test_a_flaky_node_is_found_and_nobody_else_is_named() -> None:
    """200 replays of 64 nodes, chance .5, five runs: in at least nine of ten found, and never another one."""
    rng, plan, found = np.random.default_rng(5), plan_of(64, pipeline=2), 0
    for number in range(200):
        reading = read(plan, played(plan, {number % 64}, rng))
        assert reading.verdict is not ReplayVerdict.MACHINES or reading.suspects == (number % 64,)
        found += reading.verdict is ReplayVerdict.MACHINES
    assert found >= 180


def test_other_failures_hide_no_node_and_accuse_few() -> None:
    """5 % of runs fail otherwise, chance .8: the node is the likeliest in 95 of 100; without any, 2 % are accused."""
    rng, plan = np.random.default_rng(6), plan_of(128, pipeline=2, chance=0.8, runs=5)
    right = sum(read(plan, played(plan, {x}, rng, 0.05)).suspects[:1] == (x,) for x in range(100))
    accused = sum(read(plan, played(plan, set(), rng, 0.05)).verdict is ReplayVerdict.MACHINES for _ in range(100))

    assert right >= 95
    assert accused <= 3


def test_a_third_round_settles_what_is_ambiguous() -> None:
    """Two faulty nodes leave four candidates; each alone among nodes that passed tells which."""
    rng, plan = np.random.default_rng(7), plan_of(64, pipeline=2, chance=1.0)
    first = read(plan, played(plan, {9, 26}, rng))
    last = third_phase(plan, first.suspects, first.healthy)

    assert first.verdict is ReplayVerdict.AMBIGUOUS
    assert {9, 26} < set(first.suspects)
    assert last is not None
    assert all(not {9, 26} & set(group.members[1:]) for group in last.groups)
    assert set(read(last, played(last, {9, 26}, rng)).suspects) == {9, 26}


def test_a_group_without_a_result_neither_failed_nor_passed() -> None:
    """It is told, and its nodes are not called healthy."""
    plan = plan_of(16, chance=1.0)
    reading = read(plan, {group.name: Result(1, 0) for group in plan.groups if group.phase == 1})

    assert reading.verdict is ReplayVerdict.NOT_REPRODUCED
    assert len(reading.told) == plan.count


@pytest.mark.parametrize("wanted", [{"pipeline": 9}, {"chance": 0.0}, {"runs": 0}, {"pipeline": 0}])
def test_what_makes_no_plan_is_refused(wanted: dict[str, float]) -> None:
    """Too few nodes for two groups, and numbers without sense."""
    with pytest.raises(BadSettings):
        plan_of(16, **wanted)
