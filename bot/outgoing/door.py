"""The door: what goes to Slack, to the model or into an upload passes here, and no secret of a log passes with it.

Whoever makes a text takes secrets out of it long before: what a child process hands over, and what the state keeps, is
clean already. Here it is made sure of, once for everything, so that a text that somebody forgot leaves no secret.
tests/bot/outgoing/test_door.py fails when any other file of the house speaks to a network.
"""

import hmac
import io
import json
import time
import urllib.request
from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from urllib.error import HTTPError

from bot.outgoing.deadline import within
from bot.outgoing.redact import Redactor
from bot.text.harmless import storable

# What Slack reads as its own: ids, times, tokens of posts. Anything else is taken for text that may hold a log line.
_SLACKS_OWN = frozenset(
    {
        "action_id", "block_id", "bot_id", "callback_id", "channel", "channel_id", "cursor", "email", "event_type",
        "external_id", "file_id", "hash", "id", "include_all_metadata", "latest", "limit", "metadata", "method",
        "oldest", "private_metadata", "response_action", "response_type", "response_url", "style", "team_id",
        "thread_ts", "token", "trigger_id", "ts", "type", "user", "user_id", "usergroup", "value", "view_id",
    }
)  # fmt: skip
_REPLY = 4096  # bytes of the answer of a webhook; nobody reads them
_WHOLE = 3  # times what each read may take, that a call may take: 10 s become 30
_JSON = frozenset({"attachments", "blocks", "files", "view"})  # what slack_sdk writes as text, in a form


def call_for_slack(how: Mapping[str, Any]) -> dict[str, Any]:
    """How slack_sdk is to call a method: the same, with clean arguments wherever they stand."""
    return {
        name: for_slack(value) if name in ("data", "json", "params") and isinstance(value, Mapping) else value
        for name, value in how.items()
    }


def for_slack(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a method, or the body of a response, with no secret in any text of them."""
    redactor = Redactor()
    for text in _texts(arguments):
        redactor.heed(text)
    return {name: _clean(value, redactor, name) for name, value in arguments.items()}


def for_model(text: str) -> str:
    """What a language model is told, as text that is UTF-8 for sure."""
    return Redactor().redact(storable(text))


def response_for_slack(body: str) -> str:
    """The body of an acknowledgement: JSON, or a text."""
    try:
        document = json.loads(body)
    except ValueError:
        document = None
    return json.dumps(for_slack(document)) if isinstance(document, dict) else Redactor().redact(body)


def upload(address: str, data: bytes, *, timeout: float) -> None:
    """Send a file to the address that Slack gave for it; a page that is text without the secrets in it.

    Raises:
        OSError, HTTPException: it may have arrived, or not.
    """
    request = urllib.request.Request(address, data=clean_file(data), method="POST")  # noqa: S310 Slack's own address
    with urllib.request.urlopen(request, timeout=timeout) as reply:  # noqa: S310 as above
        reply.read()


def post_signed(address: str, body: str, headers: Mapping[str, str], secret: str, *, timeout: float) -> None:
    """Send a JSON document to a webhook, clean, with what proves who sent it: ``X-Firstfault-Signature: v1=HEX``.

    HEX is the HMAC-SHA256, with the secret as key, of the header X-Firstfault-Timestamp, a point, and the body. No
    redirect is followed: who answers there may name any other address.

    Raises:
        OSError, HTTPException: it may have arrived, or not.
    """
    document, redactor = json.loads(body), Redactor()
    for text in _texts(document):
        redactor.heed(text)
    data = json.dumps(_redacted(document, redactor)).encode("ascii")
    stamp = str(int(time.time()))
    signature = hmac.new(secret.encode(), f"{stamp}.".encode() + data, sha256).hexdigest()
    proof = {"X-Firstfault-Timestamp": stamp, "X-Firstfault-Signature": f"v1={signature}"}
    request = urllib.request.Request(  # noqa: S310 settings.py takes http and https alone
        address, data, {"Content-Type": "application/json", **headers, **proof}, method="POST"
    )
    within(_WHOLE * timeout, lambda: _answer(request, timeout, _REPLY))


def query(address: str, form: str, *, timeout: float, most: int, authorization: str = "") -> bytes:
    """Ask a server of the team's own for numbers (Prometheus): nothing is sent but the form, no redirect is followed.

    Args:
        authorization: what proves who asks, where the server wants to know; the header of that name.

    Raises:
        OSError, HTTPException: it did not answer, or refused.
        ValueError: its answer is larger than ``most`` bytes.
    """
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    headers |= {"Authorization": authorization} if authorization else {}
    request = urllib.request.Request(  # noqa: S310 settings.py takes http and https alone
        address, form.encode("ascii"), headers, method="POST"
    )
    answer = within(_WHOLE * timeout, lambda: _answer(request, timeout, most + 1))
    if len(answer) > most:
        raise ValueError(f"its answer is larger than {most:,} bytes")
    return answer


def _answer(request: urllib.request.Request, timeout: float, most: int) -> bytes:
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=timeout) as reply:
            read: bytes = reply.read(most)
    except HTTPError as refused:
        with refused:
            why = io.BytesIO(refused.read(_REPLY))  # within the same patience: whoever asked may want to know
        raise HTTPError(refused.url, refused.code, refused.reason, refused.headers, why) from None
    return read


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """An answer that names another address is an error."""

    def redirect_request(self, *_: object) -> None:
        return None


def clean_file(data: bytes) -> bytes:
    """A page or another text without secrets; a picture as it is."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data
    return Redactor().redact(text).encode("utf-8")


def _clean(value: Any, redactor: Redactor, name: str) -> Any:
    if name in _SLACKS_OWN:
        return value
    if isinstance(value, str):
        return _clean_text(value, redactor, name)
    if isinstance(value, Mapping):
        return {key: _clean(entry, redactor, str(key)) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(entry, redactor, "") for entry in value]
    return value


def _clean_text(text: str, redactor: Redactor, name: str) -> str:
    if name in _JSON:
        try:
            return json.dumps(_clean(json.loads(text), redactor, ""))
        except ValueError:
            pass
    return redactor.redact(text)


def _redacted(value: Any, redactor: Redactor) -> Any:
    """Every text of a document by itself: what is replaced in the whole may take a quote of JSON with it."""
    if isinstance(value, str):
        return redactor.redact(value)
    if isinstance(value, Mapping):
        return {key: _redacted(entry, redactor) for key, entry in value.items()}
    return [_redacted(entry, redactor) for entry in value] if isinstance(value, list) else value


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for entry in value.values() for text in _texts(entry)]
    return [text for entry in value for text in _texts(entry)] if isinstance(value, list | tuple) else []
