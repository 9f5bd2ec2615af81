"""The first sentence is of the diagnosis, and answers a yes or no as one; lines that hold words come behind it."""

import pytest

from bot.ask.answer import ask
from bot.ask.chatter import is_chatter
from bot.ask.subject import Subject
from tests.support.asked_jobs import steps, subject_of


@pytest.mark.parametrize(
    ("question", "starts"),
    [
        ("is gpu018 the bad one?", "Yes: gpu018 (ranks 2-3) is the first suspect"),
        ("is gpu019 broken?", "No: "),
        ("is gpu019 ok?", "Yes, as far as the logs tell: "),
        ("gpu017 or gpu019, who is to blame?", ""),
        ("why does gpu019 complain about the connection?", "gpu019 is not suspected: the first suspect is gpu018"),
        ("are the other nodes still usable?", "Yes, as far as the logs tell: only gpu018"),
        ("is it safe to just resubmit on the same nodes?", "Yes, but without gpu018"),
    ],
)
def test_who_is_named_gets_a_yes_or_no(broken: Subject, question: str, starts: str) -> None:
    """Of the suspect, of another node, of both, of its complaint; a word as "just" makes no question of who had it."""
    first = ask(question, broken).lines[0]
    assert first.startswith(starts or "Neither, as far as the logs tell: ")


def test_a_kind_of_line_is_counted_by_the_questions_words() -> None:
    """Not by the word "warning", which no line holds."""
    stalls = "".join(f"2026-11-20T10:01:0{at}Z stall_inspector: tensors wait for ranks\n" for at in range(7))
    lines = ask("how many stall warnings?", subject_of({"train.log": steps(59) + stalls})).lines
    assert lines[0].startswith("7 times, from 10:01:00 to 10:01:06")


def test_a_value_that_only_later_lines_tell_is_found() -> None:
    """A progress bar begins without its loss."""
    bar = "2026-11-20T10:00:{at:02}Z Epoch 0: {at}/20 [00:{at:02}<00:20, 1.0it/s{loss}]\n"
    text = "".join(bar.format(at=at, loss=f", train_loss={9 - at / 10}" if at else "") for at in range(20))
    assert "train_loss: 7.1 at the last" in ask("train loss at the end", subject_of({"train.log": text})).lines[0]


def test_a_name_with_its_unit_in_brackets_is_a_name() -> None:
    """As torch prints it: Timeout(ms)=600000."""
    line = "2026-11-20T10:01:00Z collective timeout: WorkNCCL(SeqNum=3, Timeout(ms)=600000) ran for 600026 ms\n"
    assert "600000" in ask("what is the timeout set to?", subject_of({"train.log": steps(20) + line})).lines[0]


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("Anna, can you take this one?", True), ("moin", True), ("can you tell which node?", False)],
)
def test_words_to_somebody_are_no_question(text: str, is_one: bool) -> None:
    """A person who is asked by name to do something, and a greeting."""
    assert is_chatter(text) is is_one
