"""A job of a kind that the team knows is added to its pattern, and one job never makes two patterns."""

import json
from collections.abc import Iterator

import pytest

from benchmarks.support.patience import PATIENCE
from bot.library.session import open_fault_library
from bot.settings import load_settings
from bot.state.audit import as_jsonl
from faultlib.pattern import Entry, Origin, Status
from slacksim import Message, Slack
from tests.support.scene import Folders, Scene, serving

PATTERN = "attern `"  # "Fault pattern", "fault pattern"
OFFER = "Your team may know this fault"


@pytest.fixture(scope="module")
def scene(slack: Slack, folders: Folders) -> Iterator[Scene]:
    """alice and bob may approve."""
    with serving(slack, folders, approvers="U0ALICE,U0BOB") as running:
        yield running


@pytest.fixture(scope="module")
def first(scene: Scene, rooms: Iterator[str]) -> Message:
    """f01, approved by alice as a pattern of its own; the first of its kind, so in one click."""
    answer = scene.diagnosed("f01", next(rooms))
    scene.user("alice").click(answer, "ff_approve")
    return scene.until(answer, PATTERN)


@pytest.fixture(scope="module")
def second(scene: Scene, first: Message, rooms: Iterator[str]) -> Message:
    """f42, the same fault in another framework, after f01 was approved."""
    assert first.by_app
    return scene.diagnosed("f42", next(rooms))


def in_use() -> list[Entry]:
    with open_fault_library(load_settings()) as library:
        return [entry for entry in library.entries(Status.APPROVED) if entry.origin is Origin.TEAM]


def name_in(message: Message) -> str:
    return message.all_text.split(PATTERN)[1].split("`")[0]


def newest_deed(scene: Scene) -> dict[str, object]:
    *_, deed = (json.loads(line) for line in as_jsonl(scene.bot.state.audit.entries()))
    return dict(deed)


def offered(scene: Scene, room: str, name: str = "bob") -> Message:
    """The newest question to this person in this channel that still stands."""
    return scene.slack.wait_for(
        lambda now: next((m for m in now.ephemerals(name) if OFFER in m.all_text and m.channel == room), None),
        PATIENCE,
        "the question",
    )


def test_a_job_of_a_known_kind_is_added_in_one_click(scene: Scene, first: Message, second: Message) -> None:
    """Approving asks first, privately, with who stands behind the pattern; adding makes none; Undo takes it back."""
    bob, pattern = scene.user("bob"), name_in(first)
    bob.click(second, "ff_approve")
    question = offered(scene, second.channel)
    undecided = scene.shown(second)

    bob.click(question, "ff_join")
    added = scene.until(second, "Added to fault pattern")
    deed = newest_deed(scene)
    patterns = in_use()
    scene.in_thread(second, "this job is added to")
    bob.click(added, "Undo")
    undone = scene.until(second, "Approve and archive")

    assert f"Add this job to {pattern}"[:75] in question.all_text
    assert "confirmed by alice" in question.all_text
    assert "Archive as new" in question.all_text
    assert "Approve and archive" in undecided.all_text
    assert name_in(added) == pattern
    assert [entry.id for entry in patterns] == [pattern]
    assert "f42" in [sighting.job for sighting in patterns[0].sightings]
    assert (deed["who"], deed["what"], deed["details"]["pattern"]) == ("U0BOB", "merged", pattern)  # type: ignore[index]
    assert not [m for m in scene.slack.snapshot().ephemerals("bob") if OFFER in m.all_text]
    assert [entry.id for entry in in_use()] == [pattern]
    assert "stays in use" in scene.in_thread(undone, "was taken back").all_text
    assert newest_deed(scene)["what"] == "undone"


def test_it_can_be_a_pattern_of_its_own_all_the_same(scene: Scene, first: Message, second: Message) -> None:
    """After the Undo as well: the other button archives it, and Undo retires that one alone."""
    bob = scene.user("bob")
    bob.click(second, "ff_approve")

    bob.click(offered(scene, second.channel), "ff_approve_new")
    archived = scene.until(second, "*Approved* by <@U0BOB>")
    patterns = {entry.id for entry in in_use()}
    bob.click(archived, "Undo")
    scene.until(second, "Approve and archive")

    assert len(patterns) == 2
    assert patterns == {name_in(first), name_in(archived)}
    assert [entry.id for entry in in_use()] == [name_in(first)]


def test_what_was_retired_meanwhile_is_not_joined(scene: Scene, first: Message, second: Message) -> None:
    """The question is older than the answer: it is told so, and nothing is approved."""
    bob = scene.user("bob")
    bob.click(second, "ff_approve")
    question = offered(scene, second.channel)
    scene.user("alice").click(first, "Undo")
    reopened = scene.until(first, "Approve and archive")

    bob.click(question, "ff_join")
    told = scene.told("bob", "is not in use any more")
    scene.user("alice").click(reopened, "ff_approve")
    scene.until(first, PATTERN)

    assert told.channel == second.channel
    assert "Approve and archive" in scene.shown(second).all_text


def test_who_may_not_approve_may_not_add_either(scene: Scene, second: Message) -> None:
    """Checked on this click too: carol has the question from somewhere, and is told why nothing happens."""
    scene.user("bob").click(second, "ff_approve")
    question = offered(scene, second.channel)

    scene.user("carol").click(scene.copied(scene.for_all(question)), "ff_join")
    told = scene.told("carol", "You are not on the list")
    scene.user("bob").click(question, "ff_join")
    scene.user("bob").click(scene.until(second, "Added to fault pattern"), "Undo")

    assert told.channel == second.channel


def test_an_edited_note_of_the_same_job_makes_no_second_pattern(scene: Scene, first: Message, room: str) -> None:
    """f01 again in another channel: bob's words become the pattern's, and his Undo brings alice's back."""
    again, bob = scene.diagnosed("f01", room), scene.user("bob")
    before = in_use()
    bob.click(again, "ff_edit")
    bob.wait_for_modal("Root cause", PATIENCE)

    bob.submit({"cause": "The cgroup limit of tr-03 was too small", "title": "The cgroup limit is too small"})
    approved = scene.until(again, PATTERN)
    after = in_use()
    bob.click(approved, "Undo")
    scene.until(again, "Approve and archive")
    undone = in_use()

    assert [entry.id for entry in before] == [entry.id for entry in after] == [name_in(first)] == [name_in(approved)]
    assert after[0].pattern.cause == "The cgroup limit of tr-03 was too small"
    assert [entry.id for entry in undone] == [name_in(first)]
    assert undone[0].pattern.cause == before[0].pattern.cause
    assert PATTERN in scene.shown(first).all_text
