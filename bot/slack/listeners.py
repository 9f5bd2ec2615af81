"""Who deals with which kind of envelope."""

from collections.abc import Callable, Mapping

from slack_sdk import WebClient

from bot.slack.boundary import attempt, to_person
from bot.slack.click_listener import ClickListener
from bot.slack.envelopes import EnvelopeKind
from bot.slack.home import Home
from bot.slack.organisation import Organisation
from bot.slack.private_replies import STRANGER
from bot.slack.text_listener import Payload, TextListener
from bot.state.inbox import Once, Received

# What people do in order to be answered; of the rest, such as what they say to each other, strangers are told nothing.
_ADDRESSED = (
    EnvelopeKind.COMMAND,
    EnvelopeKind.SHORTCUT,
    EnvelopeKind.MENTION,
    EnvelopeKind.CLICK,
    EnvelopeKind.OPENING,
)


class Listeners:
    """What the readers of the inbox call for each envelope."""

    def __init__(
        self, asks: TextListener, clicks: ClickListener, home: Home, organisation: Organisation, client: WebClient
    ) -> None:
        self._organisation = organisation
        self._client = client
        self._home = home
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
        """Do what somebody wants, and tell them what they alone are told; people of other organisations nothing."""
        if self._is_of_stranger(received.kind, received.body):
            return
        self._by_kind[received.kind](received.body, once)
        if received.body.get("in_home"):
            self._home.opened(received.body, once)

    def _is_of_stranger(self, kind: str, body: Payload) -> bool:
        user, channel = (str(body.get(name) or body.get(f"{name}_id") or "") for name in ("user", "channel"))
        if not user or not self._organisation.is_stranger(user, str(body.get("home") or "")):
            return False
        if kind in _ADDRESSED and channel:
            where = {**body, "user": user, "channel": channel}
            attempt(lambda: STRANGER, to_person(self._client, where, str(body.get("thread_ts") or "")))
        return True
