"""What crosses between processes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.jobs.messages import (
    AnswerMessage,
    Ask,
    BadMessage,
    ChildOrder,
    Diagnose,
    EarlierTurn,
    FailureMessage,
    FindingMessage,
    FollowJobs,
    LinesMessage,
    Message,
    ProgressMessage,
    ReplyMessage,
    TroubleMessage,
    WatchOrder,
    is_last,
    of_line,
    to_line,
)
from bot.outgoing.errors import Failure
from bot.state.answers import SavedAnswer
from core.live.findings import LiveKind
from tests.support.worker_tasks import MATCH, answer


@pytest.mark.parametrize(
    "message",
    [
        ChildOrder("bot.jobs.tasks:diagnose", Diagnose("f07"), "/x"),
        ChildOrder("bot.jobs.tasks:ask", Ask("why?\n\ud800", answer("f07"), (EarlierTurn("U1", "a", "b"),))),
        ProgressMessage("reading \x1b", 1, 2),
        AnswerMessage(answer("f07"), final=False),
        AnswerMessage(SavedAnswer("f07", None, (MATCH,)), final=False),
        ReplyMessage("Because\nof E1 \ud800\x00"),
        FailureMessage(Failure("no", "try", "NoLogs"), "trace\n"),
        ChildOrder("bot.jobs.job_followers:follow", FollowJobs()),
        WatchOrder("watch", "w-1", "j"),
        WatchOrder("leave", "w-1"),
        FindingMessage("w-1", LiveKind.HUNG, "job", "it hangs", "logs/a.log", 7, "last \x1b words \udcff"),
        LinesMessage("w-1", 7, settled=True),
        TroubleMessage("w-1", "gone"),
    ],
)
def test_a_message_crosses_unchanged(message: Message | ChildOrder | WatchOrder) -> None:
    """One line of ASCII each, whatever the logs said."""
    line = to_line(message)

    assert line.isascii()
    assert line.count(b"\n") == 1
    assert of_line(line) == message


@given(
    st.binary(max_size=60)
    | st.sampled_from([b'["Told", "", {}]', b'["Order", "Ask", 1]', b"[[[[", b'["x", "", 1]', b"{}", b"[]", b"\xff"])
    | st.just(b'["LinesMessage", "", {"watch": 7, "lines": "x"}]')
)
def test_anything_else_is_no_message(line: bytes) -> None:
    """A child that is not itself any more is not believed."""
    with pytest.raises(BadMessage):
        of_line(line)


@pytest.mark.parametrize(
    ("message", "last"),
    [
        (ProgressMessage("x", 1, 1), False),
        (AnswerMessage(answer("f07"), final=False), False),
        (AnswerMessage(answer("f07"), final=True), True),
        (ReplyMessage(""), True),
        (FailureMessage(Failure("no")), True),
        (LinesMessage("w-1", 7), False),
    ],
)
def test_the_last_message_is_known(message: Message, last: bool) -> None:
    """After it nobody waits for more than the end of the process."""
    assert is_last(message) is last
