"""Answers to questions: from the diagnosis first, then from lines; by code, or by a model that only chooses."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.ask.answer import Reply, ask, by_code
from bot.ask.classify import IntentGuess
from bot.ask.english import labelled
from bot.ask.intents import ANSWERS, CHATTER, ELSEWHERE, HELP
from bot.ask.model_intent import Turn
from bot.ask.question import read_question
from bot.ask.reply_lines import cited, raw
from bot.ask.subject import Subject
from bot.chat.model import ModelUnavailable, Usage
from bot.text.known_fault import KnownFault
from core.diagnose import diagnose_parsed
from core.job import Manifest
from core.model import Line
from core.parsed import parse_job
from tests.support.jobs import example
from tests.support.scripted_model import ScriptedModel


def subject_of(job: str, *good: str) -> Subject:
    parsed = parse_job(example(job), tuple(map(example, good)), cache=None, workers=1, progress=None)
    return Subject(parsed, diagnose_parsed(parsed))


class Others:
    """Two example jobs beside it."""

    def manifests(self) -> list[Manifest]:
        return [example(name).manifest for name in ("f15", "s01")]

    def subject(self, job: str) -> Subject | None:
        return subject_of(job) if job in ("f15", "s01") else None


@pytest.fixture(scope="module")
def subject() -> Subject:
    """Job f07, whose gpu018 lost its link, read and diagnosed."""
    found = subject_of("f07", "s01", "s03")
    return replace(found, beside=Others())


@pytest.fixture(scope="module")
def frozen() -> Subject:
    """Job f02, whose rank 1 was frozen; it logged nothing, the others timed out."""
    return subject_of("f02", "s02")


@pytest.mark.parametrize(
    ("question", "intent", "says"),
    [
        ("why did it die?", "verdict", "Look at gpu018: the node stopped answering"),
        ("how sure are you, and why", "sure", "Supported: likely, verify before you act."),
        ("why gpu018", "suspect", "gpu018 (ranks 2-3) is the first suspect."),
        ("why not gpu019", "weighed", "gpu019 is not suspected: the first suspect is gpu018."),
        ("is it my code or the hardware?", "blame", "Likely: the machine, not your code"),
        ("is it safe to restart", "restart", "Yes, but without gpu018"),
        ("what do I drain", "drain", "Take out gpu018"),
        ("who else was affected", "others", "1 of 4 nodes besides gpu018"),
        ("when did it start?", "began", "The first sign came at 13:46:09"),
        ("how long did it run", "ran", "It ran 62 s"),
        ("what was lost since the last chekpoint", "lost", "The last checkpoint that the logs call complete"),
        ("what did gpu018 log last", "last", "gpu018 wrote 31 lines, from 13:45:20 to 13:45:27"),
        ("what did the scheduler say last", "last", "The last 4 lines of the scheduler"),
        ("lines around E1", "around", "E1 is line 214 of logs/slurm-315196.out"),
        ("stacks of rank 3", "stacks", "No stacks were dumped"),
        ("loss at iteration 20", "numbers", "Loss at iteration 20: 3.00983."),
        ("compare with f15", "compare", "No: here the node stopped answering; in f15: a value became NaN"),
        ("has this happened before", "before", "The fault library holds nothing"),
        ("what changed since the last good job?", "changed", "In the settings that the logs print, since s01: "),
        ("what is missing to be sure", "missing", "Missing: Only 2 successful jobs"),
        ("explain E2", "explain", "slurmctld.log logged"),
        ("who approved this?", "approved", "Nobody"),
        ("which logs did you read", "read", "Read: 2 files, 228 lines"),
        ("how far did it get", "reached", "It came to iteration 30 of 60 planned (50 %), complete at 13:45:27."),
        ("on which node is rank 5", "setup", "Rank 5 runs on gpu019, as local rank 1 of ranks 4-5."),
        ("can I ignore E3", "harmless", "No, do not ignore E3: it is a direct trace of the fault."),
        ('show me "metrics push"', "find", "lines hold “metrics push”"),
        ("wie sicher bist du?", "sure", "Supported"),
        ("为什么是gpu018", "suspect", "gpu018 (ranks 2-3) is the first suspect."),
        ("was ist mit gpu018 passiert?", "fate", "gpu018 wrote its last line at 13:45:27"),
    ],
)  # fmt: skip
def test_the_diagnosis_answers_first(question: str, intent: str, says: str, subject: Subject) -> None:
    """Each intent begins with a direct sentence, in at most five lines."""
    reply = ask(question, subject)
    assert reply.looks[0] == intent
    assert says in reply.lines[0]
    assert len(reply.lines) <= 5
    assert reply.answered


def test_what_the_evidence_holds_is_not_denied(frozen: Subject) -> None:
    """Heartbeats stand in E4; they were searched for by all words of the question before, and denied."""
    reply = ask("how many heartbeats were missed?", frozen)
    assert reply.lines[0].startswith("E4: tr-02 logged")
    assert reply.answered


def test_a_denial_says_what_was_searched(subject: Subject) -> None:
    """By all names of the thing, in all lines; and what the diagnosis says instead."""
    reply = ask("was there an OOM?", subject)
    assert reply.lines[0] == (
        "I looked for memory that ran out (out of memory, OOM, cannot allocate memory) in every line, "
        "228 lines of 2 files, and found none."
    )
    assert "gpu018" in reply.lines[1]
    assert not reply.answered


def test_a_kill_that_only_an_exit_code_tells_of_is_not_denied(subject: Subject) -> None:
    """SIGKILL leaves no line; 137 in job.json tells of it."""
    manifest = replace(subject.parsed.job.manifest, exit_codes={"gpu018": 137})
    quiet = replace(subject.diagnosis, events=())
    parsed = replace(subject.parsed, job=replace(subject.parsed.job, manifest=manifest))
    reply = ask("which process got killed?", Subject(parsed, quiet))
    assert reply.lines[0] == "By the exit codes of job.json a signal ended gpu018 by SIGKILL (137)."


def test_what_others_say_of_a_node_is_found_as_well(subject: Subject) -> None:
    """A node that lost power does not say so: the lines of others are searched before anything is denied."""
    found = ANSWERS["presence"][1](subject, read_question("was gpu018 killed?", subject.parsed.nodes))
    assert found is not None
    assert not found[0].startswith("No line of gpu018 speaks")


def test_a_node_of_another_job_is_refused(subject: Subject) -> None:
    """No answer about somebody else."""
    assert ask("why gpu099?", subject).lines == (
        "This job has no gpu099: its nodes are gpu017, gpu018, gpu019, gpu020.",
    )


@pytest.mark.parametrize("question", ["what is the weather like today", "", "thanks, on it", "??"])
def test_what_cannot_be_answered_gets_three_questions_that_can(question: str, subject: Subject) -> None:
    """One sentence, and three questions, each of which has an answer here."""
    reply = ask(question, subject)
    assert not reply.answered
    offered = [line.strip("“”") for line in reply.lines[1:]]
    assert len(offered) == 3
    assert all(ask(suggested, subject).answered for suggested in offered)


def test_function_words_are_not_searched(subject: Subject) -> None:
    """Of "which ... got ..." nothing is looked for; a rare word finds the lines that hold it."""
    guesses = (IntentGuess("find", -1.0),)
    assert by_code(read_question("which one got to do that", ()), subject, guesses) == ((), ())
    lines, intents = by_code(read_question("pushed telemetry metrics", ()), subject, guesses)
    assert intents == ("find",)
    assert "telemetry" in lines[0]


def test_two_questions_in_one_get_both_answers(subject: Subject) -> None:
    """Three lines of the first, the rest of the second."""
    guesses = (IntentGuess("sure", 0.5), IntentGuess("restart", 0.4))
    lines, intents = by_code(read_question("how sure, and may I restart?", ()), subject, guesses)
    assert intents == ("sure", "restart")
    assert any(line.startswith("Yes, but without gpu018") for line in lines[:4])


def test_stacks_are_told_by_rank(subject: Subject) -> None:
    """The innermost frames, and of a rank its own."""
    tree = ("main (a.py:1)  [ranks 0-3]", "  recv (b.py:2)  [ranks 0-2]", "  load (c.py:3)  [rank 3]")
    dumped = replace(subject, diagnosis=replace(subject.diagnosis, stacks=tree))
    answer = ANSWERS["stacks"][1]
    every, own = (answer(dumped, read_question(text, ())) for text in ("stacks", "stack of rank 3"))
    assert every is not None
    assert own is not None
    assert every[0] == "The dumped processes stood in recv (b.py:2) [ranks 0-2]; load (c.py:3) [rank 3]."
    assert own[0] == "Rank 3 stood in load (c.py:3) [rank 3]."


def test_a_confirmed_fault_names_who_confirmed_it(subject: Subject) -> None:
    """And the jobs that it was seen in."""
    fault = KnownFault("P1", "nic", 1, "Link down", "hardware", "", "Dust.", "Clean it.", exact=True, agrees=True,
                       score=1.0, because="b", confirmed_by="ada", confirmed_at="2026-11-20T01:02:03Z",
                       jobs=("f05",))  # fmt: skip
    known = replace(subject, known=(fault,))
    replies = {name: ANSWERS[name][1](known, read_question("E", ())) for name in ("approved", "before")}
    assert replies["approved"] == ["P1, “Link down”, was confirmed by ada, 2026-11-20. [P1]"]
    assert (replies["before"] or [""])[0] == "Yes: “Link down” (confirmed by ada, 2026-11-20). Seen in f05. [P1]"


def test_a_model_chooses_intent_and_parameters(subject: Subject) -> None:
    """The answer is code's; the model and its cost are named."""
    choice = {"intent": "last", "nodes": [], "ranks": [3], "iterations": [], "ids": [], "job": "", "words": ""}
    reply = ask("and the third one", subject, ScriptedModel(json.dumps(choice)))
    assert (reply.looks, reply.model, reply.usage.calls) == (("last",), "scripted", 1)
    assert reply.lines[0].startswith("Rank 3 wrote 15 lines")


@pytest.mark.parametrize(
    "answer",
    [
        "gpu019 is to blame [E1]",
        '{"intent": "delete", "nodes": [], "ranks": [], "iterations": [], "ids": [], "job": "", "words": ""}',
        '{"intent": "suspect"}',
        ModelUnavailable("The model gave no answer in 60 s.", usage=Usage(10, 0, 1)),
    ],
)
def test_a_choice_outside_the_list_changes_nothing(answer: str | ModelUnavailable, subject: Subject) -> None:
    """Then code's own choice stands, and no word of the model is shown."""
    reply = ask("how sure are you", subject, ScriptedModel(answer))
    assert reply.looks == ("sure",)
    assert "to blame" not in "\n".join(reply.lines)


def test_names_of_a_choice_that_are_not_there_are_left_out(subject: Subject) -> None:
    """A node of no job is nobody's answer."""
    choice = {
        "intent": "suspect",
        "nodes": ["gpu099"],
        "ranks": [99],
        "iterations": [],
        "ids": ["E99"],
        "job": "x",
        "words": "",
    }
    reply = ask("who?", subject, ScriptedModel(json.dumps(choice)))
    assert reply.lines[0].startswith("gpu018 (ranks 2-3) is the first suspect.")


def test_the_model_is_told_what_was_said_before_and_no_secret(subject: Subject) -> None:
    """The thread is redacted like everything else."""
    model = ScriptedModel("nothing")
    before = [Turn("my key is sk-abcdefghijklmnopqrstuvwx1234", "I do not need it.")]
    ask("how sure are you", subject, model, thread=before)
    assert "I do not need it." in model.asked[0][0].text
    assert "sk-abcdefghijklmnop" not in model.asked[0][0].text


def test_every_labelled_intent_has_an_answer() -> None:
    """What the classifier may say and what code can do are the same."""
    assert {intent for _, intent in labelled()} == {*ANSWERS, HELP, CHATTER, ELSEWHERE}


def test_hostile_lines_are_harmless_in_an_answer() -> None:
    """Control bytes and endless lines of a log do not reach the reader."""
    (quoted,) = raw([Line("a\x1b[31m.log", 1, "\x1b]0;title\x07" + "x" * 100_000)])
    assert quoted.isprintable()
    assert len(quoted) < 600


@settings(max_examples=30, deadline=None)
@given(question=st.text(max_size=80))
def test_any_question_gives_at_most_five_lines(question: str) -> None:
    """Whatever somebody types."""
    reply: Reply = ask(question, SUBJECT)
    assert 1 <= len(reply.lines) <= 5


SUBJECT = subject_of("s01")


def test_a_secret_of_a_long_line_is_not_cut_in_two() -> None:
    """What is known by its beginning is taken out before the line is shortened in the middle."""
    secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYS3cr3tPw10"
    text = f"RuntimeError: {'cannot connect to the store and ' * 6}AWS_SECRET_ACCESS_KEY={secret} after login"
    line = Line("logs/rank_1.log", 27, text)

    for quoted in (*raw([line]), cited(text * 4, "E1")):
        assert "bPxRfiCYS3cr3tPw10" not in quoted
        assert "cannot connect" in quoted
