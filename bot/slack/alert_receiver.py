"""Alertmanager's receiver: firing alerts that name a job wait to be diagnosed, as if the job had been found failed.

What comes is authenticated by a token in ``Authorization: Bearer``. It is answered when it is stored: 200, and
Alertmanager is done; 503, and it comes again. Format: prometheus.io/docs/alerting/latest/configuration/#webhook_config,
version 4.
"""

import hmac
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from itertools import islice
from typing import Any

from bot.settings import Settings, needed
from bot.slack.failed_jobs import FailedJobs
from bot.slack.http_server import HttpServer, QuietHandler, split_address
from core.errors import BadSettings, FirstfaultError

PATH = "/alerts"
MAX_BODY = 1 << 20  # bytes; a thousand alerts need about half of it
MAX_ALERTS = 100  # of one notification that are looked at: each is compared with the names of all jobs
_LOG = logging.getLogger(__name__)


def alerts_of(body: bytes) -> list[str]:
    """The words of each firing alert, MAX_ALERTS at most: values of its labels and annotations, the labels first.

    Raises:
        ValueError: it is no notification of Alertmanager.
    """
    document = json.loads(body)
    alerts = document.get("alerts") if isinstance(document, dict) else None
    if not isinstance(alerts, list):
        raise ValueError("no list of alerts")  # noqa: TRY004 as json says of any other body
    firing = (alert for alert in alerts if isinstance(alert, dict) and alert.get("status") == "firing")
    return ["\n".join(_values(alert)) for alert in islice(firing, MAX_ALERTS)]


def _values(alert: Mapping[str, Any]) -> Iterator[str]:
    for part in (alert.get("labels"), alert.get("annotations")):
        if isinstance(part, dict):
            yield from (value for value in part.values() if isinstance(value, str))


class AlertReceiver(HttpServer):
    """Takes what Alertmanager posts."""

    def __init__(
        self, host: str, port: int, token: str, *, known_in: Callable[[str], str], alert: Callable[[str], None]
    ) -> None:
        """known_in: the id of the known job in a text, or an empty one; may raise. alert: queues a job, once."""
        self._known_in = known_in
        self._alert = alert
        receive, wanted = self.receive, f"Bearer {token}".encode()

        class Handler(QuietHandler):
            def do_POST(self) -> None:  # noqa: N802 the library's name
                given = str(self.headers.get("Authorization", "")).encode("utf-8", "replace")
                length = _length(self.headers.get("Content-Length"))
                if self.path.partition("?")[0] != PATH:
                    self.answer(HTTPStatus.NOT_FOUND)
                elif not hmac.compare_digest(given, wanted):
                    self.answer(HTTPStatus.UNAUTHORIZED)
                elif length is None:
                    self.answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
                else:
                    self.answer(receive(self.rfile.read(length)))

        super().__init__(host, port, Handler, variable="FIRSTFAULT_ALERTS")

    def receive(self, body: bytes) -> HTTPStatus:
        """Store the jobs that firing alerts name; one that was told of before is not diagnosed again."""
        try:
            jobs = dict.fromkeys(job for words in alerts_of(body) if (job := self._known_in(words)))
            for job in jobs:
                self._alert(job)
        except (ValueError, RecursionError) as error:
            _LOG.warning("an alert has another form than it should: %s", type(error).__name__)
            return HTTPStatus.BAD_REQUEST
        except FirstfaultError as trouble:
            _LOG.error("an alert is not stored: %s", trouble.message)
            return HTTPStatus.SERVICE_UNAVAILABLE
        _LOG.info("an alert named %d jobs", len(jobs))
        return HTTPStatus.OK


def receiver_of(settings: Settings, failed_jobs: FailedJobs, *, known_in: Callable[[str], str]) -> AlertReceiver | None:
    """What listens for alerts; None where no address is set.

    Raises:
        BadSettings: the token, the address, or the channel where jobs are told of is missing.
    """
    if not settings.alerts:
        return None
    token = needed(settings.alerts_token.get_secret_value(), "FIRSTFAULT_ALERTS_TOKEN")
    host, port = split_address(settings.alerts, "FIRSTFAULT_ALERTS")
    if not settings.follow_channel:
        raise BadSettings("FIRSTFAULT_FOLLOW_CHANNEL is not set.", "Set it: what alerts name is told of there.")
    return AlertReceiver(host, port, token, known_in=known_in, alert=failed_jobs.alert)


def _length(header: str | None) -> int | None:
    """How many bytes come; None when that is too much, or not said."""
    if header is None or not header.isdecimal() or len(header) > len(str(MAX_BODY)) or int(header) > MAX_BODY:
        return None
    return int(header)
