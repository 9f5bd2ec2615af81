"""Questions as people type them at night: nodes by their end, "and node-2?", "any issues?", "who stopped it"."""

import pytest

from bot.ask.about_verdict import is_either
from bot.ask.answer import ask
from bot.ask.english import normal
from bot.ask.question import named_nodes, read_question
from bot.ask.subject import Subject
from core.job import Status
from tests.support.asked_jobs import steps, subject_of

ADDRESSES = ("10.12.8.20", "10.12.8.22", "10.12.9.22")


@pytest.fixture(scope="module")
def stopped() -> Subject:
    """A job that somebody stopped; two nodes write, one of them complains of its link and misses signs of life."""
    beats = "".join(f"2026-11-20T10:00:{at}Z HB rtt 0:0.4 missing=1\n" for at in (21, 24, 27))
    return subject_of(
        {
            "node-01/rank_0.log": steps(20) + "2026-11-20T10:00:30Z Job 'run-7' was stopped\n",
            "node-02/rank_1.log": steps(20) + "2026-11-20T10:00:22Z link retrain on port 3\n",
            "overseer.log": beats + "2026-11-20T10:00:28Z EVICT member=1 reason=lease expired\n",
        },
        nodes=["node-01", "node-02"],
    )


def test_a_node_is_named_by_its_end() -> None:
    """An address by its last part, "pod 4" by its number, where one node alone ends so; never a number alone."""
    assert list(named_nodes("load on .20?", ADDRESSES)) == ["10.12.8.20"]
    assert not named_nodes("load on .22?", ADDRESSES)
    assert list(named_nodes("whats up with .8.22", ADDRESSES)) == ["10.12.8.22"]
    assert not named_nodes("loss 0.20 at 22", ADDRESSES)
    assert list(named_nodes("is pod 4 ok", ("lm-jax-3", "lm-jax-4"))) == ["lm-jax-4"]


def test_rank_makes_no_question_german() -> None:
    """Both languages write it alike, so that it tells nothing."""
    assert normal("was it rank 6?") == "was it rank 7"
    assert normal("was macht rank 6?").startswith("what ")


@pytest.mark.parametrize("text", ["and node-02?", "what about node-02", "whats up with node-02", "was it node-02?"])
def test_a_name_alone_asks_whether_it_is_at_fault(stopped: Subject, text: str) -> None:
    """What a node logged last is not what "and node-02?" asks for."""
    assert ask(text, stopped).looks[0] == "suspect"


@pytest.mark.parametrize("text", ["who stopped it", "von wem gestoppt?"])
def test_the_line_that_stops_a_job_is_no_denial(stopped: Subject, text: str) -> None:
    """The line is told, with that it names nobody."""
    assert "“Job 'run-7' was stopped”; it names nobody" in ask(text, stopped).lines[0]


def test_signs_of_life_that_lines_abbreviate_are_no_denial(stopped: Subject) -> None:
    """An abbreviation is a heartbeat too."""
    assert ask("how many heartbeats were missed", stopped).lines[0].startswith("3 lines hold a heartbeat")


def test_a_time_of_day_is_answered_by_its_lines(stopped: Subject) -> None:
    """What happened at a moment is no question of a cause."""
    reply = ask("what happened at 10:00:22", stopped)
    assert reply.lines[0].startswith("At 10:00:22 1 line was written by node-02")
    assert "link retrain" in reply.lines[1]


def test_who_logged_a_kind_of_line_is_told(stopped: Subject) -> None:
    """Of what is named, not of what failed."""
    assert "Only node-02 logged it; the other node did not" in ask("link retrain on other nodes too?", stopped).lines[0]


def test_two_things_to_choose_from() -> None:
    """How many is no such choice."""
    assert is_either(read_question("gpu or my code?", ()))
    assert not is_either(read_question("one gpu or all?", ()))


def test_whether_anything_is_wrong_is_known_of_a_job_that_completed() -> None:
    """No, as the job completed."""
    well = subject_of({"node-01/rank_0.log": steps(20)}, nodes=["node-01"], status=Status.COMPLETED)
    for text in ("any issues?", "is anything broken"):
        assert ask(text, well).lines[0].startswith("No: ")


def test_frames_of_py_spy_are_stacks() -> None:
    """Beside logs, without a folder of dumps."""
    dump = 'Process 71: python -m geo.train\nThread 71 (active): "MainThread"\n    dedup_batch (geo/data/dedup.py:57)\n'
    subject = subject_of({"node-01/train.log": steps(20), "node-01/stacks.txt": dump}, nodes=["node-01"])
    assert "no line holds one" not in " ".join(ask("stack of the stuck one?", subject).lines)
