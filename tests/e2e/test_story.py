"""The whole story as people live it, over both transports: ask, read, look at lines, correct, archive, ask again."""

import statistics
from collections.abc import Iterator

import pytest

from benchmarks.support.patience import PATIENCE
from slacksim import Timing
from tests.support.scene import ALERTS, Folders, Scene, local_slack, serving

ASKED = 5  # acknowledgements of which the median counts: a loaded machine may be late once


@pytest.fixture(scope="module", params=["socket", "http"])
def scene(request: pytest.FixtureRequest, folders: Folders) -> Iterator[Scene]:
    """A bot for each transport, with its own Slack."""
    home = folders.home / request.param
    with (
        local_slack() as slack,
        serving(slack, Folders(home, folders.jobs, folders.cache), transport=request.param) as it,
    ):
        yield it


@pytest.mark.slow
def test_from_the_command_to_the_archived_pattern(scene: Scene) -> None:
    """1, 9, 14, 16, 22, 27, 32, 35: command, answer, raw lines, note edited with an inline error, pattern, question."""
    alice = scene.user("alice")

    asked = alice.command("/diagnose f02")
    answer = scene.answer("f02")
    scene.in_thread(answer, "The full report")
    alice.click(scene.details(answer), "ff_lines")
    lines = alice.wait_for_modal(scene.cited_first("f02"), PATIENCE)
    alice.cancel()
    alice.click(answer, "ff_edit")
    form = alice.wait_for_modal("Root cause", PATIENCE)
    wrong = alice.submit({"cause": "   "})
    saved = alice.submit({"cause": "The process hung in the data loader"})
    approved = scene.until(answer, "Fault pattern")
    alice.reply(answer, "which rank went silent first?")
    reply = scene.in_thread(answer, "wrote its last line first")

    assert asked.acknowledged
    assert answer.text.startswith("f02: Look at tr-02")
    assert "logs/" in lines.all_text
    assert form.title == "Edit the note"
    assert wrong.errors == {"cause": "Write the root cause, or what is known of it."}
    assert saved.errors == {}
    assert alice.modal() is None
    assert "The process hung in the data loader" in approved.all_text
    assert "_edited by_ <@U0ALICE>" in approved.all_text
    assert len(reply.all_text.splitlines()) <= 6
    assert len([m for m in scene.slack.snapshot().messages(ALERTS) if not m.is_reply]) == 1
    assert {d.outcome for d in scene.slack.journal.deliveries()} == {"ack"}


def test_a_command_is_acknowledged_in_time(scene: Scene) -> None:
    """1: whatever it leads to; the work is done by others."""
    alice = scene.user("alice")

    outcomes = [alice.command(text) for text in ("/diagnose help", "/diagnose list", "/diagnose status") * 2][:ASKED]

    assert all(outcome.acknowledged for outcome in outcomes)
    assert statistics.median(outcome.seconds for outcome in outcomes) < Timing().ack
