"""Which patterns answer a question in a person's words, and when nothing like it is known."""

import pytest

from faultlib.pattern import Status
from faultlib.question_search import KNOWN, find, terms_of
from tests.support.library_entries import entry

LIBRARY = (
    entry("cable", title="A cable was loose", cause="Somebody pulled at it."),
    entry("disk", title="File system is full", cause="Nobody deleted old checkpoints.", fix="Delete some."),
    entry("store", title="Object storage throttles (503)", cause="Too many readers.", fix="Read less."),
)


def test_a_question_finds_the_pattern_that_it_means() -> None:
    """The best first, with the numbers that it is judged by."""
    found = find("is a cable loose?", LIBRARY, {"cable": 0.6, "disk": 0.1, "store": 0.1}, limit=3)

    assert [one.entry.id for one in found] == ["cable"]
    assert found[0].score >= KNOWN
    assert found[0].because == "1.00 of the question in its words, 0.60 alike by meaning."


def test_a_question_about_something_else_is_told_nothing() -> None:
    """Near in meaning, as all of training is, and none of its words: no pattern is better than a wrong one."""
    assert find("why does the loss rise after a resume", LIBRARY, dict.fromkeys(("cable", "disk"), 0.5), limit=3) == ()


def test_what_is_known_may_have_company() -> None:
    """Once the best is good enough, others that are near are shown behind it, as many as were asked for."""
    meaning = {"cable": 0.9, "disk": 0.6, "store": 0.5}

    assert [one.entry.id for one in find("loose cable", LIBRARY, meaning, limit=3)] == ["cable", "disk", "store"]
    assert [one.entry.id for one in find("loose cable", LIBRARY, meaning, limit=1)] == ["cable"]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("our reads are being throttled", "store throttles"),
        ("No space left on device", "the disk is full"),
        ("a rank segfaulted", "SIGSEGV"),
        ("walltime is over", "stopped at its time limit"),
        ("Hugging Face refuses", "model hub refused"),
    ],
)
def test_people_say_it_in_other_words(asked: str, told: str) -> None:
    """Another form of a word, and another word for the same thing, are the same."""
    assert terms_of(asked) & terms_of(told)


def test_what_a_word_is_part_of_is_not_what_it_stands_for() -> None:
    """A pod is of Kubernetes, a podium is not."""
    assert "“kubernetes”" in terms_of("the pod is gone")
    assert "“kubernetes”" not in terms_of("the podium is gone")


def test_without_a_model_words_decide() -> None:
    """The cut of words alone is another one, and the sentence tells of words only."""
    found = find("loose cable", LIBRARY, {}, limit=3)

    assert [one.entry.id for one in found] == ["cable"]
    assert "meaning" not in found[0].because
    assert find("the moon is round", LIBRARY, {}, limit=3) == ()


@pytest.mark.parametrize("asked", ["", " \n", "why?", "is it so"])
def test_a_question_without_content_finds_nothing(asked: str) -> None:
    """Blanks and words that say nothing of a fault."""
    assert find(asked, LIBRARY, dict.fromkeys(("cable", "disk", "store"), 1.0), limit=3) == ()


def test_only_what_is_in_use_answers() -> None:
    """A draft and what was retired are not told."""
    shelved = tuple(entry(f"cable-{status}", title="A cable was loose", status=status) for status in
                    (Status.DRAFT, Status.RETIRED))  # fmt: skip

    assert find("loose cable", shelved, dict.fromkeys(("cable-draft", "cable-retired"), 1.0), limit=3) == ()
