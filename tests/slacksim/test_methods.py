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
        ("chat.delete", {"channel": ALERTS, "ts": "1.1"}, "message_not_found"),
        ("chat.appendStream", {"channel": ALERTS, "ts": "1.1"}, "message_not_found"),
        ("chat.startStream", {"channel": ALERTS}, "invalid_thread_ts"),
        ("conversations.history", {"channel": GENERAL}, "not_in_channel"),
        ("conversations.open", {"users": "U0NOBODY"}, "user_not_found"),
        ("users.info", {"user": "U0NOBODY"}, "user_not_found"),
        ("users.lookupByEmail", {"email": "nobody@example.com"}, "users_not_found"),
        ("usergroups.users.list", {"usergroup": "S0NONE"}, "no_such_subteam"),
        ("views.open", {"view": {"type": "home"}}, "invalid_arguments"),
        ("views.update", {"view_id": "V0", "view": {}}, "not_found"),
        ("files.completeUploadExternal", {"files": [{"id": "F0"}]}, "file_not_found"),
        ("assistant.threads.setStatus", {"channel_id": ALERTS, "status": "x"}, "invalid_arguments"),
        ("conversations.list", {"cursor": "nonsense"}, "invalid_cursor"),
        ("api.test", {"error": "my_error"}, "my_error"),
        ("conversations.join", {"channel": "U0BOB"}, "method_not_supported_for_channel_type"),
        ("conversations.open", {}, "not_enough_users"),
        ("conversations.invite", {"channel": ALERTS, "users": "U0NOBODY"}, "user_not_found"),
        ("chat.getPermalink", {"channel": ALERTS, "message_ts": "1.1"}, "message_not_found"),
        ("chat.update", {"channel": ALERTS, "ts": "1.1"}, "message_not_found"),
        ("reactions.add", {"channel": ALERTS, "timestamp": "1.1", "name": "eyes"}, "message_not_found"),
        ("files.getUploadURLExternal", {"filename": "a.txt"}, "invalid_arguments"),
        ("files.getUploadURLExternal", {"filename": "a.txt", "length": "many"}, "invalid_arguments"),
        ("files.completeUploadExternal", {"files": []}, "invalid_arguments"),
        ("files.info", {"file": "F0"}, "file_not_found"),
        ("bots.info", {"bot": "B0NONE"}, "bot_not_found"),
        ("assistant.threads.setTitle", {"channel_id": ALERTS}, "invalid_arguments"),
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


def test_markdown_text_stands_alone(slack: Slack, client: WebClient) -> None:
    """Markdown becomes a block of its own, and is refused beside text, or when it is too long."""
    ts = client.chat_postMessage(channel=ALERTS, markdown_text="**one**")["ts"]
    first = slack.snapshot().message(ALERTS, ts)
    client.chat_update(channel=ALERTS, ts=ts, markdown_text="**two**")
    both = refusal(client, "chat.postMessage", channel=ALERTS, text="x", markdown_text="y")
    long = refusal(client, "chat.postMessage", channel=ALERTS, markdown_text="x" * 12_001)

    assert (first.blocks[0]["type"], first.blocks[0]["text"]) == ("markdown", "**one**")
    assert slack.snapshot().message(ALERTS, ts).blocks[0]["text"] == "**two**"
    assert (both["error"], long["error"]) == ("markdown_text_conflict", "msg_too_long")


def test_an_update_is_shorter_than_a_message(slack: Slack, client: WebClient) -> None:
    """4,000 characters may be updated, 4,001 not; and only own messages."""
    ts = post(client)
    of_alice = slack.user("alice").say("hello")

    client.chat_update(channel=ALERTS, ts=ts, text="x" * 4000)

    assert refusal(client, "chat.update", channel=ALERTS, ts=ts, text="x" * 4001)["error"] == "msg_too_long"
    assert refusal(client, "chat.update", channel=ALERTS, ts=of_alice.ts, text="x")["error"] == "cant_update_message"
    assert refusal(client, "chat.delete", channel=ALERTS, ts=of_alice.ts)["error"] == "cant_delete_message"


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
    channels = client.conversations_list()["channels"]

    assert [(c["name"], c["is_member"]) for c in channels] == [("training-alerts", True), ("general", False)]
    assert client.conversations_info(channel="#general")["channel"]["id"] == GENERAL
    assert client.users_lookupByEmail(email="bob@example.com")["user"]["id"] == "U0BOB"
    assert client.users_info(user="U0ALICE")["user"]["profile"]["email"] == "alice@example.com"
    assert len(client.users_list()["members"]) == 4
    assert client.usergroups_list(include_users=True)["usergroups"][0]["users"] == ["U0ALICE"]
    assert client.usergroups_users_list(usergroup="S0ONCALL")["users"] == ["U0ALICE"]
    assert client.bots_info()["bot"]["name"] == "Firstfault"
    assert client.team_info()["team"]["name"] == "Firstfault demo"
    assert client.api_test(foo="bar")["args"]["foo"] == "bar"


def test_the_app_can_join_and_invite(client: WebClient) -> None:
    """After joining it may post, and it can open direct messages."""
    client.conversations_join(channel=GENERAL)
    direct = client.conversations_open(users="U0BOB")["channel"]["id"]

    post(client, channel=GENERAL)
    post(client, channel=direct)

    assert "U0FIRSTFAULT" in client.conversations_members(channel=GENERAL)["members"]
    assert refusal(client, "conversations.invite", channel=GENERAL, users="U0BOB")["error"] == "already_in_channel"
    assert client.chat_postMessage(channel="U0BOB", text="x")["channel"] == direct


def test_a_file_is_uploaded_in_three_steps(slack: Slack, client: WebClient) -> None:
    """files_upload_v2 works, the file is in the thread, and only the app's token reads it back."""
    parent = post(client)

    file = client.files_upload_v2(channel=ALERTS, thread_ts=parent, file=PIXEL, filename="plot.png", title="Plot")[
        "file"
    ]
    shown = slack.snapshot().thread(slack.snapshot().message(ALERTS, parent))[0]
    token = slack.workspace.app.bot_token

    assert shown.files == (file["id"],)
    assert client.files_info(file=file["id"])["file"]["mimetype"] == "image/png"
    assert ask(file["url_private"], Authorization=f"Bearer {token}").body == PIXEL
    assert ask(file["url_private"]).status == 403


def test_a_file_of_another_length_is_refused(client: WebClient) -> None:
    """The announced length must be the sent one."""
    upload = client.files_getUploadURLExternal(filename="a.txt", length=5)
    ask(upload["upload_url"], b"four", Content_Type="application/octet-stream")

    refused = refusal(client, "files.completeUploadExternal", files=[{"id": upload["file_id"]}], channel_id=ALERTS)

    assert refused["error"] == "file_update_failed"


def test_reactions_are_put_once(slack: Slack, client: WebClient) -> None:
    """A second time is refused, and taking away works."""
    ts = post(client)
    client.reactions_add(channel=ALERTS, timestamp=ts, name="eyes")

    twice = refusal(client, "reactions.add", channel=ALERTS, timestamp=ts, name="eyes")
    put = slack.snapshot().message(ALERTS, ts).reactions
    client.reactions_remove(channel=ALERTS, timestamp=ts, name="eyes")

    assert twice["error"] == "already_reacted"
    assert [(reaction.name, reaction.users) for reaction in put] == [("eyes", ("U0FIRSTFAULT",))]
    assert slack.snapshot().message(ALERTS, ts).reactions == ()


def test_a_status_ends_with_the_next_message(slack: Slack, client: WebClient) -> None:
    """What the app is doing is seen until it says something in the thread."""
    parent = post(client)
    client.assistant_threads_setStatus(channel_id=ALERTS, thread_ts=parent, status="is reading logs")
    during = slack.snapshot().statuses
    post(client, thread_ts=parent)

    assert [status.text for status in during] == ["is reading logs"]
    assert slack.snapshot().statuses == ()


def test_a_stream_grows_until_it_is_stopped(slack: Slack, client: WebClient) -> None:
    """Text and steps are added; in between it cannot be updated, afterwards it cannot grow."""
    parent = post(client)
    who: dict[str, Any] = {"recipient_user_id": "U0BOB", "recipient_team_id": "T0FIRSTFAULT"}
    step = {"type": "task_update", "id": "1", "title": "Search", "status": "in_progress"}
    ts = client.chat_startStream(channel=ALERTS, thread_ts=parent, markdown_text="one ", **who)["ts"]
    client.chat_appendStream(channel=ALERTS, ts=ts, markdown_text="two", chunks=[step])
    early = refusal(client, "chat.update", channel=ALERTS, ts=ts, text="x")
    client.chat_stopStream(channel=ALERTS, ts=ts, chunks=[{**step, "status": "complete"}])

    grown = slack.snapshot().message(ALERTS, ts)

    assert early["error"] == "streaming_state_conflict"
    assert (grown.text, grown.streaming) == ("one two", False)
    assert [task["status"] for task in grown.tasks] == ["complete"]
    again = client.chat_startStream(
        channel=ALERTS, thread_ts=parent, chunks=[{"type": "plan_update", "title": "Plan"}], **who
    )["ts"]
    client.chat_appendStream(channel=ALERTS, ts=again, chunks=[{"type": "blocks", "blocks": [{"type": "divider"}]}])
    wrong = refusal(client, "chat.appendStream", channel=ALERTS, ts=again, chunks=[{"type": "surprise"}])
    assert wrong["error"] == "invalid_chunks"
    assert [block["type"] for block in slack.snapshot().message(ALERTS, again).blocks] == ["divider"]
    late = refusal(client, "chat.appendStream", channel=ALERTS, ts=ts, markdown_text="x")
    assert late["error"] == "message_not_in_streaming_state"


def test_an_own_message_can_be_deleted(slack: Slack, client: WebClient) -> None:
    """After it nothing is left to update."""
    ts = post(client)
    empty = refusal(client, "chat.update", channel=ALERTS, ts=ts, text="", blocks=[])
    client.chat_delete(channel=ALERTS, ts=ts)

    assert empty["error"] == "no_text"
    assert slack.snapshot().messages("#training-alerts") == ()
    assert refusal(client, "chat.update", channel=ALERTS, ts=ts, text="x")["error"] == "message_not_found"


def test_an_assistant_thread_takes_title_and_prompts(client: WebClient) -> None:
    """Both are checked and taken."""
    prompts: list[dict[str, str]] = [{"title": "Why?", "message": "Why did f02 fail?"}]

    assert client.assistant_threads_setTitle(channel_id=ALERTS, thread_ts="1.1", title="f02")["ok"]
    assert client.assistant_threads_setSuggestedPrompts(channel_id=ALERTS, thread_ts="1.1", prompts=prompts)["ok"]


def test_a_stream_in_a_channel_names_its_reader(client: WebClient) -> None:
    """Without the recipient Slack refuses the stream."""
    refused = refusal(client, "chat.startStream", channel=ALERTS, thread_ts=post(client))

    assert refused["error"] == "missing_recipient_user_id"
