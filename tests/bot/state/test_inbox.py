"""The inbox: stored once, dealt with by one, steps done once."""

import pytest

from bot.state.inbox import Envelope
from bot.state.state import State
from tests.support.states import Hands, ask, not_dealt_with

KINDS = ["command", "click"]


def put(state: State, *keys: str, kind: str = "command") -> None:
    state.inbox.put([Envelope(key, kind, {"text": key}) for key in keys])


def claimed(state: State, owner: str = "i1", limit: int = 9) -> list[str]:
    return [received.body["text"] for received in state.inbox.claim(owner, limit, KINDS)]


def test_what_is_delivered_twice_is_stored_once(state: State) -> None:
    """Also when it was dealt with in between."""
    put(state, "a", "b")
    put(state, "b", "a")
    for received in state.inbox.claim("i1", 9, KINDS):
        state.inbox.done(received.seq)
    put(state, "a")

    assert claimed(state) == []
    assert not_dealt_with(state) == 0


def test_an_envelope_is_one_reader_s_while_it_lives(state: State, clock: Hands) -> None:
    """The oldest first; what a dead bot had begun another takes up, and what it is said to be done stays done."""
    put(state, "a", "b", "c")
    assert claimed(state, "i1", limit=2) == ["a", "b"]
    assert claimed(state, "i2") == ["c"]
    clock.forward(seconds=10)
    state.inbox.renew("i1", [1])
    clock.forward(seconds=5)

    assert claimed(state, "i3") == ["b", "c"]
    clock.forward(seconds=10)
    assert claimed(state, "i3") == ["a"]


def test_only_wanted_kinds_are_given(state: State) -> None:
    """Windows that have to be opened at once do not wait behind commands."""
    put(state, "a")
    put(state, "w", kind="opening")

    assert [received.kind for received in state.inbox.claim("i1", 9, ["opening"])] == ["opening"]


def test_what_was_said_in_a_thread_is_dealt_with_as_it_was_said(state: State) -> None:
    """One after the other, whoever is free; what belongs to no thread waits for nobody."""
    lane_of = {"a1": "a", "b1": "b", "a2": "a", "x": "", "b2": "b"}
    state.inbox.put([Envelope(key, "command", {"text": key}, lane) for key, lane in lane_of.items()])
    first = state.inbox.claim("i1", 9, KINDS)
    assert [received.body["text"] for received in first] == ["a1", "b1", "x"]
    assert claimed(state, "i2") == []
    state.inbox.done(first[0].seq)

    assert claimed(state, "i2") == ["a2"]


def test_what_ends_its_bot_again_and_again_does_not_keep_others_waiting(state: State, clock: Hands) -> None:
    """After three beginnings the next one has its turn."""
    put(state, "deadly", "harmless")
    turns = []
    for _ in range(4):
        turns += claimed(state, limit=1)
        clock.forward(seconds=15)

    assert turns == ["deadly"] * 3 + ["harmless"]


def test_what_was_given_back_is_another_s_at_once(state: State) -> None:
    """A bot that ends in order keeps nobody waiting."""
    put(state, "a")
    claimed(state, "i1")
    state.inbox.give_back("i1", [1])

    (again,) = state.inbox.claim("i2", 1, KINDS)
    assert again.begun == 1


def test_a_step_is_done_once(state: State) -> None:
    """Whoever begins anew gets what came of it; a step that failed was not done, nor anything of it."""
    put(state, "a", "b")
    received, other = state.inbox.claim("i1", 2, KINDS)

    def fail() -> str:
        ask(state, "f42")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        state.inbox.once(received)("ask", fail)
    assert state.runs.active("T1") == ()

    first = state.inbox.once(received)("ask", lambda: ask(state, "f07").id)
    assert state.inbox.once(received)("ask", lambda: ask(state, "f08").id) == first
    assert state.inbox.once(received)("other", lambda: 2) == 2
    assert state.inbox.once(other)("ask", lambda: "of b") == "of b"
    assert [run.job for run in state.runs.active("T1")] == ["f07"]


def test_what_was_said_is_dropped_when_it_was_dealt_with(state: State) -> None:
    """People's words are not kept for longer than they are needed."""
    put(state, "secret words")
    for received in state.inbox.claim("i1", 9, KINDS):
        state.inbox.done(received.seq)

    assert [row["body"] for row in state.database.query("SELECT body FROM inbox")] == ["{}"]
