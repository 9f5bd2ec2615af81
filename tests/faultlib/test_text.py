"""Patterns as text: exact both ways, and mistakes are told by line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.model import Scope, Stage
from faultlib import pattern_text
from faultlib.pattern import Clause, Examples, Pattern, Sighting, Signature, Where
from faultlib.pattern_text import BadPattern, read_entry, read_pattern, write_entry, write_pattern
from tests.support.library_entries import entry, pattern

FULL = pattern(
    "link-down",
    subtype="network",
    scope=Scope.NODE,
    stages=(Stage.TRAINING, Stage.CHECKPOINT_SAVING),
    framework="Megatron",
    confirmation="Read the switch's log.",
    sources=("https://example.org/a",),
    evidence='It said "down"\nand \\ more\t\x01.',
    signature=Signature(
        must=(Clause(events=("eth<NUM> down", "<*>state DOWN"), where=Where.ONE_NODE), Clause(events=("x",))),
        must_not=(Clause(events=("<*>admin<*>",)),),
    ),
    examples=Examples(match=("eth0 down\nx",), differ=("eth0 up",)),
)
TEXT = write_pattern(FULL)


def test_a_pattern_reads_as_it_was_written() -> None:
    """Text and pattern give each other back, byte for byte."""
    assert read_pattern(TEXT, "f") == FULL
    assert write_pattern(read_pattern(TEXT, "f")) == TEXT


def test_an_entry_keeps_its_life() -> None:
    """Who did what and when, versions and jobs survive the text."""
    lived = entry("link-down", sightings=(Sighting(job="j1", at="2026-11-21T04:00:00Z"),))
    assert read_entry(write_entry(lived), "f") == lived
    assert read_pattern(write_entry(lived), "f") == lived.pattern


def test_a_text_without_a_life_is_a_draft() -> None:
    """What nobody has approved is not confirmed because somebody wrote it down."""
    fresh = read_entry(TEXT, "f")
    assert (fresh.status.value, fresh.confirmed) == ("draft", None)


_words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=80).filter(lambda text: text.strip() == text)


@given(_words, _words, st.lists(_words, max_size=3))
def test_any_words_survive(title: str, cause: str, sources: list[str]) -> None:
    """Quotes, control characters, other alphabets: all come back."""
    said = pattern("p", title=title, cause=cause, sources=tuple(sources))
    assert read_pattern(write_pattern(said), "f") == said


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('scope = "node"', 'scope = "nodes"', "f:6: scope: "),
        ('title = "Fault link-down"\n', "", "f:1: title: Field required"),
        ("where = ", "were = ", "were: Extra inputs are not permitted"),
        ('id = "link-down"', 'id = "../../etc"', "f:2: id: "),
        ('id = "link-down"', 'id = "link-down" x', "f:2: no TOML"),
        ('format = "firstfault.pattern/1"', 'format = "firstfault.pattern/9"', "f:1: format: "),
        ('    "eth0 up",', '    "eth0 down\\nx",', "examples.differ.1: the signature matches it"),
        ('    "eth0 down\\nx",', '    "eth0 down",', "examples.match.1: the signature does not match it"),
    ],
)
def test_a_mistake_is_told_with_its_line(old: str, new: str, told: str) -> None:
    """The message names file, line, field and what is wrong."""
    assert old in TEXT
    with pytest.raises(BadPattern) as caught:
        read_pattern(TEXT.replace(old, new), "f")
    assert told in caught.value.message
    assert caught.value.hint


def test_the_line_of_a_mistake_in_a_table_is_that_of_the_table() -> None:
    """The second clause is not the first one."""
    broken = TEXT.replace('events = [\n    "x",\n]\nwhere = "anywhere"', 'events = []\nwhere = "anywhere"')
    line = broken[: broken.index("events = []")].count("\n") + 1
    with pytest.raises(BadPattern) as caught:
        read_pattern(broken, "f")
    assert caught.value.message.startswith(f"f:{line}: must.2.events: ")


def test_all_mistakes_are_told_at_once() -> None:
    """Nobody likes to be told one a time."""
    with pytest.raises(BadPattern) as caught:
        read_pattern(TEXT.replace('scope = "node"', "scope = 3").replace("Push the cable in.", ""), "f")
    assert caught.value.message.count("\n") == 1


def test_what_is_too_large_is_no_pattern() -> None:
    """A log that was taken for a pattern is refused before it is read."""
    with pytest.raises(BadPattern, match="too large"):
        read_pattern("#" * 2_000_000, "f")


def test_every_field_of_a_pattern_is_written() -> None:
    """A field that is added later cannot be forgotten: the full pattern fills each one."""
    assert all(getattr(FULL, name) != field.default for name, field in Pattern.model_fields.items())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = " + "[" * 100_000, "it is nested too deep"),
        ("x" + ".x" * 2_000 + " = 1", "it is nested too deep"),
        ("x = " + "9" * 5_000, "it holds a value that is too large"),
    ],
)
def test_what_toml_alone_would_not_survive_is_told(text: str, told: str) -> None:
    """Brackets without an end, names in names (a square of their number), a number of thousands of digits."""
    with pytest.raises(BadPattern, match=f"f: no TOML: {told}"):
        read_pattern(text, "f")


def test_the_lines_of_a_few_mistakes_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look reads the file: of 80,000 mistakes it took hours, and five are told."""
    looks: list[object] = []

    def noted(_: str, loc: object) -> int:
        looks.append(loc)
        return 1

    monkeypatch.setattr(pattern_text, "_line_of", noted)

    with pytest.raises(BadPattern, match=r"f: and \d{4} more"):
        read_pattern("".join(f"[[must]]\nx{number} = 1\n" for number in range(2_000)), "f")

    assert len(looks) <= 100
