"""An answer is kept as it was, whatever the logs said."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.note.write import write_note
from bot.state.answers import SavedAnswer, answer_of, answer_text
from bot.text.known_fault import KnownFault
from core.model import Diagnosis, Line, Pictures, Series
from tests.support import diagnoses

# A high and a low surrogate side by side are one character in JSON; decoders of log bytes never make that pair.
HOSTILE = st.text(st.characters(exclude_categories=[]) | st.sampled_from("\x00\x1b\udcff\ud800"), max_size=30).filter(
    lambda text: text == text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
)
FAULT = KnownFault("P1", "fp-1", 2, "Link down", "network", "link", "cause", "fix", True, True, 1.0, "because")


@pytest.mark.parametrize(
    "diagnosis", [diagnoses.node_fault(), diagnoses.inconclusive(), diagnoses.hostile(), diagnoses.huge()]
)
def test_an_answer_comes_back_as_it_was(diagnosis: Diagnosis) -> None:
    """After a restart follow-ups and buttons see what was diagnosed, known faults and note."""
    answer = SavedAnswer("f07", diagnosis, (FAULT,), write_note(diagnoses.node_fault()), "/x/report.html")

    assert repr(answer_of(answer_text(answer))) == repr(answer)  # not ==: one of them holds a NaN


@given(text=HOSTILE)
def test_any_log_text_survives(text: str) -> None:
    """Lone surrogates and control bytes pass through; what is stored is one line of ASCII."""
    plain = diagnoses.node_fault()
    event = replace(plain.events[0], lines=(Line("logs/x", 1, text),), template=text)
    answer = SavedAnswer("f07", replace(plain, events=(event,), facts={"model": text, text: "x"}))

    stored = answer_text(answer)

    assert stored.isascii()
    assert stored.isprintable()
    assert answer_of(stored) == answer


def test_a_number_that_is_none_survives() -> None:
    """A loss of NaN is what some plots are about."""
    plain = replace(diagnoses.node_fault(), pictures=Pictures(series=(Series("loss", (1, 2), (math.nan, math.inf)),)))

    back = answer_of(answer_text(SavedAnswer("f07", plain))).diagnosis

    assert back is not None
    assert [str(value) for value in back.pictures.series[0].values] == ["nan", "inf"]


def test_an_answer_without_diagnosis_is_one() -> None:
    """Exact matches are told before anything is judged."""
    answer = SavedAnswer("f07", None, (FAULT,))

    assert answer_of(answer_text(answer)) == answer


def test_anything_else_is_refused() -> None:
    """What does not have the types of an answer never becomes one."""
    with pytest.raises(ValidationError):
        answer_of('{"job": "f07", "diagnosis": {"headline": 7}}')
