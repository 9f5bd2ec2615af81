"""The whole story, played by the real slack_bolt over both transports."""

import pytest

from slacksim import Slack
from tests.slacksim.conftest import Connect

ALERTS = "#training-alerts"


@pytest.mark.parametrize("transport", ["socket", "http"])
def test_a_diagnosis_from_command_to_archive(slack: Slack, connect: Connect, transport: str) -> None:
    """Command, message, button, modal with an inline error, submission, reply: all as in Slack, over each transport."""
    bot, alice = connect(transport), slack.user("alice")

    asked = alice.command("/diagnose f02")
    message = slack.wait_for_message(ALERTS, "Start with `node-01`")
    slack.wait_for_message(ALERTS, "Plot and full report.")
    clicked = alice.click(message, "Edit draft")
    view = alice.wait_for_modal("Root cause")
    wrong = alice.submit({"cause": "The network, perhaps"})
    with_error = alice.modal()
    done = alice.submit({"Root cause": "node-01 hung in a driver call"})
    slack.wait_for_message(ALERTS, "Archived as *FP-0042*")
    alice.reply(message, "Could it be our data loader?")
    reply = slack.wait_for_message(ALERTS, "No data loading event")

    assert asked.acknowledged
    assert clicked.acknowledged
    assert view.callback_id == "archive"
    assert wrong.errors == {"cause": "Name the node that is at fault."}
    assert with_error is not None
    assert with_error.errors == wrong.errors
    assert done.errors == {}
    assert alice.modal() is None
    assert bot.archived == [("node-01 hung in a driver call", alice.id)]
    assert reply.thread_ts == message.ts
    assert {d.outcome for d in slack.journal.deliveries()} == {"ack"}
