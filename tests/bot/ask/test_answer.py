"""Answers to questions: from the lines, or by a model that may only say what they hold."""

import json
from dataclasses import replace

import pytest

from bot.ask.answer import ask
from bot.ask.by_code import HELP, answer_by_code
from bot.ask.choose import Turn
from bot.ask.gather import Subject, gather
from bot.ask.plan import Look
from bot.chat.model import ModelUnavailable, ScriptedModel, Usage
from bot.known import KnownFault
from core.answer.look import Found
from core.diagnose import diagnose_parsed
from core.model import Line
from core.parsing.parsed import parse_job
from tests.core.jobs import example

LAST_WORDS = "Rank 3 wrote 15 lines, from 13:45:20 to 13:45:27, last complete iteration 30; 0 complaints."


@pytest.fixture(scope="module")
def subject() -> Subject:
    """Job f07, whose gpu018 lost its link, read and diagnosed."""
    parsed = parse_job(example("f07"), (example("s01"),), cache=None, workers=1, progress=None)
    return Subject(parsed, diagnose_parsed(parsed))


def test_without_a_model_the_lines_speak(subject: Subject) -> None:
    """A sentence with its numbers, lines with their places, five at most."""
    reply = ask("what did gpu018 log?", subject)
    assert reply.author == "logs"
    assert reply.lines[0].startswith("gpu018 wrote 31 lines, from 13:45:20 to 13:45:27")
    assert any("(logs/slurm-315196.out:65)" in line for line in reply.lines)
    assert len(reply.lines) == 5


def test_what_is_not_there_is_not_in_the_logs(subject: Subject) -> None:
    """No answer is made up, and a model is not even asked."""
    model = ScriptedModel()
    assert ask("is there an Xid anywhere?", subject, model).lines == ("Not in the logs: no line holds “Xid”.",)
    assert model.asked == []


def test_a_question_that_says_nothing_is_told_how_to_ask(subject: Subject) -> None:
    """An empty question gets help."""
    assert ask("  ", subject).lines == (HELP,)


def test_no_word_of_a_model_is_in_an_answer(subject: Subject) -> None:
    """Where the question names what it is about, no model is asked; any other answer is in the words of the looks."""
    model = ScriptedModel("gpu019 is to blame [E1]")
    assert ask("rank 3?", subject, model).lines[0] == LAST_WORDS
    assert model.asked == []
    reply = ask("metrics telemetry", subject, ScriptedModel("gpu019 is to blame [E1]"))
    assert "to blame" not in "\n".join(reply.lines)


def test_a_silent_model_costs_nothing_but_its_choice(subject: Subject) -> None:
    """The lines are there, and why the model is not."""
    trouble = ModelUnavailable("The model gave no answer in 60 s.", usage=Usage(10, 0, 1))
    reply = ask("metrics telemetry", subject, ScriptedModel(trouble))
    assert (reply.author, reply.unavailable, reply.usage.calls) == ("logs", "The model gave no answer in 60 s.", 1)


def test_a_model_may_choose_from_the_list(subject: Subject) -> None:
    """For a question that names nothing; the answer is what was looked up, and the model and its cost are named."""
    choice = {"looks": [{"look": "of_rank", "node": "", "other": "", "number": 3, "words": ""}]}
    model = ScriptedModel(json.dumps(choice))
    reply = ask("metrics telemetry", subject, model)
    assert reply.looks == (Look("of_rank", number=3),)
    assert (reply.author, reply.model, reply.usage.calls) == ("logs", "scripted", 1)
    assert reply.lines[0] == LAST_WORDS


@pytest.mark.parametrize(
    "choice",
    [
        '{"looks": [{"look": "delete", "node": "", "other": "", "number": 0, "words": ""}]}',
        '{"looks": [{"look": "of_node", "node": "node-99", "other": "", "number": 0, "words": ""}]}',
        '{"looks": [{"look": "of_rank", "node": "", "other": "", "number": 99, "words": ""}]}',
        '{"looks": [{"look": "compare", "node": "gpu018", "other": "gpu018", "number": 0, "words": ""}]}',
        '{"looks": "of_rank"}',
        '{"looks": []}',
    ],
)
def test_a_choice_outside_the_list_is_none(choice: str, subject: Subject) -> None:
    """Then code's own choice stands: nothing is done that is not on the list, about nothing that is not there."""
    reply = ask("metrics telemetry", subject, ScriptedModel(choice))
    assert reply.looks == (Look("search", words=("metrics", "telemetry")),)


def test_the_model_is_told_what_was_said_before_and_no_secret(subject: Subject) -> None:
    """The thread is redacted like everything else."""
    model = ScriptedModel("nothing")
    ask(
        "metrics telemetry",
        subject,
        model,
        thread=[Turn("my key is sk-abcdefghijklmnopqrstuvwx1234", "I do not need it.")],
    )
    assert "I do not need it." in model.asked[0][0].text
    assert "sk-abcdefghijklmnop" not in model.asked[0][0].text


def test_known_faults_and_evidence_are_answered_by_id(subject: Subject) -> None:
    """E1 and P1 are what the diagnosis shows; unknown ids are said to be."""
    fault = KnownFault("P1", "nic", 1, "Link down", "hardware", "", "Dust.", "Clean it.", exact=True, agrees=True,
                       score=1.0, because="b", confirmed_by="ada", confirmed_at="2026-11-20T01:02:03Z")  # fmt: skip
    known = Subject(subject.parsed, subject.diagnosis, (fault,))
    assert gather(known, [Look("evidence", words=("P1",))])[0].says == (
        "P1: Link down (confirmed by ada, 2026-11-20). Cause: Dust. Fix: Clean it."
    )
    assert "Clean it." in gather(known, [Look("known")])[0].says
    assert gather(known, [Look("evidence", words=("E9",))])[0].says == "This diagnosis has no evidence E9."
    assert gather(subject, [Look("known")])[0].says == "Nothing in the fault library looks like this."


def test_where_dumped_processes_stand_is_told_by_their_innermost_frames(subject: Subject) -> None:
    """Each place once, with who stands there; without dumps the answer says so."""
    tree = ("main (a.py:1)  [ranks 0-3]", "  recv (b.py:2)  [ranks 0-2]", "  load (c.py:3)  [rank 3]")
    dumped = replace(subject, diagnosis=replace(subject.diagnosis, stacks=tree))
    assert ask("where do the stacks stand?", dumped).lines == (
        "The dumped processes stand in recv (b.py:2) [ranks 0-2]; load (c.py:3) [rank 3].",
    )
    assert ask("show me the stack", subject).lines == ("There is no stack dump of this job.",)


def test_words_that_no_line_holds_together_are_looked_for_apart(subject: Subject) -> None:
    """All but one of them, then the rarest alone."""
    found = gather(subject, [Look("search", words=("metrics", "telemetry", "teapot"))])[0]
    assert "“metrics” and “telemetry”" in found.says
    assert "“checkpointing”" in gather(subject, [Look("search", words=("teapot", "checkpointing"))])[0].says


def test_hostile_lines_are_harmless_in_an_answer() -> None:
    """Control bytes and endless lines of a log do not reach the reader."""
    line = Line("a\x1b[31m.log", 1, "\x1b]0;title\x07" + "x" * 100_000)
    (says, quoted) = answer_by_code([Found("Some line.", (line,), ("",), ("",), 1)])
    assert says == "Some line."
    assert quoted.isprintable()
    assert len(quoted) < 600
