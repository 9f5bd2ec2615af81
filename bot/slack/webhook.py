"""Other programs are told of each diagnosis: its JSON, signed, to one address."""

import logging
from dataclasses import dataclass
from http.client import HTTPException
from urllib.error import HTTPError

from bot.outgoing.door import post_signed
from bot.report.contract import to_contract
from bot.report.json_document import to_json
from bot.settings import Settings, needed
from bot.state.answers import SavedAnswer
from bot.state.runs import Run
from core.errors import FirstfaultError

TIMEOUT = 10.0  # seconds for each read, as of Slack; door.py ends the whole after three times that
_FOREVER = frozenset({400, 401, 403, 404, 405, 410, 413, 422})  # asking again would be answered the same
_LOG = logging.getLogger(__name__)


class NotDelivered(FirstfaultError):
    """The webhook did not take it now."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """``deliver`` at least once: the receiver knows a second time by ``X-Firstfault-Delivery``, the id of the run."""

    address: str
    secret: str

    def deliver(self, run: Run, answer: SavedAnswer) -> None:
        """The same document that ``firstfault diagnose --json`` prints.

        Raises:
            NotDelivered: now; whoever calls tries again later.
        """
        if answer.diagnosis is None:
            return
        body = to_json(to_contract(answer.diagnosis, answer.known, answer.note))
        headers = {"X-Firstfault-Delivery": run.id, "X-Firstfault-Event": "diagnosis"}
        try:
            post_signed(self.address, body, headers, self.secret, timeout=TIMEOUT)
        except (OSError, HTTPException) as error:
            if isinstance(error, HTTPError) and error.code in _FOREVER:
                _LOG.error("%s: the webhook refuses it: %d", run.id, error.code, extra={"run": run.id})
                return
            raise NotDelivered(f"The webhook does not take {run.id}: {type(error).__name__}.") from error


def webhook_of(settings: Settings) -> Webhook | None:
    """The webhook that is set, if any.

    Raises:
        BadSettings: it has no secret.
    """
    if not settings.webhook:
        return None
    return Webhook(settings.webhook, needed(settings.webhook_secret.get_secret_value(), "FIRSTFAULT_WEBHOOK_SECRET"))
