"""Words behind the command: a job, or one of the few words beside it."""

import pytest

from bot.slack.commands import ParsedCommand, Verb, read_command
from bot.slack.requests import likest


@pytest.mark.parametrize(
    ("text", "verb", "job"),
    [
        ("history llama-7b", Verb.HISTORY, "llama-7b"),
        ('history "llama 7b"', Verb.HISTORY, "llama 7b"),
        ("History \u201cllama 7b\u201d", Verb.HISTORY, "llama 7b"),
        ("history", Verb.HISTORY, ""),
        ("history shows that 1437825 failed", Verb.NOTHING, "history"),  # a sentence
        ("f07", Verb.DIAGNOSE, "f07"),
    ],
)
def test_a_history_is_asked_for_by_one_name(text: str, verb: Verb, job: str) -> None:
    """One word, or several in quotes; a sentence that begins with the word is none."""
    assert read_command(text) == ParsedCommand(verb, job)


@pytest.mark.parametrize(
    ("text", "verb"),
    [
        ("follow", Verb.FOLLOW),
        ("Follow list", Verb.FOLLOWED),
        ("follow stop", Verb.UNFOLLOW),
        ("unfollow", Verb.UNFOLLOW),
        ("follow up on f07", Verb.NOTHING),
        ("follow f07", Verb.NOTHING),
    ],
)
def test_following_takes_no_job(text: str, verb: Verb) -> None:
    """A channel follows the whole jobs folder; whatever stands behind the word makes it a sentence."""
    assert read_command(text).verb is verb


@pytest.mark.parametrize(
    ("typed", "known", "meant"),
    [
        ("f41", ("f15", "f01", "f42", "s15"), ["f42", "f01", "f15"]),
        ("F41", ("f42",), ["f42"]),
        ("1437852", ("1437835", "1437825", "2437000"), ["1437825", "1437835"]),
        ("nope", ("f42", "nope"), []),
    ],
)
def test_the_likest_job_stands_first(typed: str, known: tuple[str, ...], meant: list[str]) -> None:
    """44: one slip of the finger before two, whichever letters they share; two letters changed places are one."""
    assert likest(typed, known) == meant
