"""``firstfault.diagnosis/1`` is what other programs rely on."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.report.contract import DiagnosisDocument, to_contract
from bot.report.json_document import to_json
from tests.support import diagnoses

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", [name for name in diagnoses.ALL if name != "huge"])
def test_the_json_is_as_recorded(name: str, golden: Callable[[Path, str], None]) -> None:
    """The bytes of an answer change only on purpose."""
    golden(GOLDEN / f"{name}.json", to_json(to_contract(diagnoses.ALL[name]())))


def test_the_fields_of_the_design_come_in_its_order() -> None:
    """docs/reference/json.md, field by field; what was added comes after it."""
    document = json.loads(to_json(to_contract(diagnoses.node_fault())))
    fields = "schema job scope confidence headline events nodes stage iterations matches note next skipped coverage"
    assert list(document)[:14] == fields.split()
    event = "id event template role score count nodes stage iterations because lines"
    assert list(document["events"][0])[:11] == event.split()
    assert list(document["events"][0]["lines"][0]) == ["file", "line", "text"]
    assert list(document["nodes"][0])[:6] == ["id", "node", "ranks", "score", "because", "events"]
    assert list(document["iterations"][0])[:5] == ["id", "iteration", "score", "because", "events"]
    assert list(document["coverage"])[:5] == ["files", "lines", "bytes", "ranks", "baseline_jobs"]
    assert (document["schema"], document["matches"], document["note"]) == ("firstfault.diagnosis/1", [], None)


@pytest.mark.parametrize("name", diagnoses.ALL)
def test_the_document_survives_a_round_trip(name: str) -> None:
    """What is printed can be read back without loss."""
    text = to_json(to_contract(diagnoses.ALL[name]()))
    assert to_json(DiagnosisDocument.model_validate_json(text)) == text


def test_scores_have_four_digits() -> None:
    """The last bits of a float do not change the bytes."""
    fault = diagnoses.node_fault()
    close = dataclasses.replace(fault, nodes=(dataclasses.replace(fault.nodes[0], score=0.93 + 1e-9),))
    assert to_json(to_contract(close)) == to_json(to_contract(fault))


def test_the_text_is_ascii_and_bounded() -> None:
    """No locale can change the bytes, no terminal obeys them, and a 100 kB line does not fill the answer."""
    text = to_json(to_contract(diagnoses.hostile()))
    assert text.isascii()
    assert not {character for character in text if not character.isprintable() and character != "\n"}
    assert len(text) < 60_000
