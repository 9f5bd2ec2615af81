"""The lines of a parent message: since when, on what grounds, what to do; wordings that a phone showed to be wrong."""

from dataclasses import replace

import pytest

from bot.slack.brief import brief, checks_left, gist, grounds, next_brief
from core.model import Action, Confidence, Cost, Diagnosis, NextStep, Role, Scope, Stage
from core.next.decision_table import NOT_TOLD, UNTIL_PUT_RIGHT, next_step
from core.next.situation import FaultClass, Situation
from tests.support.diagnoses import inconclusive, job_wide, node_fault
from tests.support.slack_samples import KNOWN

SAYS = "A value became NaN or infinite"
CHECK = "Look at learning rate, data and precision."


def told(diagnosis: Diagnosis) -> list[str]:
    return brief(diagnosis, (), room=8)


def with_step(action: Action, because: str, *, confidence: Confidence = Confidence.ESTABLISHED) -> Diagnosis:
    step = NextStep(action, because, Cost(None, ""), cause=SAYS)
    return replace(job_wide(), next=step, checks=(CHECK, "Another one."), confidence=confidence)


@pytest.mark.parametrize(
    ("action", "because", "line"),
    [
        (Action.FIX, f"{SAYS}: {UNTIL_PUT_RIGHT}.", "fix: Look at learning rate, data and precision."),
        (
            Action.FIX,
            f"{SAYS} (train.py:7): {UNTIL_PUT_RIGHT}. 3 attempts made no new checkpoint: stop.",
            "fix: train.py:7. Look at learning rate, data and precision. 3 attempts made no new checkpoint: stop.",
        ),
        (Action.CHECK, f"{SAYS}; {NOT_TOLD}; also a step.", "check: Look at learning rate, data and precision."),
        (
            Action.CHECK,
            f"{SAYS}; programs cause this as well as machines, and the logs do not tell which.",
            "check: Look at learning rate, data and precision.",
        ),
        (Action.CHECK, "Suspects are a, b: find which.", "check: Suspects are a, b: find which."),
        (Action.EVICT, f"{SAYS}, and nobody else stands out.", "evict: nobody else stands out."),
        (Action.WAIT, f"{SAYS}.", "wait."),
    ],
)
def test_what_to_do_says_what_to_look_at(action: Action, because: str, line: str) -> None:
    """A reason that would fit any fault gives way to the check of this one; a reason of its own stays."""
    assert next_brief(with_step(action, because)) == line


def test_the_place_of_the_code_is_said_without_brackets() -> None:
    """Beside the cause they made sense; the headline says the cause, and a bracket alone reads as a mistake."""
    bare = replace(with_step(Action.FIX, f"{SAYS} (train.py:7 in step): {UNTIL_PUT_RIGHT}."), checks=())

    assert next_brief(bare) == "fix: train.py:7 in step. It fails again until that is put right."


def test_the_core_says_what_is_replaced() -> None:
    """Another wording there would leave the line without anything to look at."""
    died = Situation(Scope.NODE, Confidence.SUPPORTED, FaultClass.PROCESS, "a process crashed", ("node-01",), total=4)
    step = next_step(died)
    diagnosis = replace(node_fault(), next=replace(step, cause="a process crashed"), checks=(CHECK,))

    assert step.action is Action.CHECK
    assert next_brief(diagnosis).startswith(f"check node-01: {CHECK}")


def test_a_stop_that_the_headline_tells_is_not_told_again_as_what_to_do() -> None:
    """Who reads "none" wants to know when it is not none; a reason of its own stays."""
    step = NextStep(
        Action.NONE,
        "The job was stopped from outside, and no more is known.",
        Cost(0.0, ""),
        "it hung: collect stacks.",
    )
    stopped = replace(inconclusive(), headline="The job was stopped from outside during training", next=step)
    hopeless = replace(step, because="6 attempts in a row made no new checkpoint: stop retrying.")

    assert next_brief(stopped) == "nothing, unless it hung: collect stacks."
    assert next_brief(replace(stopped, next=hopeless)) == f"nothing: {hopeless.because}"


def test_a_node_keeps_its_name_at_the_beginning_of_a_sentence() -> None:
    """Names are typed into other programs as they are read."""
    fault = replace(
        node_fault(), nodes=(replace(node_fault().nodes[0], node="stork"),), why=("stork ended.", "it died.")
    )

    assert {"1. stork ended.", "2. It died."} <= set(told(fault))


def test_nobody_is_told_to_verify_and_to_evict_at_once() -> None:
    """Where the answer is not established, a look comes before a node is taken out."""
    likely = with_step(Action.EVICT, f"{SAYS}, and nobody else stands out.", confidence=Confidence.SUPPORTED)

    assert next_brief(likely) == f"check, then evict: {CHECK}"


def test_a_check_that_the_message_says_is_not_said_below() -> None:
    """Each fact once; what is too long for the message stands below it whole."""
    short = with_step(Action.FIX, f"{SAYS}: {UNTIL_PUT_RIGHT}.")

    assert checks_left(short) == ("Another one.",)
    assert checks_left(with_step(Action.EVICT, f"{SAYS}.")) == (CHECK, "Another one.")
    assert checks_left(long := replace(short, checks=("Look at this. " * 20, "Another one."))) == long.checks


def test_a_stop_that_is_no_fault_says_when_and_what_to_do() -> None:
    """Somebody has to start the job again."""
    stop = replace(
        node_fault(),
        scope=Scope.NONE,
        headline="Not a fault: node-01 was taken away during training",
        checks=("Restart it.",),
        iterations=(),
    )

    assert told(stop) == ["*Since* 2026-11-21 03:59:44 UTC", "*Next* Restart it."]
    assert gist(stop).endswith("Not a fault: node-01 was taken away during training. Next: Restart it.")


def test_what_speaks_against_an_answer_is_no_ground_for_it() -> None:
    """The paper's comparison often names another node than the suspect."""
    against = "Counting what each node logs, node-03 differs most (Isolation Forest)."

    assert grounds(replace(node_fault(), why=("It said so.", against))) == ["It said so."]


def test_what_the_headline_quotes_is_not_quoted_again() -> None:
    """An error that no fact knows is told in its own words, once."""
    unknown = replace(
        node_fault(),
        headline="Look at w03: “zlib.error: Error -3 while…” during training",
        why=("w03 logged “zlib.error: Error -3 while decompressing”; the other 3 nodes never did.",),
    )

    assert "w03 logged this; the other 3 nodes never did." in told(unknown)


def test_since_when_is_a_time_or_is_not_said() -> None:
    """Before the first who tells of it, where nobody logged the fault itself; a stage is no time."""
    events = tuple(replace(event, role=Role.PROPAGATED) for event in node_fault().events)
    peers = replace(node_fault(), events=events, facts={})
    untimed = replace(inconclusive(), headline="The job was slow from iteration 18 on", stage=Stage.TRAINING)

    assert any(line.startswith("*Since* before 2026-11-21 ") for line in told(peers))
    assert any(line.endswith(", log time") for line in told(peers))
    assert "*Stage* training" in told(untimed)
    assert not any(line.startswith("*Since*") for line in told(untimed))


def test_no_second_iteration_stands_beside_that_of_the_headline() -> None:
    """The last complete one and the one that failed are two numbers, and a reader would see a contradiction."""
    two = replace(job_wide(), headline="A value became NaN during evaluation, in iteration 3", events=())

    assert "*Stage* training" in told(two)
    assert "*Stage* training, iteration 2" in told(replace(two, headline="A value became NaN"))


def test_what_helped_is_not_said_beside_the_same_check() -> None:
    """A pattern whose fix was drafted by code has the words of the check."""
    likely = with_step(Action.EVICT, f"{SAYS}.", confidence=Confidence.SUPPORTED)
    same, other = (replace(KNOWN[0], fix=fix, exact=True) for fix in (CHECK, "Swap the cable."))

    assert sum(line.count(CHECK) for line in brief(likely, (same,), room=8)) == 1
    assert "Swap the cable." in brief(likely, (other,), room=8)[-1]
