"""The listener boundary: what a listener answers is told privately, and so is what it could not do.

Its ``except`` is broad: an unknown error gets a reference that the person is told, and its trace goes into our log.
"""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from http.client import HTTPException
from typing import Any

from slack_bolt.context.respond import Respond
from slack_sdk import WebClient
from slack_sdk.errors import SlackClientError

from bot.outgoing.door import for_slack
from bot.outgoing.errors import Failure, public_failure, whole_failure
from bot.slack.blocks import Message
from bot.slack.thread import failure_message
from bot.state.errors import StateUnavailable
from bot.state.small_values import new_id
from core.errors import Audience, FirstfaultError

Tell = Callable[[Message], None]
SEND_AGAIN = 1.0  # seconds after a response address gave no clear answer; it may be used five times
_LOG = logging.getLogger(__name__)


def attempt(work: Callable[[], Message | None], tell: Tell, *, patient: bool = False) -> None:
    """Do the work, and tell what it answers; that it cannot be told ends nothing else.

    Args:
        patient: StateUnavailable is raised, because the work is done again later.
    """
    answer = _answer(work, patient=patient)
    if answer is None:
        return
    try:
        tell(answer)
    except Exception:  # noqa: BLE001 the listener boundary
        reference = new_id("e")
        _LOG.exception("a listener could not answer (%s)", reference, extra={"reference": reference})


def responding(respond: Callable[..., Any], otherwise: Tell, *, sleep: Callable[[float], None] = time.sleep) -> Tell:
    """To the person alone, through the address that came with the request; ``otherwise`` when Slack does not take it.

    Bolt's ``respond`` raises for a broken line only: that Slack has answered 500 or 404 stands in what it returns.
    """

    def tell(message: Message) -> None:
        arguments = {**message.arguments(), "response_type": "ephemeral", "replace_original": False}
        status = _sent(respond, arguments)
        if status >= 500:
            sleep(SEND_AGAIN)
            status = _sent(respond, arguments)
        if status != 200:
            _LOG.warning("a response address answers %d: telling it in the channel", status)
            otherwise(message)

    return tell


def to_person(client: WebClient, where: Mapping[str, Any], thread: str = "") -> Tell:
    """To whoever sent the envelope: through the address that came with it, if one did, else in its channel."""
    if where.get("in_home"):
        return answering(client, where["channel"], "")  # there nobody else reads, and what only one sees is missed
    otherwise = whispering(client, where["channel"], where["user"], thread)
    url = where.get("response_url")
    return responding(Respond(response_url=url, proxy=client.proxy, ssl=client.ssl), otherwise) if url else otherwise


def whispering(client: WebClient, channel: str, user: str, thread: str = "") -> Tell:
    """To the person alone, in the channel where it happened."""

    def tell(message: Message) -> None:
        client.chat_postEphemeral(channel=channel, user=user, thread_ts=thread or None, **message.arguments())

    return tell


def answering(client: WebClient, channel: str, thread: str) -> Tell:
    """In a direct conversation, where everything is private."""

    def tell(message: Message) -> None:
        client.chat_postMessage(channel=channel, thread_ts=thread or None, **message.to_post())

    return tell


def tellable(error: FirstfaultError) -> Failure:
    """What the person may read; what is kept from them stands in our log, under the reference that they are told."""
    failure = whole_failure(error)
    if error.audience is Audience.ASKER:
        return failure
    reference = new_id("e")
    _LOG.warning(
        "%s: %s %s (%s)", failure.kind, failure.message, failure.hint, reference, extra={"reference": reference}
    )
    return replace(public_failure(failure, error.audience), reference=reference)


def _answer(work: Callable[[], Message | None], *, patient: bool) -> Message | None:
    try:
        return work()
    except StateUnavailable as trouble:
        if patient:
            raise
        return failure_message(tellable(trouble))
    except FirstfaultError as trouble:
        return failure_message(tellable(trouble))
    except SlackClientError as trouble:
        reference = new_id("e")
        _LOG.warning("Slack did not let a listener answer (%s): %s", reference, trouble, extra={"reference": reference})
        return failure_message(Failure("Slack did not answer me properly.", "Try again.", "SlackUnclear", reference))
    except Exception as error:  # noqa: BLE001 the listener boundary
        reference = new_id("e")
        _LOG.exception("a listener met an unknown error (%s)", reference, extra={"reference": reference})
        return failure_message(
            Failure("Something went wrong on my side.", "Try again.", type(error).__name__, reference)
        )


def _sent(respond: Callable[..., Any], arguments: dict[str, Any]) -> int:
    """The status that came back; 599 when there was no answer."""
    try:
        return int(respond(**for_slack(arguments)).status_code)
    except (SlackClientError, OSError, HTTPException) as error:
        _LOG.info("a response address does not answer: %s", type(error).__name__)
        return 599
