"""Who deals with which kind of envelope."""

from collections.abc import Callable, Mapping

from bot.slack.click_listener import ClickListener
from bot.slack.envelopes import EnvelopeKind
from bot.slack.home import Home
from bot.slack.text_listener import Payload, TextListener
from bot.state.inbox import Once, Received


class Listeners:
    """What the readers of the inbox call for each envelope."""

    def __init__(self, asks: TextListener, clicks: ClickListener, home: Home) -> None:
        self._by_kind: Mapping[str, Callable[[Payload, Once], None]] = {
            EnvelopeKind.COMMAND: asks.command,
            EnvelopeKind.SHORTCUT: asks.shortcut,
            EnvelopeKind.MENTION: asks.mention,
            EnvelopeKind.MESSAGE: asks.message,
            EnvelopeKind.ALERT: asks.alert,
            EnvelopeKind.CLICK: clicks.click,
            EnvelopeKind.OPENING: clicks.opening,
            EnvelopeKind.FORM: clicks.form,
            EnvelopeKind.HOME: home.opened,
        }

    def deal(self, received: Received, once: Once) -> None:
        """Do what somebody wants, and tell them what they alone are told."""
        self._by_kind[received.kind](received.body, once)
