"""A client of the Web API with patience: it waits when Slack says so, and tries again what may be done twice.

What may not (a post, a finished upload) comes out as ``UnclearAnswer``: slack_sdk's own handler for lost connections
sends it again, and then it stands there twice.
"""

import logging
import time
from collections.abc import Callable
from http.client import HTTPException
from itertools import count
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackRequestError
from slack_sdk.web import SlackResponse

from bot.outgoing.door import call_for_slack

TIMEOUT = 10  # seconds; Slack answers within one, and a post is not looked for before this is over
TRIES = 3  # chosen: with FIRST_PAUSE two pauses, 1.5 s, which somebody who waits bears
LONGEST_WAIT = 10.0  # seconds; a longer Retry-After is the caller's business
FIRST_PAUSE = 0.5  # seconds after an unclear answer; doubled each time
ONCE_ONLY = frozenset({"chat.postMessage", "chat.postEphemeral", "files.completeUploadExternal", "views.open"})
# docs.slack.dev/reference/methods/chat.postMessage: after these "some aspect of the operation" may have succeeded
_NO_ANSWERS = frozenset({"internal_error", "fatal_error", "service_unavailable", "request_timeout"})
_NO_JSON = "Received a response in a non-JSON format"  # slack_sdk's words for a broken body
_LOG = logging.getLogger(__name__)


class UnclearAnswer(SlackRequestError):
    """Slack gave no clear answer: what was asked for may have been done."""


class PatientClient(WebClient):
    """Every call of a method; ``tries`` 1: the caller has patience of its own."""

    def __init__(
        self, token: str, base_url: str, *, tries: int = TRIES, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        mute = logging.getLogger(f"{__name__}.mute")  # slack_sdk writes an error before anybody knows that it is one
        mute.setLevel(logging.CRITICAL)
        super().__init__(token=token, base_url=base_url, timeout=TIMEOUT, retry_handlers=[], logger=mute)
        self._tries = tries
        self._sleep = sleep

    def api_call(self, api_method: str, **how: Any) -> SlackResponse:
        """The answer.

        Raises:
            SlackApiError: a clear no.
            Unclear: it may have been done.
        """
        for attempt in count(1):
            try:
                return self._ask(api_method, how)
            except SlackApiError as error:
                pause = retry_after(error)
                if pause is None or pause > LONGEST_WAIT or attempt >= self._tries:
                    raise
                _LOG.info("%s: Slack wants a pause of %g s", api_method, pause)
            except UnclearAnswer as trouble:
                if api_method in ONCE_ONLY or attempt >= self._tries:
                    raise
                pause = FIRST_PAUSE * 2 ** (attempt - 1)
                _LOG.info("%s; again in %g s", trouble, pause)
            self._sleep(pause)
        raise AssertionError("counting does not end")

    def _ask(self, method: str, how: dict[str, Any]) -> SlackResponse:
        try:
            return super().api_call(method, **call_for_slack(how))
        except SlackApiError as error:
            if _is_clear(error):
                raise
            raise UnclearAnswer(f"{method}: {error_of(error)[:80]}") from error
        except (OSError, HTTPException, ValueError) as error:  # a broken connection, a broken body
            raise UnclearAnswer(f"{method}: {_why(error)}") from error


def error_of(error: SlackApiError) -> str:
    """The name that Slack gives an error, such as not_in_channel."""
    return str(error.response.get("error", ""))


def retry_after(error: SlackApiError) -> float | None:
    """Seconds that Slack wants to be left alone for; None when it is no rate limit."""
    if error.response.status_code != 429 and error_of(error) != "ratelimited":
        return None
    headers = {name.lower(): value for name, value in error.response.headers.items()}
    try:
        return float(headers["retry-after"])
    except (KeyError, ValueError):
        return 1.0


def _why(error: Exception) -> str:
    """The system's word for it; urllib hides that in a second error."""
    cause = getattr(error, "reason", error)
    return str(getattr(cause, "strerror", None) or type(cause).__name__)


def _is_clear(error: SlackApiError) -> bool:
    word = error_of(error)
    return error.response.status_code < 500 and word not in _NO_ANSWERS and not word.startswith(_NO_JSON)
