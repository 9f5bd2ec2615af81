"""Who decides about a note, and what becomes of it."""

from benchmarks.support.patience import PATIENCE
from slacksim import Message
from tests.support.behaviours.stage import Stage, row

BARRED = "You are not on the list"


def approved(stage: Stage, answer: Message, *, by: str = "alice") -> Message:
    stage.scene.user(by).click(answer, "ff_approve")
    return stage.scene.until(answer, "Fault pattern `")


def undone(stage: Stage, answer: Message, *, by: str = "alice") -> Message:
    stage.scene.user(by).click(stage.scene.shown(answer), "Undo")
    return stage.scene.until(answer, "Approve and archive")


@row(31)
def only_approvers(stage: Stage) -> None:
    stage.scene.user("carol").click(stage.answer, "ff_approve")
    stage.scene.told("carol", BARRED)
    with stage.other("nobody", approvers="") as scene:
        answer = scene.diagnosed("f02", stage.room())
        scene.user("alice").click(answer, "ff_approve")
        scene.told("alice", "the list of approvers is empty")


@row(32)
def one_click_and_errors_inline(stage: Stage) -> None:
    approved(stage, stage.answer)
    answer = undone(stage, stage.answer)
    alice = stage.scene.user("alice")
    alice.click(answer, "ff_edit")
    alice.wait_for_modal("Root cause", PATIENCE)
    assert "title" in alice.submit({"title": " "}).errors
    alice.cancel()


@row(33)
def two_clicks_one_pattern(stage: Stage) -> None:
    stage.scene.user("alice").click(stage.answer, "ff_approve")
    stage.scene.user("alice").click(stage.answer, "ff_approve")
    stage.scene.told("alice", "has approved it")
    undone(stage, stage.scene.until(stage.answer, "Fault pattern `"))


@row(34)
def old_revisions_are_refused(stage: Stage) -> None:
    answer, alice = stage.fresh("f07"), stage.scene.user("alice")
    alice.click(answer, "ff_edit")
    alice.wait_for_modal("Root cause", PATIENCE)
    alice.submit({"cause": "Somebody pulled the cable"})
    stage.scene.until(answer, "Fault pattern `")
    undone(stage, answer)
    alice.click(stage.scene.copied(answer), "ff_approve")
    stage.scene.told("alice", "The note has changed")


@row(35)
def named_and_undone(stage: Stage) -> None:
    said = approved(stage, stage.answer).all_text
    assert "*Approved* by <@U0ALICE>" in said
    assert "UTC" in said
    undone(stage, stage.answer)


@row(36)
def reject_asks_why(stage: Stage) -> None:
    alice = stage.scene.user("alice")
    alice.click(stage.answer, "ff_reject")
    alice.wait_for_modal("Why is it wrong?", PATIENCE)
    assert alice.submit({"reason": " "}).errors
    alice.submit({"reason": "A drill"})
    assert "A drill" in stage.scene.until(stage.answer, "*Rejected*").all_text
    undone(stage, stage.answer)


@row(37)
def only_approved_is_confirmed(stage: Stage) -> None:
    answer = stage.fresh("f42")
    assert "confirmed by alice" not in answer.all_text.lower().replace("not confirmed by", "")
