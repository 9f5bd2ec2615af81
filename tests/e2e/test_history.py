"""The history of a run of training, asked for in a channel."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from benchmarks.support.stage import FINISHED
from slacksim import Slack
from tests.support.attempts import ERROR, Log
from tests.support.scene import Folders, Scene, serving


@pytest.fixture
def asked(slack: Slack, tmp_path: Path) -> Iterator[Scene]:
    """Two attempts of one run, one of whose arguments is a secret."""
    log, jobs = Log(), tmp_path / "jobs"
    log.attempt(range(1, 36), ERROR)
    log.write(
        jobs / "b-first", run="llama 7b", attempt=1, status="FAILED", arguments="--lr 1e-4 --api_key hunter2hunter2"
    )
    second = Log(log.now + timedelta(seconds=60))
    second.attempt(range(31, 61))
    second.write(jobs / "a-second", run="llama 7b", attempt=2, status="COMPLETED", arguments="--lr 1e-2 --api_key x")
    with serving(slack, Folders(tmp_path, jobs, tmp_path / "cache")) as scene:
        yield scene


def test_a_history_is_told_in_one_message_with_its_page_in_the_thread(asked: Scene, room: str) -> None:
    """The share of time, where it went and why in the channel, no secret of an argument; told anew when asked again."""
    asked.ask('history "llama 7b"', room)
    told = asked.answer("llama 7b", room)
    comment = asked.in_thread(told, "The history of")
    page = asked.slack.snapshot().file(comment.files[0])
    asked.ask("history a-second", room)  # by one of its jobs
    again = asked.answer_after(told, "llama 7b")

    assert "of the time was productive (ETTR), in 2 attempts" in told.text
    for words in ("*Time* productive", "1 x the accelerator failed during a kernel", "*Changed*", "lr 1e-4 to 1e-2"):
        assert words in told.all_text
    assert "hunter2" not in told.all_text
    assert (page.name, page.data is not None and b"<svg" in page.data) == ("llama_7b.html", True)
    assert again.ts != told.ts


def test_a_run_that_is_not_there_is_told_with_what_was_meant(asked: Scene, room: str) -> None:
    """No place of the server is named."""
    asked.ask("history lama", room)
    told = asked.until(asked.parent("lama", room), FINISHED)

    assert "There is no run lama." in told.all_text
    assert str(asked.folders.jobs) not in told.all_text
