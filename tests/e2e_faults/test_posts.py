"""Slack refuses, breaks off, answers nonsense or not at all: everything stands there once in the end."""

import threading
from datetime import timedelta

import pytest

from benchmarks.support.stage import FINISHED, ROOMS, Stage, assert_said_once, eventually
from bot import app as of_slack
from bot.slack.connect import make_client
from slacksim import Slack
from slacksim.journal import Call

FAULTS = ("ratelimited", "error", "malformed", "timeout", "drop", "lost")


def test_faults_on_the_message_of_a_run(stage: Stage) -> None:
    """Whatever happens to the post of a run's message, the channel has one message of it."""
    with stage.bot(runs=2):
        for room, kind in zip(ROOMS, FAULTS, strict=False):
            job = stage.job(f"quick-{kind}")
            stage.slack.faults.call("chat.postMessage", kind)
            stage.alice.command(f"/diagnose {job}", room)
            stage.parent(job)
        jobs = [f"quick-{kind}" for kind in FAULTS]
        stage.wait_told(*jobs)
    assert_said_once(stage, *jobs)


@pytest.mark.parametrize(
    "method",
    [
        "chat.postMessage",
        "files.completeUploadExternal",
        *(pytest.param(m, marks=pytest.mark.slow) for m in ("chat.update", "files.getUploadURLExternal", "upload")),
    ],
)
def test_faults_at_the_end_of_a_run(stage: Stage, method: str) -> None:
    """Whatever happens to the last edit, to a post in the thread or to the upload, all of it is there once."""
    jobs = [stage.job(f"gate-{kind}") for kind in FAULTS]
    with stage.bot(runs=len(FAULTS)):
        for job, room in zip(jobs, ROOMS, strict=False):
            stage.alice.command(f"/diagnose {job}", room)
        for job, kind in zip(jobs, FAULTS, strict=True):
            stage.wait_for_words(job, "dgx-a03")  # its evidence: what comes next is the end
            stage.slack.faults.call(method, kind)
            stage.let_go(job)
            stage.wait_told(job)
    assert_said_once(stage, *jobs)


def test_slack_is_down_for_a_while(stage: Stage) -> None:
    """While no call succeeds the asker is told that nothing is forgotten; afterwards everything comes once."""
    job = stage.job("quick-1")
    with stage.bot():
        stage.slack.faults.call("chat.postMessage", "error", times=12)
        stage.alice.command(f"/diagnose {job}")
        stage.alice.wait_for_ephemeral("is not forgotten")
        stage.wait_told(job)
    assert_said_once(stage, job)


def test_retry_after_is_honoured(stage: Stage) -> None:
    """After a 429 nobody posts in that channel before its time, whoever else has something to say there."""
    jobs = [stage.job(f"gate-{number}") for number in range(3)]
    with stage.bot():
        stage.slack.faults.call("chat.postMessage", "ratelimited", seconds=2)
        stage.alice.command(f"/diagnose {jobs[0]}")
        eventually(lambda: calls_to(stage.slack, "chat.postMessage"), "the first post")
        for job in jobs[1:]:
            stage.alice.command(f"/diagnose {job}")
        for job in jobs:
            stage.parent(job)
        limited, *later = calls_to(stage.slack, "chat.postMessage")
        assert limited.outcome == "ratelimited"
        assert all(call.started >= limited.ended + 2 for call in later)
        assert [len(stage.parents(job)) for job in jobs] == [1, 1, 1]


@pytest.mark.slow
def test_long_retry_after_of_edits(stage: Stage) -> None:
    """A Retry-After that is longer than a step's patience costs progress, and never the answer."""
    job = stage.job("gate-1")
    with stage.bot():
        stage.slack.faults.call("chat.update", "ratelimited", seconds=8)
        stage.alice.command(f"/diagnose {job}")
        eventually(lambda: calls_to(stage.slack, "chat.update"), "the first edit")
        stage.let_go(job)
        stage.wait_for_words(job, FINISHED)
        limited, after, *_ = calls_to(stage.slack, "chat.update")
        stage.wait_told(job)
    assert after.started >= limited.ended + 8
    assert_said_once(stage, job)


@pytest.mark.parametrize("whose", ["the worker's", "another"])
def test_an_edit_that_slack_does_too_late(stage: Stage, whose: str) -> None:
    """An edit that Slack does after the last one says what is not true any more: the message is edited again."""
    job = stage.job("gate-1")
    with stage.bot() as first, stage.bot() as second:
        stage.alice.command(f"/diagnose {job}")
        stage.wait_for_words(job, "dgx-a03")  # its evidence: what comes next is the end
        by = next(bot for bot in (first, second) if bool(bot.worker._watch.leases()) == (whose == "the worker's"))
        run = stage.run(job)
        assert run is not None
        stage.slack.faults.call("chat.update", "slow", seconds=3)
        late = threading.Thread(target=by._run_messages.show, args=(run.id,))
        late.start()
        eventually(lambda: not stage.slack.faults.coming(), "the slow edit")
        stage.let_go(job)
        stage.wait_told(job)
        late.join()
        stage.wait_for_words(job, FINISHED)
    assert_said_once(stage, job)


def test_an_edit_of_a_bot_that_died(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a bot had sent when it died may be done after the last edit of another: the next one makes it good."""
    job = stage.job("quick-1")
    with stage.bot():
        stage.alice.command(f"/diagnose {job}")
        stage.wait_told(job)
    parent = stage.parent(job)
    client = make_client(stage.slack.workspace.app.bot_token, stage.slack.api_url)
    client.chat_update(channel=parent.channel, ts=parent.ts, text=f"{job} waits", blocks=[])
    assert FINISHED not in stage.parent(job).all_text
    monkeypatch.setattr(of_slack, "SETTLED", timedelta(seconds=1))
    with stage.bot():
        stage.wait_for_words(job, FINISHED)
    assert_said_once(stage, job)


def test_events_delivered_twice(stage: Stage) -> None:
    """A mention and a question that Slack delivers twice, or again because our answer got lost, count once."""
    mentioned, asked = stage.job("quick-1"), stage.job("quick-2")
    with stage.bot():
        stage.slack.faults.delivery("events_api", "duplicate")
        stage.slack.faults.delivery("events_api", "ack_lost", times=2)
        stage.alice.say(f"@firstfault diagnose {mentioned}")
        stage.alice.command(f"/diagnose {asked}")
        stage.wait_told(mentioned, asked)
        stage.slack.faults.delivery("events_api", "duplicate")
        stage.slack.faults.delivery("events_api", "ack_lost", times=2)
        stage.alice.reply(stage.parent(asked), "which node?")
        eventually(lambda: len(stage.slack.journal.deliveries("events_api")) >= 8, "all deliveries")
        eventually(lambda: "which node?: N1" in " ".join(stage.thread(asked)), "a reply")
    assert_said_once(stage, mentioned)
    assert len(stage.starts(mentioned)) == 1
    assert sum("which node?" in kind for kind in stage.thread(asked).elements()) == 1


def calls_to(slack: Slack, method: str) -> tuple[Call, ...]:
    """Every call of a method, in the order in which they came."""
    return tuple(sorted(slack.journal.calls(method), key=lambda call: call.started))
