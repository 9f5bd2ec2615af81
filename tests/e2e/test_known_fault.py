"""What a person has confirmed once answers the next job that fails this way, before its diagnosis is finished."""

import pytest

from benchmarks.support.patience import PATIENCE
from tests.support.scene import Scene, text_of


@pytest.mark.slow
def test_what_was_taken_back_or_rejected_is_confirmed_no_more(scene: Scene, room: str) -> None:
    """35, 36, 37: neither answers the next job."""
    first, alice = scene.diagnosed("f01", room), scene.user("alice")
    alice.click(first, "ff_approve")
    alice.click(scene.until(first, "Fault pattern"), "Undo")
    alice.click(scene.until(first, "Approve and archive"), "ff_reject")
    alice.wait_for_modal("Why is it wrong?", PATIENCE)
    alice.submit({"reason": "The node was drained on purpose"})
    scene.until(first, "*Rejected* by <@U0ALICE>")

    second = scene.diagnosed("f42", room)

    said = [text_of(call) for call in scene.edits(second)]
    assert "From public facts, not confirmed by your team" in scene.in_thread(second, "*P1*").all_text
    assert not [text for text in said if "Confirmed by" in text or "known fault:" in text]


@pytest.mark.slow
def test_an_archived_pattern_answers_the_next_job_of_its_kind_at_once(scene: Scene, room: str) -> None:
    """21, 32, 37: f01 approved in one click; f42, the same fault in another framework, shows it before it is judged."""
    first = scene.diagnosed("f01", room)
    clicked = scene.user("alice").click(first, "ff_approve")
    approved = scene.until(first, "Fault pattern")
    pattern = approved.all_text.split("Fault pattern `")[1].split("`")[0]

    second = scene.diagnosed("f42", room, by="bob")

    edits = [text_of(call) for call in scene.edits(second)]
    at_once = next(text for text in edits if text.startswith("f42: known fault: "))
    faults = scene.in_thread(second, "*P1*")
    similar = faults.all_text
    bob = scene.user("bob")
    bob.click(faults, "ff_fits", "This was it")
    heard = scene.told("bob", "P1 was it").all_text
    bob.click(faults, "ff_fits", "Take back what I said")
    back = scene.told("bob", "Taken back").all_text
    scene.user("alice").click(approved, "Undo")
    scene.until(first, "Approve and archive")
    assert clicked.acknowledged
    assert "Confirmed by alice" not in first.all_text
    assert "Confirmed by alice" in at_once
    assert "the diagnosis goes on" in at_once
    assert "Look at dgx-a03" not in at_once
    assert not [text for text in edits[: edits.index(at_once)] if "Look at dgx-a03" in text]
    assert edits[-1].startswith("f42: Look at dgx-a03")
    assert "(P1): _confirmed by alice" in second.all_text
    assert "Seen in f01" in similar
    assert pattern in similar
    assert "P1 is a seed" not in second.all_text
    assert "P1 is a seed" not in similar
    assert "So far 1 right, 0 wrong" in heard
    assert "So far 0 right, 0 wrong" in back
