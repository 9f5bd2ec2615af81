"""The files in docs/ that other programs read are what the program says now."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.commandline.flows.documents import FlowsDocument
from bot.commandline.replay.documents import SCHEMA, PlanDocument, ReadingDocument
from bot.history.document import HistoryDocument
from bot.report.contract import DiagnosisDocument
from tests.support.documents import manifest_text, schema_text
from tests.support.places import ROOT


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("diagnosis.schema.json", schema_text(DiagnosisDocument)),
        ("history.schema.json", schema_text(HistoryDocument)),
        ("flows.schema.json", schema_text(FlowsDocument)),
        ("replay.schema.json", schema_text(PlanDocument, ReadingDocument, title=SCHEMA)),
        ("slack-manifest.json", manifest_text()),
    ],
)
def test_what_docs_promise_is_what_the_program_prints(
    name: str, text: str, golden: Callable[[Path, str], None]
) -> None:
    """Schemas of answers, and the manifest that is pasted into Slack (``pytest --update-golden`` writes them)."""
    golden(ROOT / "docs" / name, text)
