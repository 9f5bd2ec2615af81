"""What a text asks apart from what it states, and what an answer owes to that part."""

import pytest

from bot.ask.about_clocks import at_clock
from bot.ask.answer import ask
from bot.ask.clauses import asking_part
from bot.ask.follow_up import made_whole
from bot.ask.model_intent import Turn
from bot.ask.named_values import values_in
from bot.ask.question import Question, read_question
from bot.ask.wanted_value import Wanted, moment_of, wanted, yes_or_no
from tests.support.asked_jobs import NODES, steps, subject_of

FULL = "2026-11-20T10:00:09Z OSError: [Errno 28] No space left on device: '/data/out.bin'\n"


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("deadline exceeded on 7 hosts, whos missing", "whos missing"),
        ("hi, throughput halved, when", "when"),
        ("is it my code?? train.py line 131", "is it my code?? "),
        ("job says running but nothing since 22:26. whats up", "whats up"),
        ("so if i copy the file there can i just start again?", "can i just start again?"),
        ("slow? which worker", "which worker"),
        ("lr and batch size?", "batch size?"),
        ("which rank failed first?", "which rank failed first?"),
        ("loss at 20", "loss at 20"),
    ],
)
def test_the_part_that_asks_is_known(text: str, asks: str) -> None:
    """A statement, a supposition or a topic beside a question asks nothing."""
    assert asking_part(text).strip() == asks.strip()


def test_the_kind_of_an_answer_is_that_of_the_part_that_asks() -> None:
    """The number of hosts is told, not asked for."""
    assert wanted(read_question("time-outs on 3 hosts, whos missing", NODES)) == (Wanted.WHO,)
    assert yes_or_no(read_question("502 from the tracker, is that it", NODES))


def test_a_statement_is_no_value_that_is_asked_for() -> None:
    """Who is asked for, and the length in the statement is told by nobody."""
    waits = "2026-11-20T10:05:10Z init failed: DEADLINE after 300 s\n"
    files = {f"{node}/train.log": steps(3) + (waits if node != "gpu03" else "") for node in NODES}
    reply = ask("deadline on 2 hosts, whos missing", subject_of(files))
    assert "DEADLINE after" not in reply.lines[0].split("“")[0]


def test_a_time_of_day_in_a_statement_is_not_asked_about() -> None:
    """It only says since when somebody wonders."""
    subject = subject_of({"gpu01/train.log": steps(30)})
    assert at_clock(subject, read_question("what happened at 10:00", NODES)) is not None
    assert at_clock(subject, read_question("nothing since 10:00. whats up", NODES)) is None


def test_why_it_failed_is_no_yes_or_no() -> None:
    """The way of asking whether it ended well has the same words."""
    subject = subject_of({"gpu01/train.log": steps(20) + FULL, "gpu02/train.log": steps(20)})
    assert not ask("why did it fail", subject).lines[0].startswith("Yes")
    assert ask("did it fail", subject).lines[0].startswith("Yes")


def test_whose_fault_it_is_comes_before_whether_a_line_speaks_of_it() -> None:
    """No line speaks of the network, and that is no answer to whose fault it is."""
    subject = subject_of({"gpu01/train.log": steps(20) + FULL, "gpu02/train.log": steps(20)})
    for question in ("is it the network", "could it be the code"):
        assert ask(question, subject).looks[0] == "blame"


@pytest.mark.parametrize("question", ["who replaced the disk", "who deleted it from gpu01", "who filled the disk"])
def test_who_did_something_is_not_told_by_a_line_of_something_else(question: str) -> None:
    """No line holds what was done."""
    subject = subject_of({"gpu01/train.log": steps(20) + FULL, "gpu02/train.log": steps(20)})
    assert ask(question, subject).lines[0].startswith("No log tells who did that")


def test_a_restart_once_it_is_put_right_is_safe() -> None:
    """The question supposes that it is."""
    missing = "2026-11-20T10:00:09Z FileNotFoundError: [Errno 2] No such file or directory: '/data/rules.json'\n"
    subject = subject_of({"gpu01/train.log": missing, "gpu02/train.log": steps(2)})
    assert ask("can i just start again?", subject).lines[0].startswith("No")
    assert ask("if i copy the file there can i just start again?", subject).lines[0].startswith("Yes, if that puts")


def test_a_name_that_no_line_holds_is_said_to_be_missing() -> None:
    """Typed as code writes names."""
    subject = subject_of({"gpu01/train.log": steps(20) + FULL, "gpu02/train.log": steps(20)})
    assert any("No line holds “warmup_steps”" in line for line in ask("is it warmup_steps?", subject).lines)
    assert not any("No line holds" in line for line in ask("why did it fail", subject).lines)


def test_the_nearest_line_is_called_that() -> None:
    """A line that holds a part of what is asked tells no process."""
    taken = "2026-11-20T10:00:09Z init_process_group: port 29511 on this host is in use\n"
    subject = subject_of({"gpu01/train.log": taken, "gpu02/train.log": steps(2)})
    reply = ask("which process has the port", subject)
    assert reply.lines[0].startswith("I found nothing that tells which process")


def whole(text: str, before: str, answer: str = "") -> str:
    def read(text: str) -> Question:
        return read_question(text, NODES)

    return made_whole(text, [Turn(before, answer)], NODES, read)


def test_a_follow_up_asks_of_who_was_answered_and_from_where_to_go_on() -> None:
    """What "it" is: who was asked for; what the job does stays the job's."""
    assert whole("what did it do last", "whos missing", "gpu02 is the first suspect.").endswith("gpu02")
    assert whole("when did it stop", "whos missing", "gpu02 is the first suspect.") == "when did it stop"
    assert whole("can i kill it without losing steps", "what is gpu02 doing").endswith("losing steps")
    assert whole("from which step then", "can i restart?") == "from which checkpoint do we resume"
    assert whole("from which step then", "is it slow?") == "from which step then"
    assert whole("who deleted it from disk", "if i copy the file back, ok?") == "who deleted file from disk"


def test_units_in_capitals_belong_to_their_numbers() -> None:
    """As in "44.30GiB"; of "7480 tok/s" the unit is the name."""
    named = {value.name: value.value for value in values_in("step 4 memory: 44.30GiB rss 108.9GB clock 1980 MHz")}
    assert named == {"step": "4", "memory": "44.30GiB", "rss": "108.9GB", "clock": "1980 MHz"}
    assert [value.name for value in values_in("7480 tok/s")] == ["tok"]


def test_a_terse_moment_names_no_value() -> None:
    """As "before it died", which only says when."""
    assert moment_of("loss before it died").strip() == "before it died"
