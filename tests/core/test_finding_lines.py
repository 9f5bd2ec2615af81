"""The line that is shown first where no trace tells what broke, and that no fault pattern takes it for a cause."""

import re

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from core.model import Diagnosis, Role, Scope
from faultlib.draft import pattern_of
from tests.core.test_rank_series import FORMS, NODES, ONSET, told
from tests.support.jobs import at, four_nodes, job, lines

SRUN = "srun: Job step aborted: Waiting up to 32 seconds for job step to finish."
CANCELLED = "slurmstepd: error: *** JOB 7719001 ON nid1 CANCELLED AT 2026-05-16T10:19:42 ***"


def first(diagnosis: Diagnosis) -> str:
    """The first line of the first event."""
    return diagnosis.events[0].lines[0].text


@pytest.mark.parametrize("form", FORMS)
def test_a_slow_rank_is_shown_where_its_number_left_its_level(form: str) -> None:
    """The first line with the new number, and not the one above it or that of another rank."""
    found = diagnose(told(FORMS[form], 2.0), [])
    shown = first(found)

    assert re.findall(r"turn'?:? (\d+)", shown) == [str(ONSET + 1)]
    assert re.findall(r"rank'?:? (\d)", shown) == ["5"]
    assert [(event.role, event.ordinary) for event in found.events[:1]] == [(Role.ROOT, True)]
    assert "Rank 5 on farm-c" in found.nodes[0].because


def test_an_ordinary_line_is_no_cause() -> None:
    """A pattern of a slow rank has no clause for it, and is not looked for by it: every well job prints it."""
    found = diagnose(told(FORMS["a sentence"], 2.0), [])
    ordinary = [event for event in found.events if event.ordinary]

    assert ordinary
    assert not any(event.is_trace for event in ordinary)
    assert "kneaded" not in str(pattern_of(found).signature.must)


def test_a_number_that_is_none_is_shown_where_it_broke() -> None:
    """And not the first of the many lines that say so after it."""
    said = [at(n, f"iter {n}: loss {'nan' if n > 12 else 5.5}, time 200.00ms") for n in range(1, 21)]
    found = diagnose(job({"train.log": lines(*said)}, status=Status.FAILED), [])

    assert "is nan" in found.headline
    assert "iter 13: loss nan" in first(found)


def stopped(*said: str) -> Job:
    steps = [at(n, f"iter {n}: loss 5.5, time 200.00ms") for n in range(1, 21)]
    files = {f"node-{letter}/train.log": lines(*steps, *said) for letter in "ab"}
    return job(files, nodes=("node-a", "node-b"), status=Status.CANCELLED)


def test_who_stopped_a_job_comes_before_what_was_told_to_end() -> None:
    """What srun says has no clock, and stands above the line that tells of the order."""
    found = diagnose(stopped(SRUN, CANCELLED), [])

    assert found.scope is not Scope.NODE
    assert first(found) == CANCELLED


def test_a_message_is_cited_twice_at_most_for_a_node() -> None:
    """The first one, and that it came again; how often, its count tells."""
    error = "RuntimeError: the disk of this machine is broken"
    said = [at(n, f"ERROR {error}") for n in range(6)]
    found = diagnose(job({"node-a/train.log": lines(*said), "node-b/train.log": lines("x")}, status=Status.FAILED), [])

    assert (found.events[0].count, len(found.events[0].lines)) == (6, 2)


def test_a_finding_on_a_named_node_keeps_its_suspect() -> None:
    """What is shown first changes nothing in who is named."""
    found = diagnose(told(FORMS["a dictionary"], 2.0), [])

    assert [node.node for node in found.nodes] == [list(NODES)[2]]
    assert found.events[0].nodes in ((), (list(NODES)[2],))


def test_a_slow_job_of_which_nobody_stands_apart_shows_where_its_steps_became_longer() -> None:
    """By the first line that counts an iteration since; whoever stopped it comes before that where somebody says so."""

    def slowed(*end: str) -> Job:
        clocks = [step if step <= 60 else 60 + 4 * (step - 60) for step in range(1, 101)]
        steps = [at(clock, f"step {step} loss 2.5") for step, clock in enumerate(clocks, start=1)]
        return four_nodes(dict.fromkeys(range(4), steps), others={"slurm.out": end}, status=Status.CANCELLED)

    assert first(diagnose(slowed(), [])).endswith("step 61 loss 2.5")
    assert first(diagnose(slowed(at(221, CANCELLED)), [])).endswith(CANCELLED)


def test_a_job_without_a_clock_is_slow_where_the_parts_of_a_step_come_to_more() -> None:
    """No line tells the whole step: the ranks print how long they waited and computed."""
    steps = [f"batch {n} wait {0.02 if n < 25 else 5.7:.2f}s compute 4.3{n % 3}s" for n in range(1, 81)]
    found = diagnose(four_nodes(dict.fromkeys(range(4), steps), status=Status.CANCELLED), [])

    assert found.headline.startswith("The job was slow from iteration 25 on")
    assert "wait went from 20 ms to 5.7 s" in found.why[-1]
    assert first(found).startswith("batch 25 wait 5.70s")
