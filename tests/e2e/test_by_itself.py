"""Jobs that fail in the jobs folder are diagnosed and posted without anybody asking, and nobody is flooded."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.support.patience import PATIENCE
from benchmarks.support.stage import FINISHED, eventually
from bot.state.followed import BY_SETTING
from slacksim import Slack
from tests.support.followed import Followed, write
from tests.support.scene import Folders, serving

OLD, LINEAGE = "old-1", "qwen"


@pytest.fixture
def followed(slack: Slack, room: str, tmp_path: Path) -> Iterator[Followed]:
    write(tmp_path / "jobs" / OLD, status="FAILED", run=LINEAGE)
    folders = Folders(tmp_path, tmp_path / "jobs", tmp_path / "cache")
    with serving(slack, folders, follow_channel=room, follow_posts=2) as scene:
        eventually(scene.bot.state.followed.begun, "the first look")
        yield Followed(scene, room)


def test_a_failure_is_told_unasked_and_attempts_of_one_run_stand_in_one_thread(followed: Followed) -> None:
    """48: what was there before is no news; the second attempt with the same fault asks whether to go on."""
    write(followed.scene.folders.jobs / "good-1", status="COMPLETED")
    followed.fails("new-1", run="llama", attempt=1)
    followed.look()
    first = followed.scene.answer("new-1", followed.room)
    details = followed.scene.details(first).all_text
    followed.fails("new-2", run="llama", attempt=2)
    followed.look()
    second = followed.scene.in_thread(first, "new-2: ")
    followed.scene.until(second, FINISHED)
    eventually(lambda: not _look(followed), "the attempts compared")
    again = followed.scene.in_thread(first, "Stop retrying?")

    assert "found in the jobs folder" in details
    assert "Attempt 2 of llama that failed here; the last 2 with the same fault" in again.all_text
    assert [message.ts for message in followed.said()] == [first.ts]


def _look(followed: Followed) -> bool:
    """Whether something is left to compare after one more look."""
    followed.look()
    return bool(followed.scene.bot.state.followed.not_compared())


def test_an_alert_tells_of_an_old_failure_and_its_next_attempt_stands_below(followed: Followed) -> None:
    """43: what had failed before anybody followed is news when an alert names it, with the run that it belongs to."""
    following = followed.scene.bot._failed_jobs
    assert following is not None
    following.alert(OLD)
    followed.look()
    first = followed.scene.answer(OLD, followed.room)
    followed.fails("new-1", run=LINEAGE)
    followed.look()

    second = followed.scene.in_thread(first, "new-1: ")

    assert second.thread_ts == first.ts
    assert [message.ts for message in followed.said()] == [first.ts]


def test_of_many_failures_at_once_one_digest_tells(followed: Followed) -> None:
    """48: two posts an hour are an answer and a list; a job of the list is diagnosed by picking it."""
    for number in range(5):
        followed.fails(f"many-{number}")
    followed.look()
    followed.look()
    answer = followed.scene.answer("many-4", followed.room)
    eventually(lambda: len(followed.said()) > 1, "the digest")
    digest = next(message for message in followed.said() if message.ts != answer.ts)

    assert digest.text == "4 more jobs have failed."
    assert all(f"many-{number}" in digest.all_text for number in range(4))
    assert {message.ts for message in followed.said()} == {answer.ts, digest.ts}


def test_in_quiet_hours_nothing_is_said_and_then_a_digest_tells(followed: Followed) -> None:
    """48: failures of the night wake nobody; in the morning one answer and one list stand there."""
    following = followed.scene.bot._failed_jobs
    loud = following._rules
    following._rules = replace(loud, quiet=(0, 24 * 60))
    for number in range(3):
        followed.fails(f"night-{number}")
    followed.look()
    assert followed.said() == []
    assert len(followed.scene.bot.state.followed.waiting(BY_SETTING)) == 3

    following._rules = loud
    followed.look()
    eventually(lambda: len(followed.said()) > 1, "an answer and the digest")

    assert [message.text for message in followed.said() if "more" in message.text] == ["2 more jobs have failed."]
    assert len(followed.said()) == 2


def test_a_team_is_told_in_its_own_channel(slack: Slack, rooms: Iterator[str], tmp_path: Path) -> None:
    """48: what job.json says of the team decides; a job without one is told where all are."""
    room, theirs = next(rooms), next(rooms)
    write(tmp_path / "jobs" / OLD, status="FAILED", run=LINEAGE)
    folders = Folders(tmp_path, tmp_path / "jobs", tmp_path / "cache")
    with serving(slack, folders, follow_channel=f"{room},llm:{theirs}") as scene:
        eventually(scene.bot.state.followed.begun, "the first look")
        followed = Followed(scene, room)
        followed.fails("new-1", team="LLM")
        followed.fails("new-2")
        followed.look()

        scene.parent("new-1", theirs)
        scene.parent("new-2", room)
        assert not any("new-1" in message.text for message in followed.said())


def test_a_channel_follows_by_a_command(slack: Slack, rooms: Iterator[str], tmp_path: Path) -> None:
    """48: an approver begins and ends it, others are told who may; what ended before, or after, is no news."""
    room, quiet = next(rooms), next(rooms)
    write(tmp_path / "jobs" / OLD, status="FAILED", run=LINEAGE)
    with serving(slack, Folders(tmp_path, tmp_path / "jobs", tmp_path / "cache")) as scene:
        followed, state = Followed(scene, room), scene.bot.state
        scene.ask("follow", room, by="bob")
        scene.told("bob", "Only people who may approve here")
        scene.ask("follow", room)
        begun = scene.slack.wait_for(
            lambda now: next((one for one in now.messages(room) if "lets me follow" in one.all_text), None),
            PATIENCE,
            "that it begins",
        )
        eventually(lambda: [one for one in state.follows.all() if state.followed.begun(one.id)], "the first look")
        followed.fails("new-1")
        followed.look()
        answer = scene.answer("new-1", room)
        scene.ask("follow list", quiet, by="bob")
        listed = scene.told("bob", "1 channel told of")
        scene.ask("unfollow", quiet)
        scene.told("alice", "not told of jobs that fail")
        scene.ask("unfollow", room, by="carol")
        scene.told("carol", "Only people who may approve here")
        scene.ask("unfollow", room)
        scene.told("alice", "not told of jobs that fail any more")
        followed.fails("new-2")
        followed.look()

        assert f"<#{room}>" in str(listed.blocks)
        assert [one.ts for one in followed.said()] == [begun.ts, answer.ts]
        assert [entry.what for entry in state.audit.entries()] == ["followed", "unfollowed"]


def test_where_no_jobs_can_be_followed_a_sentence_says_so(slack: Slack, room: str, tmp_path: Path) -> None:
    """48: nothing is begun, and no path of the server is told."""
    missing = tmp_path / "nowhere"
    with serving(slack, Folders(tmp_path, missing, tmp_path / "cache")) as scene:
        scene.ask("follow", room)
        told = scene.told("alice", "I cannot follow the jobs now.")

        assert str(missing) not in str(told.blocks)
        assert scene.bot.state.follows.all() == ()
        assert scene.posts(room) == ()
