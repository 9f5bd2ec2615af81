"""Modals: triggers, hashes, inputs, submissions, the stack of three, and the home page."""

from typing import Any

import pytest
from slack_bolt import Ack
from slack_sdk import WebClient

import slacksim
from slacksim import Slack, Timing
from slacksim.people_clicking import TROUBLE
from tests.support.slack_calls import Clock, refusal
from tests.support.toy_bot import ToyBot, plain

Json = dict[str, Any]


def trigger(slack: Slack) -> str:
    """A fresh trigger_id, as the last delivery carried it."""
    slack.user("alice").command("/diagnose nowhere")
    return str(slack.journal.deliveries("slash_commands")[-1].payload["trigger_id"])


def view(**more: Any) -> Json:
    return {"type": "modal", "title": plain("T"), "blocks": [{"type": "divider"}], **more}


def form(**more: Any) -> Json:
    element = {"type": "plain_text_input", "action_id": "v", "min_length": 3, "max_length": 5}
    block = {"type": "input", "block_id": "b", "label": plain("Cause"), "element": element}
    return view(submit=plain("Go"), callback_id="archive", blocks=[block], **more)


def answering(bot: ToyBot, **answer: Any) -> None:
    """Let the app answer the next submission of this callback id so."""

    def on_submit(ack: Ack) -> None:
        ack(**answer)

    bot.app.view("other")(on_submit)


def test_a_trigger_opens_one_modal(slack: Slack, bot: ToyBot) -> None:
    """A second use is refused, and so is one that was never given; a bad view does not use it up."""
    given = trigger(slack)

    bad = refusal(bot.client, "views.open", trigger_id=given, view=view(title=plain("x" * 25)))
    bot.client.views_open(trigger_id=given, view=view())

    assert bad["error"] == "invalid_arguments"
    assert refusal(bot.client, "views.open", trigger_id=given, view=view())["error"] == "exchanged_trigger_id"
    assert refusal(bot.client, "views.open", trigger_id="1.2", view=view())["error"] == "invalid_trigger_id"


def test_a_trigger_ends_after_three_seconds() -> None:
    """Who works before opening the modal is too late."""
    clock = Clock()
    with slacksim.start(clock=clock, timing=Timing(ack=0.2)) as slack:
        client = WebClient(slack.workspace.app.bot_token, base_url=slack.api_url)
        given = slack._server.team.triggers.issue("U0ALICE")
        clock.now += 3.1

        assert refusal(client, "views.open", trigger_id=given, view=view())["error"] == "expired_trigger_id"


def test_an_update_with_an_old_hash_is_refused(slack: Slack, bot: ToyBot) -> None:
    """Two updates with one hash: the second lost the race."""
    opened = bot.client.views_open(trigger_id=trigger(slack), view=view())["view"]
    known = {"view_id": opened["id"], "hash": opened["hash"]}

    bot.client.views_update(view=view(title=plain("Filled")), **known)

    assert refusal(bot.client, "views.update", view=view(), **known)["error"] == "hash_conflict"
    assert slack.user("alice").wait_for_modal("Filled").id == opened["id"]


def test_slack_checks_inputs_before_the_app_does(slack: Slack, bot: ToyBot) -> None:
    """Missing, short and long values never reach the app."""
    alice = slack.user("alice")
    bot.client.views_open(trigger_id=trigger(slack), view=form())

    errors = [alice.submit({"Cause": value}).errors["b"] for value in ("", "xy", "xyzxyz")]

    assert errors == [
        "Please complete this required field.",
        "Please enter at least 3 characters.",
        "Please enter at most 5 characters.",
    ]
    assert slack.journal.deliveries(what="view_submission") == ()


@pytest.mark.parametrize(
    ("answer", "title", "trouble"),
    [
        ({"response_action": "update", "view": view(title=plain("Next"))}, "Next", ""),
        ({"response_action": "clear"}, "T", TROUBLE),  # the bot never does
        ({}, None, ""),
        ({"response_action": "errors", "errors": {"b": "Wrong."}}, "T", ""),
        ({"response_action": "errors", "errors": {"unknown": "Wrong."}}, "T", TROUBLE),
        ({"response_action": "update", "view": view(title=plain("x" * 25))}, "T", TROUBLE),
    ],
)
def test_a_submission_is_answered(slack: Slack, bot: ToyBot, answer: Json, title: str | None, trouble: str) -> None:
    """update and errors: each does what Slack does, and a bad answer is trouble for the person."""
    answering(bot, **answer)
    bot.client.views_open(trigger_id=trigger(slack), view={**form(), "callback_id": "other"})

    slack.user("alice").submit({"b": "word"})

    shown = slack.user("alice").modal()
    assert (shown.title if shown else None) == title
    assert (shown.trouble if shown else "") == trouble


def test_a_submission_without_acknowledgement_keeps_the_modal(slack: Slack, bot: ToyBot) -> None:
    """The person sees that it did not work, and what was entered is still there."""
    answering(bot)
    bot.client.views_open(trigger_id=trigger(slack), view={**form(), "callback_id": "other"})
    slack.faults.delivery("interactive", "ack_lost")

    outcome = slack.user("alice").submit({"b": "word"})

    shown = slack.user("alice").modal()
    assert outcome.reason == "timeout"
    assert shown is not None
    assert shown.trouble == TROUBLE
    assert shown.values["b"]["v"]["value"] == "word"


def test_a_button_in_a_modal_carries_what_was_entered(slack: Slack, bot: ToyBot) -> None:
    """The app sees the state of the inputs."""
    button = {"type": "actions", "elements": [{"type": "button", "action_id": "add", "text": plain("Add")}]}
    content = form()
    bot.client.views_open(trigger_id=trigger(slack), view={**content, "blocks": [*content["blocks"], button]})

    slack.user("alice").click_in_modal("Add", values={"b": "word"})

    sent = slack.journal.deliveries(what="block_actions")[-1].payload
    assert sent["container"]["type"] == "view"
    assert sent["view"]["state"]["values"]["b"]["v"]["value"] == "word"


def test_the_home_page_is_published_for_a_person(slack: Slack, bot: ToyBot) -> None:
    """views.publish keeps the page, and opening it is an event."""
    bot.app.event("app_home_opened")(lambda: None)
    bot.client.views_publish(user_id="U0ALICE", view={"type": "home", "blocks": [{"type": "divider"}]})

    slack.user("alice").open_home()

    assert slack.snapshot().homes[0].user == "U0ALICE"
    assert refusal(bot.client, "views.publish", user_id="U0ALICE", view=view())["error"] == "invalid_arguments"


def test_two_people_have_a_modal_each(slack: Slack, bot: ToyBot) -> None:
    """What one submits does not touch the other's."""
    for name in ("U0ALICE", "U0BOB"):
        bot.client.views_open(trigger_id=slack._server.team.triggers.issue(name), view=view(title=plain(name)))

    slack.user("alice").cancel()

    other = slack.user("bob").modal()
    assert slack.user("alice").modal() is None
    assert other is not None
    assert other.title == "U0BOB"
