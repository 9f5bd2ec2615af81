"""The paper as it stands: the baseline that ours is measured against."""

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.course.iterations import NO_ITERATION
from core.diagnose import diagnose
from core.job import Job, Status
from core.l4 import method as l4
from core.l4.method import (
    MIN_DISTANCES,
    WINDOW,
    Vectors,
    cross_job,
    diagnose_l4,
    dtw_distance,
    mean_distances,
    sequences,
    spatial,
    temporal,
)
from core.model import Diagnosis, Role, Scope, Skipped
from tests.support.jobs import at, four_nodes, job, lines, parse, steps

USUAL = (at(0, "INFO starting"), at(1, "INFO model is built"), at(2, "INFO training begins"))
BROKEN = at(3, "ERROR link eth0 is down")
LOST = at(4, "ERROR peer is gone")


def l4_of(one: Job, *baseline: Job) -> Diagnosis:
    return diagnose_l4(parse(one, *baseline))


def good(*more: str, job_id: str = "good") -> Job:
    return four_nodes({0: more}, usual=USUAL, job_id=job_id, status=Status.COMPLETED)


def naive_dtw(one: Sequence[float], other: Sequence[float]) -> float:
    """The textbook: the cheapest of all ways through the table of squared differences."""
    cost = {(-1, -1): 0.0}
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            before = [cost.get(place, math.inf) for place in ((i - 1, j), (i, j - 1), (i - 1, j - 1))]
            cost[i, j] = (a - b) ** 2 + min(before)
    return math.sqrt(cost[len(one) - 1, len(other) - 1])


# --- 4.2 --------------------------------------------------------------------------------------------------------------


def test_without_history_cross_job_is_skipped_and_the_answer_says_so() -> None:
    """The paper goes on without successful jobs; a reader is told."""
    assert "cross-job" in [step.step for step in l4_of(four_nodes({2: [BROKEN]}, usual=USUAL)).skipped]
    assert "cross-job" not in [step.step for step in l4_of(four_nodes({2: [BROKEN]}, usual=USUAL), good()).skipped]


@pytest.mark.parametrize(("with_it", "without", "kept"), [(0, 2, True), (1, 2, True), (1, 1, False), (2, 0, False)])
def test_an_event_of_half_of_the_good_jobs_is_dropped(with_it: int, without: int, kept: bool) -> None:
    """Frequently present: in at least half of the successful jobs, however often in each."""
    baseline = [good(LOST, job_id=f"with-{n}") for n in range(with_it)] + [
        good(job_id=f"no-{n}") for n in range(without)
    ]
    parsed = parse(four_nodes({1: [LOST] * 5}, usual=USUAL), *baseline)

    texts = [parsed.table.templates[event].text for event in cross_job(parsed)]

    assert any("peer is gone" in text for text in texts) is kept
    assert not any("model is built" in text for text in texts)


# --- 4.3 --------------------------------------------------------------------------------------------------------------


def test_the_node_that_differs_is_the_suspect() -> None:
    """A suspect comes with the events that make it one, and with the numbers."""
    answer = l4_of(four_nodes({2: [BROKEN, BROKEN]}, usual=USUAL), good())

    assert [node.node for node in answer.nodes] == ["node-2"]
    assert answer.nodes[0].ranks == (2,)
    assert answer.scope is Scope.NODE
    assert [event.because for event in answer.events] == ["node-2 logged this 2 times; the median of 4 nodes is 0."]
    assert answer.events[0].lines[0].text == BROKEN


def test_a_silent_node_is_named_by_what_only_its_peers_say() -> None:
    """Absence is a difference too: the forest sees the one node without the events of the others."""
    answer = l4_of(four_nodes({0: [LOST], 1: [LOST], 3: [LOST]}, usual=USUAL), good())

    assert [node.node for node in answer.nodes] == ["node-2"]
    assert [event.nodes for event in answer.events] == [("node-0", "node-1", "node-3")]


def test_the_order_of_nodes_and_files_changes_nothing() -> None:
    """Nodes and events are sorted before the forest is fitted."""
    one = four_nodes({0: [LOST], 1: [LOST, BROKEN], 2: [BROKEN], 3: [LOST]}, usual=USUAL)
    shuffled = replace(one, logs=one.logs[::-1], manifest=replace(one.manifest, nodes=one.manifest.nodes[::-1]))

    answer, other = l4_of(one, good()), l4_of(shuffled, good())

    assert [(node.node, node.score) for node in answer.nodes] == [(node.node, node.score) for node in other.nodes]
    assert [(event.event, event.score) for event in answer.events] == [
        (event.event, event.score) for event in other.events
    ]
    assert answer.nodes


def test_identical_nodes_give_no_suspect() -> None:
    """A wrong key on all nodes: nobody is above the threshold, and so no event is named."""
    answer = l4_of(four_nodes({n: [BROKEN] for n in range(4)}, usual=USUAL), good())

    assert (answer.nodes, answer.events) == ((), ())
    assert answer.scope is Scope.JOB


def test_a_job_like_the_good_ones_is_no_failure() -> None:
    """Nothing is left after the filter, so nothing is at fault."""
    answer = l4_of(four_nodes({}, usual=USUAL), good())

    assert (answer.scope, answer.nodes, answer.events) == (Scope.NONE, (), ())


def test_two_nodes_cannot_be_told_apart() -> None:
    """A forest of two rows says nothing; all that the good jobs do not say is reported, and the step is skipped."""
    files = {"node-0/rank_0.log": lines(*USUAL, BROKEN), "node-1/rank_1.log": lines(*USUAL)}

    answer = l4_of(job(files), good())

    assert [event.template.split("ERROR ")[1] for event in answer.events] == ["link eth<NUM> is down"]
    assert answer.nodes == ()
    assert "spatial" in [step.step for step in answer.skipped]


def test_with_nobody_to_compare_nothing_is_said() -> None:
    """One node and no successful job: not a word about the cause."""
    answer = l4_of(job({"node-0/rank_0.log": lines(*USUAL, BROKEN)}))

    assert (answer.scope, answer.nodes, answer.events) == (Scope.UNKNOWN, (), ())


def test_at_most_eight_nodes_are_shown() -> None:
    """Section 4.3: the top eight, the most anomalous first."""
    counts = np.zeros((60, 2), np.int64)
    counts[:10] = np.arange(100, 120).reshape(10, 2)
    suspects = spatial(Vectors(tuple(f"node-{n:02}" for n in range(60)), (0, 1), counts))

    assert len(suspects) == l4.MAX_SUSPECTS
    assert [one.anomaly for one in suspects] == sorted((one.anomaly for one in suspects), reverse=True)


# --- 4.4 --------------------------------------------------------------------------------------------------------------

EVENTS = st.lists(st.integers(min_value=0, max_value=6), min_size=1, max_size=7).map(tuple)


@given(EVENTS, EVENTS)
def test_dtw_is_that_of_the_textbook(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    """Sequences of one or two events have a distance like all others: neither infinite nor an error."""
    assert dtw_distance(one, other) == pytest.approx(naive_dtw(one, other))


@given(st.lists(EVENTS, max_size=24))
def test_the_window_is_the_ten_before(sequences: list[tuple[int, ...]]) -> None:
    """The mean over the ten sequences before each, however many of them are equal."""
    windows = [(sequences[at], sequences[at - WINDOW : at]) for at in range(WINDOW, len(sequences))]

    naive = [float(np.mean([naive_dtw(one, other) for other in before])) for one, before in windows]

    assert mean_distances(sequences).tolist() == pytest.approx(naive)


def iterations(count: int, odd: Mapping[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    return {number: odd.get(number, (1,)) for number in range(1, count + 1)}


def test_three_sigma_cannot_fire_among_ten_and_says_so() -> None:
    """Of ten distances none is further than three sigma from their mean, whatever happened."""
    last = WINDOW + MIN_DISTANCES - 1

    answer = temporal({"rank 0": iterations(last, {last: (99, 98, 97)})})

    assert answer == Skipped("temporal", "10 iterations have 10 before them; three-sigma needs 11 to ever fire.")


def test_three_sigma_fires_among_enough() -> None:
    """One iteration of many that differs is found, on the ranks where it differs."""
    last = WINDOW + MIN_DISTANCES + 10
    ranks = {"rank 0": iterations(last, {last: (99,), 15: (5,)}), "rank 1": iterations(last, {last: (99,)})}

    answer = temporal(ranks)

    assert not isinstance(answer, Skipped)
    assert [(one.iteration, one.score) for one in answer] == [(last, 1.0)]
    assert "on 2 of 2 ranks" in answer[0].because


def test_iterations_are_read_from_the_logs() -> None:
    """From lines to an iteration: what a rank logs after the marker belongs to it."""
    said = [*steps(30), at(30.5, "ERROR something new"), at(30.6, "ERROR and another")]

    answer = l4_of(four_nodes(dict.fromkeys(range(4), said), usual=USUAL))

    assert [one.iteration for one in answer.iterations] == [30]


# --- what it is for ---------------------------------------------------------------------------------------------------


def test_it_is_chosen_by_name() -> None:
    """``method="l4"`` gives the paper, and all of its events are roots."""
    answer = diagnose(four_nodes({2: [BROKEN]}, usual=USUAL), [good()], method="l4")

    assert answer.method == "l4"
    assert {event.role for event in answer.events} == {Role.ROOT}


def test_nothing_of_our_own_judgement_is_in_it() -> None:
    """The baseline that we are measured against must not profit from what we added to the paper."""
    ours = {"judge", "nodes", "facts", "dumps", "metrics", "flows", "next"}
    files = [Path(l4.__file__), Path(l4.__file__).with_name("answer.py")]
    imported = {
        (node.module or "").removeprefix("core.").partition(".")[0]
        for path in files
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
    }

    assert not imported & ours


def test_who_counts_iterations_and_begins_no_message_in_any_has_no_sequence() -> None:
    """As in two of 134 jobs of another team: counts that stand within messages that were begun before the first."""
    parsed = parse(four_nodes({}, usual=steps(30)))
    none = parsed.table.computed(np.int32, lambda rows: np.full(len(rows), NO_ITERATION))
    before = replace(parsed.iterations, of_row=none)

    assert sequences(parsed.table, before) == {}
