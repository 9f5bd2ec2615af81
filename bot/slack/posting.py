"""Posting to Slack so that nothing is lost and nothing stands there twice, whatever dies in between."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from http.client import HTTPException
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.outgoing.door import clean_file, upload
from bot.slack.blocks import Message, without_blocks
from bot.slack.client import FIRST_PAUSE, TIMEOUT, UnclearAnswer, error_of, retry_after
from bot.slack.rate_limit import RateLimit
from bot.slack.text import NO_LINKS
from bot.state.posts import Post, Posts, PostState
from bot.state.runs import Run
from bot.state.small_values import Status
from core.errors import Audience, FirstfaultError

EVENT_TYPE = "firstfault_post"  # of the metadata that every post carries, by which it is found again
NOT_THERE = frozenset({"not_in_channel", "channel_not_found", "is_archived", "restricted_action", "no_permission"})
# Seconds that one post or edit may take: a person waits, the next step comes soon, nothing comes after it.
PATIENCE = {Status.QUEUED: 6.0, Status.RUNNING: 3.0}
LAST_PATIENCE = 15.0  # seconds; chosen: no next step waits behind the last message, so it may take longer
_BAD_BLOCKS = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long"})
_UNEDITABLE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})
_LOOKED_AT, _PAGES = 100, 5  # messages of a page, and pages, in which a post is looked for
_SKEW = 600.0  # seconds that Slack's clock and ours may differ
_POST, _EDIT, _SHARE = "chat.postMessage", "chat.update", "files.completeUploadExternal"
_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")


class MayNotPost(FirstfaultError):
    """The bot may not write in the channel where it was asked."""

    audience = Audience.ASKER


class BlocksRefused(FirstfaultError):
    """This workspace does not have blocks of this kind."""


class PostPending(FirstfaultError):
    """Not now: somebody else is posting it, Slack wants a pause, or it does not say whether it is there."""

    audience = Audience.ASKER


class Posting:
    """The posts of runs, each once. ``client`` makes one try: the patience is here, where it is known what was done."""

    def __init__(
        self,
        client: WebClient,
        posts: Posts,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._posts = posts
        self._clock = clock
        self._sleep = sleep
        self._pace = RateLimit(clock=clock, sleep=sleep)
        self._newest: dict[tuple[str, str], object] = {}
        self._behind: set[str] = set()

    def behind(self) -> frozenset[str]:
        """Runs of which Slack does not show what it should, because it did not take something in time."""
        return frozenset(self._behind.copy())

    def once(self, run: Run, kind: str, message: Message, *, thread: str = "", plain: bool = True) -> tuple[str, bool]:
        """The ts of this post, and whether it was made now; plain: as text, where Slack refuses its blocks.

        Raises:
            MayNotPost: Slack refuses the channel.
            PostPending: another worker is at it, or Slack does not take it now.
        """

        def send(post: Post) -> str:
            payload = {"run": run.id, "token": post.token}
            place = {"channel": run.channel, **({"thread_ts": thread} if thread else {})}
            metadata = {"event_type": EVENT_TYPE, "event_payload": payload}
            where: dict[str, Any] = {**place, **NO_LINKS, "metadata": metadata}
            if not plain:
                return str(self._client.chat_postMessage(**where, **message.arguments())["ts"])
            return str(self._with_fallback(_POST, message, where)["ts"])

        return self._patiently(run, _POST, run.channel, lambda: self._do_once(run, kind, thread, send))

    def once_or_never(self, run: Run, kind: str, message: Message, *, thread: str) -> str:
        """As ``once``, for blocks that not every workspace has; its ts.

        Raises:
            BlocksRefused: it has not, and nothing was posted.
        """
        try:
            return self.once(run, kind, message, thread=thread, plain=False)[0]
        except SlackApiError as error:
            if error_of(error) not in _BAD_BLOCKS:
                raise
            raise BlocksRefused(f"Slack refuses blocks of this kind ({error_of(error)}).", "") from error

    def edit(self, run: Run, ts: str, message: Message) -> None:
        """Make a post say something else; one that somebody has deleted stays deleted.

        What was true before Slack let us say it is not said any more: then a newer edit takes its place, or, when the
        run has changed since this message was made, the run is ``behind``. So it is when Slack was doing two edits at
        once, or did one while the run changed: nobody knows which of them it did last.
        """
        key, mine = (run.channel, ts), object()
        beside = self._newest.get(key) is not None
        self._newest[key] = mine

        def change() -> bool | None:
            if self._newest.get(key) is not mine:
                return None
            if self._posts.is_outdated(run.id, run.revision):
                return False
            self._with_fallback(_EDIT, message, {"channel": run.channel, "ts": ts})
            overtaken = beside or self._newest.get(key) is not mine
            return not overtaken and not self._posts.is_outdated(run.id, run.revision)

        try:
            if self._patiently(run, _EDIT, "", change) is False:
                self._behind.add(run.id)
        except SlackApiError as error:
            if error_of(error) not in _UNEDITABLE:
                raise
            _LOG.warning("%s: its message cannot be edited: %s", run.id, error_of(error), extra={"run": run.id})
        finally:
            if self._newest.get(key) is mine:
                del self._newest[key]

    def upload(self, run: Run, kind: str, thread: str, files: Sequence[Mapping[str, Any]], comment: str) -> None:
        """Files into the thread, once; raises as ``once``."""

        def send(post: Post) -> str:
            sent = [{"id": self._sent(file), "title": file["title"]} for file in files]
            if not self._posts.renamed(run.id, kind, post.token, " ".join(entry["id"] for entry in sent)):
                raise PostPending(f"The files of {run.id} are being posted.", "They come by themselves.")
            self._client.files_completeUploadExternal(
                files=sent, channel_id=run.channel, thread_ts=thread, initial_comment=comment
            )
            return thread

        self._patiently(run, _SHARE, run.channel, lambda: self._do_once(run, kind, thread, send))

    def _do_once(self, run: Run, kind: str, thread: str, send: Callable[[Post], str]) -> tuple[str, bool]:
        """One try: written down before, after, and when it is not known whether it was done."""
        post = self._posts.intend(run.id, kind)
        if post.intention is PostState.POSTED and post.ts:
            return post.ts, False
        if post.intention is PostState.PENDING:
            raise PostPending(f"The message about {run.job} is being posted.", "It comes by itself.")
        try:
            if post.intention is PostState.DOUBTFUL and (found := self._found(run.channel, post, thread)):
                return self._posts.posted(run.id, kind, found), False
            ts = send(post)
        except SlackApiError as error:
            if post.intention is PostState.NEW or error_of(error) in NOT_THERE:
                self._posts.refused(run.id, kind)
            else:
                self._posts.unsure(run.id, kind)
            if error_of(error) in NOT_THERE:
                raise MayNotPost(
                    f"I may not write in this channel ({error_of(error)}).", "Invite me, then ask again."
                ) from error
            raise
        except (UnclearAnswer, OSError):
            self._posts.unsure(run.id, kind)
            raise
        return self._posts.posted(run.id, kind, ts), True

    def _patiently(self, run: Run, method: str, place: str, work: Callable[[], _T]) -> _T:
        """Until it is done, as long as the patience for this run lasts; None: there was nothing to do any more."""
        end = self._clock() + PATIENCE.get(run.status, LAST_PATIENCE)
        try:
            done = self._until(end, run, method, place, work)
        except PostPending:
            self._behind.add(run.id)
            raise
        if done is not None:
            self._behind.discard(run.id)
        return done

    def _until(self, end: float, run: Run, method: str, place: str, work: Callable[[], _T]) -> _T:
        for attempt in count():
            if not self._pace.wait(method, place, end - self._clock()):
                raise PostPending(
                    f"Slack lets me write no faster now; {run.job} is not forgotten.", "Its message comes by itself."
                )
            try:
                return work()
            except SlackApiError as error:
                seconds = retry_after(error)
                if seconds is None:
                    raise
                self._pace.limited(method, place, seconds)
            except PostPending:
                if not self._pause(attempt, end):
                    raise
            except UnclearAnswer as error:
                if not self._pause(attempt, end):
                    raise PostPending(
                        f"Slack does not answer properly; {run.job} is not forgotten.", "Its message comes by itself."
                    ) from error
        raise AssertionError("counting does not end")

    def _pause(self, attempt: int, end: float) -> bool:
        """Before the next try; False, at once, when there is no time left for one."""
        pause = FIRST_PAUSE * 2**attempt
        if self._clock() + pause > end:
            return False
        self._sleep(pause)
        return True

    def _with_fallback(self, method: str, message: Message, place: Mapping[str, Any]) -> Any:
        """Call a method with the message; when Slack does not take the blocks, with its text alone."""
        call = self._client.chat_update if method == _EDIT else self._client.chat_postMessage
        try:
            return call(**place, **message.arguments())
        except SlackApiError as error:
            if error_of(error) not in _BAD_BLOCKS:
                raise
            _LOG.error("Slack refuses our blocks (%s): %s", error_of(error), error.response.get("response_metadata"))
            return call(**place, text=without_blocks(message), blocks=[])

    def _sent(self, file: Mapping[str, Any]) -> str:
        """The id of a file that Slack has, and nobody sees yet; done twice it leaves nothing behind."""
        data = clean_file(Path(file["file"]).read_bytes())
        answer = self._client.files_getUploadURLExternal(
            filename=file["filename"], length=len(data), alt_txt=file.get("alt_txt")
        )
        try:
            upload(str(answer["upload_url"]), data, timeout=TIMEOUT)
        except (OSError, HTTPException) as error:
            raise UnclearAnswer(f"upload: {type(error).__name__}") from error
        return str(answer["file_id"])

    def _found(self, channel: str, post: Post, thread: str) -> str:
        """The ts of the message with this token, or with the files that it names; empty when it is not there."""
        since: dict[str, Any] = {"channel": channel, "oldest": f"{post.intended_at.timestamp() - _SKEW:.6f}"}
        names = set(post.token.split())
        for _ in range(_PAGES):
            answer = self._page(since, thread)
            for entry in answer.get("messages") or ():
                token = ((entry.get("metadata") or {}).get("event_payload") or {}).get("token")
                if token in names or names & {file.get("id") for file in entry.get("files") or ()}:
                    return thread if entry.get("files") else str(entry["ts"])
            since["cursor"] = (answer.get("response_metadata") or {}).get("next_cursor")
            if not since["cursor"]:
                break
        return ""

    def _page(self, since: Mapping[str, Any], thread: str) -> Mapping[str, Any]:
        try:
            if thread:
                found: Any = self._client.conversations_replies(
                    ts=thread, include_all_metadata=True, limit=_LOOKED_AT, **since
                )
            else:
                found = self._client.conversations_history(include_all_metadata=True, limit=_LOOKED_AT, **since)
        except SlackApiError as error:
            if retry_after(error) is not None or error_of(error) in NOT_THERE:
                raise
            _LOG.error("cannot look for a post (%s): it may stand there twice", error_of(error))
            return {}
        return dict(found.data)
