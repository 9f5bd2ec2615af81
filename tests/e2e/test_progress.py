"""While a diagnosis works: one message, real counts, a place in the queue, cancelling, and the deadline."""

from collections.abc import Iterator

import pytest

from slacksim import Slack
from tests.support.gated_model import GUESSED, Gate, gated, plan_of
from tests.support.scene import Folders, Scene, serving, text_of
from tests.support.scene_jobs import QUIET
from tests.support.states import latest

TEAM = "T0FIRSTFAULT"
WRITING = "note is being written"  # of the note: the evidence is there, the model thinks


@pytest.fixture
def gate() -> Iterator[tuple[Gate, str]]:
    with gated() as (gate, endpoint):
        yield gate, endpoint.url


@pytest.fixture
def scene(slack: Slack, folders: Folders, gate: tuple[Gate, str]) -> Iterator[Scene]:
    """A bot whose model is silent until the gate opens."""
    with serving(slack, folders, model="toy", model_url=gate[1], model_timeout=300) as running:
        yield running


@pytest.mark.slow
def test_one_message_is_edited_from_the_first_step_to_the_models_note(
    scene: Scene, gate: tuple[Gate, str], room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """9, 10, 19: steps with real counts, the evidence before the model has answered, its guess labelled as one."""
    monkeypatch.setattr("bot.slack.run_messages.EDIT_EVERY", 0.0)
    scene.ask("f07", room)
    evidence = scene.until(scene.parent("f07", room), WRITING)
    run = latest(scene.bot.state, TEAM, room, "f07")
    assert run is not None
    known = scene.bot.state.runs.answer(run.id)
    assert known is not None
    assert known.diagnosis is not None
    gate[0].answer = plan_of(known.diagnosis)
    gate[0].open()
    answer = scene.answer("f07", room)
    scene.in_thread(answer, "The full report")

    steps = [text_of(call) for call in scene.edits(answer)]
    assert answer.ts == evidence.ts
    assert any("reading f07, 2 of 2" in step for step in steps)
    assert "*Confidence*" in evidence.all_text
    assert "Cancel" in evidence.all_text
    details = scene.details(answer).all_text
    assert "in the order of toy; not confirmed" in details.lower()
    assert "not checked" in details
    assert GUESSED in details
    assert len([call for call in scene.posts(room) if "thread_ts" not in call.args]) == 1


def test_only_the_asker_and_approvers_may_cancel(scene: Scene, room: str) -> None:
    """11: another is told who may; the asker's click ends it."""
    scene.ask("f07", room, by="bob")
    message = scene.until(scene.parent("f07", room), WRITING)

    scene.user("carol").click(message, "Cancel")
    refused = scene.told("carol", "may cancel it")
    still = scene.shown(message)
    scene.user("bob").click(message, "Cancel")
    cancelled = scene.until(message, "*Cancelled* by <@U0BOB>")

    assert "<@U0BOB> asked for it" in refused.all_text
    assert WRITING in still.all_text
    assert cancelled.text == "f07: the diagnosis was cancelled"


def test_who_waits_is_told_the_place_and_moves_up(scene: Scene, room: str) -> None:
    """11, 12: places count what is before; when an approver cancels the first by command, the others come closer."""
    scene.ask("f07", room, by="bob")
    scene.until(scene.parent("f07", room), WRITING)

    waiting = []
    for job in ("f02", "f15", QUIET):  # each is asked for when the one before is in the queue
        scene.ask(job, room, by="carol")
        waiting.append(scene.parent(job, room))
    second, third, last = waiting
    scene.user("alice").command("/diagnose cancel f02", room)
    scene.until(second, "the diagnosis was cancelled")
    moved = scene.until(last, "place 2 in the queue")
    for job in ("f15", QUIET, "f07"):
        scene.user("alice").command(f"/diagnose cancel {job}", room)
    scene.until(last, "*Cancelled* by <@U0ALICE>")

    assert second.text == "f02: waiting, next in the queue"
    assert third.text == "f15: waiting, place 2 in the queue"
    assert last.text == f"{QUIET}: waiting, place 3 in the queue"
    assert moved.ts == last.ts


def test_asking_for_a_job_that_is_at_work_links_to_it(scene: Scene, room: str) -> None:
    """8: nobody waits twice."""
    scene.ask("f07", room, by="bob")
    message = scene.until(scene.parent("f07", room), WRITING)

    scene.ask("f07", room, by="carol")
    told = scene.told("carol", "is being diagnosed")
    scene.user("bob").click(message, "Cancel")
    scene.until(message, "*Cancelled*")

    assert f"p{message.ts.replace('.', '')}" in told.all_text
    assert len(scene.posts(room)) == 1


def test_a_deadline_gives_what_is_known_and_says_so(scene: Scene, room: str) -> None:
    """13: the evidence stands, the note is missing, and nobody can archive half an answer."""
    scene.ask("f07", room)
    message = scene.until(scene.parent("f07", room), WRITING)

    for held in scene.bot.worker._watch.leases():
        held.deadline = scene.bot.state.clock()  # it is brought forward: nobody waits a quarter of an hour
    expired = scene.until(message, "This is a part of the answer")

    assert expired.text.startswith("f07: Look at gpu018")
    assert "*Evidence*" in scene.details(expired).all_text
    assert WRITING not in expired.all_text
    assert "Approve and archive" not in expired.all_text
    assert "Run again" in expired.all_text
