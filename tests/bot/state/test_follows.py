"""Channels that follow: who asked for it, and what became of each job for each of them."""

from pathlib import Path

from bot.state.database import Database
from bot.state.followed import FollowStatus
from bot.state.state import MIGRATIONS, State, open_state

OF_ONE_CHANNEL = 7  # the version of the state in which one channel alone could follow


def test_a_channel_follows_once(state: State) -> None:
    """Who asks again is shown the follow that there is; another channel has one of its own."""
    first, new = state.follows.add("T1", "C1", "U1")
    again = state.follows.add("T1", "C1", "U2")
    other, _ = state.follows.add("T1", "C2", "U2")

    assert new
    assert again == (first, False)
    assert state.follows.all() == (first, other)


def test_what_became_of_a_job_is_each_followers_own(state: State) -> None:
    """A job that one was told of waits for the other still."""
    first, _ = state.follows.add("T1", "C1", "U1")
    second, _ = state.follows.add("T1", "C2", "U1")
    for follow in (first, second):
        state.followed.add("j", "llama", FollowStatus.WAITS, follow.id)

    assert state.followed.asked("j", "r-1", first.id)
    assert state.followed.waiting(first.id) == ()
    assert [job.follower for job in state.followed.waiting(second.id)] == [second.id]
    assert state.followed.of_lineage("llama", second.id) == ()
    assert state.followed.waiting() == ()


def test_who_follows_anew_begins_anew(state: State) -> None:
    """What is dropped at the end is dropped for this follower alone."""
    follow, _ = state.follows.add("T1", "C1", "U1")
    state.follow_posts.intend(follow.id, "begun")
    state.followed.begin()
    state.followed.begin(follow.id)

    assert state.follows.end(follow.id)
    assert not state.follows.end(follow.id)
    assert not state.followed.begun(follow.id)
    assert state.followed.begun()
    assert state.follows.all() == ()


def test_an_older_state_keeps_what_it_followed(tmp_path: Path) -> None:
    """What the settings had followed before channels could is theirs still: nothing is told twice."""
    older = Database(tmp_path / "state.db", MIGRATIONS[:OF_ONE_CHANNEL])
    at = "2026-11-21T00:00:00.000000+00:00"
    for job, fate in (("", "no news"), ("told", "asked"), ("left", "waits")):
        older.execute("INSERT INTO followed (job, lineage, at, fate) VALUES (?, 'llama', ?, ?)", job, at, fate)
    older.close()

    state = open_state(tmp_path / "state.db")

    assert state.followed.begun()
    assert [job.job for job in state.followed.waiting()] == ["left"]
    assert [job.job for job in state.followed.of_lineage("llama")] == ["told"]
    state.close()
