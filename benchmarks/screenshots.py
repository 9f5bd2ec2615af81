"""The pictures of the README: ``python -m benchmarks.screenshots`` takes them of the real bot in the local Slack."""

import io
import time

from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from benchmarks.support.chromium import chromium
from benchmarks.support.demo_process import ROOT, running_demo
from benchmarks.support.visitor import ANSWERED_IN, APPROVE, EDIT, Visitor
from bot.commandline.demo import FIRST, QUESTION, SECOND

PICTURES = ROOT / "docs" / "pictures"
LARGEST = 300_000  # bytes of one picture: a README is read on trains
SCALE = 1.5  # device pixels: text stays sharp on most displays, and a whole answer below the limit
COLOURS = (255, 128, 64)  # of the palette: text and a few flat areas need no more; fewer when it is too large
DESKTOP, WIDE, PHONE = (1100, 900), (1280, 900), (390, 844)
BARS = 130  # pixels above and below the messages
CAUSE = "The node's memory ran out: a second trainer was running there"


def main() -> None:
    """Take them all, in the order of the demo's tour."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with running_demo() as demo, chromium() as browser:
        visitor = _visitor(browser, demo.page, DESKTOP)
        answer = visitor.diagnose(FIRST)
        _whole(visitor.page, answer)
        _take(visitor.page, "answer")
        _phone(browser, demo.page)
        _size(visitor.page, WIDE)
        _ask(visitor, answer)
        _edit(visitor, answer)
        expect(answer).to_contain_text("Approved by", timeout=ANSWERED_IN)
        _size(visitor.page, DESKTOP)
        visitor.close_thread()
        _whole(visitor.page, visitor.diagnose(SECOND))
        _take(visitor.page, "known-fault")


def _visitor(browser: Browser, address: str, size: tuple[int, int]) -> Visitor:
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, device_scale_factor=SCALE)
    visitor = Visitor(page)
    visitor.arrive(address)
    return visitor


def _phone(browser: Browser, address: str) -> None:
    visitor = _visitor(browser, address, PHONE)
    _to_top(visitor.message(f"{FIRST}: Look at"))
    _take(visitor.page, "phone")
    visitor.page.close()


def _ask(visitor: Visitor, answer: Locator) -> None:
    _to_top(answer)
    visitor.open_thread(answer)
    visitor.write(QUESTION, "Reply")
    expect(visitor.replies.get_by_text("46 lines")).to_be_visible(timeout=ANSWERED_IN)
    _to_top(answer)
    _take(visitor.page, "thread")


def _edit(visitor: Visitor, answer: Locator) -> None:
    """A form that is refused once: a root cause of nothing but a blank."""
    answer.get_by_role("button", name=EDIT).click()
    cause = visitor.modal.get_by_label("Root cause")
    cause.fill(" ")
    visitor.modal.get_by_role("button", name=APPROVE).click()
    expect(visitor.modal.get_by_role("alert")).to_be_visible()
    _take(visitor.page, "modal")
    cause.fill(CAUSE)
    visitor.modal.get_by_role("button", name=APPROVE).click()


def _size(page: Page, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})


def _whole(page: Page, message: Locator) -> None:
    """Make the window as high as the message."""
    box = message.bounding_box()
    assert box  # noqa: S101 it was seen
    _size(page, (DESKTOP[0], round(box["height"]) + BARS))
    _to_top(message)


def _to_top(message: Locator) -> None:
    message.evaluate("(node) => node.scrollIntoView({block: 'start'})")


def _take(page: Page, name: str) -> None:
    page.mouse.move(0, 0)  # no row looks as if it were pointed at
    page.evaluate("document.activeElement.blur()")
    time.sleep(0.5)  # transitions
    png = page.screenshot()
    for colours in COLOURS:
        packed = _packed(png, colours)
        if len(packed) <= LARGEST:
            break
    path = PICTURES / f"{name}.png"
    path.write_bytes(packed)
    print(f"{path.relative_to(ROOT)}  {len(packed) / 1000:,.0f} kB")


def _packed(png: bytes, colours: int) -> bytes:
    """The same picture with a palette."""
    with Image.open(io.BytesIO(png)) as picture:
        small = picture.convert("RGB").quantize(colours, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        out = io.BytesIO()
        small.save(out, "PNG", optimize=True)
    return out.getvalue()


if __name__ == "__main__":
    main()
