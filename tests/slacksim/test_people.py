"""What people do and see: commands, shortcuts, buttons, modals, ephemeral messages, response URLs."""

import json
from typing import Any

import pytest
from slack_bolt import App
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.webhook import WebhookClient

import slacksim
from slacksim import LocalSlackError, NotSeen, Slack
from tests.support import toy_bot
from tests.support.slack_calls import Clock, post, refusal
from tests.support.toy_bot import ToyBot, plain

ALERTS = "#training-alerts"
Json = dict[str, Any]
OPTIONS = [{"text": plain("A"), "value": "a"}, {"text": plain("B"), "value": "b"}]


def response_url(slack: Slack) -> str:
    slack.user("alice").command("/diagnose nowhere")
    return str(slack.journal.deliveries("slash_commands")[-1].payload["response_url"])


@pytest.mark.usefixtures("bot")
def test_a_command_is_answered_to_the_person_alone(slack: Slack) -> None:
    """An empty command gets the usage, and nobody else sees it."""
    slack.user("alice").command("/diagnose")

    now = slack.snapshot()
    assert [m.text for m in now.ephemerals("alice")] == ["Usage: `/diagnose JOB`. Failed last: `f02`, `f07`."]
    assert now.ephemerals("bob") == ()
    assert now.messages(ALERTS) == ()


def test_a_command_of_nobody_is_told(slack: Slack) -> None:
    """An unknown command reaches no app."""
    outcome = slack.user("alice").command("/deploy now")

    assert outcome.reason == "unknown_command"
    assert slack.user("alice").wait_for_ephemeral("not a valid command").user == "USLACKBOT"
    assert slack.journal.deliveries() == ()


def test_a_command_works_where_the_app_is_not(slack: Slack, bot: ToyBot) -> None:
    """The command arrives, posting fails with not_in_channel, and the response URL still works."""
    alice = slack.user("alice")
    alice.command("/diagnose nowhere", "#general")
    sent = slack.journal.deliveries("slash_commands")[-1].payload

    refused = refusal(bot.client, "chat.postMessage", channel=sent["channel_id"], text="x")
    WebhookClient(sent["response_url"]).send(text="Invite me: /invite @firstfault")

    assert refused["error"] == "not_in_channel"
    assert alice.wait_for_ephemeral("Invite me").channel == "C0GENERAL"


@pytest.mark.usefixtures("bot")
def test_a_response_url_has_five_uses(slack: Slack) -> None:
    """The sixth use is refused."""
    hook = WebhookClient(response_url(slack))

    answers = [hook.send(text=str(number)) for number in range(6)]

    assert [answer.status_code for answer in answers] == [200] * 5 + [404]
    assert json.loads(answers[-1].body)["error"] == "used_url"
    assert [m.text for m in slack.snapshot().ephemerals("alice")] == ["0", "1", "2", "3", "4"]


def test_a_response_url_ends_after_half_an_hour() -> None:
    """After 30 minutes it is refused."""
    clock = Clock()
    with slacksim.start(clock=clock) as slack:
        url = slack._server.team.response_urls.issue("C0ALERTS", "U0ALICE")
        clock.now += 1799
        just = WebhookClient(url).send(text="just in time")
        clock.now += 2
        late = WebhookClient(url).send(text="late")

    assert just.status_code == 200
    assert (late.status_code, json.loads(late.body)["error"]) == (404, "expired_url")


def test_a_response_url_can_speak_to_all_replace_and_delete(slack: Slack, bot: ToyBot) -> None:
    """in_channel, replace_original and delete_original do what they say; bad blocks are refused."""
    WebhookClient(response_url(slack)).send(text="for all", response_type="in_channel")
    posted = bot.client.chat_postMessage(channel=ALERTS, text="x", blocks=toy_bot.answer("f02", "U0ALICE"))
    message = slack.snapshot().message("C0ALERTS", posted["ts"])
    slack.user("bob").click(message, "Reject")
    told = slack.user("bob").wait_for_ephemeral("Rejected")
    hook = WebhookClient(slack.journal.deliveries(what="block_actions")[-1].payload["response_url"])
    bad = hook.send(text="x", blocks=[{"type": "section"}])
    hook.send(text="replaced", replace_original=True)
    replaced = slack.snapshot().message("C0ALERTS", message.ts)
    hook.send(delete_original=True)

    assert told.only_for == "U0BOB"
    assert slack.snapshot().find(ALERTS, "for all") is not None
    assert (bad.status_code, json.loads(bad.body)["error"]) == (400, "invalid_blocks")
    assert (replaced.text, replaced.blocks) == ("replaced", ())
    with pytest.raises(LocalSlackError):
        slack.snapshot().message("C0ALERTS", message.ts)


@pytest.mark.usefixtures("bot")
def test_a_shortcut_carries_the_message(slack: Slack) -> None:
    """The app gets the text of the message and answers to the person alone."""
    alice = slack.user("alice")
    message = slack.user("bob").say("f02 & f07 failed")

    outcome = alice.shortcut("diagnose_message", message)

    assert outcome.acknowledged
    with pytest.raises(LocalSlackError, match="There are diagnose_message"):
        alice.shortcut("ask", message)
    assert alice.wait_for_ephemeral("No job id in: f02 &amp; f07 failed").only_for == alice.id


@pytest.mark.parametrize(
    ("element", "value", "expected"),
    [
        ({"type": "users_select"}, "U0BOB", {"selected_user": "U0BOB"}),
        ({"type": "datepicker"}, "2026-11-21", {"selected_date": "2026-11-21"}),
        ({"type": "checkboxes", "options": OPTIONS}, ["b"], {"selected_options": [OPTIONS[1]]}),
        ({"type": "static_select", "options": OPTIONS}, "A", {"selected_option": OPTIONS[0]}),
        ({"type": "overflow", "options": OPTIONS}, "b", {"selected_option": OPTIONS[1]}),
    ],
)
def test_every_choice_is_told_in_its_own_words(
    slack: Slack, client: WebClient, element: Json, value: Any, expected: Json
) -> None:
    """Each kind of element has its own field for what was chosen."""
    blocks = [{"type": "actions", "elements": [{**element, "action_id": "x"}]}]
    ts = post(client, blocks=blocks)

    slack.user("alice").click(slack.snapshot().message("C0ALERTS", ts), "x", value)

    action = slack.journal.deliveries(what="block_actions")[-1].payload["actions"][0]
    assert {name: action[name] for name in expected} == expected
    assert slack.user("alice").wait_for_ephemeral("This button did not work").only_for == "U0ALICE"


def test_a_choice_that_is_not_there_is_told(slack: Slack, client: WebClient) -> None:
    """With those that are."""
    menu = {"type": "overflow", "options": OPTIONS, "action_id": "x"}
    ts = post(client, blocks=[{"type": "actions", "elements": [menu]}])

    with pytest.raises(LocalSlackError, match=r"There is no choice C\. There are A, B"):
        slack.user("alice").click(slack.snapshot().message("C0ALERTS", ts), "x", "C")


def test_a_menu_choice_names_the_option(slack: Slack, bot: ToyBot) -> None:
    """Choosing by the text that a person sees gives the value to the app."""
    posted = bot.client.chat_postMessage(channel=ALERTS, text="x", blocks=toy_bot.answer("f02", "U0ALICE"))
    alice = slack.user("alice")

    alice.click(slack.snapshot().message("C0ALERTS", posted["ts"]), "more", "Show all evidence")

    assert alice.wait_for_ephemeral("Chosen: all").only_for == alice.id


def test_clicking_what_is_not_there_tells_what_is(slack: Slack, client: WebClient) -> None:
    """A test that clicks a wrong name learns the right ones."""
    blocks = toy_bot.progress("f02")
    posted = client.chat_postMessage(channel=ALERTS, text="x", blocks=blocks)

    with pytest.raises(LocalSlackError, match=r"named Aprove\. There is cancel \(Cancel\)"):
        slack.user("alice").click(slack.snapshot().message("C0ALERTS", posted["ts"]), "Aprove")


def test_an_ephemeral_message_is_for_one(slack: Slack, bot: ToyBot) -> None:
    """Only that person sees it and can click in it, and the app hears no event of it."""
    bot.client.chat_postEphemeral(channel="C0ALERTS", user="U0BOB", text="for bob", blocks=[toy_bot.progress("f02")[1]])
    only = slack.user("bob").wait_for_ephemeral("for bob")

    with pytest.raises(LocalSlackError):
        slack.user("alice").click(only, "cancel")
    outcome = slack.user("bob").click(only, "cancel")

    clicked = slack.journal.deliveries(what="block_actions")[-1].payload
    assert outcome.acknowledged
    assert clicked["container"]["is_ephemeral"]
    assert "message" not in clicked
    assert slack.journal.deliveries(what="message") == ()


def test_what_people_type_is_escaped(slack: Slack) -> None:
    """Typed brackets become text; names of people and channels become ids."""
    said = slack.user("alice").say("<!channel> @bob a<b & #general, mail x@bob")

    assert said.text == "&lt;!channel&gt; <@U0BOB> a&lt;b &amp; <#C0GENERAL|general>, mail x@bob"


def test_only_own_messages_can_be_edited(slack: Slack) -> None:
    """Bob cannot edit what Alice said."""
    said = slack.user("alice").say("hello")

    with pytest.raises(LocalSlackError):
        slack.user("bob").edit(said, "bye")


def test_waiting_in_vain_tells_what_was_there(slack: Slack) -> None:
    """A failed test shows the workspace as a person saw it."""
    slack.user("bob").say("f02 failed")

    with pytest.raises(NotSeen, match=r"'never' in #training-alerts[\s\S]*U0BOB: f02 failed"):
        slack.wait_for_message(ALERTS, "never", seconds=0.1)


def test_names_that_are_not_there_are_told(slack: Slack) -> None:
    """A misspelt person or channel ends with the list of those who exist."""
    with pytest.raises(LocalSlackError, match="There are alice, bob, carol, firstfault"):
        slack.user("alicia")
    with pytest.raises(LocalSlackError, match="There are training-alerts, general"):
        slack.user("alice").say("x", "#alerts")


def test_the_bolt_app_starts_without_the_real_slack(slack: Slack) -> None:
    """Bolt's own check of its token is answered here."""
    client = WebClient(slack.workspace.app.bot_token, base_url=slack.api_url)

    App(client=client, signing_secret=slack.workspace.app.signing_secret)

    with pytest.raises(SlackApiError):
        client.api_call("no.such.method")
    assert post(client)
