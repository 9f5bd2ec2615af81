"""Metrics in the answers that people and programs read."""

import json
import math

from bot.report.contract import to_contract
from bot.report.json_document import to_json
from bot.report.page import render_report
from core.diagnose import diagnose
from tests.core.metrics.test_metrics import stopped, table, with_metrics
from tests.support.jobs import lines
from tests.support.terminal_text import plain_text


def test_metrics_stand_in_terminal_page_and_json() -> None:
    """A node that left its peers: the sentence, the place, a plot, and the JSON with its file and line."""
    text = table("DCGM_FI_DEV_SM_CLOCK", lambda node, s: (210 if node == 2 and s > 1800 else 1410) + math.sin(s))
    answer = diagnose(with_metrics(stopped(), {"clocks.csv": text}), [])

    page = render_report(answer, {}, version="1")
    shown = plain_text(answer)
    metrics = json.loads(to_json(to_contract(answer)))["metrics"]

    assert "metrics-wide" in page
    assert 'id="M1"' in page
    assert "Metrics\nM1" in shown
    assert "metrics/clocks.csv:" in shown
    assert metrics[0]["who"] == "node-2"
    assert metrics[0]["lines"][0]["file"] == "metrics/clocks.csv"


def test_a_job_without_metrics_has_none_in_its_json() -> None:
    """The JSON of other jobs stays as it was."""
    answer = diagnose(stopped(), [])

    assert "metrics" not in json.loads(to_json(to_contract(answer)))
    assert "metrics-wide" not in render_report(answer, {}, version="1")
    assert lines("Metrics") not in plain_text(answer)
