"""What the system says of an error in other languages is read as its English text."""

import tomllib
from importlib.resources import files

import pytest

from core.facts import fact_of
from core.failure_kinds import Kind
from core.system_messages import with_english

RULES = tomllib.loads(files("core.rules").joinpath("system_messages.toml").read_text("utf-8"))


@pytest.mark.parametrize("english", RULES)
def test_each_translation_is_the_fact_that_the_english_text_is(english: str) -> None:
    """Whatever the language, the same fault."""
    expected = fact_of(f"write /scratch/x: {english}", block=False)

    assert expected is not None
    assert [fact_of(f"write /scratch/x: {said}", block=False) for said in RULES[english]["said"]] == [
        expected for _ in RULES[english]["said"]
    ]


def test_no_translation_is_of_two_errors() -> None:
    """Else the order of the rules would say which it is."""
    said = [text.lower() for rule in RULES.values() for text in rule["said"]]

    assert len(said) == len(set(said))


def test_a_full_disk_in_german() -> None:
    """As a program of C++ writes it that calls setlocale."""
    fact = fact_of(
        "FEHLER Schreiben nach /lokal/4.bin: Auf dem Gerät ist kein Speicherplatz mehr verfügbar", block=False
    )

    assert fact is not None
    assert fact.kind == Kind.DISK_FULL
    assert with_english("all is well") == "all is well"
