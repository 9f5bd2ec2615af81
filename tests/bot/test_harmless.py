"""Foreign text must not reach a terminal or a page as anything but text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.harmless import harmless, shorten, storable
from tests.support.hard_diagnoses import HOSTILE_LINE


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x9b2Jcleared", "cleared"),
        ("\x1b]0;new title\x07after", "after"),
        ("\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]never ended hides nothing", "never ended hides nothing"),
        ("a\tb", "a  b"),
        ("10%\r20%\rTraceback", "10%⏎20%⏎Traceback"),
        ("nul\x00bell\x07", "nul\N{REPLACEMENT CHARACTER}bell\N{REPLACEMENT CHARACTER}"),
        ("\u202egnp.exe\u202c", "gnp.exe"),
        ("\ufeffbom \u200bzero", "bom zero"),
        ("two\u2028lines\nthree", "twolines three"),
        ("\udcff", "\N{REPLACEMENT CHARACTER}"),
        ("日本語 ログ ü", "日本語 ログ ü"),
        ("[bold]not markup[/]", "[bold]not markup[/]"),
    ],
)
def test_a_person_sees_the_words_and_the_terminal_no_orders(text: str, shown: str) -> None:
    """Escape sequences, control bytes and invisible marks go; the words stay."""
    assert harmless(text) == shown


@given(st.text(st.characters(codec=None, categories=None)))
def test_any_text_becomes_one_printable_line(text: str) -> None:
    """Whatever the log holds, nothing that steers a terminal is left."""
    categories = {
        unicodedata.category(character) for character in harmless(text) if character != "\N{REPLACEMENT CHARACTER}"
    }
    assert not categories & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@given(st.text(), st.integers(min_value=1, max_value=50))
def test_a_limit_is_never_exceeded(text: str, limit: int) -> None:
    """A line of any length fits where it is put."""
    assert len(harmless(text, limit)) <= limit
    assert len(shorten(text, limit)) <= limit


def test_head_and_tail_of_a_long_line_are_kept() -> None:
    """The end of a log line tells what happened as often as its start."""
    shown = harmless(HOSTILE_LINE, 120)
    assert shown.startswith("[bold]red[/bold]")
    assert shown.endswith("the end")


def test_marks_do_not_pile_up() -> None:
    """Combining marks cannot paint over the lines above."""
    assert harmless("a" + "\u0300" * 50) == "a" + "\u0300" * 3


def test_a_name_that_is_no_utf8_can_be_stored() -> None:
    """A file name with any bytes can be written into JSON."""
    assert storable("logs/\udcff.log") == "logs/\\udcff.log"
