"""Posting to Slack so that nothing is lost and nothing stands there twice, whatever dies in between."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError

from bot.slack.blocks import Message, without_blocks
from bot.slack.text import NO_LINKS
from bot.state.posts import Intention, Posts
from bot.state.runs import Run
from core.errors import FirstfaultError

EVENT_TYPE = "firstfault_post"  # of the metadata that every post carries, by which it is found again
NOT_THERE = frozenset({"not_in_channel", "channel_not_found", "is_archived", "restricted_action", "no_permission"})
_BAD_BLOCKS = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long"})
_LOOKED_AT = 100  # messages of a channel in which a post is looked for
_LOG = logging.getLogger(__name__)


class MayNotPost(FirstfaultError):
    """The bot may not write in the channel where it was asked."""


class PostPending(FirstfaultError):
    """Somebody else is posting it at this moment, or Slack did not say whether it is there: try again later."""


class Posting:
    """The posts of runs, each once."""

    def __init__(self, client: WebClient, posts: Posts) -> None:
        self._client = client
        self._posts = posts

    def once(self, run: Run, kind: str, message: Message, *, thread: str = "") -> tuple[str, bool]:
        """The ts of this post, and whether it was made now.

        Raises:
            MayNotPost: Slack refuses the channel.
            PostPending: another worker is at it.
        """
        post = self._posts.intend(run.id, kind)
        if post.intention is Intention.POSTED and post.ts:
            return post.ts, False
        if post.intention is Intention.PENDING:
            raise PostPending(f"The post {kind} of {run.id} is being made.", "It is tried again.")
        if post.intention is Intention.DOUBTFUL and (found := self._found(run.channel, post.token, thread)):
            return self._posts.posted(run.id, kind, found), False
        metadata = {"event_type": EVENT_TYPE, "event_payload": {"run": run.id, "token": post.token}}
        place = {"channel": run.channel, **({"thread_ts": thread} if thread else {})}
        try:
            answer = self._with_fallback("chat.postMessage", message, {**place, **NO_LINKS, "metadata": metadata})
        except SlackApiError as error:
            if _error(error) in NOT_THERE:
                self._posts.refused(run.id, kind)
                raise MayNotPost(
                    f"I may not write in this channel ({_error(error)}).", "Invite me, then ask again."
                ) from error
            self._posts.unsure(run.id, kind)
            raise
        except (SlackClientError, OSError):
            self._posts.unsure(run.id, kind)
            raise
        return self._posts.posted(run.id, kind, str(answer["ts"])), True

    def edit(self, run: Run, ts: str, message: Message) -> None:
        """Make a post say something else; one that somebody has deleted stays deleted."""
        try:
            self._with_fallback("chat.update", message, {"channel": run.channel, "ts": ts})
        except SlackApiError as error:
            if _error(error) not in {"message_not_found", "cant_update_message", "edit_window_closed"}:
                raise
            _LOG.warning("%s: its message cannot be edited: %s", run.id, _error(error), extra={"run": run.id})

    def upload(self, run: Run, kind: str, thread: str, files: Sequence[Mapping[str, Any]], comment: str) -> None:
        """Files into the thread, once; after a crash in the middle rather twice than never seen."""
        post = self._posts.intend(run.id, kind)
        if post.intention in (Intention.POSTED, Intention.PENDING):
            return
        self._client.files_upload_v2(
            channel=run.channel, thread_ts=thread, initial_comment=comment, file_uploads=[dict(file) for file in files]
        )
        self._posts.posted(run.id, kind, thread)

    def _with_fallback(self, method: str, message: Message, place: Mapping[str, Any]) -> Any:
        """Call a method with the message; when Slack does not take the blocks, with its text alone."""
        call = self._client.chat_update if method == "chat.update" else self._client.chat_postMessage
        try:
            return call(**place, **message.arguments())
        except SlackApiError as error:
            if _error(error) not in _BAD_BLOCKS:
                raise
            _LOG.error("Slack refuses our blocks (%s): %s", _error(error), error.response.get("response_metadata"))
            return call(**place, text=without_blocks(message), blocks=[])

    def _found(self, channel: str, token: str, thread: str) -> str:
        """The ts of the message with this token, empty when it is not among the newest of the channel or thread."""
        if thread:
            answer = self._client.conversations_replies(
                channel=channel, ts=thread, include_all_metadata=True, limit=_LOOKED_AT
            )
        else:
            answer = self._client.conversations_history(channel=channel, include_all_metadata=True, limit=_LOOKED_AT)
        for one in answer.get("messages") or ():
            if ((one.get("metadata") or {}).get("event_payload") or {}).get("token") == token:
                return str(one["ts"])
        return ""


def _error(error: SlackApiError) -> str:
    return str(error.response.get("error", ""))
