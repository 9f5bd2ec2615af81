"""Threads of the bot and the questions in them."""

from bot.state.small_values import Status
from bot.state.state import State
from bot.state.threads import ThreadQuestion
from tests.support.states import Hands, ask


def question(state: State, ts: str, *, thread: str = "1.0", user: str = "U1", text: str = "why?") -> ThreadQuestion:
    found = state.threads.add("T1", "C1", thread, ts=ts, user=user, text=text)
    assert found is not None
    return found


def test_only_the_bots_threads_have_questions(state: State) -> None:
    """What people say elsewhere is nobody's business."""
    run = ask(state)
    state.threads.own("T1", "C1", "1.0", run.id)

    assert state.threads.add("T1", "C1", "2.0", ts="2.1", user="U1", text="lunch?") is None
    assert state.threads.add("T1", "C2", "1.0", ts="1.1", user="U1", text="lunch?") is None
    assert question(state, "1.1").run == run.id


def test_a_question_is_taken_once(state: State) -> None:
    """A redelivery adds nothing."""
    state.threads.own("T1", "C1", "1.0", ask(state).id)
    question(state, "1.1")

    assert state.threads.add("T1", "C1", "1.0", ts="1.1", user="U1", text="why?") is None


def test_a_thread_follows_the_newest_run(state: State) -> None:
    """After "Run again" questions in the thread are about the new answer."""
    old, new = ask(state, "a"), ask(state, "b")
    state.threads.own("T1", "C1", "1.0", old.id)
    state.threads.own("T1", "C1", "1.0", new.id)

    assert state.threads.run_of("T1", "C1", "1.0") == new.id


def test_questions_of_a_thread_take_turns(state: State) -> None:
    """Two people at once do not mix, and another thread does not wait for them."""
    run = ask(state)
    for thread in ("1.0", "2.0"):
        state.threads.own("T1", "C1", thread, run.id)
    first, second = question(state, "1.1"), question(state, "1.2", user="U2")
    elsewhere = question(state, "2.1", thread="2.0")

    claimed = [state.threads.leases.claim(owner) for owner in ("w1", "w2", "w3")]
    state.threads.save_reply(first.id, "w1", "Because of E1.")
    state.threads.leases.conclude(first.id, "w1", Status.DONE)

    assert claimed == [first.id, elsewhere.id, None]
    assert state.threads.leases.claim("w3") == second.id


def test_a_question_of_a_dead_worker_is_taken_up(state: State, clock: Hands) -> None:
    """A restart loses no question, and the old worker's reply comes too late."""
    state.threads.own("T1", "C1", "1.0", ask(state).id)
    asked = question(state, "1.1")
    state.threads.leases.claim("w1")
    clock.forward(seconds=30)

    assert state.threads.leases.claim("w2") == asked.id
    assert not state.threads.save_reply(asked.id, "w1", "late")
    assert state.threads.save_reply(asked.id, "w2", "in time")


def test_a_conversation_is_in_slacks_order(state: State) -> None:
    """What was said stands in the order of its ts, also when Slack delivered it otherwise, with the replies."""
    state.threads.own("T1", "C1", "1.0", ask(state).id)
    later = question(state, "1.2", text="and then? <!channel> \ud800\x00")
    question(state, "1.1", text="why?")
    state.threads.leases.claim("w1")
    state.threads.save_reply(later.id, "w1", "E2 \x1b[31m")

    turns = [(asked.text, asked.reply) for asked in state.threads.conversation("T1", "C1", "1.0")]

    assert turns == [("why?", ""), ("and then? <!channel> \ud800\x00", "E2 \x1b[31m")]
