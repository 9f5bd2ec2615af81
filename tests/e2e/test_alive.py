"""People see at once that they were heard."""

from dataclasses import replace
from typing import NoReturn

import pytest

from slacksim import Message
from slacksim.errors import Refused
from slacksim.methods import METHODS
from tests.support.scene import Scene


@pytest.fixture(scope="module")
def answer(scene: Scene) -> Message:
    return scene.diagnosed("f02")


def test_a_question_shows_a_status_until_it_is_answered(scene: Scene, answer: Message) -> None:
    """41: Slack's own, which the reply takes away; nothing else is posted."""
    scene.user("bob").reply(answer, "what happened at iteration 29?")
    reply = scene.in_thread(answer, "Iteration 29")

    (call,) = scene.slack.journal.calls("assistant.threads.setStatus", "ok")
    assert call.args["thread_ts"] == answer.ts
    assert "f02" in call.args["status"]
    assert call.ended < scene.posts(answer.channel)[-1].started
    assert scene.slack._server.state.statuses == {}
    assert not any("Reads the evidence" in call.args["text"] for call in scene.posts(answer.channel))
    assert reply.thread_ts == answer.ts


def test_one_status_that_slack_does_not_show_is_no_reason_to_give_up(
    scene: Scene, answer: Message, monkeypatch: pytest.MonkeyPatch
) -> None:
    """41: a message in its place, and with the next question the status again."""

    def trouble(*_: object) -> NoReturn:
        raise Refused("internal_error")

    shows = METHODS["assistant.threads.setStatus"]
    for iteration, run in ((26, trouble), (25, shows.run)):
        monkeypatch.setitem(METHODS, "assistant.threads.setStatus", replace(shows, run=run))
        scene.user("bob").reply(answer, f"what happened at iteration {iteration}?")
        scene.in_thread(answer, f"Iteration {iteration}")

    calls = scene.slack.journal.calls("assistant.threads.setStatus")
    assert [call.outcome for call in calls[-2:]] == ["internal_error", "ok"]


def test_where_slack_shows_no_status_a_message_does_that_becomes_the_reply(
    scene: Scene, answer: Message, monkeypatch: pytest.MonkeyPatch
) -> None:
    """41: one message a question all the same; Slack is not asked for the status again."""
    posted = len(scene.posts(answer.channel))
    before = len(scene.slack.journal.calls("assistant.threads.setStatus"))
    monkeypatch.delitem(METHODS, "assistant.threads.setStatus")
    for iteration in (28, 27):
        scene.user("bob").reply(answer, f"what happened at iteration {iteration}?")
        scene.in_thread(answer, f"Iteration {iteration}")

    heard = [call for call in scene.posts(answer.channel)[posted:] if "Reads the evidence" in call.args["text"]]
    thread = [message for message in scene.slack.snapshot().thread(answer) if message.by_app]
    assert len(heard) == 2
    assert [sum(f"Iteration {number}" in message.all_text for message in thread) for number in (28, 27)] == [1, 1]
    assert not any("reads the evidence" in message.all_text.casefold() for message in thread)
    assert len(scene.slack.journal.calls("assistant.threads.setStatus")) == before + 1
