"""What a tired person reads at a terminal."""

import dataclasses
import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from bot.commandline.terminal import print_diagnosis
from tests.support import diagnoses
from tests.support.terminal_text import plain_text

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("width", [80, 60])
@pytest.mark.parametrize("name", diagnoses.ALL)
def test_the_text_is_as_recorded(name: str, width: int, golden: Callable[[Path, str], None]) -> None:
    """Every kind of answer reads well on a terminal and on a phone; the golden files are for reading."""
    golden(GOLDEN / f"{name}-{width}.txt", plain_text(diagnoses.ALL[name](), width=width, version="0.1.0"))


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("name", diagnoses.ALL)
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    """The terminal never has to break a line itself, and no line ends in spaces."""
    lines = plain_text(diagnoses.ALL[name](), width=width).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert not [line for line in lines if line != line.rstrip()]


@given(st.text(st.characters(codec=None, categories=None), max_size=300), st.integers(min_value=40, max_value=120))
def test_any_log_text_keeps_the_layout(text: str, width: int) -> None:
    """Whatever a job logs, lines stay printable and within the width."""
    fault = diagnoses.node_fault()
    lines = tuple(dataclasses.replace(line, text=text, file=text) for line in fault.events[0].lines)
    event = dataclasses.replace(fault.events[0], because=text, lines=lines, nodes=(text,))
    node = dataclasses.replace(fault.nodes[0], node=text, because=text)
    shown = plain_text(dataclasses.replace(fault, events=(event,), nodes=(node,), why=(text,)), width=width)
    assert "\x1b" not in shown
    assert max(map(cell_len, shown.split("\n"))) <= width


def test_colour_only_repeats_what_the_words_say() -> None:
    """With colour the words are the same."""
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system="standard")
    with console.capture() as capture:
        print_diagnosis(diagnoses.node_fault(), console)
    coloured = capture.get()
    assert "\x1b[1;31mroot" in coloured
    bare = Console(file=io.StringIO(), width=80, color_system=None)
    with bare.capture() as capture:
        print_diagnosis(diagnoses.node_fault(), bare)
    assert _without_colour(coloured) == capture.get()


def test_a_log_line_gives_no_orders_to_the_terminal() -> None:
    """Hostile text arrives as text: no escape, no markup, no direction marks."""
    shown = plain_text(diagnoses.hostile())
    assert "[bold]red[/bold]" in shown
    assert not {character for character in shown if not character.isprintable() and character != "\n"}
    assert len(shown) < 5_000


def _without_colour(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)
