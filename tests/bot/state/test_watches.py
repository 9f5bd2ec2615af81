"""Watches in the state: who wants which job watched, what was found, and that it is told once."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.state.runs import RunRequest, Trigger
from bot.state.state import State, open_state
from bot.state.watches import KEEPING, Watch, WatchFinding

ASKING = RunRequest("j", "T1", "C1", "U1", Trigger.COMMAND)


class Clock:
    now = datetime(2026, 11, 21, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def state(tmp_path: Path, clock: Clock) -> Iterator[State]:
    opened = open_state(tmp_path / "state.db", clock=clock)
    yield opened
    opened.close()


@pytest.fixture
def watch(state: State) -> Watch:
    added, _ = state.watches.add(ASKING, limit=2)
    assert added is not None
    return added


def found(watch: Watch, kind: str, subject: str = "job") -> WatchFinding:
    return WatchFinding(0, watch.id, kind, subject, f"it is {kind}", "line", "logs/a.log:1")


def test_a_job_is_watched_once_in_a_channel(state: State, watch: Watch) -> None:
    """Who asks again is shown the watch that there is."""
    again = state.watches.add(replace(ASKING, asked_by="U2"), limit=2)

    assert again == (watch, False)


def test_there_is_a_limit(state: State, watch: Watch) -> None:
    """What is too much is not stored; an ended watch makes room."""
    state.watches.add(replace(ASKING, job="k"), limit=2)
    refused = state.watches.add(replace(ASKING, job="l"), limit=2)
    state.watches.end(watch.id, "by U1")
    accepted, new = state.watches.add(replace(ASKING, job="l"), limit=2)

    assert refused == (None, False)
    assert accepted is not None
    assert new


@pytest.mark.parametrize("kind", ["silent", "hung", "failed", "stopped", "completed"])
def test_what_is_found_again_after_a_restart_is_known(state: State, watch: Watch, kind: str) -> None:
    """The process that follows jobs starts anew and finds the same: it is told once."""
    first, second = state.watches.note(found(watch, kind)), state.watches.note(found(watch, kind))

    assert (first, second) == (True, False)
    assert [finding.kind for _, finding in state.watches.untold()] == [kind]


def test_an_alarm_that_was_taken_back_may_come_again(state: State, watch: Watch) -> None:
    """Silent, speaks again, silent again: three things to tell; another node's silence is one of its own."""
    kinds = ["silent", "resumed", "resumed", "silent"]

    noted = [state.watches.note(found(watch, kind, "node-01")) for kind in kinds]
    other = state.watches.note(found(watch, "silent", "node-02"))

    assert noted == [True, True, False, True]
    assert other


def test_alarms_stand_once_until_all_are_taken_back(state: State, watch: Watch) -> None:
    """However often the process that follows jobs starts anew; without an alarm nothing stands."""
    story = (
        ("stands", "node-01", False),
        ("silent", "node-01", True),
        ("stands", "node-01", True),
        ("stands", "node-01", False),
        ("hung", "job", True),
        ("resumed", "job", True),
        ("stands", "node-01", False),
        ("resumed", "node-01", True),
        ("stands", "node-01", False),
        ("silent", "node-01", True),
        ("stands", "node-01", True),
    )

    for kind, subject, new in story:
        assert state.watches.note(found(watch, kind, subject)) is new


def test_nothing_is_taken_back_that_was_never_said(state: State, watch: Watch) -> None:
    """A process that starts anew may see a job go on whose pause nobody was told of."""
    assert not state.watches.note(found(watch, "resumed"))


def test_what_was_told_is_not_told_again(state: State, watch: Watch) -> None:
    """Across restarts: it is in the file."""
    state.watches.note(found(watch, "hung"))
    ((_, finding),) = state.watches.untold()

    state.watches.mark_told(finding)

    assert state.watches.untold() == ()


def test_an_ended_watch_finds_nothing_more_and_tells_the_rest(state: State, watch: Watch) -> None:
    """The failure is found, the watch ends, and the failure is still told."""
    state.watches.note(found(watch, "failed"))
    state.watches.end(watch.id, "over")

    assert not state.watches.note(found(watch, "hung"))
    assert [untold.id for untold, _ in state.watches.untold()] == [watch.id]
    assert state.watches.open() == ()
    assert not state.watches.end(watch.id, "over")


def test_a_job_that_says_something_new_lives(state: State, watch: Watch, clock: Clock) -> None:
    """As many lines as before are no sign of life."""
    state.watches.heard(watch.id, 5)
    clock.now += timedelta(hours=1)
    state.watches.heard(watch.id, 5)
    quiet = state.watches.get(watch.id)
    state.watches.heard(watch.id, 6)
    alive = state.watches.get(watch.id)

    assert quiet is not None
    assert alive is not None
    assert clock.now - quiet.heard_at == timedelta(hours=1)
    assert alive.heard_at == clock.now


def test_one_bot_keeps_watch(state: State, clock: Clock) -> None:
    """Another takes over when it resigns, or when nothing was heard of it."""
    first, other = state.watches.keep("k-1"), state.watches.keep("k-2")
    state.watches.resign("k-1")
    after = state.watches.keep("k-2")
    clock.now += KEEPING
    taken = state.watches.keep("k-1")

    assert (first, other, after, taken) == (True, False, True, True)


def test_old_watches_are_forgotten_with_all_that_hangs_on_them(state: State, watch: Watch, clock: Clock) -> None:
    """Findings and posts go with them."""
    state.watches.note(found(watch, "hung"))
    state.watch_posts.intend(watch.id, "begun")
    state.watches.end(watch.id, "over")
    clock.now += timedelta(days=91)

    state.forget(timedelta(days=90))

    assert state.watches.get(watch.id) is None
    assert state.watches.untold() == ()
    assert state.database.query("SELECT * FROM watch_posts") == []


def test_posts_of_a_watch_are_none_of_a_run(state: State, watch: Watch) -> None:
    """They keep to the same rules in a table of their own."""
    post = state.watch_posts.intend(watch.id, "begun")
    state.watch_posts.posted(watch.id, "begun", "1.2")

    assert post.run == watch.id
    assert state.watch_posts.ts(watch.id, "begun") == "1.2"
    assert state.posts.ts(watch.id, "begun") is None
