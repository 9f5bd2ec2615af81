"""Questions in a question, things that are never logged, exit codes, and arguments: what needs no whole diagnosis."""

import pytest

from bot.ask.about_exits import asked_code, means
from bot.ask.arguments import argument_changes, flags_of
from bot.ask.question import Question, read_question
from bot.ask.question_parts import listed_of, parts_of


def read(text: str) -> Question:
    return read_question(text, NODES)


NODES = ("node-01", "node-02")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("which checkpoint, and how many steps are lost?", ["which checkpoint", "how many steps are lost?"]),
        ("OOM? which process was it", []),
        ("wie weit kam er und gibt es einen Checkpoint", ["wie weit kam er", "gibt es einen Checkpoint"]),
        ("哪个节点坏了\uff1f为什么停了", ["哪个节点坏了\uff1f", "为什么停了"]),
        ("is it dead? drain it?", ["is it dead?", "drain it?"]),
        ("why did it die?", []),
        ("thanks, why did it die?", []),
        ("node-01 and node-02 both warn, should I drain them?", []),
        ("compare node-01 and node-02", []),
        ("when did it end and which one was it", []),
    ],
)
def test_a_question_is_cut_where_two_are_asked(text: str, parts: list[str]) -> None:
    """Where each part asks by itself; a statement, a list of names and "which one was it" ask nothing of their own."""
    assert [part.text for part in parts_of(read(text), read)] == parts


def test_a_part_has_the_names_of_those_before_it() -> None:
    """The second half of a question speaks of the same node; who asks for the others does not."""
    parts = parts_of(read("is node-02 dead, and since when is that so?"), read)
    assert [part.nodes for part in parts] == [("node-02",), ("node-02",)]
    parts = parts_of(read("what did node-02 log last, and what did the others log?"), read)
    assert [part.nodes for part in parts] == [("node-02",), ()]


def test_a_list_has_the_head_of_its_first_thing() -> None:
    """The word "final" belongs to both; what is behind a statement is asked alone."""
    assert [part.text for part in listed_of(read("final loss and eval score"), read)] == [
        "final loss",
        "final eval score",
    ]
    assert read("node-01 shows an assert, is node-01 broken?").asked.text.strip() == "is node-01 broken?"


@pytest.mark.parametrize(
    ("text", "code"),
    [("exit code -9?", -9), ("node-03 exit 143 - crashed?", 143), ("exitcode: 137", 137), ("it exited with 2", 2),
     ("who killed rank 3", None)],
)  # fmt: skip
def test_an_exit_code_is_read_from_a_question(text: str, code: int | None) -> None:
    """However it is written; the number of a rank is none."""
    assert asked_code(read_question(text, ())) == code


@pytest.mark.parametrize(("code", "says"), [(137, "SIGKILL"), (-9, "SIGKILL"), (143, "SIGTERM"), (1, "its own error"),
                                            (77, "itself chose")])  # fmt: skip
def test_an_exit_code_means_something(code: int, says: str) -> None:
    """Signals by both ways of writing them, and what the shell and Python mean."""
    assert says in means(code)


def test_arguments_of_a_command_are_told_by_name() -> None:
    """With a blank or "=", switches, and negative numbers."""
    command = ["python", "-m", "train", "--lr", "2e-4", "--clip=1.0", "--fp16", "--shift", "-0.5"]
    assert flags_of(command) == {"-m": "train", "--lr": "2e-4", "--clip": "1.0", "--fp16": "on", "--shift": "-0.5"}


def test_commands_are_compared_argument_by_argument() -> None:
    """What all nodes have differently is told once, what one has with its name; what is equal is not told."""
    good = {"launch_command": {"n0": ["run", "--steps", "10"], "n1": ["run", "--steps", "10"]}}
    bad = {"launch_command": {"n0": ["run", "--steps", "10", "--lr", "9"], "n1": "run --steps 10 --lr 9 --probe"}}
    assert argument_changes(good, bad) == ["--lr 9 is new", "--probe on is new on n1"]
    assert argument_changes(good, good) == []


def test_a_secret_argument_is_not_told() -> None:
    """Neither whole nor cut."""
    good, bad = ({"launch_command": ["run", "--api-key", value]} for value in ("", "sk-abcdefghijklmnopqrstuvwx1234"))
    assert "abcdefgh" not in " ".join(argument_changes(good, bad))
