"""Signed HTTP: Slack posts to the app's address, and the status code is the acknowledgement."""

import asyncio
import hashlib
import hmac
import json
import secrets
import urllib.parse
from typing import Any

from aiohttp import ClientError, ClientResponse, ClientSession, TCPConnector

from slacksim.errors import LocalSlackError, NotAcknowledged
from slacksim.limits import Timing
from slacksim.state import State
from slacksim.values import Json

_HINT = "Is the app's server running there?"
_FORM = "application/x-www-form-urlencoded"
_REASONS = {"connect": "connection_failed", "status": "http_error", "time": "http_timeout"}


class HttpMode:
    """Deliveries to one address."""

    def __init__(self, state: State, timing: Timing, url: str) -> None:
        self._state = state
        self._timing = timing
        self._url = url
        self._session: ClientSession | None = None

    async def verify(self) -> None:
        """The handshake with which Slack takes over an address: it must send the challenge back."""
        challenge = secrets.token_hex(16)
        token = self._state.workspace.app.verification_token
        request = {"type": "url_verification", "token": token, "challenge": challenge}
        try:
            answer = await self.send("events_api", request, 0, "")
        except NotAcknowledged as error:
            raise LocalSlackError(f"{self._url} does not answer: {error.reason}.", _HINT) from error
        if not isinstance(answer, dict) or challenge not in (answer.get("challenge"), answer.get("text")):
            raise LocalSlackError(f"{self._url} did not send the challenge back.", _HINT)

    async def send(self, kind: str, payload: Json, attempt: int, reason: str) -> Any:
        """Post one delivery, signed; any 2xx acknowledges it and may carry an answer."""
        content_type, body = _encoded(kind, payload)
        headers = signed_headers(self._state.workspace.app.signing_secret, body, int(self._state.clock()))
        headers["Content-Type"] = content_type
        if attempt:
            headers |= {"X-Slack-Retry-Num": str(attempt), "X-Slack-Retry-Reason": reason}
        # A connection of its own each time: one that was kept may be dead by now, and a POST is not sent again.
        self._session = self._session or ClientSession(connector=TCPConnector(force_close=True))
        try:
            async with (
                asyncio.timeout(self._timing.ack),
                self._session.post(self._url, data=body.encode(), headers=headers, allow_redirects=False) as response,
            ):
                return await _answer(response)
        except TimeoutError as error:
            raise NotAcknowledged(_REASONS["time"]) from error
        except (ClientError, OSError) as error:
            raise NotAcknowledged(_REASONS["connect"]) from error

    async def close(self) -> None:
        """Close the connections to the app."""
        if self._session:
            await self._session.close()


def signed_headers(secret: str, body: str, now: int) -> dict[str, str]:
    """Time and signature (docs.slack.dev/authentication/verifying-requests-from-slack)."""
    digest = hmac.new(secret.encode(), f"v0:{now}:{body}".encode(), hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": str(now), "X-Slack-Signature": f"v0={digest}"}


def _encoded(kind: str, payload: Json) -> tuple[str, str]:
    if kind == "events_api":
        return "application/json", json.dumps(payload)
    fields = payload if kind == "slash_commands" else {"payload": json.dumps(payload)}
    return _FORM, urllib.parse.urlencode(fields)


async def _answer(response: ClientResponse) -> Any:
    text = await response.text()
    if not response.ok or response.status >= 300:
        raise NotAcknowledged(_REASONS["status"], may_retry=response.headers.get("X-Slack-No-Retry") != "1")
    try:
        return json.loads(text) if text else None
    except ValueError:
        return {"text": text}  # a command may be answered with bare text
