"""The timeline of ``firstfault flows --html`` in a real browser."""

from pathlib import Path

import pytest

from benchmarks.flow_sets import Fault, Layout, simulate
from benchmarks.support.chromium import CHROMIUM, REQUIRED, chromium
from bot.commandline.flows.page import render
from core.flows.analyse import analyse
from core.flows.table import table_from
from core.flows.topology import topology_from

pytestmark = pytest.mark.skipif(CHROMIUM is None and not REQUIRED, reason="needs chromium")


def test_the_timeline_zooms(tmp_path: Path) -> None:
    """Its policy lets its own script run; dragging, buttons, keys and findings choose what is shown."""
    frame, document, _ = simulate(Layout(faults=(Fault("nic", 25, 31, 0.02, 1, 3),)))
    topology = topology_from(document)
    answer = analyse(table_from(frame, "made up"), topology, with_lanes=True)
    (tmp_path / "page.html").write_text(render(answer, topology, file="flows.parquet", version="1"), encoding="utf-8")
    complaints: list[str] = []
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1000, "height": 800})
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto((tmp_path / "page.html").as_uri())
        canvas = page.locator("canvas").first
        whole = canvas.get_attribute("data-shown")

        page.get_by_role("link", name="Show in the timeline").first.click()
        of_finding = canvas.get_attribute("data-shown")
        page.get_by_role("button", name="Whole").click()
        again = canvas.get_attribute("data-shown")
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 400, box["y"] + 40)
        page.mouse.down()
        page.mouse.move(box["x"] + 500, box["y"] + 40)
        page.mouse.up()
        dragged = canvas.get_attribute("data-shown")
        canvas.press("Escape")
        painted = canvas.evaluate(
            "one => one.getContext('2d').getImageData(0, 0, one.width, one.height).data.some(value => value)"
        )

    assert complaints == []
    assert whole == again
    assert len({whole, of_finding, dragged}) == 3
    assert painted
