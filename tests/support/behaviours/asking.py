"""How a diagnosis is asked for, and what is shown until it is there."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from slacksim import Message
from tests.support.behaviours.stage import Stage, row
from tests.support.gated_model import gated
from tests.support.scene import ELSEWHERE, Scene
from tests.support.scene_jobs import NO_LOGS, QUIET, RUNNING


@row(1)
def acknowledged_at_once(stage: Stage) -> None:
    outcome = stage.scene.ask(QUIET, stage.room())
    assert outcome.acknowledged
    assert outcome.seconds < 1


@row(2)
def usage_for_no_job(stage: Stage) -> None:
    room = stage.room()
    stage.scene.ask("../etc", room, by="bob")
    stage.scene.ask("", room, by="carol")
    assert "JOB" in stage.scene.told("carol", "Which job?").all_text
    assert stage.scene.posts(room) == ()


@row(3)
def words_of_the_command(stage: Stage) -> None:
    for word, said in (
        ("help", "unwatch JOB"),
        ("list", "diagnose"),
        ("status", "runs"),
        ("cancel f01", "No diagnosis"),
    ):
        stage.scene.ask(word, stage.answer.channel, by="bob")
        stage.scene.told("bob", said)


@row(4)
def mention_and_shortcut(stage: Stage) -> None:
    room = stage.room()
    stage.scene.user("bob").say(f"@firstfault diagnose {QUIET}", room)
    assert QUIET in stage.scene.answer(QUIET, room).text
    alert = stage.scene.user("bob").say("job f02 died", stage.room())
    stage.scene.user("bob").shortcut("diagnose_message", alert)
    assert "f02" in stage.scene.in_thread(alert, "Run again").text


@row(5)
def direct_messages(stage: Stage) -> None:
    carol = stage.scene.user("carol")
    carol.direct(QUIET)
    assert QUIET in stage.scene.answer(QUIET, carol.direct_channel).text


@row(6)
def not_in_the_channel(stage: Stage) -> None:
    stage.scene.ask(QUIET, ELSEWHERE, by="bob")
    assert "/invite @" in stage.scene.told("bob", "I am not in this channel").all_text


@row(7)
def plain_answers(stage: Stage) -> None:
    room = stage.room()
    for job, said in (
        ("f9999", "There is no job"),
        (NO_LOGS, "no log files"),
        (RUNNING, "still running"),
        ("s01", "completed"),
    ):
        stage.scene.ask(job, room, by="bob")
        stage.scene.told("bob", said)
    assert stage.scene.posts(room) == ()


@row(8)
def asked_again(stage: Stage) -> None:
    stage.scene.ask("f01", stage.answer.channel, by="carol")
    told = stage.scene.told("carol", "was diagnosed before")
    assert f"p{stage.answer.ts.replace('.', '')}" in told.all_text
    assert "Run again" in told.all_text


@row(9)
def one_message(stage: Stage) -> None:
    answer = stage.fresh(QUIET)
    parents = [call for call in stage.scene.posts(answer.channel) if "thread_ts" not in call.args]
    assert len(parents) == 1
    assert stage.scene.edits(answer)


@row(10)
def steps_with_counts(stage: Stage) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bot.slack.run_messages.EDIT_EVERY", 0.0)
        answer = stage.fresh("f02")
    edits = [str(call.args.get("blocks")) for call in stage.scene.edits(answer)]
    assert any("reading f02" in edit and " of " in edit for edit in edits)


@contextmanager
def thinking(stage: Stage, name: str) -> Iterator[tuple[Scene, Message]]:
    """A bot whose model does not answer, and the message of the run that waits for it."""
    with gated() as (_, endpoint), stage.other(name, model="toy", model_url=endpoint.url, model_timeout=300) as scene:
        room = stage.room()
        scene.ask("f02", room, by="bob")
        yield scene, scene.until(scene.parent("f02", room), "note is being written")
        scene.ask("cancel f02", room, by="bob")


@row(11)
def cancel(stage: Stage) -> None:
    with thinking(stage, "cancel") as (scene, message):
        scene.user("carol").click(message, "Cancel")
        scene.told("carol", "may cancel it")
        scene.user("bob").click(message, "Cancel")
        scene.slack.wait_for(lambda now: "*Cancelled*" in now.message(message.channel, message.ts).all_text, 5)


@row(12)
def place_in_the_queue(stage: Stage) -> None:
    with thinking(stage, "queue") as (scene, message):
        scene.ask(QUIET, message.channel, by="carol")
        assert "next in the queue" in scene.parent(QUIET, message.channel).text


@row(13)
def deadline(stage: Stage) -> None:
    """The deadline is brought forward once there is a part to show: how fast a machine diagnoses is not the matter."""
    with thinking(stage, "deadline") as (scene, message):
        for lease in scene.bot.worker._watch.leases():
            lease.deadline = scene.bot.state.clock()
        assert "Look at" in scene.until(message, "*This is a part of the answer*").text
