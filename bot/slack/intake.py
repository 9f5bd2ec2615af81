"""The one place that acknowledges: whatever Slack sends is in the inbox before Slack is told that it has arrived.

What cannot be stored is not acknowledged: Slack then tells the person, or sends the event again. A form whose content
cannot be taken is answered at once, with what is wrong, and nothing is stored.
"""

import logging
import math
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from slack_bolt import BoltResponse

from bot.slack.boundary import tellable
from bot.slack.envelopes import EnvelopeKind, envelope_of, of_organisation
from bot.slack.thread import failure_message
from bot.state.errors import StateUnavailable
from bot.state.inbox import Envelope, Inbox
from core.errors import FirstfaultError

Payload = Mapping[str, Any]
QUIET_SECONDS = 0.05  # of a crowd one comes every 10 ms, as fast as they can be taken on a slow core
_LOG = logging.getLogger(__name__)


class Intake:
    """Takes requests that are verified already; any thread may call ``receive``, and waits until it is stored."""

    def __init__(
        self,
        inbox: Inbox,
        *,
        concerns_us: Callable[[Envelope], bool],
        objection: Callable[[Envelope], dict[str, Any] | None],
        wake: Callable[[], None],
        organisation: str = "",
    ) -> None:
        """concerns_us: whether a message is more than people talking. objection: what is wrong with a form.

        organisation: id of the one that has installed the bot for all its workspaces; empty: one workspace has.
        """
        self._organisation = organisation
        self._storing = _Storing(inbox)
        self._concerns_us = concerns_us
        self._objection = objection
        self._wake = wake

    def receive(self, body: Payload) -> BoltResponse:
        """The answer to Slack: 200 is the acknowledgement."""
        try:
            envelope = envelope_of(body)
        except (KeyError, TypeError, IndexError) as error:
            _LOG.warning("a request of Slack has another form than it should: %r", error)
            return BoltResponse(status=400)
        if envelope is None:
            return BoltResponse(status=200)
        if self._organisation:
            envelope = of_organisation(envelope, self._organisation)
        try:
            if envelope.kind in (EnvelopeKind.MESSAGE, EnvelopeKind.ALERT) and not self._concerns_us(envelope):
                return BoltResponse(status=200)
            if envelope.kind == EnvelopeKind.FORM and (objection := self._objection(envelope)) is not None:
                return BoltResponse(status=200, body=objection)
            self._storing.store(envelope)
        except FirstfaultError as trouble:
            return _not_taken(envelope, trouble)
        self._wake()
        return BoltResponse(status=200)

    def is_crowded(self) -> bool:
        """Whether something came a moment ago, so that more may wait to be acknowledged."""
        return time.monotonic() - self._storing.at < QUIET_SECONDS


class _Storing:
    """Stores what comes at once in one go: of a crowd each would wait for the disk else, one after the other."""

    def __init__(self, inbox: Inbox) -> None:
        self.at = -math.inf  # when something was stored last
        self._inbox = inbox
        self._waiting: list[_Slot] = []
        self._guard, self._turn = threading.Lock(), threading.Lock()

    def store(self, envelope: Envelope) -> None:
        """Returns when it is on the disk; raises StateUnavailable."""
        slot = _Slot(envelope)
        with self._guard:
            self._waiting.append(slot)
        with self._turn:  # whoever had it before may have stored this one too
            if not slot.over:
                self._store_all()
        if not slot.stored:
            raise slot.trouble or StateUnavailable("It could not be stored.", "The log of the bot tells why.")

    def _store_all(self) -> None:
        with self._guard:
            slots, self._waiting = self._waiting, []
        try:
            self._inbox.put([slot.envelope for slot in slots])
            for slot in slots:
                slot.stored = True
        except StateUnavailable as trouble:
            for slot in slots:
                slot.trouble = trouble
        finally:  # whatever it was, nobody else does it for them
            self.at = time.monotonic()
            for slot in slots:
                slot.over = True


class _Slot:
    """One envelope, and what became of it."""

    def __init__(self, envelope: Envelope) -> None:
        self.envelope = envelope
        self.over = self.stored = False
        self.trouble: StateUnavailable | None = None


def _not_taken(envelope: Envelope, trouble: FirstfaultError) -> BoltResponse:
    """A command may be answered with words for the person alone; of the rest Slack itself says that it did not work."""
    failure = tellable(trouble)
    if envelope.kind != EnvelopeKind.COMMAND:
        return BoltResponse(status=503)
    return BoltResponse(status=200, body={"response_type": "ephemeral", **failure_message(failure).arguments()})
