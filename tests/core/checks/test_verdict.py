"""What results of checks come to: unknown is not failed, and a healthy partner is not accused."""

import json

import pytest

from core.checks.catalogue import catalogue
from core.checks.check_verdict import (
    CheckOutcome,
    Pair,
    Ran,
    judge_bits,
    judge_pairs,
    neighbours,
    read_ran,
    too_many,
    with_good,
)

PASSED, FAILED, UNKNOWN = CheckOutcome.PASSED, CheckOutcome.FAILED, CheckOutcome.UNKNOWN
NODES = [f"n{number}" for number in range(8)]


def dcgm(*words: str) -> str:
    tests = [{"name": f"test {n}", "results": [{"gpu_id": "0", "status": word}]} for n, word in enumerate(words)]
    return "banner\n" + json.dumps({"DCGM Diagnostic": {"test_categories": [{"category": "x", "tests": tests}]}})


@pytest.mark.parametrize(
    ("ran", "how", "outcome"),
    [
        (Ran(0, ""), "exit code", PASSED),
        (Ran(1, ""), "exit code", FAILED),
        (Ran(None, "", "did not end within 30 s"), "exit code", UNKNOWN),
        (Ran(127, "sh: dcgmi: not found"), "dcgm", UNKNOWN),
        (Ran(0, dcgm("Pass", "Skip", "Pass")), "dcgm", PASSED),
        (Ran(0, dcgm("Pass", "Fail", "Pass")), "dcgm", FAILED),
        (Ran(226, dcgm("Pass", "Warn")), "dcgm", PASSED),
        (Ran(0, dcgm("Skip")), "dcgm", UNKNOWN),
        (Ran(0, "{" * 5000), "dcgm", UNKNOWN),
        (Ran(1, "Segmentation fault"), "dcgm", UNKNOWN),
        (Ran(0, "State: Active"), "text", PASSED),
        (Ran(0, "State: Down"), "text", FAILED),
        (Ran(3, "no such device"), "text", UNKNOWN),
    ],
)
def test_a_check_that_did_not_end_is_unknown_and_every_test_counts(ran: Ran, how: str, outcome: CheckOutcome) -> None:
    """Time-outs, missing tools and crashes accuse nobody; DCGM's report fails when one of its tests does."""
    assert read_ran(ran, how, r"State: Down")[0] is outcome


def pairs_of(bad: dict[str, float | None], usual: float = 1.0) -> list[Pair]:
    """Two rounds in which a pair is as slow as its slower node; None: it never ends."""
    done: list[Pair] = []
    for number, pairs in ((1, neighbours(NODES)), (2, None)):
        for nodes in pairs if pairs is not None else with_good(NODES, done):
            times = [bad.get(node, usual) for node in nodes]
            done.append(Pair(number, nodes, None if None in times else max(time for time in times if time)))
    return done


@pytest.mark.parametrize("bad", [{}, {"n3": 5.0}, {"n3": None}, {"n0": None, "n7": 4.0}, {"n2": 4.0, "n3": 4.0}])
def test_who_is_slow_or_fails_in_both_rounds_is_the_one(bad: dict[str, float | None]) -> None:
    """Partners of a bad node meet a good one in the second round, and pass."""
    verdicts = judge_pairs(NODES, pairs_of(bad))

    assert {node for node, (outcome, _) in verdicts.items() if outcome is FAILED} == set(bad)
    assert all(outcome is not UNKNOWN for outcome, _ in verdicts.values())


def test_a_node_that_was_never_ready_is_unknown_and_so_is_nobody_else() -> None:
    """Its partners are judged by their other round."""
    pairs = [Pair(one.round, one.nodes, None, unknown=True) if "n5" in one.nodes else one for one in pairs_of({})]

    verdicts = judge_pairs(NODES, pairs)

    assert [node for node, (outcome, _) in verdicts.items() if outcome is not PASSED] == ["n5"]
    assert verdicts["n5"][0] is UNKNOWN


@pytest.mark.parametrize("count", [2, 3, 5, 8, 9])
def test_each_node_has_two_partners(count: int) -> None:
    """Also where their number is odd; the second partner is another one where there is another."""
    nodes = NODES[:count] if count <= 8 else [*NODES, "n8"]
    first = [Pair(1, pair, 1.0) for pair in neighbours(nodes)]
    second = with_good(nodes, first)

    assert {node for one in first for node in one.nodes} == {node for pair in second for node in pair} == set(nodes)
    assert all(one != other for one, other in second)
    if count >= 4:
        assert not {frozenset(one.nodes) for one in first} & {frozenset(pair) for pair in second}


def test_bits_are_compared_among_equal_nodes_only() -> None:
    """A majority of three equal nodes accuses one; two that differ, or nodes of another kind, accuse nobody."""
    told = {"a": ("gpu 1", "x"), "b": ("gpu 1", "x"), "c": ("gpu 1", "y"), "d": ("gpu 2", "z"), "e": None}
    two = {"a": ("gpu 1", "x"), "b": ("gpu 1", "y")}

    assert {node: outcome for node, (outcome, _) in judge_bits(told).items()} == {
        "a": PASSED,
        "b": PASSED,
        "c": FAILED,
        "d": UNKNOWN,
        "e": UNKNOWN,
    }
    assert {outcome for outcome, _ in judge_bits(two).values()} == {UNKNOWN}


def test_many_failures_are_a_shared_cause() -> None:
    """More than two, and more than a tenth."""
    assert [too_many(2, 8), too_many(3, 8), too_many(9, 100), too_many(11, 100)] == [False, True, False, True]


def test_the_catalogue_is_sound() -> None:
    """Passive checks come first, heavy ones last; each has a time and a way to be read."""
    order = [("none", "light", "heavy").index(check.load) for check in catalogue()]

    assert order == sorted(order)
    assert all(check.timeout_s > 0 and check.read in ("exit code", "text", "dcgm") for check in catalogue())
    assert all(bool(check.fail) == (check.read == "text") for check in catalogue())
