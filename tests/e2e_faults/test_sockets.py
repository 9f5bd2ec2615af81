"""The line to Slack breaks, dies silently, or is renewed."""

from collections.abc import Iterator

import pytest

from benchmarks.support.patience import PATIENCE
from benchmarks.support.stage import Stage, eventually, health, local_slack
from slacksim import Slack


@pytest.fixture
def slack() -> Iterator[Slack]:
    """With Slack's own three seconds: what goes into a dead line is lost after them."""
    with local_slack() as running:
        yield running


def test_refresh_of_a_socket(stage: Stage) -> None:
    """When Slack renews the connection, no command is lost."""
    with stage.bot(transport="socket"):
        stage.slack.wait_for_connection(PATIENCE)
        stage.slack.disconnect("refresh_requested")
        stage.slack.wait_for_connection(PATIENCE)
        assert stage.alice.command(f"/diagnose {stage.job('quick-1')}").acknowledged
        stage.parent("quick-1")


def test_line_breaks(stage: Stage) -> None:
    """After a broken line a command is answered or gets Slack's own error; a mention meanwhile is answered once."""
    mentioned = stage.job("quick-1")
    with stage.bot(transport="socket") as bot:
        stage.slack.wait_for_connection(PATIENCE)
        stage.slack.drop_sockets(hard=True)
        stage.alice.say(f"@firstfault diagnose {mentioned}")
        outcome = stage.alice.command(f"/diagnose {stage.job('quick-2')}")
        if not outcome.acknowledged:
            stage.alice.wait_for_ephemeral("the app did not respond", PATIENCE)
        stage.slack.wait_for_connection(PATIENCE)
        stage.parent(mentioned)
        eventually(lambda: health(bot.health_port)[0] == 200, "health")
        stage.wait_told(mentioned)
    assert len(stage.parents(mentioned)) == 1
    assert len(stage.starts(mentioned)) == 1


@pytest.mark.slow
def test_line_dies_silently(stage: Stage) -> None:
    """A socket through which nothing comes any more is replaced, without anybody's help."""
    with stage.bot(transport="socket"):
        stage.slack.wait_for_connection(PATIENCE)
        stage.slack.mute_sockets()
        eventually(lambda: _acknowledged(stage), "a command that is acknowledged")


@pytest.mark.slow
def test_slack_is_gone(stage: Stage) -> None:
    """While no connection can be had, health says so, and later that it is well again."""
    with stage.bot(transport="socket") as bot:
        stage.slack.wait_for_connection(PATIENCE)
        well = dict.fromkeys(("worker", "slack", "inbox", "watches", "state"), True)
        assert health(bot.health_port) == (200, well)
        stage.slack.faults.call("apps.connections.open", "error", times=1000)
        stage.slack.drop_sockets(hard=True)
        eventually(lambda: health(bot.health_port)[0] == 503, "a bad health")
        assert health(bot.health_port)[1] == {**well, "slack": False}
        stage.slack.faults.clear()
        eventually(lambda: health(bot.health_port)[0] == 200, "a good health")


def _acknowledged(stage: Stage) -> bool:
    return stage.alice.command("/diagnose help").acknowledged


def test_slack_is_not_there_at_the_start(stage: Stage, slack: Slack) -> None:
    """A bot that cannot say hello at first tries again before it gives up."""
    slack.faults.call("auth.test", "error")
    slack.faults.call("apps.connections.open", "drop")
    with stage.bot(transport="socket"):
        slack.wait_for_connection(PATIENCE)
