"""Values that belong into an answer: clocks of progress, numbers beside a name, limits of time, saved checkpoints."""

from typing import Any

import pytest

from bot.ask.about_course import reached
from bot.ask.about_events import ended
from bot.ask.about_measures import number_of, value_at
from bot.ask.about_nodes import others
from bot.ask.about_numbers import asks_pace, numbers
from bot.ask.about_steps import lost
from bot.ask.about_topics import presence
from bot.ask.about_unlogged import refused
from bot.ask.answer import ask
from bot.ask.arguments import apart_line
from bot.ask.hypothesis import stance
from bot.ask.question import Question, read_question
from bot.ask.subject import Subject
from core.diagnose import diagnose_parsed
from core.parsed import parse_job
from tests.support.jobs import example, job

NODES = ("gpu01", "gpu02", "gpu03")


def subject_of(files: dict[str, str], **manifest: Any) -> Subject:
    parsed = parse_job(job(files, **manifest), (), cache=None, workers=1, progress=None)
    return Subject(parsed, diagnose_parsed(parsed))


def asked(text: str, subject: Subject) -> Question:
    return read_question(text, subject.parsed.nodes)


def steps(last: int, *, said: str = "step {step} loss {loss}") -> str:
    """Lines of a training script, one a second."""
    return "".join(
        f"2026-11-20T10:00:{step:02}Z {said.format(step=step, loss=9 - step / 10)}\n" for step in range(1, last + 1)
    )


@pytest.fixture(scope="module")
def broken() -> Subject:
    """Job f07, whose gpu018 lost its link."""
    parsed = parse_job(example("f07"), (example("s01"),), cache=None, workers=1, progress=None)
    return Subject(parsed, diagnose_parsed(parsed))


def test_a_finished_saving_is_no_denial() -> None:
    """torchtitan calls a checkpoint finished without its step; it is of the iteration before that line."""
    line = "2026-11-20T10:00:20Z [titan] root - INFO - Finished saving the checkpoint in 1.99 seconds.\n"
    subject = subject_of({"rank_0.log": steps(20) + line + "2026-11-20T10:00:21Z step 21 loss 6.9\n"})
    lines = lost(subject, asked("what was saved?", subject))
    assert "they came after iteration 20" in lines[0]
    assert "1 iteration must be computed again" in lines[0]


def test_a_list_of_checkpoints_is_no_denial() -> None:
    """timm prints which files it keeps after each epoch, and no other word."""
    kept = "2026-11-20T10:00:20Z Current checkpoints:\n ('/out/last.pth.tar', 10.0)\n"
    subject = subject_of({"rank_0.log": steps(20) + kept})
    lines = lost(subject, asked("what was saved?", subject))
    assert any("/out/last.pth.tar" in line for line in lines)


def test_a_saving_that_began_is_shown_as_such() -> None:
    """transformers says only that it saves: no denial, and nothing is called complete."""
    line = "2026-11-20T10:00:20Z Saving model checkpoint to /out/checkpoint-20\n"
    subject = subject_of({"rank_0.log": steps(20) + line})
    lines = lost(subject, asked("what was saved?", subject))
    assert lines[0].startswith("No line calls a checkpoint complete; lines tell only that a saving began.")
    assert "Saving model checkpoint to /out/checkpoint-20" in lines[1]


def test_how_far_it_came_tells_when() -> None:
    """The clock of the last complete iteration stands beside it."""
    subject = subject_of({"rank_0.log": steps(20)})
    assert "came to iteration 20, complete at 10:00:20." in reached(subject, asked("how far?", subject))[0]


def test_errors_tell_the_iteration_that_nobody_printed() -> None:
    """Progress is printed every few iterations; an error may name a later one."""
    late = subject_of({"rank_0.log": steps(20) + "2026-11-20T10:00:23Z trainer failed at step 22\n"})
    assert any("in iteration 22" in line for line in reached(late, asked("how far?", late)))
    for other in (
        "upload failed at step 10",
        "slurmstepd: error: *** STEP 48298.0 ON gpu01 CANCELLED AT 2026-11-20T10:00:23 ***",
    ):
        early = subject_of({"rank_0.log": steps(20) + f"2026-11-20T10:00:23Z {other}\n"})
        assert not any("By their own words" in line for line in reached(early, asked("how far?", early)))


@pytest.mark.parametrize("text", ["sec/it early and late", "how many steps per second at first", "ms per step?"])
def test_the_unit_of_a_pace_asks_for_it(text: str) -> None:
    """The first iterations stand beside the last ones."""
    subject = subject_of({"rank_0.log": steps(20)})
    question = asked(text, subject)
    assert asks_pace(question)
    lines = numbers(subject, question)
    assert lines is not None
    assert any("the first 5 1.0 s each, the last 5 1.0 s each" in line for line in lines)


def test_a_sentence_with_its_a_step_is_no_pace() -> None:
    """In "it's a step back" there is no unit."""
    assert not asks_pace(read_question("it's a step back, isn't it", ()))


def test_a_value_by_any_name_is_told_at_its_iteration() -> None:
    """What no series and no measure knows by name, lines may have: entropy."""
    said = "update {step} loss {loss} entropy={step}.25"
    subject = subject_of({"rank_0.log": steps(20, said=said.replace("update", "step"))})
    lines = value_at(subject, asked("what was the entropy at step 7?", subject))
    assert lines[0] == "Entropy at iteration 7: 7.25."
    assert value_at(subject, asked("why did step 7 take long?", subject)) == []


def test_values_before_a_nan_are_values() -> None:
    """Who asks for the loss before it was NaN is told the loss, not the NaN."""
    text = "2026-11-20T10:00:01Z step 1 loss 5.607\n2026-11-20T10:00:02Z step 2 loss nan\n"
    subject = subject_of({"rank_0.log": text})
    lines = numbers(subject, asked("which loss was there before the nan?", subject))
    assert lines is not None
    assert "5.607" in lines[0]


def test_what_is_counted_is_told_by_node() -> None:
    """Megatron tells its number of parameters; where nodes differ, each has its own."""
    line = "2026-11-20T10:00:01Z  > number of parameters on (tensor, pipeline) model parallel rank (0, 0): {}\n"
    subject = subject_of({f"{node}/out.log": line.format(441856 if node == "gpu02" else 257664) for node in NODES})
    lines = number_of(subject, asked("how many parameters have they?", subject))
    assert lines[0] == "Number of parameters, by node: gpu02 441,856; gpu01, gpu03 257,664."
    assert number_of(subject, asked("how many nodes failed?", subject)) == []


def test_the_command_timeout_needs_no_person() -> None:
    """Exit code 124 is that of timeout(1); an interrupt beside it is no key that somebody pressed."""
    files = {f"{node}/out.log": steps(5) + "2026-11-20T10:00:50Z KeyboardInterrupt\n" for node in NODES}
    subject = subject_of(files, exit_codes=dict.fromkeys(NODES, 124))
    lines = presence(subject, asked("was there a ctrl-c?", subject))
    assert lines is not None
    assert lines[0].startswith("A limit of time ended it, which needs no person: gpu01, gpu02, gpu03")
    assert ended(subject, asked("who stopped it?", subject))[0] == lines[0]
    other = subject_of(files, exit_codes=dict.fromkeys(NODES, 130))
    told = presence(other, asked("was there a ctrl-c?", other))
    assert told is not None
    assert "limit of time" not in told[0]


def test_one_node_with_another_argument_stands_apart() -> None:
    """What each has for itself, as its number, is no difference; of two nodes none is the usual one."""
    command = ["torchrun", "--nnodes", "3", "--master-addr", "gpu01"]
    commands = {node: [*command, "--node-rank", str(at)] for at, node in enumerate(NODES)}
    commands["gpu03"][4] = "gpu10"
    files = {f"{node}/out.log": steps(5) for node in NODES}
    subject = subject_of(files, extra={"launch_command": commands})
    told = "gpu03 alone was started with --master-addr gpu10; the others with --master-addr gpu01."
    assert apart_line(subject, "gpu03") == told
    assert apart_line(subject, "gpu02") == ""
    two = {node: commands[node] for node in ("gpu01", "gpu03")}
    subject = subject_of(files, extra={"launch_command": two})
    assert apart_line(subject, "gpu03") == ""


@pytest.mark.parametrize(
    "text",
    [
        "how many GB were free on the disk",
        "how much room was left there",
        "was it a person or a script that sent the signal, and which",
        "which row of the parquet file is it",
        "in welcher Zeile der Datei ist der Fehler",
        "wie viel GB waren noch frei",
    ],
)
def test_what_is_seldom_logged_is_refused(broken: Subject, text: str) -> None:
    """In one sentence, and never as an answer."""
    refusal = refused(broken, asked(text, broken))
    assert refusal is not None
    assert not refusal.told
    assert refusal.lines[0].startswith("That is not in the logs: ")


def test_a_row_that_is_told_is_shown() -> None:
    """A parser that names the line of a file is no reason to refuse."""
    subject = subject_of({"rank_0.log": 'yaml.scanner.ScannerError: in "train.yaml", line 17, column 5\n'})
    refusal = refused(subject, asked("which line of the file is it", subject))
    assert refusal is not None
    assert refusal.told


def test_a_file_that_nobody_names_is_not_known() -> None:
    """A source file in a traceback is no data file."""
    trace = """Traceback (most recent call last):
  File "/srv/vision/train.py", line 12, in load
    return read(paths[i])
ValueError: buffer size must be a multiple of element size
"""
    subject = subject_of({"rank_0.log": steps(5) + trace})
    reply = ask("which image file did it fail on, what does E1 mean?", subject)
    assert "is not known" in reply.lines[0]
    assert len(reply.lines) <= 5


def test_one_of_two_is_blamed(broken: Subject) -> None:
    """Not searched for as words."""
    assert ask("so is it our loss code or gloo?", broken).looks[0] == "blame"


def test_a_question_without_a_verb_is_answered_no(broken: Subject) -> None:
    """Chats leave the verb out; what failed is another thing."""
    assert stance(broken, asked("tokenizer broken?", broken)).startswith(("No", "Nothing in the logs says so"))
    assert stance(broken, asked("so gpu017 crashed?", broken)).startswith("No, as far as the logs tell")


def test_who_was_affected_is_told_with_times(broken: Subject) -> None:
    """How long others took to notice is read off the clocks."""
    lines = others(broken, asked("who else was affected?", broken))
    assert any("first at 13:4" in line for line in lines)
