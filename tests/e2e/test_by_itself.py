"""Jobs that fail in the jobs folder are diagnosed and posted without anybody asking, and nobody is flooded."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.support.stage import eventually
from slacksim import Slack
from tests.support.followed import Followed, write
from tests.support.scene import FINISHED, Folders, serving

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
