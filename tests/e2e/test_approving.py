"""Who may archive what: checked on the click and on the submission, once, undone, refused, kept with a reason."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from benchmarks.support.patience import PATIENCE
from bot.library.session import open_fault_library
from bot.settings import load_settings
from bot.slack.actions import DraftClick
from bot.slack.objections import DECIDED, TAKEN_BACK
from bot.state.audit import as_jsonl
from faultlib.pattern import Entry, Origin, Status
from slacksim import Message, Slack
from slacksim.modals import open_view
from tests.support.scene import Folders, Scene, serving

TEAM = "T0FIRSTFAULT"
PATTERN = "Fault pattern `"
MAY_NOT = "You are not on the list"
ASKED_HOW = "meets this fault next"  # the window that opens when one click has archived a note


@pytest.fixture(scope="module")
def answers(slack: Slack, folders: Folders, rooms: Iterator[str]) -> dict[str, Message]:
    """f01, once in each of some channels, by a bot that is gone when the tests begin: the state has it all."""
    with serving(slack, folders) as scene:
        wanted = {name: next(rooms) for name in ("approvers", "one", "two", "reject", "audit")}
        for room in wanted.values():
            scene.ask("f01", room)
        return {name: scene.in_full("f01", room) for name, room in wanted.items()}


@pytest.fixture
def asked(slack: Slack, folders: Folders, answers: dict[str, Message], approvers: str) -> Iterator[Scene]:
    """The bot with another list of approvers."""
    assert answers
    with serving(slack, folders, approvers=approvers) as scene:
        yield scene


@pytest.fixture
def scene(slack: Slack, folders: Folders, answers: dict[str, Message]) -> Iterator[Scene]:
    """alice and bob may approve, carol may not."""
    assert answers
    with serving(slack, folders, approvers="U0ALICE,U0BOB") as scene:
        yield scene


def team_patterns(*statuses: Status) -> list[Entry]:
    with open_fault_library(load_settings()) as library:
        return [entry for entry in library.entries(*statuses) if entry.origin is Origin.TEAM]


def pattern_of(message: Message) -> str:
    return message.all_text.split(PATTERN)[1].split("`")[0]


def approve(scene: Scene, name: str, message: Message) -> Message:
    """One click, and all that comes of it: the pattern in the message, then a window, which is left for later.

    Who does not wait for it finds it on top of what was opened after it.
    """
    user = scene.user(name)
    user.click(message, "ff_approve")
    user.wait_for_modal(ASKED_HOW, PATIENCE)
    user.cancel()
    return scene.until(message, PATTERN)


@pytest.mark.parametrize("approvers", [""])
def test_an_empty_list_means_nobody(asked: Scene, answers: dict[str, Message]) -> None:
    """31: not even who asked; and the reason is told privately."""
    answer = answers["approvers"]

    for button in ("ff_approve", "ff_edit", "ff_reject"):
        asked.user("alice").click(answer, button)
    told = asked.told("alice", "the list of approvers is empty")

    assert told.channel == answer.channel
    assert "FIRSTFAULT_APPROVERS" in told.all_text
    assert asked.user("alice").wait_for_modal("Nobody may approve", PATIENCE).title in (
        "Edit the note",
        "Reject the note",
    )
    assert PATTERN not in asked.shown(answer).all_text
    assert team_patterns() == []


@pytest.mark.parametrize("approvers", ["U0CAROL", "carol@example.com", "@oncall, Carol@Example.com", "S0ONCALL"])
def test_approvers_are_named_by_id_by_address_or_by_group(
    asked: Scene, answers: dict[str, Message], approvers: str
) -> None:
    """31, 35: who is on the list archives in one click and takes it back; who is not is told so privately."""
    answer, on_it = answers["approvers"], "alice" if approvers == "S0ONCALL" else "carol"
    asked.user("bob").click(answer, "ff_approve")
    asked.told("bob", "`@oncall`" if "oncall" in approvers.lower() else MAY_NOT)
    barred = asked.shown(answer)

    approved = approve(asked, on_it, answer)
    asked.user(on_it).click(approved, "Undo")
    undone = asked.until(answer, "Approve and archive")

    assert PATTERN not in barred.all_text
    assert f"*Approved* by <@U0{on_it.upper()}>" in approved.all_text
    assert " UTC" in approved.all_text
    assert PATTERN not in undone.all_text
    assert team_patterns(Status.APPROVED) == []


def test_each_team_decides_about_its_own(slack: Slack, folders: Folders, answers: dict[str, Message]) -> None:
    """57: the group of a channel decides there, and neither elsewhere nor do others there; bob decides everywhere."""
    answer, other = answers["approvers"], answers["one"]
    approvers = f"{other.channel}:U0CAROL, {answer.channel}:@oncall, U0BOB"
    with serving(slack, folders, approvers=approvers) as scene:
        scene.user("carol").click(answer, "ff_approve")
        barred = scene.told("carol", MAY_NOT)
        scene.user("alice").click(other, "ff_approve")
        elsewhere = scene.told("alice", MAY_NOT)
        scene.user("bob").click(approve(scene, "alice", answer), "Undo")
        scene.until(answer, "Approve and archive")

    assert "@oncall" in barred.all_text
    assert "<@U0CAROL>" not in barred.all_text
    assert "@oncall" not in elsewhere.all_text


def test_who_approves_is_asked_how_it_was_confirmed(scene: Scene, answers: dict[str, Message]) -> None:
    """56: one click archives and asks; the approver may say it later; then the pattern and the next answer have it."""
    answer, alice, bob = answers["one"], scene.user("alice"), scene.user("bob")
    alice.click(answer, "ff_approve")
    alice.wait_for_modal(ASKED_HOW, PATIENCE)
    silent = alice.submit({"how": " "})
    alice.cancel()
    approved = scene.until(answer, PATTERN)
    said = scene.in_thread(answer, "How was it confirmed?")
    bob.click(said, "ff_explain")
    refused = bob.wait_for_modal("Only who approved it", PATIENCE)
    alice.click(said, "ff_explain")
    alice.wait_for_modal(ASKED_HOW, PATIENCE)
    alice.submit({"how": "dmesg of the host shows the kill"})
    told = scene.until(answer, "dmesg of the host shows the kill")
    explained = scene.until(said, "dmesg of the host shows the kill")
    scene.ask("f01", answers["two"].channel, by="bob")
    scene.user("bob").click(scene.told("bob", "Run again"), "Run again")
    next_answer = scene.answer_after(answers["two"], "f01")

    (archived,) = [entry for entry in team_patterns(Status.APPROVED) if entry.id == pattern_of(approved)]
    bob.click(told, "Undo")
    scene.until(answer, "Approve and archive")
    assert silent.errors == {"how": "Write it in one line, or choose Later."}
    assert refused.title == "How was it confirmed?"
    assert "ff_explain" not in str(explained.blocks)
    assert archived.pattern.confirmation == "dmesg of the host shows the kill"
    assert "dmesg of the host shows the kill" in next_answer.all_text


def test_how_it_was_confirmed_is_kept_when_it_comes_too_late(scene: Scene, answers: dict[str, Message]) -> None:
    """56: bob takes the approval back while alice writes: her words stay in the window, and nothing is archived."""
    answer, alice = answers["two"], scene.user("alice")
    alice.click(answer, "ff_approve")
    alice.wait_for_modal(ASKED_HOW, PATIENCE)
    scene.user("bob").click(scene.until(answer, PATTERN), "Undo")
    scene.until(answer, "Approve and archive")

    late = alice.submit({"how": "I saw it"})

    assert late.errors == {"how": TAKEN_BACK}
    assert not any(entry.pattern.confirmation == "I saw it" for entry in team_patterns())


def test_a_reason_that_comes_too_late_is_kept(scene: Scene, answers: dict[str, Message]) -> None:
    """33, 36: alice approves while bob writes why not: he is told in his window, which keeps what he wrote."""
    answer, bob = answers["two"], scene.user("bob")
    bob.click(answer, "ff_reject")
    bob.wait_for_modal("Why is it wrong?", PATIENCE)
    approved = approve(scene, "alice", answer)

    late = bob.submit({"reason": "It was a drill"})
    scene.user("alice").click(approved, "Undo")
    scene.until(answer, "Approve and archive")

    assert late.errors == {"reason": DECIDED}


def test_two_clicks_by_two_people_make_one_pattern(scene: Scene, answers: dict[str, Message]) -> None:
    """33, 35: whoever comes second is told who was faster."""
    answer = answers["one"]

    scene.user("alice").click(answer, "ff_approve")
    scene.user("bob").click(answer, "ff_approve")
    approved = scene.until(answer, PATTERN)
    first, second = ("alice", "bob") if "*Approved* by <@U0ALICE>" in approved.all_text else ("bob", "alice")
    told = scene.told(second, "has approved it")

    found = [entry for entry in team_patterns(Status.APPROVED) if entry.id == pattern_of(approved)]
    assert f"<@U0{first.upper()}> has approved it" in told.all_text
    assert len(found) == 1
    assert found[0].confirmed is not None
    assert found[0].confirmed.who == first


def test_an_edited_note_makes_older_buttons_stale(scene: Scene, answers: dict[str, Message]) -> None:
    """32, 34: errors stand beside their field; bob's older form and button overwrite nothing, his words stay."""
    answer, alice, bob = answers["two"], scene.user("alice"), scene.user("bob")
    for user in (alice, bob):
        user.click(answer, "ff_edit")
        user.wait_for_modal("Root cause", PATIENCE)

    wrong = alice.submit({"title": " ", "fix": " "})
    alice.submit({"cause": "The cgroup limit killed it", "confirmation": "dmesg of the host"})
    approved = scene.until(answer, PATTERN)
    late = bob.submit({"cause": "Cosmic rays"})
    alice.click(approved, "Undo")
    undone = scene.until(answer, "Approve and archive")
    bob.click(scene.copied(answer), "ff_approve")  # the button as it was before the edit
    stale = scene.told("bob", "The note has changed")
    bob.submit({"cause": "Cosmic rays"})
    changed = bob.wait_for_modal("changed the note meanwhile", PATIENCE)
    bob.submit()  # as the form shows it now
    again = scene.until(answer, PATTERN)

    assert wrong.errors == {"title": "Write a title.", "fix": "Write what fixes it, or that it is not known yet."}
    assert late.errors == {"title": DECIDED}
    assert "*Their root cause*: The cgroup limit killed it" in changed.all_text
    assert "revision 2 by <@U0ALICE>" in stale.all_text
    assert "The cgroup limit killed it" in undone.all_text
    assert "Cosmic rays" not in undone.all_text
    assert "*Approved* by <@U0BOB>" in again.all_text
    (archived,) = [entry for entry in team_patterns(Status.APPROVED) if entry.id == pattern_of(again)]
    assert archived.pattern.cause == "Cosmic rays"


def test_of_what_many_causes_leave_the_button_warns(scene: Scene, room: str) -> None:
    """58: a time-out of peers is no cause: Slack asks before the click counts."""
    answer = scene.diagnosed("f02", room)

    buttons = [one for block in answer.blocks for one in block.get("elements", ())]
    (approve,) = [one for one in buttons if one.get("action_id") == "ff_approve"]

    assert "Many causes leave" in str(approve.get("confirm"))


def test_a_rejection_keeps_its_reason_and_archives_nothing(scene: Scene, answers: dict[str, Message]) -> None:
    """36, 37, 40: asked why, kept with the message and in the audit; who may not, may not submit a form either."""
    answer, bob = answers["reject"], scene.user("bob")
    before = team_patterns(Status.APPROVED)
    bob.click(answer, "ff_reject")
    form = bob.wait_for_modal("Why is it wrong?", PATIENCE)
    server = scene.slack._server
    server.call(lambda: open_view(server.state, "U0CAROL", form.content))  # a form that carol should not have

    forged = scene.user("carol").submit({"reason": "Because"})
    barred = scene.told("carol", MAY_NOT)
    empty = bob.submit({"reason": "  "})
    bob.submit({"reason": "It was a drill, nothing failed"})
    rejected = scene.until(answer, "*Rejected* by <@U0BOB>")

    deeds = [json.loads(line) for line in as_jsonl(scene.bot.state.audit.entries())]
    assert forged.acknowledged
    assert barred.channel == answer.channel
    assert empty.errors == {"reason": "Write a reason: it helps the next reader."}
    assert "It was a drill, nothing failed" in rejected.all_text
    assert "Undo" in rejected.all_text
    assert team_patterns(Status.APPROVED) == before
    assert deeds[-1]["what"] == "rejected"
    assert deeds[-1]["who"] == "U0BOB"
    assert deeds[-1]["details"]["reason"] == "It was a drill, nothing failed"


def test_a_button_that_somebody_made_up_does_nothing(scene: Scene, answers: dict[str, Message]) -> None:
    """34: ids are looked up, and what is not of this bot is said to be unknown."""
    answer = answers["reject"]
    forged = tuple(
        {**block, "elements": [{**one, "value": str(DraftClick("r-000000", 1))} for one in block["elements"]]}
        if block["type"] == "actions"
        else block
        for block in answer.blocks
    )
    made_up = replace(answer, blocks=forged)

    scene.user("alice").click(scene.copied(made_up), "ff_approve")

    assert scene.told("alice", "I do not know this diagnosis").channel == answer.channel


def test_the_audit_tells_who_did_what_when(scene: Scene, answers: dict[str, Message]) -> None:
    """40: every approval, edit, undo and rejection with person, time and revision, in order, a JSON object a line."""
    answer, alice, bob = answers["audit"], scene.user("alice"), scene.user("bob")
    bob.click(approve(scene, "alice", answer), "Undo")
    alice.click(scene.until(answer, "Approve and archive"), "ff_edit")
    alice.wait_for_modal("Root cause", PATIENCE)
    alice.submit({"cause": "The cgroup limit killed it"})
    bob.click(scene.until(answer, PATTERN), "Undo")
    bob.click(scene.until(answer, "Approve and archive"), "ff_reject")
    bob.wait_for_modal("Why is it wrong?", PATIENCE)
    bob.submit({"reason": "It was a drill"})
    scene.until(answer, "*Rejected* by <@U0BOB>")

    entries = [json.loads(line) for line in as_jsonl(scene.bot.state.audit.entries())]
    run = next(deed["target"] for deed in reversed(entries) if deed["what"] == "rejected")
    deeds = [deed for deed in entries if deed["target"] == run]
    assert [(deed["who"], deed["what"]) for deed in deeds] == [
        ("U0ALICE", "asked"),
        ("U0ALICE", "approved"),
        ("U0BOB", "undone"),
        ("U0ALICE", "edited"),
        ("U0ALICE", "approved"),
        ("U0BOB", "undone"),
        ("U0BOB", "rejected"),
    ]
    assert run.startswith("r-")
    assert all(deed["at"] for deed in deeds)
    assert all(deed["revision"] for deed in deeds if deed["what"] != "asked")
    assert [deed["number"] for deed in deeds] == sorted(deed["number"] for deed in deeds)
