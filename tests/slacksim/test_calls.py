"""Who may call the Web API and how often: tokens, scopes, rate limits, bodies; and a workspace of one's own."""

import dataclasses

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

import slacksim
from slacksim import App, Limits, Slack, Timing, Workspace
from tests.support.plain_http import ask
from tests.support.slack_calls import ALERTS, Clock, post, refusal

OPEN = Limits(enforced=False)


def test_posting_too_fast_is_limited() -> None:
    """About one message a second and channel after a short burst; other channels and later seconds are free."""
    clock = Clock()
    with slacksim.start(limits=Limits(post_burst=3), clock=clock) as slack:
        client = WebClient(slack.workspace.app.bot_token, base_url=slack.api_url)
        for _ in range(3):
            post(client)

        with pytest.raises(SlackApiError) as limited:
            post(client)
        post(client, channel="U0BOB")
        clock.now += 1
        post(client)

    assert limited.value.response["error"] == "ratelimited"
    assert limited.value.response.status_code == 429
    assert limited.value.response.headers["Retry-After"] == "1"


def test_other_methods_have_their_own_limit() -> None:
    """chat.update stops at 50 a minute, conversations.replies where the workspace says."""
    clock = Clock()
    with slacksim.start(limits=Limits(per_minute={"conversations.replies": 1}), clock=clock) as slack:
        client = WebClient(slack.workspace.app.bot_token, base_url=slack.api_url)
        ts = post(client)
        for _ in range(50):
            client.chat_update(channel=ALERTS, ts=ts, text="x")
        client.conversations_replies(channel=ALERTS, ts=ts)

        assert refusal(client, "chat.update", channel=ALERTS, ts=ts, text="x")["error"] == "ratelimited"
        with pytest.raises(SlackApiError) as limited:
            client.conversations_replies(channel=ALERTS, ts=ts)

    assert limited.value.response.headers["Retry-After"] == "60"


def test_the_same_story_has_the_same_ids() -> None:
    """With a clock of its own a run can be compared with another, timestamp by timestamp."""

    def story() -> list[str]:
        with slacksim.start(limits=OPEN, timing=Timing(), clock=Clock()) as slack:
            client = WebClient(slack.workspace.app.bot_token, base_url=slack.api_url)
            post(client, blocks=[{"type": "divider"}])
            slack.user("alice").say("hello")
            return [f"{m.ts} {m.blocks}" for m in slack.snapshot().everything]

    assert story() == story()


def test_a_workspace_can_be_another_one() -> None:
    """People, channels and scopes are values, so a test brings its own."""
    workspace = dataclasses.replace(Workspace(), name="Other", groups=())
    with slacksim.start(workspace, limits=OPEN) as slack:
        client = WebClient(slack.workspace.app.bot_token, base_url=slack.api_url)

        assert client.auth_test()["team"] == "Other"
        assert client.usergroups_list()["usergroups"] == []


def test_a_missing_scope_is_named() -> None:
    """The app learns which scope it lacks, and which it has."""
    app = App(scopes=("chat:write", "im:history"))
    with slacksim.start(Workspace(app=app), limits=OPEN) as slack:
        client = WebClient(app.bot_token, base_url=slack.api_url)

        lacking = refusal(client, "users.info", user="U0BOB")
        lacking_for_this_channel = refusal(client, "conversations.replies", channel=ALERTS, ts=post(client))

    assert (lacking["error"], lacking["needed"]) == ("missing_scope", "users:read")
    assert lacking["provided"] == "chat:write,im:history"
    assert lacking_for_this_channel["needed"] == "channels:history"


@pytest.mark.parametrize(
    ("token", "method", "error"),
    [
        (None, "auth.test", "not_authed"),
        ("xoxb-other", "auth.test", "invalid_auth"),
        (App().bot_token, "apps.connections.open", "not_allowed_token_type"),
        (App().app_token, "chat.postMessage", "not_allowed_token_type"),
        (App().bot_token, "chat.postmessage", "unknown_method"),
    ],
)
def test_the_token_decides(slack: Slack, token: str | None, method: str, error: str) -> None:
    """No method works without the token that it needs."""
    assert refusal(WebClient(token, base_url=slack.api_url), method)["error"] == error


@pytest.mark.parametrize(
    ("body", "error"), [(b"{", "invalid_json"), (b"[1]", "json_not_object"), (b'{"view": "{"}', "invalid_view_format")]
)
def test_a_body_that_is_no_call_is_refused(slack: Slack, body: bytes, error: str) -> None:
    """Broken JSON is an answer of the API, not of the server."""
    token = slack.workspace.app.bot_token

    assert ask(f"{slack.api_url}views.open", body, Authorization=f"Bearer {token}").json["error"] == error


def test_arguments_may_come_as_a_form_or_in_the_address(slack: Slack) -> None:
    """As in Slack, with the token beside them; a token in JSON does not count."""
    token = slack.workspace.app.bot_token
    form = f"token={token}&channel={ALERTS}&text=hello&blocks=%5B%5D".encode()

    posted = ask(f"{slack.api_url}chat.postMessage", form, Content_Type="application/x-www-form-urlencoded")
    read = ask(f"{slack.api_url}conversations.history?token={token}&channel={ALERTS}&oldest=1")

    assert posted.json["message"]["text"] == "hello"
    assert [message["text"] for message in read.json["messages"]] == ["hello"]
    assert ask(f"{slack.api_url}auth.test", {"token": token}).json["error"] == "not_authed"
