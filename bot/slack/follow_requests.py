"""Following the jobs folder from Slack: a channel asks to be told of every job that fails, asks who is, and ends it.

Telling is ``bot.slack.failed_jobs``, for channels that the settings name and for these alike.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bot.outgoing.errors import public_failure, whole_failure
from bot.slack import actions as act
from bot.slack.blocks import Message, says, section
from bot.slack.commands import Verb
from bot.slack.failed_jobs import FollowRules
from bot.slack.organisation import Organisation
from bot.slack.people import People
from bot.slack.posting import MayNotPost, Posting, PostPending
from bot.slack.private_replies import SHARED_CHANNEL, not_in_channel_reply
from bot.slack.text import conversation, moment, person
from bot.slack.thread import failure_lines
from bot.state.follows import Follow
from bot.state.inbox import Once
from bot.state.runs import RunRequest
from bot.state.state import State
from bot.text.wording import counted
from core.errors import FirstfaultError
from sources.jobs import JobSource

BEGUN = "begun"  # the post that says that a channel is told from now on
MAX_LISTED = 20  # lines; a longer list is not read
SETTING = "FIRSTFAULT_FOLLOW_CHANNEL"
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FollowRequests:
    """Asking, ending and listing; only who may approve in a channel makes it be told.

    rules: those of the settings, with the channels that they name. wake: somebody begins to follow.
    """

    state: State
    posting: Posting
    people: People
    organisation: Organisation
    rules: FollowRules
    open_jobs: Callable[[], JobSource]
    wake: Callable[[], None]

    def serve(self, verb: Verb, request: RunRequest, once: Once) -> Message | None:
        """Do what is wished, each step once; what only the asker is told."""
        if verb is Verb.FOLLOWED:
            return self.listed(request)
        return self.follow(request, once) if verb is Verb.FOLLOW else self.unfollow(request, once)

    def follow(self, request: RunRequest, once: Once) -> Message | None:
        """Tell this channel of every job that fails from now on; the channel reads who wanted it."""
        if (objection := self._objection(request)) is not None:
            return objection
        follow_id, new = once("follow", lambda: self._added(request))
        follow = self.state.follows.get(follow_id)
        if follow is None:  # somebody was faster to end it
            return NOT_FOLLOWED
        if not new:
            return followed_already_reply(follow)
        try:
            self.posting.once(follow.as_run(), BEGUN, begun_message(follow, self.rules.posts))
        except MayNotPost:
            self.state.follows.end(follow.id)
            return not_in_channel_reply(verb="follow")
        except PostPending:
            _LOG.info("%s: that it begins is not told", follow.id)  # that it is followed is what counts
        self.wake()
        return None

    def unfollow(self, request: RunRequest, once: Once) -> Message:
        """Tell this channel no more; whoever asked for it, or may approve here, may end it."""
        if request.channel in self.rules.channels():
            return SET_BY_SETTINGS
        follow_id = once("which", lambda: self._of_channel(request))
        if not follow_id:
            return NOT_FOLLOWED
        follow = self.state.follows.get(follow_id)
        if follow is None:  # this request, or somebody else's, has ended it before
            return NOT_FOLLOWED_ANY_MORE
        asked = request.asked_by == follow.asked_by
        if not asked and not self.people.may_approve(request.asked_by, request.channel):
            return may_not_follow_reply(self.people.listed(request.channel))
        once("unfollow", lambda: self._ended(follow, request))
        return NOT_FOLLOWED_ANY_MORE

    def listed(self, request: RunRequest) -> Message:
        """Every channel of this workspace that is told."""
        mine = [follow for follow in self.state.follows.all() if follow.team == request.team]
        return list_reply(mine, sorted(self.rules.channels()))

    def _objection(self, request: RunRequest) -> Message | None:
        """Why this channel cannot be told; None when it can."""
        if request.channel in self.rules.channels():
            return SET_BY_SETTINGS
        if self.organisation.is_shared(request.channel):
            return SHARED_CHANNEL
        if not self.people.may_approve(request.asked_by, request.channel):
            return may_not_follow_reply(self.people.listed(request.channel))
        try:
            self.open_jobs().job_ids()
        except FirstfaultError as error:
            _LOG.warning("the jobs cannot be followed: %s", error.message)
            return no_folder_reply(error)
        return None

    def _added(self, request: RunRequest) -> list[Any]:
        """The id of the follow, and whether it is a new one."""
        follow, new = self.state.follows.add(request.team, request.channel, request.asked_by)
        if new:
            self._audit(request, "followed", follow)
        return [follow.id, new]

    def _of_channel(self, request: RunRequest) -> str:
        follow = self.state.follows.of_channel(request.team, request.channel)
        return follow.id if follow else ""

    def _ended(self, follow: Follow, request: RunRequest) -> bool:
        ended = self.state.follows.end(follow.id)
        if ended:
            self._audit(request, "unfollowed", follow)
        return ended

    def _audit(self, request: RunRequest, what: str, follow: Follow) -> None:
        details = {"channel": request.channel}
        self.state.audit.add(request.team, request.asked_by, what=what, target=follow.id, details=details)


# --- what is said ---------------------------------------------------------------------------------------------------

# What the settings name, nobody in Slack begins or ends.
SET_BY_SETTINGS = says(
    f"This channel is told of jobs that fail because whoever runs me has set `{SETTING}`: they can change it.",
    "The settings name this channel.",
)
_NOT_TOLD = "This channel is not told of jobs that fail."
NOT_FOLLOWED = says(f"{_NOT_TOLD} `{act.COMMAND} follow` begins that.", _NOT_TOLD)
NOT_FOLLOWED_ANY_MORE = says("This channel is not told of jobs that fail any more.")


def begun_message(follow: Follow, posts: int) -> Message:
    """The channel knows what will come, how much of it, and who wanted it."""
    body = (
        f"{person(follow.asked_by)} lets me follow the jobs folder: I diagnose here every job that fails from now on,"
        f" at most {counted(posts, 'post')} an hour, then a digest. `{act.COMMAND} unfollow` ends it."
    )
    return says(body, "I follow the jobs folder here.")


def may_not_follow_reply(listed: str) -> Message:
    """Not everybody may let a bot speak unasked; ``listed``: who may, in one text."""
    title = "You cannot change what this channel is told."
    if not listed:
        body = "Nobody may yet: the list of approvers is empty. Whoever runs Firstfault sets `FIRSTFAULT_APPROVERS`."
        return says(body, title)
    body = "Only people who may approve here decide whether this channel is told of jobs that fail, unasked."
    return says(body, title)


def no_folder_reply(error: FirstfaultError) -> Message:
    """There are no jobs to follow, or they do not answer."""
    failure = public_failure(whole_failure(error), error.audience)
    return Message("I cannot follow the jobs now.", section("I cannot follow the jobs now.", *failure_lines(failure)))


def followed_already_reply(follow: Follow) -> Message:
    """The reply to who asks for what the channel is told already."""
    body = f"This channel is told already, since {moment(follow.asked_at)}: {person(follow.asked_by)} asked for it."
    return says(body, "This channel is told already.")


def list_reply(follows: Sequence[Follow], by_setting: Sequence[str]) -> Message:
    """Who is told; ``by_setting``: ids of the channels that the settings name."""
    lines = [f"• {conversation(channel)}, by `{SETTING}`" for channel in by_setting]
    lines += [
        f"• {conversation(follow.channel)}, since {moment(follow.asked_at)}, {person(follow.asked_by)}"
        for follow in follows
    ]
    if not lines:
        body = f"No channel is told of jobs that fail. `{act.COMMAND} follow` begins that here."
        return says(body, "No channel is told of jobs that fail.")
    more = f"and {counted(len(lines) - MAX_LISTED, 'more channel')}" if len(lines) > MAX_LISTED else ""
    sentence = f"{counted(len(lines), 'channel')} told of jobs that fail"
    return Message(f"{sentence}.", section(f"*{sentence}*", *lines[:MAX_LISTED], more))
