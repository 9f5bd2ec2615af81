"""The next step is the first row of the table that applies (docs/explain/next-step.md)."""

from dataclasses import replace
from itertools import product

import pytest

from core.facts import fact_of
from core.model import Action, Confidence, Scope
from core.next.decision_table import next_step
from core.next.from_diagnosis import broken
from core.next.price import over_eviction
from core.next.situation import FaultClass, Past, Situation

SURE, LIKELY, WEAK = Confidence.ESTABLISHED, Confidence.SUPPORTED, Confidence.WEAK
OPEN = Situation(Scope.UNKNOWN, WEAK, FaultClass.UNKNOWN, "NCCL internal error", total=16)
CODE = replace(
    OPEN, scope=Scope.JOB, broken=FaultClass.CODE, says="the program raised an exception", frame="loss.py:17"
)
NODE = replace(OPEN, scope=Scope.NODE, confidence=LIKELY, says="it went silent", accused=("node-3",))
GPU = replace(NODE, confidence=SURE, broken=FaultClass.MACHINE, says="the accelerator reported a hardware error")
LINK = replace(NODE, broken=FaultClass.LINK, says="a network link went down")
FLAP = replace(OPEN, broken=FaultClass.LINK, accused=("node-3",), running=True, flapped=True, flaps=2)
CHANGED = Past(good="attempt 2", changes=("--lr 1e-4 to 1e-2",))
TRIED = Past(checked=True, reattempts=1, again=True)


@pytest.mark.parametrize(
    ("now", "action"),
    [
        (replace(OPEN, scope=Scope.NONE), Action.NONE),
        (GPU, Action.EVICT),
        (replace(LINK, running=True), Action.WAIT),
        (replace(LINK, running=True, flaps=2), Action.EVICT),
        (LINK, Action.EVICT),
        (replace(OPEN, running=True, stuck=True), Action.AGGREGATE),
        (replace(NODE, running=True, stuck=True), Action.AGGREGATE),
        (replace(CODE, past=CHANGED), Action.ROLLBACK),
        (replace(CODE, past=replace(CHANGED, rolled_back=True)), Action.FIX),
        (CODE, Action.FIX),
        (replace(NODE, broken=FaultClass.MEANS, confidence=SURE), Action.FIX),
        (NODE, Action.EVICT),
        (replace(NODE, completed=True), Action.CHECK),
        (replace(GPU, completed=True), Action.EVICT),
        (replace(NODE, broken=FaultClass.PROCESS, completed=True), Action.CHECK),
        (replace(LINK, completed=True), Action.WAIT),
        (replace(FLAP, flaps=1), Action.WAIT),
        (FLAP, Action.EVICT),
        (replace(FLAP, flapped=False), Action.CHECK),
        (replace(OPEN, says="", running=True), Action.WAIT),
        (replace(OPEN, says="", stop="an operator ended the run"), Action.NONE),
        (replace(OPEN, says="it hung", stop="an operator ended the run"), Action.CHECK),
        (replace(NODE, confidence=WEAK), Action.CHECK),
        (replace(NODE, broken=FaultClass.PROCESS, confidence=SURE), Action.CHECK),
        (replace(OPEN, past=Past(barren=3)), Action.NONE),
        (replace(NODE, past=Past(barren=3)), Action.EVICT),
        (OPEN, Action.CHECK),
        (replace(OPEN, past=Past(checked=True)), Action.REATTEMPT),
        (replace(OPEN, past=replace(TRIED, again=False)), Action.CHECK),
        (replace(OPEN, past=replace(TRIED, good="attempt 2", changes=("code",))), Action.ROLLBACK),
        (replace(OPEN, past=TRIED), Action.REPLAY),
        (replace(OPEN, past=replace(TRIED, rolled_back=True, good="attempt 2", changes=("code",))), Action.REPLAY),
        (replace(OPEN, says=""), Action.CHECK),
    ],
)
def test_the_first_row_that_applies_decides(now: Situation, action: Action) -> None:
    """Each row, and where it stands before another that would apply too."""
    assert next_step(now).action is action


def test_nobody_is_taken_out_where_no_node_is_at_fault() -> None:
    """Whatever broke and whatever was tried: names that stand in the logs of such a job are no reason."""
    scopes, tried = (Scope.NONE, Scope.JOB, Scope.UNKNOWN), (Past(), CHANGED, TRIED, Past(barren=9))
    all_of_them = [
        replace(OPEN, scope=scope, broken=broken, confidence=confidence, accused=("node-3",), past=past)
        for scope, broken, confidence, past in product(scopes, FaultClass, Confidence, tried)
    ]

    assert [now for now in all_of_them if next_step(now).action is Action.EVICT] == []


@pytest.mark.parametrize(
    ("accused", "total", "action"), [(3, 16, Action.CHECK), (3, 400, Action.CHECK), (3, 4_000, Action.EVICT)]
)
def test_a_breaker_holds_when_many_are_accused(accused: int, total: int, action: Action) -> None:
    """Three of 16 have a shared cause; three of 400 are cheaper to find, three of 4,000 to take out."""
    step = next_step(replace(NODE, accused=tuple(f"node-{n}" for n in range(accused)), total=total))

    assert step.action is action
    assert ("shared cause" in step.because) == (total == 16)


def test_a_link_that_many_nodes_lost_takes_nobody_out() -> None:
    """Four of eight nodes lost a link: that is a switch."""
    step = next_step(replace(LINK, accused=tuple(f"node-{n}" for n in range(4)), total=8))

    assert (step.action, "shared cause" in step.because) == (Action.CHECK, True)


def test_without_a_spare_the_answer_says_what_else_can_be_done() -> None:
    """The node has to leave all the same."""
    assert "no spare" in next_step(replace(GPU, spares=0)).unless
    assert next_step(replace(GPU, spares=1)).unless == ""


def test_where_all_nodes_are_one_data_parallel_part_none_can_be_done_without() -> None:
    """Then it waits for repair."""
    assert next_step(replace(GPU, spares=0, alone=True)).unless == "no spare: wait for repair."


def test_of_a_job_that_completed_nothing_is_started_again() -> None:
    """Neither after the checks nor instead of them."""
    step = next_step(replace(OPEN, broken=FaultClass.NUMBERS, says="loss is nan", completed=True))

    assert "nothing has to be started again" in step.then
    assert "start it again, once" not in step.then + step.unless


@pytest.mark.parametrize(
    ("past", "then"),
    [
        (Past(), "start it again, once"),
        (Past(again=True), "replay it in groups of nodes"),
        (replace(CHANGED, again=True), "go back to what attempt 2 ran with"),
    ],
)
def test_what_was_tried_already_is_not_advised_again(past: Past, then: str) -> None:
    """A job that failed twice in the same way was started again once: if its nodes are well, that did not help."""
    step = next_step(replace(OPEN, past=past))

    assert step.action is Action.CHECK
    assert then in step.then
    assert then in step.unless
    assert ("failed in the same way" in step.because) == bool(past.again)


def test_stacks_of_a_job_that_ended_are_not_asked_for() -> None:
    """They went with it; those of the next attempt can be had."""
    assert "before the next attempt is ended" in next_step(replace(OPEN, says="")).because


def test_a_crash_loop_is_told_to_stop() -> None:
    """With a fault of the program the advice is to fix it, and the reason counts the attempts."""
    assert "4 attempts made no new checkpoint: stop retrying" in next_step(replace(CODE, past=Past(barren=4))).because


def test_the_price_has_its_numbers() -> None:
    """16 nodes that start for 15 minutes and compute 45 minutes again: 16 node-hours."""
    cost = next_step(replace(GPU, startup=900.0, redo=2700.0)).cost

    assert cost.node_hours == 16.0
    assert "16 nodes" in cost.sentence
    assert next_step(GPU).cost.node_hours is None


def test_over_eviction_is_cheap_in_large_jobs_alone() -> None:
    """Seven healthy nodes in tests for a day: as dear as 8.4 minutes of finding with 1,200 nodes, as 5.25 h with 32."""
    assert over_eviction(1_200, 8, 5).even == pytest.approx(8.4)
    assert over_eviction(32, 8, 5).even == pytest.approx(5.25 * 60)
    assert over_eviction(1_200, 8, 9).cheaper
    assert not over_eviction(32, 8, 9).cheaper


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus.", FaultClass.MACHINE),
        ("NVRM: Xid (PCI:0000:1b:00): 31, pid=1, MMU Fault", FaultClass.PROCESS),
        ("RuntimeError: CUDA error: an illegal memory access was encountered", FaultClass.PROCESS),
        ("kernel: mlx5_core 0000:1b:00.0 eth2: Link down", FaultClass.LINK),
        ("OSError: [Errno 28] No space left on device", FaultClass.MEANS),
        ("TypeError: 'int' object is not iterable", FaultClass.CODE),
    ],
)
def test_what_is_broken_is_told_by_facts(line: str, part: FaultClass) -> None:
    """A kernel that failed accuses no machine: in one study two of three were user code."""
    fact = fact_of(line, block=False)

    assert fact is not None
    assert broken(fact, line) is part
