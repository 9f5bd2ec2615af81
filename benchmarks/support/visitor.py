"""A person at the page of the local Slack, with the words that the page shows."""

import re
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

from benchmarks.support.patience import PATIENCE
from bot.slack.actions import COMMAND

ANSWERED_IN = 1000 * PATIENCE  # milliseconds
APPROVE, EDIT = "Approve and archive", "Edit draft"


@dataclass(frozen=True)
class Visitor:
    """Acts with mouse and keyboard."""

    page: Page

    def arrive(self, address: str) -> None:
        self.page.goto(address)
        expect(self.messages.get_by_text("Try it: two jobs")).to_be_visible()

    @property
    def messages(self) -> Locator:
        return self.page.get_by_role("log", name="Messages")

    @property
    def replies(self) -> Locator:
        return self.page.get_by_role("log", name="Replies")

    @property
    def modal(self) -> Locator:
        return self.page.get_by_role("dialog", name="Edit the note")

    def message(self, words: str) -> Locator:
        """The newest message of the channel with these words."""
        return self.messages.get_by_role("article").filter(has_text=words).last

    def write(self, text: str, field: str = "Message #training-alerts") -> None:
        box = self.page.get_by_label(field, exact=True)
        box.fill(text)
        box.press("Enter")

    def diagnose(self, job: str) -> Locator:
        """The command, and its message once the answer with its report is there."""
        self.write(f"{COMMAND} {job}")
        answer = self.message(f"{job}: Look at")
        expect(answer.get_by_role("button", name=APPROVE)).to_be_visible(timeout=ANSWERED_IN)
        expect(answer.get_by_role("button", name=re.compile("4 replies"))).to_be_visible(timeout=ANSWERED_IN)
        return answer

    def open_thread(self, answer: Locator) -> None:
        answer.get_by_role("button", name=re.compile(r"\d+ repl")).click()

    def close_thread(self) -> None:
        self.page.get_by_role("button", name="Close the thread").click()
