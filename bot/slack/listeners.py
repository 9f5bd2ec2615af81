"""Who deals with which kind of envelope."""

from collections.abc import Callable, Mapping

from bot.slack.click_listener import Clicks
from bot.slack.envelopes import Kind
from bot.slack.text_listener import Asks, Payload
from bot.state.inbox import Once, Received


class Listeners:
    """What the readers of the inbox call for each envelope."""

    def __init__(self, asks: Asks, clicks: Clicks) -> None:
        self._by_kind: Mapping[str, Callable[[Payload, Once], None]] = {
            Kind.COMMAND: asks.command,
            Kind.SHORTCUT: asks.shortcut,
            Kind.MENTION: asks.mention,
            Kind.MESSAGE: asks.message,
            Kind.CLICK: clicks.click,
            Kind.OPENING: clicks.opening,
            Kind.FORM: clicks.form,
        }

    def deal(self, received: Received, once: Once) -> None:
        """Do what somebody wants, and tell them what they alone are told."""
        self._by_kind[received.kind](received.body, once)
