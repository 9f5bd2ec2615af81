"""Who logged something: all or one, how many, whether those did who are named, and which line of an answer is first."""

import pytest

from bot.ask.answer import ask
from bot.ask.honest import best_first
from bot.ask.line_search import LineSearch
from bot.ask.who_logged import who_logged
from tests.support.asked_jobs import asked, steps, subject_of

TIMED_OUT = (
    "2026-11-20T10:10:21Z [rank{rank}]:[E ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=20, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600017 milliseconds.\n"
)
FILES = {
    f"gpu0{rank}/rank_{rank}.log": steps(20) + ("" if rank == 1 else TIMED_OUT.format(rank=rank)) for rank in range(4)
}
FILES["gpu01/rank_1.log"] += "2026-11-20T10:00:25Z scratch pressure: 14 blocks spilled\n"
SUBJECT = subject_of(FILES, nodes=[f"gpu0{rank}" for rank in range(4)])


def test_a_rank_that_did_not_log_what_the_others_did_gets_a_no() -> None:
    """The others' number stands beside it; of a rank that logged it too the intents tell."""
    told = who_logged(SUBJECT, asked("did rank 1 time out too", SUBJECT))
    assert told is not None
    assert told[0].startswith("No: 3 ranks logged")
    assert who_logged(SUBJECT, asked("did rank 2 time out too", SUBJECT)) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("how many ranks timed out", "3 ranks of 4 logged"),
        ("how many ranks hit scratch pressure", "1 rank of 4 logged"),
        ("was the scratch pressure on all nodes or only one", "Only gpu01 logged it; the other 3 nodes did not"),
    ],
)
def test_it_is_told_how_many_logged_it(text: str, says: str) -> None:
    """By evidence of the trouble that is named, else by the kind of line that holds most of the words."""
    told = who_logged(SUBJECT, asked(text, SUBJECT))
    assert told is not None
    assert told[0].startswith(says)


def test_what_no_line_holds_is_not_counted() -> None:
    """A word that stands nowhere makes no count of lines that hold the others; nor is the size of the job one."""
    assert who_logged(SUBJECT, asked("how many ranks hit a purple scratch", SUBJECT)) is None
    assert who_logged(SUBJECT, asked("how many ranks are there", SUBJECT)) is None


def test_the_line_that_names_what_is_asked_about_comes_first() -> None:
    """Lines of an answer keep their order but for the one that holds the number."""
    search = LineSearch(SUBJECT, asked("what about the 14 blocks", SUBJECT))
    assert best_first(search, ["Ranks count 4.", "It ran long.", "14 blocks spilled"])[0] == "14 blocks spilled"
    assert best_first(search, ["14 blocks", "It ran long."]) == ["14 blocks", "It ran long."]


def test_a_question_for_one_of_two_gets_no_yes() -> None:
    """Neither does one for a node; one for the thing itself does."""
    assert not ask("did it crash or was it a time out", SUBJECT).lines[0].startswith("Yes")
    assert ask("was there a time-out", SUBJECT).lines[0].startswith("Yes")
