"""Signed HTTP: signatures, retries, the handshake."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from slack_sdk.signature import SignatureVerifier

from slacksim import LocalSlackError, Slack
from slacksim.http_mode import signed_headers
from tests.slacksim.conftest import over_http
from tests.support.socket_client import deliveries
from tests.support.toy_bot import ToyBot


def test_http_deliveries_are_signed_with_the_time() -> None:
    """Slack's own verifier accepts the signature, and no other body or secret."""
    now, body = int(time.time()), '{"type":"event_callback"}'
    headers = signed_headers("secret", body, now)
    stamp, signature = headers["X-Slack-Request-Timestamp"], headers["X-Slack-Signature"]

    assert SignatureVerifier("secret").is_valid(body, stamp, signature)
    assert not SignatureVerifier("other").is_valid(body, stamp, signature)
    assert not SignatureVerifier("secret").is_valid(body + " ", stamp, signature)


class Address:
    """A bare HTTP address in place of an app, which notes headers and answers as it is told."""

    def __init__(self, *statuses: str, headers: list[tuple[str, str]] | None = None) -> None:
        self.seen: list[dict[str, str]] = []
        self._headers = headers or []
        self._statuses = list(statuses)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        challenge = b'"type": "url_verification"' in body
        if not challenge:
            self.seen.append({name: value for name, value in environ.items() if name.startswith("HTTP_X_SLACK")})
        start_response("200 OK" if challenge or not self._statuses else self._statuses.pop(0), [*self._headers])
        return [body]


@contextmanager
def listening_at(slack: Slack, address: Address, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("tests.slacksim.conftest.SlackRequestHandler", lambda _app: address)
    with over_http(slack, ToyBot(slack)):
        yield


def test_http_retries_carry_their_number_and_reason(slack: Slack, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused event comes again, marked as Slack marks it."""
    address = Address("500 Down", "200 OK")
    with listening_at(slack, address, monkeypatch):
        slack.user("alice").say("hello")
        deliveries(slack, "message", 2)

    assert "HTTP_X_SLACK_RETRY_NUM" not in address.seen[0]
    assert address.seen[1]["HTTP_X_SLACK_RETRY_NUM"] == "1"
    assert address.seen[1]["HTTP_X_SLACK_RETRY_REASON"] == "http_error"


def test_an_app_can_forbid_retries(slack: Slack, monkeypatch: pytest.MonkeyPatch) -> None:
    """X-Slack-No-Retry on a refusal means once is enough."""
    address = Address("500 Down", headers=[("X-Slack-No-Retry", "1")])
    with listening_at(slack, address, monkeypatch):
        slack.user("alice").say("first")
        deliveries(slack, "message", 1)
        slack.user("alice").say("second")
        deliveries(slack, "message", 2)

    assert [d.payload["event"]["text"] for d in slack.journal.deliveries(what="message")] == ["first", "second"]


def test_an_app_that_is_gone_cannot_be_reached(slack: Slack, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused connection is a reason of its own."""
    with listening_at(slack, Address(), monkeypatch):
        pass

    assert slack.user("alice").command("/diagnose f02").reason == "connection_failed"


def test_an_address_that_is_not_the_app_is_refused(slack: Slack) -> None:
    """Without the challenge sent back nothing is delivered there."""
    with pytest.raises(LocalSlackError, match="does not answer: http_error"):
        slack.use_http(slack.page_url)
