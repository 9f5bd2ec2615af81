"""The Web API, called by the real slack_sdk."""

from typing import Any

import pytest
from slack_sdk import WebClient

from slacksim import Slack
from tests.support.plain_http import ask
from tests.support.slack_calls import ALERTS, GENERAL, post, refusal
from tests.support.toy_bot import PIXEL, answer


def test_a_client_learns_who_it_is(client: WebClient) -> None:
    """auth.test answers although slack_sdk sends an empty body as JSON."""
    assert client.auth_test()["user_id"] == "U0FIRSTFAULT"


@pytest.mark.parametrize(
    ("method", "args", "error"),
    [
        ("chat.postMessage", {"channel": GENERAL, "text": "x"}, "not_in_channel"),
        ("chat.postMessage", {"channel": "C0NONE", "text": "x"}, "channel_not_found"),
        ("chat.postMessage", {"channel": ALERTS, "text": ""}, "no_text"),
        ("chat.postMessage", {"channel": ALERTS, "text": "x" * 40_001}, "msg_too_long"),
        ("chat.postMessage", {"channel": ALERTS, "text": "x", "thread_ts": "1.1"}, "thread_not_found"),
        ("chat.postMessage", {"channel": ALERTS, "blocks": "no json"}, "invalid_blocks_format"),
        ("chat.postMessage", {"text": "x"}, "invalid_arguments"),
        ("chat.postEphemeral", {"channel": ALERTS, "text": "x", "user": "U0NOBODY"}, "user_not_in_channel"),
        ("chat.update", {"channel": ALERTS, "ts": "1.1", "text": "x"}, "message_not_found"),
        ("conversations.history", {"channel": GENERAL}, "not_in_channel"),
        ("users.info", {"user": "U0NOBODY"}, "user_not_found"),
        ("users.lookupByEmail", {"email": "nobody@example.com"}, "users_not_found"),
        ("usergroups.users.list", {"usergroup": "S0NONE"}, "no_such_subteam"),
        ("conversations.history", {"channel": ALERTS, "cursor": "nonsense"}, "invalid_cursor"),
        ("views.open", {"view": {"type": "home"}}, "invalid_arguments"),
        ("views.update", {"view_id": "V0", "view": {}}, "not_found"),
        ("files.completeUploadExternal", {"files": [{"id": "F0"}]}, "file_not_found"),
        ("assistant.threads.setStatus", {"channel_id": ALERTS, "status": "x"}, "invalid_arguments"),
        ("chat.getPermalink", {"channel": ALERTS, "message_ts": "1.1"}, "message_not_found"),
        ("chat.update", {"channel": ALERTS, "ts": "1.1"}, "message_not_found"),
        ("files.getUploadURLExternal", {"filename": "a.txt"}, "invalid_arguments"),
        ("files.getUploadURLExternal", {"filename": "a.txt", "length": "many"}, "invalid_arguments"),
        ("files.completeUploadExternal", {"files": []}, "invalid_arguments"),
        ("assistant.threads.setSuggestedPrompts", {"channel_id": ALERTS, "prompts": [1]}, "invalid_arguments"),
    ],
)
def test_wrong_calls_are_refused_as_slack_refuses_them(
    client: WebClient, method: str, args: dict[str, Any], error: str
) -> None:
    """Each mistake has the error code that the bot will meet in Slack."""
    assert refusal(client, method, **args)["error"] == error


def test_bad_blocks_are_refused_with_a_pointer(client: WebClient) -> None:
    """One empty string makes the whole message invalid, and the answer says which."""
    blocks = [*answer("f02", "U0ALICE"), {"type": "section", "text": {"type": "mrkdwn", "text": ""}}]

    refused = refusal(client, "chat.postMessage", channel=ALERTS, text="x", blocks=blocks)

    place = "must be more than 0 characters [json-pointer:/blocks/9/text/text]"
    assert refused["error"] == "invalid_blocks"
    assert refused["response_metadata"]["messages"] == [f"[ERROR] {place}"]


def test_blocks_that_are_too_much_together_are_refused(client: WebClient) -> None:
    """Five full sections are each fine, and too long together."""
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3000}}] * 5

    assert refusal(client, "chat.postMessage", channel=ALERTS, blocks=blocks)["error"] == "msg_blocks_too_long"


def test_an_update_with_text_alone_deletes_the_blocks(slack: Slack, client: WebClient) -> None:
    """As in Slack: whoever updates must send the blocks again."""
    ts = post(client, blocks=[{"type": "divider"}])

    client.chat_update(channel=ALERTS, ts=ts, text="changed")

    assert slack.snapshot().message(ALERTS, ts).blocks == ()


def test_an_update_is_shorter_than_a_message(slack: Slack, client: WebClient) -> None:
    """4,000 characters may be updated, 4,001 not; and only own messages."""
    ts = post(client)
    of_alice = slack.user("alice").say("hello")

    client.chat_update(channel=ALERTS, ts=ts, text="x" * 4000)

    assert refusal(client, "chat.update", channel=ALERTS, ts=ts, text="x" * 4001)["error"] == "msg_too_long"
    assert refusal(client, "chat.update", channel=ALERTS, ts=of_alice.ts, text="x")["error"] == "cant_update_message"


def test_a_thread_counts_its_replies(slack: Slack, client: WebClient) -> None:
    """Parent, replies and permalinks fit together; a reply to a reply goes to the thread."""
    parent = post(client, text="parent")
    first = post(client, text="first", thread_ts=parent)
    post(client, text="second", thread_ts=first)

    read = client.conversations_replies(channel=ALERTS, ts=parent)["messages"]
    top = client.conversations_history(channel=ALERTS)["messages"]
    link = client.chat_getPermalink(channel=ALERTS, message_ts=first)["permalink"]

    assert [message["text"] for message in read] == ["parent", "first", "second"]
    assert read[0]["reply_count"] == 2
    assert {message["parent_user_id"] for message in read[1:]} == {slack.workspace.app.bot_user}
    assert [message["text"] for message in top] == ["parent"]
    assert link.endswith(f"/p{first.replace('.', '')}?thread_ts={parent}&cid={ALERTS}")


def test_lists_come_in_pages(client: WebClient) -> None:
    """Cursors lead through all of it, once."""
    for number in range(5):
        post(client, text=str(number))

    pages = [page["messages"] for page in client.conversations_history(channel=ALERTS, limit=2)]

    assert [[message["text"] for message in page] for page in pages] == [["4", "3"], ["2", "1"], ["0"]]


def test_channels_and_people_can_be_looked_up(client: WebClient) -> None:
    """Names, e-mails and groups are there, for a list of approvers."""
    general = client.conversations_info(channel="#general")["channel"]

    assert (general["id"], general["is_member"]) == (GENERAL, False)
    assert client.users_lookupByEmail(email="bob@example.com")["user"]["id"] == "U0BOB"
    assert client.users_info(user="U0ALICE")["user"]["profile"]["email"] == "alice@example.com"
    assert client.usergroups_list(include_users=True)["usergroups"][0]["users"] == ["U0ALICE"]
    assert client.usergroups_users_list(usergroup="S0ONCALL")["users"] == ["U0ALICE"]


def test_a_file_is_uploaded_in_three_steps(slack: Slack, client: WebClient) -> None:
    """files_upload_v2 works, the file is in the thread, and only the app's token reads it back."""
    parent = post(client)

    file = client.files_upload_v2(channel=ALERTS, thread_ts=parent, file=PIXEL, filename="plot.png", title="Plot")[
        "file"
    ]
    shown = slack.snapshot().thread(slack.snapshot().message(ALERTS, parent))[0]
    token = slack.workspace.app.bot_token

    assert shown.files == (file["id"],)
    assert file["mimetype"] == "image/png"
    assert ask(file["url_private"], Authorization=f"Bearer {token}").body == PIXEL
    assert ask(file["url_private"]).status == 403


def test_a_file_of_another_length_is_refused(client: WebClient) -> None:
    """The announced length must be the sent one."""
    upload = client.files_getUploadURLExternal(filename="a.txt", length=5)
    ask(upload["upload_url"], b"four", Content_Type="application/octet-stream")

    refused = refusal(client, "files.completeUploadExternal", files=[{"id": upload["file_id"]}], channel_id=ALERTS)

    assert refused["error"] == "file_update_failed"


def test_a_status_ends_with_the_next_message(slack: Slack, client: WebClient) -> None:
    """What the app is doing is seen until it says something in the thread."""
    parent = post(client)
    client.assistant_threads_setStatus(channel_id=ALERTS, thread_ts=parent, status="is reading logs")
    during = slack.snapshot().statuses
    post(client, thread_ts=parent)

    assert [status.text for status in during] == ["is reading logs"]
    assert slack.snapshot().statuses == ()


def test_an_assistant_thread_takes_prompts(client: WebClient) -> None:
    """They are checked and taken."""
    prompts: list[dict[str, str]] = [{"title": "Why?", "message": "Why did f02 fail?"}]

    assert client.assistant_threads_setSuggestedPrompts(channel_id=ALERTS, thread_ts="1.1", prompts=prompts)["ok"]
