"""Links between nodes: told apart from nodes, and never by one failure that does not come again."""

import pytest

from core.checks.check_verdict import CheckOutcome, Pair, judge_pairs, neighbours, with_good, with_passed
from core.checks.links import bad_links, circle

NODES = [f"n{number}" for number in range(8)]


def pairs_of(link: tuple[str, str], seconds: float | None) -> list[Pair]:
    """Two rounds of well nodes with one bad link, and the link tried again."""
    done: list[Pair] = []
    for number, pairs in ((1, neighbours(NODES)), (2, None)):
        for nodes in pairs if pairs is not None else with_good(NODES, done):
            done += [Pair(number, nodes, seconds if set(nodes) == set(link) else 1.0)]
    return done


@pytest.mark.parametrize("seconds", [None, 5.0])
def test_two_nodes_that_are_well_with_others_are_a_bad_link(seconds: float | None) -> None:
    """Dead or slow; neither of them is accused, and nobody else."""
    pairs = pairs_of(("n0", "n1"), seconds)

    assert [link.nodes for link in bad_links(pairs)] == [("n0", "n1")]
    assert {outcome for outcome, _ in judge_pairs(NODES, pairs).values()} == {CheckOutcome.PASSED}


def test_a_pair_that_is_well_when_tried_again_is_no_bad_link() -> None:
    """Once may be chance: a busy machine, a port that was taken."""
    pairs = [*pairs_of(("n0", "n1"), None), Pair(3, ("n1", "n0"), 1.0)]
    assert bad_links(pairs) == ()


def test_a_link_is_slow_beside_all_pairs_and_not_beside_the_best_ones() -> None:
    """Of seven rounds the best pair of each node is quick by chance: what is usual is no bad link."""
    pairs = [
        Pair(number, nodes, 0.5 if number == place % 7 + 1 else 1.1)
        for number, found in enumerate(circle(NODES), 1)
        for place, nodes in enumerate(found)
    ]
    slow = [Pair(one.round, one.nodes, 3.0 if set(one.nodes) == {"n0", "n5"} else one.seconds) for one in pairs]

    assert bad_links(pairs) == ()
    assert [link.nodes for link in bad_links(slow)] == [("n0", "n5")]


def test_the_pairs_of_a_bad_node_are_no_links() -> None:
    """Who fails with everybody is a node; and where nothing ended nobody knows."""
    pairs = [Pair(one.round, one.nodes, None if "n3" in one.nodes else 1.0) for one in pairs_of(("", ""), 1.0)]

    assert bad_links(pairs) == ()
    assert bad_links([Pair(1, ("n0", "n1"), None)]) == ()


def test_who_met_only_bad_ones_meets_one_that_passed() -> None:
    """n1 is on a dead link, and then met the slow n2: only a well node tells that it is well."""
    done = [
        Pair(1, ("n0", "n1"), None),
        Pair(1, ("n2", "n3"), 5.0),
        Pair(1, ("n4", "n5"), 1.0),
        Pair(1, ("n6", "n7"), 1.0),
    ]
    done += [
        Pair(2, ("n3", "n0"), 1.0),
        Pair(2, ("n1", "n2"), 5.0),
        Pair(2, ("n4", "n6"), 1.0),
        Pair(2, ("n5", "n7"), 1.0),
    ]

    further = with_passed(NODES, done)
    done += [Pair(3, pair, 5.0 if "n2" in pair else 1.0) for pair in further]

    assert [suspect for _, suspect in further] == ["n1", "n2"]
    assert all(good in ("n0", "n3", "n4", "n5", "n6", "n7") for good, _ in further)
    assert [node for node, (outcome, _) in judge_pairs(NODES, done).items() if outcome is CheckOutcome.FAILED] == ["n2"]
    assert [link.nodes for link in bad_links(done)] == [("n0", "n1")]


def test_of_two_nodes_that_do_not_reach_each_other_neither_is_accused() -> None:
    """Either may be at fault, or what is between them."""
    verdicts = judge_pairs(NODES[:2], [Pair(number, ("n0", "n1"), None) for number in (1, 2)])
    assert {outcome for outcome, _ in verdicts.values()} == {CheckOutcome.UNKNOWN}


@pytest.mark.parametrize("count", range(2, 12))
def test_in_a_circle_all_meet_once_and_nobody_twice_at_a_time(count: int) -> None:
    """n - 1 rounds of an even number, n of an odd one."""
    nodes = [f"n{number}" for number in range(count)]
    rounds = circle(nodes)

    met = [frozenset(pair) for pairs in rounds for pair in pairs]
    assert len(met) == len(set(met)) == count * (count - 1) // 2
    assert len(rounds) == count - 1 + count % 2
    assert all(len({node for pair in pairs for node in pair}) == 2 * len(pairs) for pairs in rounds)
