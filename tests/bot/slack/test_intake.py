"""What is acknowledged is stored, what cannot be stored is not, and readers deal with what was."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from benchmarks.support.patience import PATIENCE
from bot.slack import actions as act
from bot.slack.envelopes import EnvelopeKind, envelope_of
from bot.slack.inbox_readers import InboxReaders, RetryLater
from bot.slack.intake import Intake
from bot.state.errors import StateUnavailable
from bot.state.inbox import Once, Received
from bot.state.state import State, open_state
from tests.support.states import not_dealt_with
from tests.support.workers import until

COMMAND = {
    "command": "/diagnose", "text": "f07", "team_id": "T1", "channel_id": "C1", "user_id": "U1", "trigger_id": "1.a",
    "response_url": "http://slack/respond/1", "token": "verification",
}  # fmt: skip
PERSON = {"team": {"id": "T1"}, "user": {"id": "U1"}, "channel": {"id": "C1"}, "trigger_id": "2.b"}
CLICK = {
    **PERSON,
    "type": "block_actions",
    "actions": [{"action_id": act.CANCEL, "value": "r-abc:1", "type": "button"}],
}
OPENING = {**CLICK, "actions": [{"action_id": act.EDIT, "value": "r-abc:1"}]}
CHOICE = {**CLICK, "actions": [{"action_id": act.DIAGNOSE, "selected_option": {"value": "f07"}}]}
SHORTCUT = {
    **PERSON,
    "type": "message_action",
    "callback_id": act.DIAGNOSE_MESSAGE,
    "message": {"ts": "1.0", "text": "x"},
}
VIEW = {"callback_id": act.REJECT_FORM, "private_metadata": "r-abc:1", "state": {"values": {}}, "blocks": []}
FORM = {"type": "view_submission", "team": {"id": "T1"}, "user": {"id": "U1"}, "trigger_id": "3.c", "view": VIEW}
SAID: dict[str, Any] = {
    "type": "message",
    "channel": "C1",
    "user": "U1",
    "ts": "9.1",
    "text": "why?",
    "thread_ts": "9.0",
}


def event(**fields: object) -> dict[str, Any]:
    return {"type": "event_callback", "team_id": "T1", "event_id": "Ev1", "event": {**SAID, **fields}}


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    opened = open_state(tmp_path / "state.db", lease=timedelta(seconds=0.5))
    yield opened
    opened.close()


def reception(state: State, *, objection: dict[str, Any] | None = None, ours: bool = True) -> Intake:
    return Intake(state.inbox, concerns_us=lambda _: ours, objection=lambda _: objection, wake=lambda: None)


def stored(state: State) -> list[str]:
    return [row["kind"] for row in state.database.query("SELECT kind FROM inbox ORDER BY seq")]


@contextmanager
def locked(state: State) -> Iterator[None]:
    """Another process writes, and does not end."""
    other = sqlite3.connect(state.database.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.close()


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (COMMAND, EnvelopeKind.COMMAND), (CLICK, EnvelopeKind.CLICK), (OPENING, EnvelopeKind.OPENING),
        (CHOICE, EnvelopeKind.CLICK), (FORM, EnvelopeKind.FORM),
        (SHORTCUT, EnvelopeKind.SHORTCUT), (event(), EnvelopeKind.MESSAGE),
        (event(type="app_mention"), EnvelopeKind.MENTION),
    ],
    ids=lambda value: str(value) if isinstance(value, EnvelopeKind) else "",
)  # fmt: skip
def test_every_kind_is_stored_before_it_is_acknowledged(
    monkeypatch: pytest.MonkeyPatch, state: State, body: dict[str, Any], kind: EnvelopeKind
) -> None:
    """Once, however often it is delivered; while the state does not answer, nothing is acknowledged."""
    door = reception(state)
    monkeypatch.setattr("bot.state.inbox.PATIENCE", 0.1)
    with locked(state):
        refused = door.receive(body)
    assert stored(state) == []
    assert refused.status == 503 or (kind is EnvelopeKind.COMMAND and "locked" in refused.body)

    assert [door.receive(body).status for _ in range(3)] == [200, 200, 200]
    assert stored(state) == [kind]


def test_a_choice_is_kept_as_what_was_chosen() -> None:
    """A menu has no value of its own."""
    found = envelope_of(CHOICE)
    assert found is not None
    assert found.body["action"] == {"action_id": act.DIAGNOSE, "value": "f07"}


def test_only_what_is_needed_is_kept() -> None:
    """Neither Slack's verification token nor the message around a button."""
    found = envelope_of({**COMMAND, "message": {"text": "secret"}})
    assert found is not None
    assert set(found.body) == {"team_id", "channel_id", "user_id", "text", "response_url", "trigger_id", "home"}


@pytest.mark.parametrize(
    "body",
    [
        {**COMMAND, "command": "/other"}, {**CLICK, "actions": [{"action_id": "of another app"}]},
        {**FORM, "view": {**VIEW, "callback_id": "other"}}, {"type": "view_closed"}, {"type": "shortcut"}, {},
        event(bot_id="B1"), event(hidden=True), event(subtype="channel_join"), event(type="reaction_added"),
        event(text=" "),
    ],
)  # fmt: skip
def test_what_is_not_for_us_is_acknowledged_and_forgotten(state: State, body: dict[str, Any]) -> None:
    """Else Slack would send it again."""
    assert reception(state).receive(body).status == 200
    assert stored(state) == []


def test_what_people_say_to_each_other_is_not_stored(state: State) -> None:
    """The bot hears every message of its channels."""
    assert reception(state, ours=False).receive(event()).status == 200
    assert stored(state) == []


def test_what_slack_does_not_send_is_refused(state: State) -> None:
    """Missing fields are a mistake of whoever sent it, and no trace at all in the log."""
    assert reception(state).receive({"type": "block_actions"}).status == 400


def test_a_form_that_cannot_be_taken_is_answered_and_not_stored(state: State) -> None:
    """The person sees at the field what is wrong with it."""
    wrong = {"response_action": "errors", "errors": {"reason": "Write a reason."}}
    answer = reception(state, objection=wrong).receive(FORM)
    assert answer.status == 200
    assert "Write a reason." in answer.body
    assert stored(state) == []


def test_a_crowd_waits_together(state: State) -> None:
    """Fifty that come while the state is busy are stored as soon as it is not."""
    door = reception(state)
    bodies = [{**COMMAND, "trigger_id": f"{number}.x"} for number in range(50)]
    with ThreadPoolExecutor(50) as people:
        with state.together():
            answers = [people.submit(door.receive, body) for body in bodies]
        assert {answer.result().status for answer in answers} == {200}
    assert len(stored(state)) == 50


def test_nothing_is_acknowledged_for_another_s_mistake(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waited while somebody's storing met an unknown error is not told that it went well."""
    going, free = threading.Event(), threading.Event()

    def fail(_: object) -> None:
        going.set()
        free.wait(PATIENCE)
        raise ZeroDivisionError

    door = reception(state)
    monkeypatch.setattr(state.inbox, "put", fail)
    with ThreadPoolExecutor(3) as people:
        first = people.submit(door.receive, COMMAND)
        going.wait(PATIENCE)
        others = [people.submit(door.receive, {**COMMAND, "trigger_id": f"{number}.x"}) for number in range(2)]
        free.set()
        assert isinstance(first.exception(), ZeroDivisionError)
        for received in others:
            assert received.exception() is not None or "could not be stored" in received.result().body
    assert stored(state) == []


# --- readers ---


def reading(state: State, deal: Callable[[Received, Once], None]) -> AbstractContextManager[InboxReaders]:
    return running(InboxReaders(state.inbox, deal))


@contextmanager
def running(readers: InboxReaders) -> Iterator[InboxReaders]:
    readers.thread.start()
    try:
        yield readers
    finally:
        readers.stop()


def test_what_was_left_is_dealt_with(state: State) -> None:
    """Of a bot that died before it began; and each once."""
    dealt: list[str] = []
    for body in (COMMAND, CLICK, OPENING, FORM):
        reception(state).receive(body)
    with reading(state, lambda received, _: dealt.append(received.kind)):
        until(lambda: not_dealt_with(state) == 0)
    assert sorted(dealt) == ["click", "command", "form", "opening"]


@pytest.mark.parametrize("trouble", [RetryLater(), StateUnavailable("The state is full.")])
def test_what_cannot_be_done_now_is_done_later(state: State, trouble: Exception) -> None:
    """It is tried again when its lease has ended."""
    tries: list[int] = []

    def deal(received: Received, _: Once) -> None:
        tries.append(received.begun)
        if len(tries) < 3:
            raise trouble

    reception(state).receive(COMMAND)
    with reading(state, deal):
        until(lambda: not_dealt_with(state) == 0)
    assert tries == [1, 2, 3]


def test_what_fails_in_an_unknown_way_is_not_tried_for_ever(state: State, caplog: pytest.LogCaptureFixture) -> None:
    """The log has its trace under a reference."""
    reception(state).receive(COMMAND)
    with reading(state, lambda *_: (_ for _ in ()).throw(ZeroDivisionError())):
        until(lambda: not_dealt_with(state) == 0)
    assert "ZeroDivisionError" in caplog.text


def test_windows_do_not_wait_behind_commands(state: State) -> None:
    """All readers are busy, and a window is opened all the same."""
    free, opened = threading.Event(), threading.Event()

    def deal(received: Received, _: Once) -> None:
        if received.kind == EnvelopeKind.OPENING:
            opened.set()
        else:
            free.wait(PATIENCE)

    for number in range(40):
        reception(state).receive({**COMMAND, "trigger_id": f"{number}.x"})
    with reading(state, deal) as readers:
        reception(state).receive(OPENING)
        readers.thread.wake()
        assert opened.wait(PATIENCE)
        free.set()


def test_a_crowd_is_stored_before_it_is_dealt_with(state: State) -> None:
    """Readers would take turns with who acknowledges; a window does not wait, and nothing waits for ever."""
    crowded, dealt, opened = threading.Event(), threading.Event(), threading.Event()
    crowded.set()

    def deal(received: Received, _: Once) -> None:
        (opened if received.kind == EnvelopeKind.OPENING else dealt).set()

    reception(state).receive(COMMAND)
    readers = InboxReaders(state.inbox, deal)
    readers.is_crowded = crowded.is_set
    with running(readers):
        reception(state).receive(OPENING)
        assert opened.wait(PATIENCE)
        assert not dealt.is_set()
        assert dealt.wait(PATIENCE)  # though it is crowded still
        dealt.clear()
        crowded.clear()
        reception(state).receive({**COMMAND, "trigger_id": "2.x"})
        readers.thread.wake()
        assert dealt.wait(PATIENCE)


def test_what_was_stored_a_moment_ago_is_a_crowd(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    """And none before anything came, nor a while later."""
    intake = reception(state)
    assert not intake.is_crowded()
    intake.receive(COMMAND)
    monkeypatch.setattr("bot.slack.intake.QUIET_SECONDS", PATIENCE)
    assert intake.is_crowded()
    monkeypatch.setattr("bot.slack.intake.QUIET_SECONDS", 0.0)
    assert not intake.is_crowded()


def test_a_bot_that_ends_gives_back_what_it_had_not_begun(state: State) -> None:
    """And what it had begun it ends."""
    done: list[int] = []
    going, free = threading.Event(), threading.Event()

    def deal(received: Received, _: Once) -> None:
        going.set()
        free.wait(PATIENCE)
        done.append(received.seq)

    for number in range(20):
        reception(state).receive({**COMMAND, "trigger_id": f"{number}.x"})
    with reading(state, deal):
        assert going.wait(PATIENCE)
        threading.Timer(0.1, free.set).start()
    left = state.database.query("SELECT seq, begun, lease_until FROM inbox WHERE done_at IS NULL")
    assert sorted(done + [row["seq"] for row in left]) == list(range(1, 21))
    assert {(row["begun"], row["lease_until"]) for row in left} <= {(0, None)}
