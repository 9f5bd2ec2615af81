"""Posts once."""

from bot.state.posts import PostState
from bot.state.state import State
from tests.support.states import Hands, ask


def test_a_post_is_intended_then_posted(state: State) -> None:
    """Whoever asks later learns where it is."""
    run = ask(state)

    first = state.posts.intend(run.id, "parent")
    state.posts.posted(run.id, "parent", "1.0")
    second = state.posts.intend(run.id, "parent")

    assert first.intention is PostState.NEW
    assert len(first.token) == 24
    assert (second.intention, second.ts, second.token) == (PostState.POSTED, "1.0", first.token)
    assert state.posts.ts(run.id, "parent") == "1.0"


def test_two_at_once_do_not_both_post(state: State) -> None:
    """While one is posting, another waits."""
    run = ask(state)
    state.posts.intend(run.id, "parent")

    assert state.posts.intend(run.id, "parent").intention is PostState.PENDING
    assert state.posts.intend(run.id, "report").intention is PostState.NEW


def test_a_post_of_unknown_fate_is_doubtful(state: State, clock: Hands) -> None:
    """After a crash one caller, and only one, is told to look for the token before it posts again."""
    run = ask(state)
    token = state.posts.intend(run.id, "parent").token
    clock.forward(seconds=60)

    doubtful, other = state.posts.intend(run.id, "parent"), state.posts.intend(run.id, "parent")

    assert (doubtful.intention, doubtful.token, doubtful.ts) == (PostState.DOUBTFUL, token, None)
    assert other.intention is PostState.PENDING


def test_the_first_place_that_was_told_counts(state: State) -> None:
    """A slow answer of Slack does not move a message that others edit already."""
    run = ask(state)
    state.posts.intend(run.id, "parent")

    assert state.posts.posted(run.id, "parent", "1.0") == "1.0"
    assert state.posts.posted(run.id, "parent", "2.0") == "1.0"


def test_a_refused_post_may_be_tried_anew(state: State) -> None:
    """After not_in_channel nothing is doubtful; what was posted cannot be refused."""
    run = ask(state)
    state.posts.intend(run.id, "parent")
    state.posts.refused(run.id, "parent")
    assert state.posts.intend(run.id, "parent").intention is PostState.NEW

    state.posts.posted(run.id, "parent", "1.0")
    state.posts.refused(run.id, "parent")
    assert state.posts.ts(run.id, "parent") == "1.0"
