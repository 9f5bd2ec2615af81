"""What crosses between processes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.jobs.messages import (
    Ask,
    BadMessage,
    Diagnose,
    Message,
    Order,
    Progress,
    Refused,
    Replied,
    Told,
    Turn,
    is_last,
    of_line,
    to_line,
)
from bot.state.answers import SavedAnswer
from bot.state.values import Failure
from tests.bot.work.tasks import MATCH, answer


@pytest.mark.parametrize(
    "message",
    [
        Order("bot.jobs.tasks:diagnose", Diagnose("f07", "/x", "0.1.0"), 1 << 30),
        Order("bot.jobs.tasks:ask", Ask("why?\n\ud800", answer("f07"), (Turn("U1", "a", "b"),))),
        Progress("reading \x1b", 1, 2),
        Told(answer("f07"), final=False),
        Told(SavedAnswer("f07", None, (MATCH,)), final=False),
        Replied("Because\nof E1 \ud800\x00"),
        Refused(Failure("no", "try", "NoLogs"), "trace\n"),
    ],
)
def test_a_message_crosses_unchanged(message: Message | Order) -> None:
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
        (Progress("x", 1, 1), False),
        (Told(answer("f07"), final=False), False),
        (Told(answer("f07"), final=True), True),
        (Replied(""), True),
        (Refused(Failure("no")), True),
    ],
)
def test_the_last_message_is_known(message: Message, last: bool) -> None:
    """After it nobody waits for more than the end of the process."""
    assert is_last(message) is last
