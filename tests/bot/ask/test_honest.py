"""What is searched in all lines before anything is denied or left unknown, and what comes of it."""

import pytest

from bot.ask.answer import ask
from bot.ask.honest import without_denial
from bot.ask.line_search import LineSearch
from tests.support.asked_jobs import asked, steps, subject_of

SAYS = (
    "2026-11-20T10:00:30Z chrony: System clock wrong by 1873.4 seconds\n"
    "2026-11-20T10:00:31Z worker 13 has failed, pid=54143\n"
    "2026-11-20T10:00:32Z worker 12 has failed, pid=54142\n"
    "2026-11-20T10:00:33Z 显存 62.4 GiB\n"
)
SUBJECT = subject_of({"rank_0.log": steps(20) + SAYS})


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("how far off is the clock", "1873.4"),
        ("what happened to worker 13", "pid=54143"),
        ("显存用了多少", "62.4"),
    ],
)
def test_the_line_with_the_rarest_words_comes_first(text: str, held: str) -> None:
    """A word beside its number is one name, and words of a Chinese question are sought as they stand."""
    assert held in LineSearch(SUBJECT, asked(text, SUBJECT)).best[0].text


def test_who_is_named_alone_finds_no_line() -> None:
    """Every line of a rank holds it."""
    assert not LineSearch(SUBJECT, asked("rank 0", SUBJECT)).best


def test_nothing_is_denied_that_a_line_may_tell() -> None:
    """The lines stand in place of the denial; a word that stands nowhere is denied as before."""
    denied = ["I looked for a clock in every line, and found none."]
    question = asked("was the clock wrong?", SUBJECT)
    assert "1873.4" in without_denial(SUBJECT, question, denied, ("presence",))[1]
    absent = asked("was the zebra wrong?", SUBJECT)
    assert without_denial(SUBJECT, absent, denied, ("presence",)) == denied


def test_what_is_not_known_is_no_denial() -> None:
    """Three questions that can be answered stand in place of a claim."""
    reply = ask("did the zebra juggle the marmalade", SUBJECT)
    assert not reply.answered
    assert reply.lines[0].startswith("Not in these logs: no line holds “zebra")
    assert len(reply.lines) >= 3
