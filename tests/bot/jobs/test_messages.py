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
    Message,
    ProgressMessage,
    ReplyMessage,
    is_last,
    of_line,
    to_line,
)
from bot.outgoing.errors import Failure
from bot.state.answers import SavedAnswer
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
    ],
)
def test_a_message_crosses_unchanged(message: Message | ChildOrder) -> None:
    """One line of ASCII each, whatever the logs said."""
    line = to_line(message)

    assert line.isascii()
    assert line.count(b"\n") == 1
    assert of_line(line) == message


@given(
    st.binary(max_size=60) | st.sampled_from([b'["Told", "", {}]', b'["Order", "Ask", 1]', b"[[[[", b'["x", "", 1]'])
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
    ],
)
def test_the_last_message_is_known(message: Message, last: bool) -> None:
    """After it nobody waits for more than the end of the process."""
    assert is_last(message) is last
