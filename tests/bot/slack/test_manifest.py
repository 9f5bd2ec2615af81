"""The app asks for what it uses and for nothing else."""

from bot.slack import actions
from bot.slack.manifest import EVENTS, METHODS, manifest, scopes
from slacksim import methods, workspace
from tests.support.documents import manifest_text


def test_the_scopes_are_those_of_the_methods() -> None:
    """Each method has the scopes that Slack wants for it, and each scope has a method, event or command."""
    table = methods.METHODS
    for name, wanted in METHODS.items():
        assert name in table, name
        assert set(table[name].scopes) & set(wanted) or not table[name].scopes, name
    used = {scope for wanted in METHODS.values() for scope in wanted} | set(EVENTS.values()) | {"commands"}
    assert set(scopes()) == used - {""}


def test_the_local_slack_plays_what_is_called_and_no_more() -> None:
    """Beside the bot's methods: that of Socket Mode, and the one by which ``firstfault check`` looks up an approver."""
    assert set(methods.METHODS) == {*METHODS, "apps.connections.open", "users.lookupByEmail"}


def test_the_demo_plays_the_same_app() -> None:
    """The local Slack knows the command, the shortcut, the events and the scopes of the manifest."""
    app = workspace.App()

    assert set(scopes()) <= set(app.scopes)
    assert set(EVENTS) <= set(app.events)
    assert [command.name for command in app.commands] == [actions.COMMAND]
    assert [shortcut.callback_id for shortcut in app.shortcuts] == [actions.DIAGNOSE_MESSAGE]


def test_socket_mode_needs_no_address() -> None:
    """Behind a firewall nothing of ours is named; with HTTP every request has the address."""
    assert "url" not in manifest_text()
    signed = manifest(socket_mode=False, address="https://bot.example/slack/events")
    assert signed["settings"]["interactivity"]["request_url"] == "https://bot.example/slack/events"
    assert signed["settings"]["event_subscriptions"]["request_url"] == "https://bot.example/slack/events"
    assert signed["features"]["slash_commands"][0]["url"] == "https://bot.example/slack/events"
    assert not signed["settings"]["socket_mode_enabled"]


def test_texts_fit_slack() -> None:
    """Names and descriptions are within the limits of a manifest."""
    shown = manifest()

    assert len(shown["display_information"]["name"]) <= 35
    assert len(shown["display_information"]["description"]) <= 140
    assert all(len(shortcut["name"]) <= 24 for shortcut in shown["features"]["shortcuts"])
