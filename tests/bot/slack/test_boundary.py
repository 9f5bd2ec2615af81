"""The listener boundary: who clicked or typed is told, whatever breaks, and never where things lie on the server."""

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from slack_sdk.errors import SlackRequestError

from bot.library.session import open_fault_library
from bot.outgoing.errors import ASK
from bot.settings import Settings
from bot.slack.blocks import Message
from bot.slack.boundary import SEND_AGAIN, attempt, responding
from bot.slack.client import UnclearAnswer
from bot.state.state import open_state
from sources.jobs import open_source
from tests.support.states import ask

HELLO = Message("Hello.", ())


def told_of(work: Callable[[], Any]) -> str:
    """All that the person reads."""
    messages: list[Message] = []
    attempt(work, messages.append)
    (message,) = messages
    return f"{message.text} {message.blocks}"


# --- trouble with the server ---


def unknown_job(place: Path) -> None:
    (place / "jobs").mkdir()
    open_source(str(place / "jobs")).manifest("7001")


def no_logs(place: Path) -> None:
    (place / "jobs" / "7001").mkdir(parents=True)
    (place / "jobs" / "7001" / "job.json").write_text('{"job_id": "7001"}', encoding="ascii")
    open_source(str(place / "jobs")).job("7001")


def source_down(place: Path) -> None:
    open_source(str(place / "jobs")).manifest("7001")


def disk_full(place: Path) -> None:
    state = open_state(place / "state.db")
    try:
        state.database.query("PRAGMA max_page_count = 1")  # SQLite's own way to a full disk
        for number in range(1000):
            ask(state, f"job-{number}")
    finally:
        state.close()


def library_gone(place: Path) -> None:
    (place / "library").write_text("no folder", encoding="ascii")
    with open_fault_library(Settings(library=place / "library"), embeds=False):
        pass


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (unknown_job, "There is no job 7001."),
        (no_logs, "Job 7001 has no log files."),
        (source_down, "The jobs folder cannot be listed: no such file or directory."),
        (disk_full, "The state file cannot be used: the disk is full."),
        (library_gone, "The fault library cannot be used: "),
    ],
)
def test_trouble_with_the_server_is_told_without_its_places(
    trouble: Callable[[Path], None], words: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What happened and whom to ask, no path, no option of the command line; the log has all of it, by reference."""
    message = told_of(lambda: trouble(tmp_path))

    assert words in message
    assert ASK in message
    assert str(tmp_path) not in message
    assert not re.search(r"--\w|FIRSTFAULT_|firstfault |/srv|/tmp", message)
    (reference,) = re.findall(r"e-[a-z0-9]{6}", message)
    logged = next(line for line in caplog.messages if reference in line)
    assert str(tmp_path) in logged


def test_a_mistyped_job_gets_its_neighbours(tmp_path: Path) -> None:
    """The one hint about jobs that somebody in Slack can follow stays."""
    (tmp_path / "7002").mkdir()
    assert "Did you mean 7002?" in told_of(lambda: open_source(str(tmp_path)).manifest("7003"))


def test_an_unknown_error_gets_a_reference(caplog: pytest.LogCaptureFixture) -> None:
    """The person learns that it is our fault and what to quote; the trace is in the log alone."""
    message = told_of(lambda: 1 // 0)
    (reference,) = re.findall(r"e-[a-z0-9]{6}", message)
    assert "Something went wrong on my side." in message
    assert "ZeroDivisionError" not in message
    assert reference in caplog.text
    assert "ZeroDivisionError" in caplog.text


# --- trouble with telling ---


def test_what_cannot_be_told_ends_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    """Slack takes no answer at all: the listener goes on, and the log has a trace."""

    def tell(_: Message) -> None:
        raise SlackRequestError("gone")

    attempt(lambda: HELLO, tell)
    assert "a listener could not answer" in caplog.text
    assert "SlackRequestError: gone" in caplog.text


def test_nothing_to_say_is_not_said() -> None:
    """A listener whose answer stands in the channel tells nobody anything."""
    messages: list[Message] = []
    attempt(lambda: None, messages.append)
    assert messages == []


@pytest.mark.parametrize(
    ("answers", "calls", "elsewhere"),
    [
        ([200], 1, 0),
        ([500, 200], 2, 0),
        ([500, 503], 2, 1),
        ([OSError("reset"), 200], 2, 0),
        ([OSError("reset"), OSError("reset")], 2, 1),
        ([404], 1, 1),
    ],
    ids=["well", "once ill", "ill", "once broken", "broken", "used up"],
)
def test_an_answer_that_its_address_does_not_take_comes_another_way(
    answers: list[int | OSError], calls: int, elsewhere: int
) -> None:
    """Once more after a second, then in the channel for this person alone; what Slack has taken is not sent again."""
    asked: list[dict[str, Any]] = []
    otherwise: list[Message] = []
    slept: list[float] = []

    def respond(**arguments: Any) -> SimpleNamespace:
        asked.append(arguments)
        answer = answers[len(asked) - 1]
        if isinstance(answer, OSError):
            raise answer
        return SimpleNamespace(status_code=answer)

    attempt(lambda: HELLO, responding(respond, otherwise.append, sleep=slept.append))

    assert (len(asked), len(otherwise)) == (calls, elsewhere)
    assert slept == [SEND_AGAIN] * (calls - 1)
    assert all((call["response_type"], call["replace_original"]) == ("ephemeral", False) for call in asked)


def test_slack_that_does_not_answer_is_no_unknown_error(caplog: pytest.LogCaptureFixture) -> None:
    """It is told as what it is, with a reference; the log has no trace of an error that nobody knows."""

    def work() -> None:
        raise UnclearAnswer("views.open: half an answer")

    words = told_of(work)
    assert "Slack did not answer me properly" in words
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert caplog.records[0].exc_info is None
    assert caplog.records[0].reference in words  # type: ignore[attr-defined]  # an extra field of ours
