"""What a question wants, and what its words mean."""

import pytest

from bot.ask.about_code import named_in
from bot.ask.complete_answer import predicted
from bot.ask.meant_node import with_meant
from bot.ask.question import read_question
from bot.ask.subject import Subject
from bot.ask.terms import terms_of
from bot.ask.wanted_value import Wanted, holds, wanted, yes_or_no
from core.diagnose import diagnose_parsed
from core.model import EventEvidence, Line
from core.parsed import parse_job
from tests.support.jobs import example


@pytest.fixture(scope="module")
def subject() -> Subject:
    """Job f07, whose gpu018 lost its link, read and diagnosed."""
    good = tuple(map(example, ("s01", "s03")))
    parsed = parse_job(example("f07"), good, cache=None, workers=1, progress=None)
    return Subject(parsed, diagnose_parsed(parsed))


def error(*texts: str) -> EventEvidence:
    lines = tuple(Line("logs/a.log", number, text) for number, text in enumerate(texts, 1))
    return EventEvidence("E1", 1.0, "", lines)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("since when was it stuck", Wanted.WHEN),
        ("how long did they wait", Wanted.HOW_LONG),
        ("how many ranks were there", Wanted.HOW_MANY),
        ("which box do I look at", Wanted.WHO),
        ("whose file is broken", Wanted.FILE),
        ("which argument is wrong", Wanted.WHAT_NAME),
        ("give me the pid", Wanted.PROCESS),
    ],
)
def test_an_interrogative_wants_a_kind_of_value(question: str, kind: Wanted) -> None:
    """Each has its kind, and an answer without any value holds none."""
    assert wanted(read_question(question, ()))[0] is kind


def test_an_answer_holds_the_kind_or_does_not(subject: Subject) -> None:
    """A clock, a length of time and a node are told apart; the place of a quoted line counts for nothing."""
    assert holds(subject, Wanted.WHEN, ["It came at 13:45:20."])
    assert not holds(subject, Wanted.WHEN, ["It came after 12 s."])
    assert holds(subject, Wanted.HOW_LONG, ["It came after 12 s."])
    assert holds(subject, Wanted.WHO, ["Look at gpu018."])
    assert not holds(subject, Wanted.FILE, ["It broke (logs/a/b.jsonl:7)"])


def test_a_yes_or_no_is_wanted_after_a_comma_too() -> None:
    """People say what they see first, and ask then."""
    assert yes_or_no(read_question("watchdog fired after 600 s, is the switch the problem?", ()))
    assert not yes_or_no(read_question("when did the watchdog fire", ()))


def test_words_of_one_meaning_are_one() -> None:
    """What people call a parameter, a checkpoint or a learning rate stands otherwise in logs."""
    assert terms_of("params") & terms_of("number of parameters") == {"=parameters"}
    assert "=rate" in terms_of("lr=1e-3") & terms_of("learning rate")
    assert "train_00005.jsonl" in terms_of("opening shard /opt/data/train_00005.jsonl") | terms_of("train_00005.jsonl")


def test_an_error_names_what_it_quotes() -> None:
    """The path, not the file of the program that raised it."""
    fact = error(
        'File "/opt/train/a.py", line 3, in open_shard',
        "FileNotFoundError: [Errno 2] No such file or directory: '/data/shard_1.jsonl'",
    )
    assert named_in(fact) == ("/data/shard_1.jsonl",)
    assert named_in(error("train.py: error: unrecognized arguments: --seq-lenght 128")) == ("--seq-lenght",)
    assert named_in(error("failed (exitcode: -9) of binary: /opt/venv/bin/python")) == ()


def test_that_node_is_the_suspect(subject: Subject) -> None:
    """A question that names nobody and says "that box" means the node that the answer names."""
    asked = with_meant(read_question("memory on that box", subject.parsed.nodes), subject)

    assert asked.nodes == ("gpu018",)
    assert with_meant(read_question("memory on gpu017", ["gpu017"]), subject).nodes == ("gpu017",)


def test_what_would_have_been_no_log_tells(subject: Subject) -> None:
    """The headline stands beside."""
    longer = predicted(subject, read_question("would a longer timeout have helped?", subject.parsed.nodes))

    assert longer.startswith("The logs do not tell what would have happened; look at gpu018")
