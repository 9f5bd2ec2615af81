"""People see at once that they were heard, and other programs can ask too."""

import json
from collections.abc import Iterator
from dataclasses import replace
from http.client import HTTPConnection
from typing import NoReturn

import pytest

from benchmarks.support.patience import PATIENCE
from slacksim import Message, Slack
from slacksim.errors import Refused
from slacksim.methods import METHODS
from tests.support.scene import ALERTS, Folders, Scene, serving

TOKEN = "a token of ours"


@pytest.fixture(scope="module")
def scene(slack: Slack, folders: Folders) -> Iterator[Scene]:
    """A bot that reads alerts of two kinds."""
    alerts = {"alerts": "127.0.0.1:0", "alerts_token": TOKEN, "alert_channels": ALERTS, "follow_channel": ALERTS}
    with serving(slack, folders, **alerts) as running:
        yield running


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


def test_an_alert_that_names_a_job_is_answered_in_its_thread(scene: Scene) -> None:
    """42: once; what names no job, good news and other channels are left alone."""
    quiet = [
        scene.slack.post_by_program(ALERTS, "[FIRING:1] DiskFull on nas-02"),
        scene.slack.post_by_program(ALERTS, "[RESOLVED] JobFailed f07"),
        scene.slack.post_by_program("C0ROOM39", "[FIRING:1] JobFailed f07"),
    ]
    alert = scene.slack.post_by_program(ALERTS, "", ({"title": "[FIRING:1] JobFailed", "text": "job f03 failed"},))

    answer = scene.in_thread(alert, "Run again")

    assert "f03" in answer.text
    assert [one for message in quiet for one in scene.slack.snapshot().thread(message) if one.by_app] == []


def test_what_alertmanager_sends_is_diagnosed_where_jobs_are_followed(scene: Scene) -> None:
    """43: the receiver's own format, with its token; also a job that had failed before anybody followed."""
    body = {"version": "4", "alerts": [{"status": "firing", "labels": {"job_id": "f42"}, "annotations": {}}]}
    connection = HTTPConnection("127.0.0.1", scene.bot.alert_port or 0, timeout=PATIENCE)
    connection.request("POST", "/alerts", json.dumps(body), {"Authorization": f"Bearer {TOKEN}"})
    assert connection.getresponse().status == 200
    connection.close()

    assert "f42" in scene.answer("f42").text
