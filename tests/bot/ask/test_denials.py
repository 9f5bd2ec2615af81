"""What an answer may not deny: what a quoted line holds, a node of job.json, a name that stands in a table."""

import pytest

from bot.ask.answer import ask
from bot.ask.denials import FOUND, without_false_denial
from bot.ask.english import normal
from bot.ask.subject import Subject
from tests.support.asked_jobs import subject_of

LOG = """\
2026-05-01 10:00:00 INFO step=1 loss=2.10
2026-05-01 10:00:05 INFO step=2 loss=2.05
   bear-09    1.969   0.141
   bear-16    1.965   0.145
2026-05-01 10:00:10 INFO step=3 loss=2.01
"""


@pytest.fixture
def one_log() -> Subject:
    """A job of three nodes that writes one log, with a table of two of them."""
    return subject_of({"train.log": LOG}, nodes=("bear-09", "bear-16", "bear-22"))


def test_a_node_of_a_table_is_not_said_to_be_named_nowhere(one_log: Subject) -> None:
    """Its lines are shown; a node of job.json that stands in no line is told as such, and only a stranger is denied."""
    lines = ask("compare bear-09 and bear-16", one_log).lines
    assert "No log names" not in lines[0]
    assert any("bear-09    1.969" in line for line in lines)
    assert any("bear-16    1.965" in line for line in lines)
    assert without_false_denial(one_log, ["No log names bear-22."])[0].startswith("bear-22 is a node by job.json")
    assert without_false_denial(one_log, ["No log names bear-77."]) == ["No line holds bear-77."]


def test_no_first_sentence_denies_what_is_quoted_below_it(one_log: Subject) -> None:
    """The words of the denial, all in one quoted line; what others wrote contradicts no denial of one node."""
    line = "node-1: Loading checkpoint at s3://ckpt/ep0.pt (train.log:6)"
    says = "No line tells of a checkpoint (5 lines were searched for checkpoint). The last complete iteration is 3."
    assert without_false_denial(one_log, [says, line]) == [f"{FOUND} The last complete iteration is 3.", line]
    for true in ("No line tells of a snapshot of weights.", "No line of node-2 tells of a checkpoint."):
        assert without_false_denial(one_log, [true, line]) == [true, line]


def test_german_is_read_without_umlauts_too() -> None:
    """A word that is typed as ASCII means the same."""
    assert normal("warum haengt es") == normal("warum hängt es")
