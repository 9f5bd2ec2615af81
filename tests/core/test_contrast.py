"""Contrast: the node that says what no other does, or does not say what all others do; a hint, never a verdict."""

from typing import Any

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from core.model import Scope
from core.nodes.contrast import WEIGHT, contrast_signs
from core.nodes.sign import Sign
from tests.support.jobs import four_nodes, parse, steps, suspected, timed_out

USUAL = ("driver 550.54 loaded", "found 8 devices", "mounted the shared file system", "joined the process group")
ODD = ("clock drift corrected", "falling back to sockets", "resized the page cache", "raised the fan speed")


def many_nodes(count: int, says: dict[int, tuple[str, ...]], **manifest: Any) -> Job:
    """Daemons of so many nodes; all say the usual things but those that say something of their own."""
    others = {f"node-{n}/slurmd.log": says.get(n, USUAL) for n in range(count)}
    nodes = tuple(f"node-{n}" for n in range(count))
    return four_nodes({}, others=others, nodes=nodes, node_ranks={}, **manifest)


def contrast(one: Job, *baseline: Job) -> list[Sign]:
    parsed = parse(one, *baseline)
    return contrast_signs(parsed.table, parsed.usual, parsed.nodes, parsed.telling)


def test_equal_nodes_have_no_contrast() -> None:
    """Nothing is said about a job whose nodes say the same."""
    assert contrast(many_nodes(8, {})) == []


def test_a_node_that_says_more_stands_out() -> None:
    """One of eight says two things that no other does."""
    (sign,) = contrast(many_nodes(8, {3: (*USUAL, *ODD[:2])}))

    assert (sign.node, sign.weight) == ("node-3", WEIGHT)
    assert "it says" in sign.because
    assert "1 more such difference" in sign.because


def test_a_node_that_says_less_stands_out() -> None:
    """Absence is seen as well as presence."""
    (sign,) = contrast(many_nodes(8, {5: USUAL[:1]}))

    assert sign.node == "node-5"
    assert "it never says" in sign.because


@pytest.mark.parametrize(
    ("count", "says"),
    [
        (2, {1: (*USUAL, *ODD)}),
        (3, {1: (*USUAL, ODD[0])}),
        (8, {1: (*USUAL, ODD[0], ODD[1]), 2: (*USUAL, ODD[2], ODD[3])}),
        (8, dict.fromkeys(range(4), (*USUAL, *ODD))),
    ],
)
def test_a_small_or_common_difference_accuses_nobody(count: int, says: dict[int, tuple[str, ...]]) -> None:
    """Of two nodes each differs from the other; one stray line is nothing; two that differ alike are nobody special."""
    assert contrast(many_nodes(count, says)) == []


def test_what_good_jobs_say_too_is_no_contrast() -> None:
    """The node with the switch always has more to say."""
    odd = many_nodes(8, {3: (*USUAL, *ODD)})

    assert contrast(odd)
    assert contrast(odd, many_nodes(8, {3: (*USUAL, *ODD)}, job_id="s1", status=Status.COMPLETED)) == []


def test_what_good_jobs_always_say_is_missed_also_there() -> None:
    """That a line is normal makes its absence odd."""
    good = many_nodes(8, {}, job_id="s1", status=Status.COMPLETED)

    (sign,) = contrast(many_nodes(8, {5: USUAL[:1]}), good)

    assert sign.node == "node-5"


def test_ranks_that_always_differ_are_not_compared() -> None:
    """The first and the last rank print what no other prints, in every successful job."""
    said = {0: [*USUAL, *ODD], 3: [*USUAL, "lm loss of the last stage", "tokens seen so far"]}

    assert contrast(four_nodes(said, usual=USUAL)) == []


def test_known_failures_are_weighed_by_their_own_channels() -> None:
    """An error is no contrast, or it would count twice."""
    assert contrast(many_nodes(8, {3: (*USUAL, "ERROR push failed", "OSError: [Errno 5] Input/output error")})) == []


def test_contrast_alone_accuses_nobody() -> None:
    """To differ is no fault."""
    diagnosis = diagnose(many_nodes(8, {3: (*USUAL, *ODD)}), [])

    assert (diagnosis.scope, diagnosis.nodes) == (Scope.JOB, ())


def test_contrast_settles_who_of_two_silent_nodes_it_was() -> None:
    """With silence of two it names the one that also differs."""
    silent = four_nodes(
        {n: timed_out() for n in (0, 1)},
        usual=steps(9),
        others={f"node-{n}/slurmd.log": (*USUAL, *(ODD if n == 2 else ())) for n in range(4)},
    )

    assert suspected(silent) == ["node-2"]
