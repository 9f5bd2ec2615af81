"""The report in a real browser: its script filters and marks, and without it everything is there to read."""

from pathlib import Path

import pytest

from benchmarks.support.chromium import CHROMIUM, REQUIRED, chromium
from bot.report.citations import cited_places
from bot.report.page import render_report
from core.job import Job, Manifest
from core.logs.context import lines_around
from tests.support import diagnoses

pytestmark = pytest.mark.skipif(CHROMIUM is None and not REQUIRED, reason="needs chromium")


@pytest.fixture
def address(tmp_path: Path) -> str:
    fault = diagnoses.node_fault()
    excerpts = lines_around(Job(Manifest(fault.job), ()), cited_places(fault))
    (tmp_path / "page.html").write_text(render_report(fault, excerpts, version="1"), encoding="utf-8")
    return (tmp_path / "page.html").as_uri()


def test_evidence_is_filtered_and_lines_are_linked(address: str) -> None:
    """The policy lets our script run; words and roles choose events; a link to lines opens and marks them."""
    complaints: list[str] = []
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 390, "height": 800})
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        events = page.locator(".event:visible").count()
        page.get_by_label("Filter").fill("no such words anywhere")
        none = page.locator(".event:visible").count()
        page.get_by_label("Filter").fill("")
        page.locator("#filter input[value=root]").uncheck()
        others = page.locator(".event:visible").count()
        page.locator("#filter input[value=root]").check()
        lines = [str(one) for one in page.locator(".line").evaluate_all("all => all.map(one => one.id)")]
        page.goto(f"{address}#{lines[-1]}-{lines[-1].rpartition('.')[2]}")
        linked = page.locator(".line.range:visible").evaluate_all("all => all.map(one => one.id)")
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")

    assert complaints == []
    assert none == 0
    assert 0 < others < events
    assert linked == [lines[-1]]
    assert wide == 0


def test_the_page_is_read_without_its_script(address: str) -> None:
    """No dead control is shown, no event is missing, and a link leads to its line."""
    with chromium() as browser:
        page = browser.new_context(java_script_enabled=False).new_page()
        page.goto(address)
        shown, controls = page.locator(".event:visible").count(), page.locator("#filter:visible").count()

    assert shown == len(diagnoses.node_fault().events)
    assert controls == 0
