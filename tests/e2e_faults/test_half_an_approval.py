"""An approval whose archiving died is taken up by whoever comes next: the next bot, a click, an Undo."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from benchmarks.support.patience import PATIENCE
from benchmarks.support.stage import Stage, eventually
from bot.library.filing import LibraryAction, file_note
from bot.library.session import open_fault_library
from bot.settings import Settings
from bot.slack.actions import DraftClick
from bot.slack.archive import load_draft
from bot.state.audit import as_jsonl
from bot.state.drafts import Decision, Verdict
from bot.state.state import open_state
from faultlib.pattern import Entry, Origin, Status
from slacksim import Message

PATTERN = "Fault pattern `"


@contextmanager
def library_is_busy(stage: Stage) -> Iterator[None]:
    """Somebody else writes to the fault library: an approval gets as far as that, and waits."""
    writer = sqlite3.connect(stage.home / "library" / "library.db", isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        writer.close()


def decision_about(stage: Stage, job: str) -> Decision | None:
    run = stage.run(job)
    state = open_state(stage.state / "state.db")
    try:
        return state.drafts.decision(run.id) if run else None
    finally:
        state.close()


def is_pending(stage: Stage, job: str) -> bool:
    decision = decision_about(stage, job)
    return decision is not None and decision.pending


def approved(stage: Stage) -> list[Entry]:
    """The team's patterns in use."""
    settings = Settings(library=stage.home / "library", cache=stage.home / "cache")
    with open_fault_library(settings, embeds=False) as library:
        return [entry for entry in library.entries(Status.APPROVED) if entry.origin is Origin.TEAM]


def deeds(stage: Stage) -> list[tuple[str, str]]:
    state = open_state(stage.state / "state.db")
    try:
        told = [json.loads(line) for line in as_jsonl(state.audit.entries())]
    finally:
        state.close()
    return [(deed["who"], deed["what"]) for deed in told if deed["what"] != "asked"]


def as_button(stage: Stage, message: Message, action: str) -> Message:
    """The message with one button more, as somebody may still have it on the screen."""
    run = stage.run("quick-1")
    assert run is not None
    button = {"type": "button", "action_id": action, "text": {"type": "plain_text", "text": "Old"}}
    row = {"type": "actions", "block_id": "old", "elements": [{**button, "value": str(DraftClick(run.id, 1))}]}
    server = stage.slack._server
    return server.call(
        lambda: server.state.put(replace(message, ts=server.state.new_ts(), blocks=(*message.blocks, row)))
    )


@pytest.fixture
def half(stage: Stage) -> Message:
    """alice has approved, and the bot died before the library had it; no bot runs."""
    job = stage.job("quick-1")
    with stage.bot():
        stage.alice.command(f"/diagnose {job}")
        stage.wait_told(job)
    run = stage.run(job)
    assert run is not None
    state = open_state(stage.state / "state.db")
    state.drafts.decide(run.id, Verdict.APPROVED, by="U0ALICE", seen=1)
    state.close()
    return stage.parent(job)


@pytest.fixture
def nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bot does not look for what was left undone: only a click finds it."""
    monkeypatch.setattr("bot.app.LATE_EVERY", 3600.0)


def test_the_bot_is_killed_between_the_approval_and_the_library(stage: Stage) -> None:
    """kill -9 while the pattern is being written: the next bot writes it, as the approval of who clicked, once."""
    job = stage.job("quick-1")
    with stage.other_bot() as bot:
        stage.alice.command(f"/diagnose {job}")
        stage.wait_told(job)
        with library_is_busy(stage):
            stage.alice.click(stage.parent(job), "ff_approve")
            eventually(lambda: is_pending(stage, job), "a pending approval")
            bot.kill()
            bot.wait()
    left = decision_about(stage, job)
    nothing = approved(stage)
    stage.slack.drop_sockets()

    with stage.other_bot():
        message = stage.wait_for_words(job, PATTERN)
        eventually(lambda: sum("was approved" in kind for kind in stage.thread(job)) == 1, "the thread says so")

    [entry] = approved(stage)
    assert left is not None
    assert left.pending
    assert nothing == []
    assert entry.confirmed is not None
    assert entry.confirmed.who == "alice"
    assert entry.id in message.all_text
    assert deeds(stage) == [("U0ALICE", "approved")]


@pytest.mark.usefixtures("nobody_looks")
def test_a_click_takes_it_up(stage: Stage, half: Message) -> None:
    """At once, and not a minute later: bob is told whose approval it is, and which pattern it made."""
    with stage.bot(approvers="U0ALICE,U0BOB"):
        stage.slack.user("bob").click(half, "ff_approve")
        told = stage.slack.user("bob").wait_for_ephemeral("has approved it", PATIENCE)
        message = stage.wait_for_words("quick-1", PATTERN)

    [entry] = approved(stage)
    assert "<@U0ALICE> has approved it" in told.all_text
    assert entry.id in told.all_text
    assert entry.id in message.all_text
    assert deeds(stage) == [("U0ALICE", "approved")]


@pytest.mark.usefixtures("nobody_looks")
def test_a_form_takes_it_up(stage: Stage, half: Message) -> None:
    """Whoever wants to reject it sees that it was approved, and as what."""
    with stage.bot(approvers="U0ALICE,U0BOB"):
        stage.slack.user("bob").click(half, "ff_reject")
        view = stage.slack.user("bob").wait_for_modal("approved", PATIENCE)
        stage.wait_for_words("quick-1", PATTERN)

    assert len(approved(stage)) == 1
    assert view.title == "Reject the note"


@pytest.mark.usefixtures("nobody_looks")
def test_an_undo_takes_it_back(stage: Stage, half: Message) -> None:
    """Nothing of it stays in use, and the note can be decided about again."""
    with stage.bot(approvers="U0ALICE,U0BOB"):
        stage.slack.user("bob").click(as_button(stage, half, "ff_undo"), "ff_undo")
        eventually(lambda: ("U0BOB", "undone") in deeds(stage), "an undo")

    assert approved(stage) == []
    assert decision_about(stage, "quick-1") is None
    assert deeds(stage) == [("U0ALICE", "approved"), ("U0BOB", "undone")]


def test_what_cannot_be_archived_does_not_stand(stage: Stage, half: Message) -> None:
    """The library is broken when the bot comes back: the thread says so, and the buttons are there again."""
    (stage.home / "library" / "library.db").unlink()
    (stage.home / "library" / "library.db").mkdir()

    with stage.bot():
        told = stage.slack.wait_for(
            lambda now: next((m for m in now.thread(half) if "does not stand" in m.all_text), None),
            PATIENCE,
            "that the approval does not stand",
        )
        message = stage.wait_for_words("quick-1", "Approve and archive")

    assert "<@U0ALICE>" in told.all_text
    assert PATTERN not in message.all_text
    assert decision_about(stage, "quick-1") is None


@pytest.mark.usefixtures("half")
def test_what_was_archived_and_could_not_be_noted_is_taken_out_again(stage: Stage) -> None:
    """The pattern was written, then the bot died; the next one meets a broken library and drops the approval.

    Found by the campaign: the disk of the state was full when the pattern was to be noted.
    """
    run = stage.run("quick-1")
    assert run is not None
    state = open_state(stage.state / "state.db")
    draft = load_draft(state, run.id)
    state.close()
    assert draft is not None
    settings = Settings(library=stage.home / "library", cache=stage.home / "cache")
    action = LibraryAction("quick-1", run.id, "alice", "approved in Slack by U0ALICE")
    file_note(lambda: open_fault_library(settings, embeds=False), action, draft.pattern(), edited=False)
    assert len(approved(stage)) == 1
    library, aside = stage.home / "library" / "library.db", stage.home / "library.db"
    library.rename(aside)
    library.mkdir()

    with stage.bot():
        eventually(lambda: decision_about(stage, "quick-1") is None, "the approval does not stand")
        library.rmdir()
        aside.rename(library)
        eventually(lambda: approved(stage) == [], "the pattern is taken out")
