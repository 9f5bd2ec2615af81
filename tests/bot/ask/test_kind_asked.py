"""What a question asks for is known before words are sought: who, since when, yes or no, what is not there."""

import pytest

from bot.ask.about_clocks import zones
from bot.ask.answer import ask
from bot.ask.chatter import is_chatter
from bot.ask.level_change import rise
from bot.ask.model_intent import Turn
from bot.ask.subject import Subject
from tests.support.asked_jobs import NODES, steps, subject_of

REPORT = (
    "[0]:\n  time      : 2026-11-20_10:00:30\n  host      : gpu01\n  rank      : 5 (local_rank: 1)\n"
    "  exitcode  : -9 (pid: 4711)\n  error_file: <N/A>\n"
)


@pytest.fixture(scope="module")
def ended() -> Subject:
    """A job whose launcher reports that rank 5 was killed."""
    return subject_of({"out.log": steps(20) + REPORT})


def test_which_rank_had_a_signal_is_read_off_the_report(ended: Subject) -> None:
    """No explanation of the signal: its rank."""
    assert ask("which rank got the sigkill", ended).lines[0].startswith("Rank 5")


@pytest.mark.parametrize("text", ["what nic firmware is on gpu01", "fan broken or is the basement too warm"])
def test_what_no_line_holds_is_said_to_be_not_there(text: str) -> None:
    """And no loose line is quoted."""
    reply = ask(text, subject_of({f"{node}/rank_0.log": steps(20) for node in NODES}))
    assert not reply.answered
    assert reply.lines[0].startswith("Not in these logs: ")


@pytest.mark.parametrize(("text", "chat"), [("ugh why always on a sunday", True), ("lustre again lol, coffee", True),
                                            ("lol why did it die?", False), ("why did it die", False)])  # fmt: skip
def test_an_outcry_is_no_question(text: str, chat: bool) -> None:
    """Unless a mark or a question stands behind it."""
    assert is_chatter(text) is chat


def test_a_follow_up_has_the_noun_of_the_question_before() -> None:
    """What is older is a checkpoint."""
    log = steps(20) + "2026-11-20T10:00:21Z Saving model checkpoint to ./output/checkpoint-20\n"
    subject = subject_of({"rank_0.log": log})
    reply = ask("and an older one?", subject, thread=[Turn("did checkpoint-20 make it to disk", "")])
    assert reply.looks[0] == "lost"
    assert reply.lines[0].startswith("No older one")
    assert ask("did checkpoint-20 make it to disk", subject).lines[0].startswith("Not told: ")


def test_a_rise_begins_where_numbers_leave_their_range_for_good() -> None:
    """A counter that goes on and on has no second level; one that comes back rose never."""
    series = [4.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 4.0, 8.0, 16.0]
    found = rise(series)
    assert found is not None
    assert (found.at, found.before) == (7, 1.0)
    assert rise([1.0, 1.0, 5.0, 1.0, 1.0]) is None


def test_since_when_a_value_rises_is_told() -> None:
    """By its name, not its highest and lowest."""
    lines = "".join(
        f"2026-11-20T10:00:{at:02}Z step {at} residual {1.0 if at < 20 else 2.0 ** (at - 19):.2f}\n"
        for at in range(1, 26)
    )
    reply = ask("since when does the residual go up", subject_of({"rank_0.log": lines}))
    assert "1.00 until" in reply.lines[0]
    assert "2.00 from" in reply.lines[0]


def test_a_node_of_another_zone_is_not_the_first() -> None:
    """Whole hours between the last lines of nodes are their clocks'."""
    logs = {f"{node}/rank_{at}.log": steps(20) for at, node in enumerate(("gpu01", "gpu02", "gpu03"))}
    logs["gpu03/rank_2.log"] = logs["gpu03/rank_2.log"].replace("T10:", "T03:")
    subject = subject_of(logs, node_ranks={f"gpu0{at + 1}": (at,) for at in range(3)})
    assert zones(subject) == {"gpu03": -7.0}
    assert "7 h behind the others" in ask("why does gpu03 log stuff 7h earlier", subject).lines[0]
