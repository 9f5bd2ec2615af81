"""A newcomer and ``firstfault demo`` in a real browser: the real bot, the real jobs, the whole tour."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from benchmarks.support.chromium import CHROMIUM, REQUIRED
from benchmarks.support.demo_process import Demo, running_demo
from benchmarks.support.visitor import ANSWERED_IN, APPROVE, EDIT, Visitor
from bot.commandline.demo import FIRST, QUESTION, SECOND

pytestmark = pytest.mark.skipif(
    not CHROMIUM and not REQUIRED, reason="no chromium on the PATH (FIRSTFAULT_TEST_BROWSER=1 makes this an error)"
)
CAUSE = "The node's memory ran out: a second trainer ran there"
FIX = "Ended the second trainer, and one job a node since"
DESKTOP = {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """As a person starts it, and all its children too."""
    cache = tmp_path_factory.mktemp("cache")
    with running_demo(environment={"XDG_CACHE_HOME": str(cache)}) as running:
        yield running


@pytest.fixture
def visitor(browser: Browser, demo: Demo) -> Iterator[Visitor]:
    """At the page as Alice; an error in the browser's console fails the test."""
    complaints: list[str] = []
    page = browser.new_page(viewport=DESKTOP)  # type: ignore[arg-type]  # a TypedDict of playwright
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    visitor = Visitor(page)
    visitor.arrive(demo.page)
    yield visitor
    page.close()
    assert complaints == []


@pytest.mark.slow
def test_a_newcomer_takes_the_tour(visitor: Visitor) -> None:
    """Command, answer, question, form with an inline error, approval, and the second job answered from the library.

    Bob may read and ask; his click on Approve changes nothing, and only he sees why.
    """
    answer = visitor.diagnose(FIRST)
    expect(answer).to_contain_text("Look at tr-03: a process was killed (SIGKILL)")

    visitor.open_thread(answer)
    expect(visitor.replies.get_by_text("not confirmed by your team").first).to_be_visible()
    visitor.write(QUESTION, "Reply")
    expect(visitor.replies.get_by_text("tr-03 wrote 46 lines")).to_be_visible(timeout=ANSWERED_IN)
    expect(visitor.replies.get_by_text(f"{FIRST}: report", exact=True)).to_be_visible()
    expect(visitor.replies.get_by_text(f"{FIRST}: report, phone")).to_be_visible()

    act_as = visitor.page.get_by_label("Act as")
    act_as.select_option(label="Bob Brandt, Trains the models")
    answer.get_by_role("button", name=APPROVE).click()
    visitor.page.get_by_role("button", name="Archive it").click()
    expect(visitor.page.get_by_text("Only visible to you")).to_be_visible(timeout=ANSWERED_IN)
    act_as.select_option(label="Alice Adler, On-call SRE")
    expect(visitor.page.get_by_text("Only visible to you")).to_be_hidden()

    answer.get_by_role("button", name=EDIT).click()
    visitor.modal.get_by_label("Root cause").fill("  ")
    visitor.modal.get_by_role("button", name=APPROVE).click()
    expect(visitor.modal.get_by_role("alert")).to_be_visible()
    visitor.modal.get_by_label("Root cause").fill(CAUSE)
    visitor.modal.get_by_label("What fixes it").fill(FIX)
    visitor.modal.get_by_role("button", name=APPROVE).click()
    expect(visitor.modal).to_be_hidden()
    expect(answer).to_contain_text("Approved by @alice", timeout=ANSWERED_IN)

    second = visitor.diagnose(SECOND)
    expect(second).to_contain_text("Look at dgx-a03")
    expect(second).to_contain_text("confirmed by alice")
    expect(second).to_contain_text(FIX)
    visitor.open_thread(second)
    expect(visitor.replies.get_by_text(CAUSE).first).to_be_visible(timeout=ANSWERED_IN)
