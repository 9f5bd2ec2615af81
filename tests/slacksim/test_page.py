"""The page in a real browser: a newcomer plays the whole story with mouse and keyboard."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks.support.chromium import CHROMIUM, REQUIRED
from slacksim import Slack
from tests.support.slack_calls import ALERTS, post
from tests.support.toy_bot import ToyBot

DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
HOSTILE = (
    "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>",
    "<javascript:window.pwned=1|click me> <data:text/html,x|data>",
    "[x](javascript:window.pwned=1) `<b>` ```<i>``` *<u>x</u>* &lt;script&gt;",
)

pytestmark = pytest.mark.skipif(
    not CHROMIUM and not REQUIRED, reason="no chromium on the PATH (FIRSTFAULT_TEST_BROWSER=1 makes this an error)"
)


@pytest.fixture
def complaints() -> list[str]:
    """What the browser's console complained of."""
    return []


@pytest.fixture
def page(browser: Browser, slack: Slack, complaints: list[str]) -> Iterator[Page]:
    """The page as Alice sees it; an error in its console fails the test."""
    shown = browser.new_page(viewport=DESKTOP)  # type: ignore[arg-type]  # a TypedDict of playwright
    shown.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    shown.on("pageerror", lambda error: complaints.append(str(error)))
    shown.goto(slack.page_url)
    expect(shown.get_by_role("heading", name="# training-alerts").first).to_be_visible()
    yield shown
    shown.close()
    assert complaints == []


def write(page: Page, text: str, field: str = "Message #training-alerts") -> None:
    box = page.get_by_label(field, exact=True)
    box.fill(text)
    box.press("Enter")


def test_a_newcomer_plays_the_whole_story(page: Page, bot: ToyBot) -> None:
    """Command, answer, modal with an inline error, archive, question in the thread: all in the browser."""
    write(page, "/diagnose f02")
    log = page.get_by_role("log", name="Messages")
    expect(log.get_by_text("look at node-01, it went silent")).to_be_visible()
    expect(log.get_by_role("cell", name="Unable to shutdown process 8431")).to_be_visible()
    log.get_by_role("button", name="2 replies").or_(log.get_by_role("button", name="1 reply")).click()
    replies = page.get_by_role("log", name="Replies")
    expect(replies.get_by_role("img", name="node-01 stands out")).to_be_visible()

    log.get_by_role("button", name="Edit draft").click()
    modal = page.get_by_role("dialog", name="Archive fault pattern")
    modal.get_by_role("button", name="Archive", exact=True).click()
    expect(modal.get_by_role("alert")).to_have_text("Please complete this required field.")
    modal.get_by_label("Root cause").fill("The network, perhaps")
    modal.get_by_role("button", name="Archive", exact=True).click()
    expect(modal.get_by_role("alert")).to_have_text("Name the node that is at fault.")
    modal.get_by_label("Category").select_option(label="Network")
    modal.get_by_label("Root cause").fill("node-01 hung in a driver call")
    modal.get_by_role("button", name="Archive", exact=True).click()
    expect(modal).to_be_hidden()
    expect(log.get_by_text("Archived as")).to_be_visible()
    assert bot.archived == [("node-01 hung in a driver call", "U0ALICE")]

    write(page, "Could it be our data loader?", "Reply")
    expect(replies.get_by_text("No data loading event")).to_be_visible()
    replies.get_by_role("button", name="Good answer").click()
    expect(replies.get_by_role("button", name="Good answer")).to_have_attribute("aria-pressed", "true")


@pytest.mark.usefixtures("bot")
def test_a_dangerous_button_asks_first(page: Page, slack: Slack) -> None:
    """Keep it keeps it; Reject rejects, and only this person is told."""
    write(page, "/diagnose f02")
    slack.wait_for_message("#training-alerts", "Plot and full report.")
    page.get_by_role("button", name="Reject").click()
    page.get_by_role("button", name="Keep it").click()
    assert slack.journal.deliveries(what="block_actions") == ()

    page.get_by_role("button", name="Reject").click()
    page.get_by_role("dialog").get_by_role("button", name="Reject").click()

    expect(page.get_by_text("Only visible to you")).to_be_visible()
    expect(page.get_by_text("Rejected. The evidence stays.")).to_be_visible()
    page.get_by_label("Act as").select_option(label="Bob Brandt, Trains the models")
    expect(page.get_by_text("Rejected. The evidence stays.")).to_be_hidden()


def test_the_composer_helps(page: Page, slack: Slack) -> None:
    """Commands and names are offered, Esc closes the thread, Shift+Enter makes a line, edits are marked."""
    box = page.get_by_label("Message #training-alerts")
    box.press("/")
    expect(page.get_by_role("option", name="/diagnose")).to_be_visible()
    box.press("Tab")
    expect(box).to_have_value("/diagnose ")
    box.fill("ask @fir")
    box.press("Enter")
    expect(box).to_have_value("ask @firstfault ")
    box.press("Shift+Enter")
    box.press_sequentially("please")
    box.press("Enter")
    said = slack.wait_for_message("#training-alerts", "please")
    assert said.text == "ask <@U0FIRSTFAULT> \nplease"

    page.get_by_role("article").hover()
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Edit message").click()
    expect(box).to_have_value("ask @firstfault \nplease")
    box.fill("never mind")
    box.press("Enter")
    expect(page.get_by_text("(edited)")).to_be_visible()
    page.get_by_role("article").hover()
    page.get_by_role("button", name="Reply in thread").click()
    expect(page.get_by_role("log", name="Replies")).to_be_visible()
    write(page, "/diagnose f02", "Reply")
    expect(page.get_by_role("status")).to_contain_text("does not work in threads")
    page.keyboard.press("Escape")
    expect(page.get_by_role("log", name="Replies")).to_be_hidden()


def test_log_text_stays_text(page: Page, bot: ToyBot) -> None:
    """Whatever a log line holds, in every kind of block: no element, no script, no link comes of it."""
    text = " ".join(HOSTILE)
    raw = {"type": "raw_text", "text": text}
    plain = {"type": "plain_text", "text": text[:150]}
    bot.client.chat_postMessage(
        channel=ALERTS,
        text=text,
        blocks=[
            {"type": "header", "text": plain},
            {"type": "section", "text": {"type": "mrkdwn", "text": text}, "fields": [plain]},
            {"type": "context", "elements": [{"type": "mrkdwn", "text": text}]},
            {"type": "table", "rows": [[raw], [raw]]},
            {"type": "markdown", "text": text},
            {"type": "image", "image_url": "https://example.com/x.png", "alt_text": text},
            {
                "type": "rich_text",
                "elements": [
                    {
                        "type": "rich_text_section",
                        "elements": [
                            {"type": "text", "text": text},
                            {"type": "link", "url": "javascript:window.pwned=1", "text": "rich"},
                        ],
                    }
                ],
            },
            {
                "type": "actions",
                "elements": [{"type": "button", "text": {**plain, "text": text[:75]}, "action_id": "x"}],
            },
        ],
    )
    bot.client.files_upload_v2(channel=ALERTS, content="x", filename="<img src=x>.txt", title=HOSTILE[0])
    post(bot.client, text=text)
    log = page.get_by_role("log", name="Messages")
    expect(log.get_by_role("article")).to_have_count(3)

    assert log.get_by_text("<script>window.pwned = 1</script>").count() >= 8
    assert page.evaluate("window.pwned") is None
    assert log.locator("script, img, iframe, b, i, u").count() == 0
    links = {link.get_attribute("href") or "" for link in log.get_by_role("link").all()}
    assert links
    assert all(re.match(r"/file/[\w-]{24}/", link) for link in links)


def test_a_report_opens_sealed(page: Page, bot: ToyBot, complaints: list[str]) -> None:
    """A report's own script runs, but reaches neither the page around it nor the server."""
    script = """
      const say = (words) => document.body.append(document.createElement("p"), words);
      try { parent.document.title = "taken"; say("reached the page"); } catch { say("sealed from the page"); }
      say(location.href.includes("/p/") ? "knows the secret" : "knows no secret");
      fetch("/api/api.test").then(() => say("reached the server"), () => say("sealed from the server"));
    """
    bot.client.files_upload_v2(
        channel=ALERTS, content=f"<h1>Report</h1><script>{script}</script>", filename="f02.html", title="Full report"
    )

    page.get_by_role("button", name="View").click()

    report = page.frame_locator("iframe")
    expect(report.get_by_role("heading", name="Report")).to_be_visible()
    expect(report.get_by_text("sealed from the page")).to_be_visible()
    expect(report.get_by_text("sealed from the server")).to_be_visible()
    expect(report.get_by_text("knows no secret")).to_be_visible()
    page.get_by_role("button", name="Close").click()
    expect(page.locator("iframe")).to_have_count(0)
    assert all("Content Security Policy" in words for words in complaints), complaints
    complaints.clear()


def test_a_permalink_leads_to_its_message(page: Page, slack: Slack, bot: ToyBot) -> None:
    """A link to a reply opens its thread in the page, not another tab."""
    parent = post(bot.client, text="parent")
    reply = post(bot.client, text="the reply", thread_ts=parent)
    link = bot.client.chat_getPermalink(channel=ALERTS, message_ts=reply)["permalink"]
    bot.client.chat_postMessage(channel="U0ALICE", text=f"See <{link}|the thread>")
    direct = slack.user("alice").direct_channel
    slack.wait_for(lambda now: now.find(direct, "See"), what="the direct message")

    page.get_by_role("button", name=re.compile("^Firstfault")).click()
    page.get_by_role("link", name="the thread").click()

    expect(page.get_by_role("heading", name="# training-alerts").first).to_be_visible()
    expect(page.get_by_role("log", name="Replies").get_by_text("the reply")).to_be_visible()
    assert len(page.context.pages) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_all_of_it(page: Page, bot: ToyBot, slack: Slack, scheme: str) -> None:
    """At 390 px nothing sticks out sideways: channel, thread, modal, in light and dark."""
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]  # a TypedDict of playwright
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    bot.diagnose("f02", ALERTS, "U0ALICE")
    slack.wait_for_message("#training-alerts", "Plot and full report.")
    page.get_by_role("button", name="Channels").click()
    page.get_by_role("navigation", name="Channels").get_by_role("button", name="training-alerts").click()
    log = page.get_by_role("log", name="Messages")
    expect(log.get_by_text("look at node-01")).to_be_visible()

    fits = "document.documentElement.scrollWidth <= innerWidth"
    inside = "(log) => log.scrollWidth <= log.clientWidth"
    assert page.evaluate(fits)
    assert log.evaluate(inside)
    page.get_by_role("button", name="Edit draft").click()
    expect(page.get_by_role("dialog").get_by_role("button", name="Archive", exact=True)).to_be_in_viewport()
    page.get_by_role("button", name="Cancel", exact=True).click()
    log.get_by_role("button", name="1 reply").click()
    assert page.get_by_role("log", name="Replies").evaluate(inside)
    expect(log).to_be_hidden()
