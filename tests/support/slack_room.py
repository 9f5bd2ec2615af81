"""A channel with the bot in it, in the local Slack or in a real workspace: the same words for both.

What is read is read through the Web API with the bot's token. Only who writes differs. In a real workspace that is a
person, whom the test asks in the channel: what a token of a user posts carries a bot_id, and the bot ignores bots.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

import slacksim
from benchmarks.support.patience import PATIENCE
from slacksim import Limits, Timing

NAMES = ("BOT_TOKEN", "APP_TOKEN", "CHANNEL")
# read when the tests are collected: no test sees a token of the person who runs them
REAL = {name: os.environ.get(f"REAL_SLACK_{name}", "") for name in NAMES}
API = "https://slack.com/api/"

Post = Mapping[str, Any]


@dataclass(frozen=True)
class Room:
    """say: text and thread to the ts of a message by a person. pause: seconds between two looks."""

    bot: WebClient
    api_url: str
    app_token: str
    channel: str
    say: Callable[[str, str], str]
    patience: float
    pause: float
    said: list[str] = field(default_factory=list)

    @property
    def mention(self) -> str:
        return f"<@{self.bot.auth_test()['user_id']}>"

    def tell(self, text: str, thread: str = "") -> str:
        """A person says something; its ts."""
        ts = self.say(text, thread)
        self.said.append(ts)
        return ts

    def thread(self, ts: str) -> list[Post]:
        """The message and what stands below it."""
        answer = self.bot.conversations_replies(channel=self.channel, ts=ts, limit=100, include_all_metadata=True)
        return list(answer["messages"])

    def history(self, since: str) -> list[Post]:
        """What stands in the channel since then."""
        answer = self.bot.conversations_history(
            channel=self.channel, oldest=since, limit=100, include_all_metadata=True
        )
        return list(answer["messages"])

    def until(self, find: Callable[[], Post | None], what: str) -> Post:
        """The message, once it is there."""
        end, pause = time.monotonic() + self.patience, threading.Event()
        while (found := find()) is None:
            assert time.monotonic() < end, f"not seen: {what}"
            pause.wait(self.pause)
        return found


@contextmanager
def local_room() -> Iterator[Room]:
    with slacksim.start(limits=Limits(enforced=False), timing=Timing(ack=PATIENCE)) as slack:
        app, alice, channel = slack.workspace.app, slack.user("alice"), slack.workspace.channels[0].id

        def say(text: str, thread: str) -> str:
            if thread:
                return alice.reply(slack.snapshot().message(channel, thread), text).ts
            return alice.say(text, channel).ts

        bot = WebClient(app.bot_token, base_url=slack.api_url)
        yield Room(bot, slack.api_url, app.app_token, channel, say, PATIENCE, 0.2)


@contextmanager
def real_room() -> Iterator[Room]:
    """At the end nothing that the bot said is left in the channel."""
    if missing := [f"REAL_SLACK_{name}" for name, value in REAL.items() if not value]:
        pytest.skip(f"no real workspace: {', '.join(missing)} not set (docs/development.md, Also)")
    bot, channel = WebClient(REAL["BOT_TOKEN"]), REAL["CHANNEL"]

    def say(text: str, thread: str) -> str:
        wish = bot.chat_postMessage(
            channel=channel, thread_ts=thread or None, text=f"Contract test: please write {text}"
        )
        room.said.append(str(wish["ts"]))

        def written() -> Post | None:
            posts = room.thread(thread) if thread else room.history(str(wish["ts"]))
            mine = [post for post in posts if not post.get("bot_id") and post["ts"] > wish["ts"]]
            return next((post for post in mine if text in post["text"]), None)

        return str(room.until(written, f"{text!r} by a person")["ts"])

    room = Room(bot, API, REAL["APP_TOKEN"], channel, say, 180.0, 2.0)
    try:
        yield room
    finally:
        for ts in room.said:
            _clean(bot, channel, ts)


def _clean(bot: WebClient, channel: str, ts: str) -> None:
    with suppress(SlackApiError):
        for message in reversed(bot.conversations_replies(channel=channel, ts=ts, limit=100)["messages"]):
            with suppress(SlackApiError):  # people's own messages are theirs
                bot.chat_delete(channel=channel, ts=message["ts"])
