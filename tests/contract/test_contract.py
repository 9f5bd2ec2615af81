"""The same scenario in the local Slack and, when its tokens are given, in a real workspace: what we believe of Slack.

In a real workspace a person has to write what the test asks for in the channel: no API lets a program be one.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.app import Bot
from bot.settings import load_settings
from bot.slack.manifest import scopes
from tests.support.places import EXAMPLES
from tests.support.slack_room import Post, Room, local_room, real_room

pytestmark = pytest.mark.usefixtures("forked")  # children that start as a user's do are in tests/bot/test_demo.py
JOB = "f42"
FINISHED = "Run again"


@pytest.fixture(scope="module", params=[pytest.param("local", marks=pytest.mark.slow), "real"])
def room(request: pytest.FixtureRequest) -> Iterator[Room]:
    with (local_room if request.param == "local" else real_room)() as it:
        yield it


@pytest.fixture
def bot(room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bot]:
    """As ``firstfault serve`` starts it, over Socket Mode."""
    told = {
        "JOBS": EXAMPLES, "STATE": tmp_path / "state", "LIBRARY": tmp_path / "library", "CACHE": tmp_path / "cache",
        "SLACK_API_URL": room.api_url, "SLACK_BOT_TOKEN": room.bot.token, "SLACK_APP_TOKEN": room.app_token,
        "HEALTH": "",
    }  # fmt: skip
    for name, value in told.items():
        monkeypatch.setenv(f"FIRSTFAULT_{name}", str(value))
    running = Bot(load_settings(), version="0.1.0")
    try:
        running.start()
        yield running
    finally:
        running.stop(0)


def test_a_mention_is_answered_and_a_question_too(room: Room, bot: Bot) -> None:
    """One message, edited until it is done, found again by its metadata; report and reply below it, each once."""
    asked = room.tell(f"{room.mention} diagnose {JOB}")

    answer = room.until(lambda: _answer(room, asked), "the answer")
    report = room.until(lambda: _below(room, answer, lambda post: bool(post.get("files"))), "the report")
    room.said.append(answer["ts"])
    room.tell("which node failed first?", answer["ts"])
    reply = room.until(lambda: _below(room, answer, lambda post: "dgx-a03" in _text(post), after=report), "a reply")

    assert "dgx-a03" in answer["text"]
    assert answer["metadata"]["event_type"] == "firstfault_post"
    assert len([post for post in room.history(asked) if post.get("metadata")]) == 1
    assert {file["name"].rpartition(".")[2] for file in report["files"]} >= {"html"}
    assert reply["thread_ts"] == answer["ts"]
    assert bot.healthy()


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda bot, _: bot.chat_postMessage(channel="C0000000000", text="x"), "channel_not_found"),
        (lambda bot, room: bot.chat_update(channel=room.channel, ts="1.000000", text="x"), "message_not_found"),
        (lambda bot, room: _post(bot, room, ""), "invalid_blocks"),
        (lambda bot, room: _post(bot, room, "x" * 3001), "invalid_blocks"),
        (lambda bot, _: bot.users_info(user="U0000000000"), "user_not_found"),
        (lambda bot, room: WebClient("xoxb-0", base_url=bot.base_url).conversations_info(channel=room.channel),
         "invalid_auth"),
        (lambda bot, room: WebClient(room.app_token, base_url=bot.base_url).auth_test(), "not_allowed_token_type"),
    ],
    ids=["no channel", "no message", "empty text", "long text", "no user", "no token", "app token"],
)  # fmt: skip
def test_slack_says_no_in_the_words_that_we_know(room: Room, call: Callable[[WebClient, Room], Any], word: str) -> None:
    """The errors that the bot tells apart."""
    with pytest.raises(SlackApiError) as refused:
        call(room.bot, room)
    assert refused.value.response["error"] == word


def test_the_token_brings_its_scopes(room: Room) -> None:
    """``firstfault check`` reads them from a header of any answer."""
    granted = {name.lower(): value for name, value in room.bot.auth_test().headers.items()}["x-oauth-scopes"]
    assert set(scopes()) <= {scope.strip() for scope in granted.split(",")}


def _answer(room: Room, asked: str) -> Post | None:
    found = [post for post in room.history(asked) if post.get("bot_id") and FINISHED in str(post.get("blocks"))]
    return found[0] if found else None


def _below(room: Room, answer: Post, fits: Callable[[Post], bool], *, after: Post | None = None) -> Post | None:
    since = str(after["ts"]) if after else ""
    posts = [post for post in room.thread(answer["ts"])[1:] if post.get("bot_id") or post.get("files")]
    return next((post for post in posts if fits(post) and str(post["ts"]) > since), None)


def _text(post: Post) -> str:
    return f"{post.get('text')} {post.get('blocks')}"


def _post(bot: WebClient, room: Room, text: str) -> None:
    section = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
    bot.chat_postMessage(channel=room.channel, text="x", blocks=[section])
