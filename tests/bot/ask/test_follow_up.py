"""Follow-ups of a thread, counted units, clauses of the moment, and nouns that no line holds."""

import pytest

from bot.ask.answer import ask
from bot.ask.chatter import is_chatter
from bot.ask.follow_up import made_whole
from bot.ask.model_intent import Turn
from bot.ask.question import Question, read_question
from bot.ask.wanted_value import head_of, moment_of
from tests.support.asked_jobs import NODES, steps, subject_of


def whole(text: str, before: str) -> str:
    def read(text: str) -> Question:
        return read_question(text, NODES)

    return made_whole(text, [Turn(before, "")], NODES, read)


@pytest.mark.parametrize(
    ("text", "before", "asked"),
    [
        ("and rank 25?", "what did rank 24 do last", "what did rank 25 do last"),
        ("und gpu02?", "what happened on gpu01", "what happened on gpu02"),
        ("and step 30?", "loss at step 20 on gpu01", "loss at step 30 on gpu01"),
        ("n the others?", "what is worker 13 doing", "what is the others than worker 13 doing"),
        ("and the others?", "what did gpu01 do last", "what did gpu02 and gpu03 do last"),
        ("what does it read", "what is worker 13 doing", "what does it read worker 13"),
        ("is it safe to restart", "what did rank 24 do last", "is it safe to restart"),
        ("why did it fail", "what did rank 24 do last", "why did it fail"),
        ("and the loss?", "why did it fail", "and the loss?"),
    ],
)
def test_a_short_question_takes_what_it_leaves_out_from_the_one_before(text: str, before: str, asked: str) -> None:
    """Names are exchanged, "it" is who was named; what asks for the job by itself stays."""
    assert whole(text, before) == asked


def test_nothing_before_changes_nothing() -> None:
    """Without a thread a question is read as it stands."""
    assert made_whole("and rank 25?", [], NODES, lambda text: read_question(text, NODES)) == "and rank 25?"


def test_a_counted_unit_is_known_by_its_letter_and_number() -> None:
    """Lines call "worker 3" [w03]; the others are told together."""
    own = "".join(f"2026-11-20T10:01:0{at}Z [w0{at}] still in allreduce after 600s (it 20)\n" for at in (1, 2, 4))
    own += "2026-11-20T10:01:05Z [w03] still in next(loader) after 600s (it 20)\n"
    subject = subject_of({"driver.log": steps(20) + own})
    reply = ask("what is worker 3 doing", subject)
    assert "next(loader)" in reply.lines[1]
    others = ask("and the others?", subject, thread=[Turn("what is worker 3 doing", "")])
    assert others.lines[0].startswith("Of 3 others 3 last said")


def test_a_noun_that_no_line_holds_is_refused() -> None:
    """A line that only holds the verb is no answer."""
    subject = subject_of({"rank_0.log": steps(20) + "2026-11-20T10:00:30Z still running\n"})
    reply = ask("what warmup ratio was it running with?", subject)
    assert not reply.answered
    assert "warmup ratio" in reply.lines[0]


def test_switched_off_checkpoints_are_told() -> None:
    """No printed setting stands for a report where a line says that nothing is saved."""
    line = "2026-11-20T10:00:00Z DISABLE_CHECKPOINT=1; skipping checkpoint save/load\n"
    reply = ask("what was lost since the last checkpoint?", subject_of({"rank_0.log": line + steps(20)}))
    assert "switched off" in reply.lines[0]


def test_a_clause_of_the_moment_names_nothing() -> None:
    """What stands behind "when" or "before" tells the moment, not the value."""
    assert moment_of("how much was free on the card when it blew up").strip() == "when it blew up"
    assert not moment_of("what was the loss before step 30")
    assert head_of(read_question("what learning rate was it running with?", ())) == ("learning", "rate")


def test_who_is_called_by_name_is_spoken_to() -> None:
    """A name behind @ asks a person; the bot's own name does not."""
    assert is_chatter("@marta was that you who stopped this one?")
    assert not is_chatter("@firstfault why did it stop?")
