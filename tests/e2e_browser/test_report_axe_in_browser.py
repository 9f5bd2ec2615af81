"""axe-core finds nothing in the report that keeps somebody from reading it: light and dark, desktop and phone."""

import dataclasses
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.base import AXE_SCRIPT  # axe-core 4.12.1: the package's version is in the lock file
from playwright.sync_api import Browser

from benchmarks.support.chromium import CHROMIUM, REQUIRED
from bot.report.citations import cited_places
from bot.report.page import render_report
from core.job import Job, Manifest
from core.logs.context import lines_around
from core.model import Activity, ActivityLane, Diagnosis, FirstPlot, StackBar
from tests.support import diagnoses
from tests.support.hard_diagnoses import hostile
from tests.support.link_down import at
from tests.support.slack_samples import KNOWN

pytestmark = pytest.mark.skipif(CHROMIUM is None and not REQUIRED, reason="needs chromium")
Scheme = Literal["light", "dark"]
WIDTHS = (1000, 390)  # pixels: a desktop, and what most phones have
OPEN = "document.querySelectorAll('details').forEach((fold) => { fold.open = true; })"
ASK = """async () => (await axe.run()).violations.map(
    (found) => `${found.id}: ${found.nodes.map((node) => node.target.join(' ')).join(', ')}`)"""


def hang() -> Diagnosis:
    """Everything that a page can show: who fell silent, pace, merged stacks, suspects, evidence."""
    fault = diagnoses.node_fault()
    lanes = (ActivityLane("rank 0", (9, 9), at(9)), ActivityLane("rank 2", (9, 0), at(4)))
    stacks = (StackBar(0, 0, 4, "main (a.py:1)", "ranks 0-3"), StackBar(1, 0, 3, "recv (b.py:2)", "ranks 0-2"))
    pictures = dataclasses.replace(
        fault.pictures,
        activity=Activity(at(0), at(9), lanes, lane_of=8, every=3),
        stacks=stacks,
        first_plot=FirstPlot.SILENCE,
    )
    return dataclasses.replace(fault, pictures=pictures, stacks=("main (a.py:1)  [ranks 0-3]",))


PAGES = {
    "hang": hang(),
    "job-wide": diagnoses.job_wide(),
    "inconclusive": diagnoses.inconclusive(),
    "hostile": hostile(),
}


def violations(browser: Browser, address: str, *, scheme: Scheme, width: int) -> list[str]:
    """What axe-core says of a page with all its folds open: its rules, and the elements that break them.

    The page's own policy lets no foreign script run, so it is set aside here; a test beside this one holds it.
    """
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True, reduced_motion="reduce"
    )
    try:
        page = context.new_page()
        page.goto(address)
        page.evaluate(OPEN)
        page.evaluate(AXE_SCRIPT)
        found: list[str] = page.evaluate(ASK)
        return found
    finally:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(browser: Browser, tmp_path: Path, name: str, scheme: Scheme) -> None:
    """0 violations of all rules of axe-core, wide and narrow, all folds open."""
    diagnosis = PAGES[name]
    excerpts = lines_around(Job(Manifest(diagnosis.job), ()), cited_places(diagnosis))
    source = render_report(diagnosis, excerpts, known=KNOWN if name == "hang" else (), version="1")
    (tmp_path / "page.html").write_text(source, encoding="utf-8")

    address = (tmp_path / "page.html").as_uri()
    assert [violations(browser, address, scheme=scheme, width=width) for width in WIDTHS] == [[], []]


def test_axe_finds_what_is_there(browser: Browser, tmp_path: Path) -> None:
    """The test above can fail: pale text, a picture without words, a page without a language."""
    (tmp_path / "page.html").write_text(
        "<title>x</title><main><h1>x</h1><p style='color:#ccc;background:#fff'>pale</p><img src='x.png'></main>",
        encoding="utf-8",
    )
    found = violations(browser, (tmp_path / "page.html").as_uri(), scheme="light", width=390)

    assert {one.partition(":")[0] for one in found} >= {"color-contrast", "image-alt", "html-has-lang"}
