"""The listener boundary: what a listener answers is told privately, and so is what it could not do.

One of the two places with a broad ``except``: an unknown error gets a reference, and its trace our log.
"""

import logging
from collections.abc import Callable

from slack_sdk import WebClient

from bot.slack.blocks import Message
from bot.slack.replies import failure_reply, refused_reply
from bot.state.values import Failure, new_id
from core.errors import FirstfaultError

Tell = Callable[[Message], None]
_LOG = logging.getLogger(__name__)


def attempt(work: Callable[[], Message | None], tell: Tell) -> None:
    """Do the work, and tell what it answers."""
    try:
        answer = work()
    except FirstfaultError as trouble:
        answer = refused_reply(trouble)
    except Exception as error:  # noqa: BLE001 the listener boundary
        reference = new_id("e")
        _LOG.exception("a listener met an unknown error (%s)", reference, extra={"reference": reference})
        failure = Failure("Something went wrong on my side.", "Try again.", type(error).__name__, reference)
        answer = failure_reply(failure)
    if answer is not None:
        tell(answer)


def responding(respond: Callable[..., None]) -> Tell:
    """To the person alone, through the address that came with the request."""

    def tell(message: Message) -> None:
        respond(**message.arguments(), response_type="ephemeral", replace_original=False)

    return tell


def whispering(client: WebClient, channel: str, user: str, thread: str) -> Tell:
    """To the person alone, in the channel where it happened."""

    def tell(message: Message) -> None:
        client.chat_postEphemeral(channel=channel, user=user, thread_ts=thread or None, **message.arguments())

    return tell


def answering(client: WebClient, channel: str, thread: str) -> Tell:
    """In a direct conversation, where everything is private."""

    def tell(message: Message) -> None:
        client.chat_postMessage(channel=channel, thread_ts=thread or None, **message.to_post())

    return tell
