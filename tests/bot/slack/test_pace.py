"""How fast the bot posts and edits, on a clock that the test moves."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from bot.slack.blocks import Message
from bot.slack.posting import Posting
from bot.slack.rate_limit import SPACING, RateLimit
from bot.slack.run_messages import EDIT_EVERY, RunMessages
from bot.state.runs import Run
from bot.state.state import State, open_state
from tests.support.states import Hands, ask, now

POST, EDIT = "chat.postMessage", "chat.update"


class Time:
    """A clock whose sleepers move it."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 3))
        self.now += seconds


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def pace(time: Time) -> RateLimit:
    return RateLimit(clock=time, sleep=time.sleep)


def test_nobody_waits_before_slack_has_said_no(pace: RateLimit, time: Time) -> None:
    """Slack allows short bursts: a crowd in one channel is served at once."""
    assert all(pace.wait(POST, "C1", 0.0) for _ in range(50))
    assert time.slept == []


@pytest.mark.parametrize(("method", "spacing"), [(POST, 1.0), (EDIT, 1.2)])
def test_after_a_no_one_goes_after_the_other(pace: RateLimit, time: Time, method: str, spacing: float) -> None:
    """The first when Slack allows it, then a post a second and channel, and 50 edits a minute."""
    pace.limited(method, "C1", 4.0)
    started = time.now
    turns = []
    for _ in range(3):
        assert pace.wait(method, "C1", 60.0)
        turns.append(round(time.now - started, 3))
    assert turns == [4.0, 4.0 + spacing, 4.0 + 2 * spacing]
    assert SPACING[method] == spacing


def test_threads_that_wait_together_get_different_turns(time: Time) -> None:
    """Each books its turn before it sleeps, so two never wake for the same second."""
    booked: list[float] = []
    pace = RateLimit(clock=time, sleep=booked.append)
    pace.limited(POST, "C1", 2.0)
    assert all(pace.wait(POST, "C1", 10.0) for _ in range(4))
    assert booked == [2.0, 3.0, 4.0, 5.0]


def test_other_channels_and_methods_do_not_wait(pace: RateLimit, time: Time) -> None:
    """A no is about one method in one channel."""
    pace.limited(POST, "C1", 30.0)
    assert pace.wait(POST, "C2", 0.0)
    assert pace.wait(EDIT, "C1", 0.0)
    assert time.slept == []


def test_who_cannot_wait_so_long_is_told_at_once(pace: RateLimit, time: Time) -> None:
    """Without sleeping, and without taking a turn from who can."""
    pace.limited(POST, "C1", 5.0)
    assert not pace.wait(POST, "C1", 4.9)
    assert time.slept == []
    assert pace.wait(POST, "C1", 5.0)
    assert time.slept == [5.0]


def test_a_shorter_no_does_not_shorten_a_longer_one(pace: RateLimit, time: Time) -> None:
    """Answers come in any order."""
    pace.limited(POST, "C1", 9.0)
    pace.limited(POST, "C1", 1.0)
    assert pace.wait(POST, "C1", 10.0)
    assert time.slept == [9.0]


# --- one edit in three seconds ---


class Written:
    """A ``Posting`` that writes down what is said; ``slowly`` is called while Slack takes its time."""

    def __init__(self) -> None:
        self.posted: list[str] = []
        self.edited: list[str] = []
        self.there = False
        self.slowly: Callable[[], object] = int

    def once(self, run: Run, kind: str, message: Message, **_: Any) -> tuple[str, bool]:
        del run, kind
        self.slowly()
        new, self.there = not self.there, True
        if new:
            self.posted.append(str(message.blocks))
        return "1.0", new

    def edit(self, run: Run, ts: str, message: Message) -> None:
        del run, ts
        self.edited.append(str(message.blocks))


@pytest.fixture
def written() -> Written:
    return Written()


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    opened = open_state(tmp_path / "state.db", clock=Hands())
    yield opened
    opened.close()


@pytest.fixture
def telling(state: State, written: Written, time: Time) -> RunMessages:
    return RunMessages(cast("Posting", written), state, version="0", clock=time)


def test_progress_is_one_edit_in_three_seconds(
    telling: RunMessages, state: State, written: Written, time: Time
) -> None:
    """The first step is shown at once; of what comes in between only the newest, when three seconds are over."""
    run = ask(state)
    telling.show(run.id)
    state.runs.leases.claim("w")
    for step in range(40):  # ten seconds, four steps in each
        telling.progress(now(state, run), "reading", step, 40)
        time.now += 0.25
    assert len(written.posted) == 1
    assert len(written.edited) == 1 + int(9.75 // EDIT_EVERY)
    assert "36" in written.edited[-1]


def test_what_has_become_true_while_slack_was_slow_is_shown(
    telling: RunMessages, state: State, written: Written
) -> None:
    """A run that begins while its first message is being posted is shown as running at once."""
    run = ask(state)
    written.slowly = lambda: written.there or state.runs.leases.claim("w")
    telling.show(run.id)
    assert "queue" in written.posted[0].lower()
    assert "queue" not in written.edited[-1].lower()


def test_a_message_found_again_says_what_is_true_now(telling: RunMessages, state: State, written: Written) -> None:
    """The post of a bot that died stands there already: it is edited to what the state says after the search."""
    run = ask(state)
    written.there = True
    written.slowly = lambda: state.runs.leases.claim("w")
    telling.show(run.id)
    assert written.posted == []
    assert "queue" not in written.edited[-1].lower()
    assert now(state, run).message_ts == "1.0"
