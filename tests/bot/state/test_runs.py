"""Runs: asked once, cancelled once, listed, found again."""

from dataclasses import replace
from datetime import timedelta

from bot.outgoing.errors import Failure
from bot.state.answers import SavedAnswer
from bot.state.inbox import Envelope
from bot.state.runs import Run, Trigger
from bot.state.small_values import Status
from bot.state.state import State
from tests.support import diagnoses
from tests.support.states import Hands, ask, asking, latest, now

ANSWER = SavedAnswer("f07", diagnoses.node_fault())


def finish(state: State, run: Run, status: Status = Status.DONE) -> None:
    """What a worker does, in short; nothing else may wait."""
    assert state.runs.leases.claim("w1") == run.id
    state.runs.save_answer(run.id, "w1", ANSWER)
    state.runs.leases.conclude(run.id, "w1", status, Failure("no") if status is Status.FAILED else None)
    state.runs.leases.mark_told(run.id, "w1")


def test_a_run_has_a_short_id_and_waits(state: State, clock: Hands) -> None:
    """Who asked, where and when is kept, and the id can be read aloud."""
    run = ask(state)

    assert run.id.startswith("r-")
    assert len(run.id) == 8
    assert (run.job, run.team, run.channel, run.asked_by, run.asked_at) == ("f07", "T1", "C1", "U1", clock.now)
    assert (run.status, run.revision, run.attempts) == (Status.QUEUED, 1, 0)


def test_a_job_that_waits_or_runs_is_not_asked_twice(state: State) -> None:
    """The second asker gets the run of the first, even when it is forced."""
    first = state.runs.ask(asking())
    second = state.runs.ask(asking(user="U2"), forced=True)
    state.runs.leases.claim("w1")
    third = state.runs.ask(asking(user="U3"))

    assert (first.new, second.new, third.new) == (True, False, False)
    assert {first.run.id} == {second.run.id, third.run.id}
    assert third.run.status is Status.RUNNING


def test_an_answer_is_shown_again_unless_forced(state: State) -> None:
    """Asked again, a finished job shows its answer; "Run again" runs again."""
    run = ask(state)
    finish(state, run)

    shown, forced = state.runs.ask(asking()), state.runs.ask(asking(), forced=True)

    assert (shown.run.id, shown.new) == (run.id, False)
    assert forced.new
    assert forced.run.id != run.id


def test_a_run_without_answer_answers_nobody(state: State) -> None:
    """After a failure or a cancel the next asker gets a new run."""
    failed = ask(state)
    finish(state, failed, Status.FAILED)
    cancelled = state.runs.ask(asking())
    state.runs.cancel(cancelled.run.id, "U1")

    assert cancelled.new
    assert state.runs.ask(asking()).new


def test_channels_and_teams_do_not_mix(state: State) -> None:
    """What was asked in a private channel is not shown in another."""
    ask(state)

    assert state.runs.ask(asking(channel="C2")).new
    assert state.runs.ask(asking(team="T2")).new
    assert latest(state, "T1", "C3", "f07") is None


def test_the_latest_run_of_a_job_is_found(state: State) -> None:
    """Whatever became of it."""
    finish(state, ask(state), Status.FAILED)
    newer = ask(state)

    assert latest(state, "T1", "C1", "f07") == newer


def test_the_place_in_the_queue_is_known(state: State) -> None:
    """One that waits knows how many go first; one that runs has no place."""
    first, second, third = ask(state, "a"), ask(state, "b"), ask(state, "c")

    assert [state.runs.place(run.id) for run in (first, second, third)] == [1, 2, 3]
    state.runs.leases.claim("w1")
    assert [state.runs.place(run.id) for run in (first, second, third)] == [0, 1, 2]
    assert state.runs.place("r-nobody") == 0


def test_lists_are_by_team_and_channel(state: State) -> None:
    """What runs is listed oldest first, what is over newest first."""
    done, other = ask(state, "a"), ask(state, "b")
    finish(state, done)
    elsewhere = ask(state, "c", channel="C2")

    assert [run.id for run in state.runs.active("T1")] == [other.id, elsewhere.id]
    assert [run.id for run in state.runs.active("T1", "C2")] == [elsewhere.id]
    assert [run.id for run in state.runs.recent("T1", "C1")] == [done.id]
    assert state.runs.recent("T1", limit=0) == ()
    assert state.runs.active("T2") == ()


def test_what_waits_is_cancelled_at_once(state: State) -> None:
    """No worker takes it, and it is left to be told."""
    run = ask(state)

    cancelled = state.runs.cancel(run.id, "U2")

    assert cancelled is not None
    assert (cancelled.status, cancelled.cancel_by, cancelled.revision) == (Status.CANCELLED, "U2", 2)
    assert state.runs.leases.claim("w1") is None
    assert state.runs.leases.claim_telling("w1") == run.id


def test_the_first_cancel_counts(state: State) -> None:
    """A second click changes nothing, and knows who was first."""
    run = ask(state)
    state.runs.leases.claim("w1")

    first, second = state.runs.cancel(run.id, "U2"), state.runs.cancel(run.id, "U3")

    assert first == second
    assert second is not None
    assert second.cancel_by == "U2"
    assert state.runs.cancelled([run.id, "r-nobody"]) == {run.id}


def test_what_is_over_cannot_be_cancelled(state: State) -> None:
    """A late click leaves the answer as it is."""
    run = ask(state)
    finish(state, run)

    after = state.runs.cancel(run.id, "U2")

    assert after == now(state, run)
    assert after.status is Status.DONE
    assert after.cancel_by == ""


def test_nothing_is_cancelled_that_is_not_there(state: State) -> None:
    """A button of a forgotten run is no crash."""
    assert state.runs.cancel("r-nobody", "U1") is None


def test_only_the_owner_keeps_an_answer(state: State, clock: Hands) -> None:
    """A worker that lost its lease cannot overwrite what the next one found."""
    run = ask(state)
    state.runs.leases.claim("w1")
    clock.forward(seconds=31)
    state.runs.leases.claim("w2")

    assert not state.runs.save_answer(run.id, "w1", ANSWER)
    assert state.runs.answer(run.id) is None
    assert state.runs.save_answer(run.id, "w2", ANSWER)
    assert state.runs.answer(run.id) == ANSWER


def test_each_attempt_has_its_deadline(state: State, clock: Hands) -> None:
    """A run that is resumed after an hour without a bot has time to end."""
    run = ask(state)

    state.runs.set_deadline(run.id, clock.now)
    state.runs.set_deadline(run.id, clock.now + timedelta(hours=1))

    assert now(state, run).deadline == clock.now + timedelta(hours=1)


def test_the_parent_message_is_kept(state: State) -> None:
    """Another replica can edit what this one has posted."""
    run = ask(state)

    state.runs.set_message(run.id, "1763726400.000100")

    assert now(state, run).message_ts == "1763726400.000100"


def test_old_runs_are_forgotten_with_all_that_hangs_on_them(state: State, clock: Hands) -> None:
    """Answers, posts, threads, questions, drafts and voices go; what is younger, untold, or audited stays."""
    old = ask(state, "old")
    finish(state, old)
    state.posts.intend(old.id, "parent")
    state.threads.own("T1", "C1", "1.0", old.id)
    state.threads.add("T1", "C1", "1.0", ts="1.1", user="U1", text="why?")
    state.drafts.save(old.id, {"cause": "x"}, by="bot", seen=0)
    state.feedback.give(old.id, "U1", useful=True)
    state.audit.add("T1", "U1", what="approved", target=old.id)
    untold = ask(state, "untold")
    state.runs.cancel(untold.id, "U1")
    state.writable()
    state.inbox.put([Envelope("k1", "command", {"text": "old"}), Envelope("k2", "command", {"text": "open"})])
    (first, _) = state.inbox.claim("i1", 2, ["command"])
    state.inbox.once(first)("step", lambda: True)
    state.inbox.done(first.seq)
    clock.forward(days=31)
    young = ask(state, "young")
    finish(state, young)

    forgotten = state.forget(timedelta(days=30))

    assert forgotten == (old.id,)
    tables = ["runs", "answers", "posts", "threads", "questions", "drafts", "feedback", "audit", "seen", "inbox"]
    left = {
        table: state.database.query(f"SELECT count(*) AS n FROM {table}")[0]["n"] for table in (*tables, "inbox_steps")
    }
    assert left == {
        "runs": 2, "answers": 1, "posts": 0, "threads": 0, "questions": 0, "drafts": 0, "feedback": 0, "audit": 1,
        "seen": 0, "inbox": 1, "inbox_steps": 0,
    }  # fmt: skip


def test_whoever_asks_for_much_lets_others_wait_for_one(state: State) -> None:
    """Everybody in turn, also while one runs; the places say so, and what a watch found still goes first."""
    for number in range(3):
        state.runs.ask(asking(f"much-{number}", user="U1"))
    assert state.runs.leases.claim("w") is not None  # much-0 runs
    for number in range(2):
        state.runs.ask(asking(f"little-{number}", user="U2"))
    state.runs.ask(replace(asking("died", user="U1"), trigger=Trigger.WATCH))

    waiting = [run for run in state.runs.active("T1") if run.status is Status.QUEUED]
    in_turn = [run.job for run in sorted(waiting, key=lambda run: state.runs.place(run.id))]
    claimed = [state.runs.get(str(state.runs.leases.claim("w"))) for _ in waiting]

    assert in_turn == ["died", "little-0", "much-1", "little-1", "much-2"]
    assert [run.job for run in claimed if run] == in_turn
