"""How events, commands and clicks reach the app: both transports, retries, lost connections."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from slack_sdk import WebClient

from slacksim import App, Channel, Slack, Workspace, start
from slacksim.page_state import page_state
from slacksim.state import Snapshot
from tests.slacksim.conftest import QUICK, Connect
from tests.support.socket_client import Ears, deliveries, wait_until

ALERTS, GROUP = "#training-alerts", "G0ALICEBOB"  # the second: direct messages of alice, bob and the app


@pytest.fixture
def ears(slack: Slack) -> Iterator[Callable[[], Ears]]:
    with ExitStack() as stack:

        def listening() -> Ears:
            return stack.enter_context(Ears(slack))

        yield listening


def test_a_mention_in_a_thread_makes_two_events(slack: Slack, ears: Callable[[], Ears]) -> None:
    """app_mention and message come with the same ts and different event ids."""
    listener, alice = ears(), slack.user("alice")
    parent = alice.say("f02 failed")
    alice.reply(parent, "@firstfault diagnose f02")

    deliveries(slack, "app_mention", 1)
    deliveries(slack, "message", 2)

    payloads = [request.payload for request in listener.heard]
    both = [p for p in payloads if p["event"]["text"] == "<@U0FIRSTFAULT> diagnose f02"]
    assert {p["event"]["type"] for p in both} == {"app_mention", "message"}
    assert len({p["event_id"] for p in both}) == 2
    assert {(p["event"]["ts"], p["event"]["thread_ts"]) for p in both} == {(both[0]["event"]["ts"], parent.ts)}


def test_a_direct_message_makes_one_event(slack: Slack, ears: Callable[[], Ears]) -> None:
    """In direct messages a mention is a message like any other."""
    listener = ears()

    slack.user("alice").direct("@firstfault hello")

    deliveries(slack, "message", 1)
    assert [(r.payload["event"]["type"], r.payload["event"]["channel_type"]) for r in listener.heard] == [
        ("message", "im")
    ]


def test_the_app_hears_itself_and_every_edit(slack: Slack, ears: Callable[[], Ears], client: WebClient) -> None:
    """Own posts come with a bot_id, edits as message_changed, deletions as message_deleted."""
    ears()
    ts = client.chat_postMessage(channel=ALERTS, text="one")["ts"]
    client.chat_update(channel="C0ALERTS", ts=ts, text="two")
    typed = slack.user("bob").say("typo")
    slack.user("bob").edit(typed, "word")
    slack.user("bob").delete(typed)

    changed = deliveries(slack, "message.message_changed", 2)
    own = next(d for d in slack.journal.deliveries(what="message") if "bot_id" in d.payload["event"])
    deleted = deliveries(slack, "message.message_deleted", 1)[0].payload["event"]

    assert own.payload["event"]["text"] == "one"
    assert {d.payload["event"]["message"]["text"] for d in changed} == {"two", "word"}
    assert {d.payload["event"]["previous_message"]["text"] for d in changed} == {"one", "typo"}
    assert deleted["deleted_ts"] == typed.ts


def test_what_happens_elsewhere_is_not_heard(slack: Slack, ears: Callable[[], Ears]) -> None:
    """The app hears nothing of channels that it is not in; whoever mentions it is told how to invite it."""
    listener, alice = ears(), slack.user("alice")

    alice.say("@firstfault diagnose f02", "#general")
    hint = alice.wait_for_ephemeral("/invite @firstfault")
    alice.command("/invite @firstfault", "#general")
    alice.say("@firstfault diagnose f02", "#general")
    deliveries(slack, "app_mention", 1)

    assert hint.channel == "C0GENERAL"
    assert [r.payload["event"]["type"] for r in listener.heard].count("app_mention") == 1


def test_a_group_of_people_is_heard_without_mentions() -> None:
    """Direct messages of a few: one event for each message, also for one that mentions the app; others see nothing."""
    with start(Workspace(), timing=QUICK) as slack, Ears(slack) as listener:
        slack.user("alice").say("@firstfault diagnose f02", GROUP)
        slack.user("bob").say("hello", GROUP)
        deliveries(slack, "message", 2)
        heard = [r.payload["event"] for r in listener.heard]
        state = slack._server.state
        seen = [[one["name"] for one in page_state(state, state.workspace.members[who])["channels"]] for who in (0, 2)]

    assert [(one["type"], one["channel"], one["channel_type"]) for one in heard] == [("message", GROUP, "mpim")] * 2
    assert "Bob Brandt, Firstfault" in seen[0]
    assert not any("Bob" in name for name in seen[1])


def test_an_event_is_tried_again_until_it_is_acknowledged(slack: Slack, ears: Callable[[], Ears]) -> None:
    """The same event id comes again with its number and reason."""
    listener = ears()
    slack.faults.delivery("events_api", "ack_lost", times=2)

    slack.user("alice").say("hello")

    tried = deliveries(slack, "message", 3)
    assert [(d.attempt, d.outcome) for d in tried] == [(0, "timeout"), (1, "timeout"), (2, "ack")]
    assert [r.retry_attempt for r in listener.heard] == [0, 1, 2]
    assert [r.retry_reason for r in listener.heard] == ["", "timeout", "timeout"]
    assert len({d.event_id for d in tried}) == 1


@pytest.mark.slow
def test_an_app_that_never_answers_is_given_up(slack: Slack, connect: Connect) -> None:
    """A command is acknowledged within three seconds or the person is told; it is not tried again."""
    bot, alice = connect("socket"), slack.user("alice")
    bot.wait.clear()

    outcome = alice.command("/diagnose f02")
    bot.wait.set()
    slack.wait_for_message(ALERTS, "Plot and full report.")

    assert not outcome.acknowledged
    assert outcome.seconds > 2.9
    assert "did not respond" in alice.wait_for_ephemeral("/diagnose").text
    assert len(slack.journal.deliveries("slash_commands")) == 1


def test_without_an_app_a_command_fails_at_once(slack: Slack) -> None:
    """Nobody waits three seconds for an app that is not there."""
    outcome = slack.user("alice").command("/diagnose f02")

    assert (outcome.acknowledged, outcome.reason) == (False, "no_connection")
    assert outcome.seconds < 3


def test_duplicates_have_the_same_event_id(slack: Slack, connect: Connect) -> None:
    """An event that comes twice, unmarked, is answered once by a bot that remembers ids."""
    bot, alice = connect("socket"), slack.user("alice")
    parent = alice.say("f02 failed")
    slack.faults.delivery("events_api", "duplicate")

    alice.reply(parent, "Which rank?")
    wait_until(lambda: len([e for e in bot.events if e[0] == "message."]) >= 3)
    slack.wait_for_message(ALERTS, "No data loading event")

    ids = [event_id for kind, event_id in bot.events if kind == "message."]
    assert len(ids) - len(set(ids)) >= 1
    assert len([m for m in slack.snapshot().thread(parent) if m.by_app]) == 1


def test_a_delayed_event_comes_late(slack: Slack, ears: Callable[[], Ears]) -> None:
    """Events may overtake each other."""
    listener, alice = ears(), slack.user("alice")
    slack.faults.delivery("events_api", "delay", seconds=0.3)

    alice.say("first")
    alice.say("second")

    deliveries(slack, "message", 2)
    assert [r.payload["event"]["text"] for r in listener.heard] == ["second", "first"]


def test_connections_take_turns(slack: Slack, ears: Callable[[], Ears]) -> None:
    """Two replicas share the work."""
    one, other = ears(), ears()

    for number in range(4):
        slack.user("alice").say(str(number))
    deliveries(slack, "message", 4)

    assert (len(one.heard), len(other.heard)) == (2, 2)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["hard", "clean", "refresh", "warning", "mute"])
def test_the_app_comes_back_after_its_connection_ends(slack: Slack, ears: Callable[[], Ears], how: str) -> None:
    """A broken line, a close frame, a refresh, a warning, or silence: what is said afterwards arrives."""
    listener = ears()
    ends: dict[str, Callable[[], None]] = {
        "hard": slack.drop_sockets,
        "clean": lambda: slack.drop_sockets(hard=False),
        "refresh": slack.disconnect,
        "warning": lambda: slack.disconnect("warning"),
        "mute": slack.mute_sockets,
    }
    opened = len(slack.journal.calls("apps.connections.open"))

    ends[how]()
    wait_until(lambda: len(slack.journal.calls("apps.connections.open")) > opened)
    slack.wait_for(lambda now: now.connections == 1, what="one connection")
    slack.user("alice").say("still there?")

    wait_until(lambda: any(r.payload.get("event", {}).get("text") == "still there?" for r in listener.heard))


def test_private_channels_come_to_who_asks_for_them() -> None:
    """When the app subscribes to them, and is in them; an invited person is there at once."""
    app = App(events=("message.groups",))
    private = Channel("C0PRIVATE", "war-room", ("U0ALICE", app.bot_user), is_private=True)
    workspace = Workspace(app=app, channels=(*Workspace().channels, private))
    with start(workspace, timing=QUICK) as slack, Ears(slack) as listener:
        slack.user("alice").command("/invite @bob", "#war-room")
        slack.user("bob").say("secret", "#war-room")
        (event,) = [r.payload["event"] for r in deliveries(slack, "message", 1) and listener.heard]

    assert (event["channel_type"], event["user"]) == ("group", "U0BOB")


@pytest.mark.usefixtures("bot")
def test_the_rate_limit_handler_waits_and_tries_again(slack: Slack) -> None:
    """slack_sdk honours Retry-After: after a 429 the message comes once."""
    slack.faults.call("chat.postMessage", "ratelimited", seconds=1)
    started = time.monotonic()

    slack.user("alice").command("/diagnose f02")
    slack.wait_for_message(ALERTS, "Plot and full report.")

    assert time.monotonic() - started >= 1
    assert [c.outcome for c in slack.journal.calls("chat.postMessage")] == ["ratelimited", "ok"]
    assert len(top_level_answers(slack.snapshot())) == 1


def top_level_answers(now: Snapshot) -> list[str]:
    return [m.text for m in now.messages(ALERTS) if m.by_app and not m.is_reply]
