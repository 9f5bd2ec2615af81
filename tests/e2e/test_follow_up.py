"""Below an answer people just ask; what they ask is answered from the logs, once, and by nobody else's business."""

from collections.abc import Iterator

import pytest

from benchmarks.support.patience import PATIENCE
from slacksim import Message, Slack
from tests.support.scene import Folders, Scene, serving

MAX_LINES = 5


@pytest.fixture(scope="module")
def answer(scene: Scene) -> Message:
    """f02, diagnosed once for all questions."""
    return scene.diagnosed("f02")


def replies(scene: Scene, answer: Message) -> list[Message]:
    return [reply for reply in scene.slack.snapshot().thread(answer) if reply.by_app]


def told(scene: Scene, answer: Message, iteration: int) -> int:
    """How many replies tell of an iteration; the evidence and the pictures come to the thread when they are ready."""
    return sum(reply.text.startswith(f"Iteration {iteration}") for reply in replies(scene, answer))


def lines(reply: Message) -> list[str]:
    """What it says, without the label of the button below it."""
    said = reply.all_text.removeprefix(reply.text).strip().splitlines()
    return said[:-1] if said[-1] == "Lines" else said


def test_a_question_in_the_thread_is_answered_without_a_mention(scene: Scene, answer: Message) -> None:
    """25, 27: at most five lines, with the place of what they quote."""
    scene.user("bob").reply(answer, "what did rank 3 complain about?")

    reply = scene.in_thread(answer, "rank 3")

    assert 1 <= len(lines(reply)) <= MAX_LINES
    assert "logs/" in reply.all_text


def test_what_no_log_tells_is_not_in_the_logs(scene: Scene, answer: Message) -> None:
    """27: nothing is made up."""
    scene.user("bob").reply(answer, 'did anybody see "quantum flux capacitor"?')

    assert scene.in_thread(answer, "No line holds \u201cquantum flux capacitor\u201d").thread_ts == answer.ts


def test_a_mention_within_the_thread_is_one_question_too(scene: Scene, answer: Message) -> None:
    """25, 26: a mention makes two events; one is the question."""
    scene.user("bob").reply(answer, "@firstfault what happened at iteration 27?")
    scene.in_thread(answer, "Iteration 27")
    scene.user("bob").reply(answer, "and at iteration 26?")
    scene.in_thread(answer, "Iteration 26")

    assert [told(scene, answer, n) for n in (27, 26)] == [1, 1]


def test_edits_bots_and_other_threads_are_no_questions(scene: Scene, answer: Message) -> None:
    """25, 28: an edit asks nothing again, and the bot holds its tongue where nobody asked it."""
    asked = scene.user("bob").reply(answer, "what happened at iteration 25?")
    scene.in_thread(answer, "Iteration 25")
    elsewhere = scene.user("bob").say("lunch?")
    scene.user("carol").reply(elsewhere, "what happened at iteration 24?")

    scene.user("bob").edit(asked, "what happened at iteration 23?")
    scene.user("bob").reply(answer, "what happened at iteration 22?")
    scene.in_thread(answer, "Iteration 22")

    said = [reply.text for reply in replies(scene, answer)]
    assert not any("Iteration 23" in text for text in said)
    assert not [reply for reply in scene.slack.snapshot().thread(elsewhere) if reply.by_app]
    assert len(scene.bot.state.threads.conversation("T0FIRSTFAULT", answer.channel, answer.ts)) == len(
        [m for m in scene.slack.snapshot().thread(answer) if not m.by_app]
    )


def test_two_people_at_once_are_both_answered(scene: Scene, answer: Message) -> None:
    """29: each question has its own reply."""
    scene.user("bob").reply(answer, "what happened at iteration 19?")
    scene.user("carol").reply(answer, "what happened at iteration 21?")

    first, second = scene.in_thread(answer, "Iteration 19"), scene.in_thread(answer, "Iteration 21")

    assert first.ts != second.ts
    assert "Iteration 21" not in first.text
    assert "Iteration 19" not in second.text


@pytest.fixture
def restarted(slack: Slack, folders: Folders, answer: Message) -> Iterator[Scene]:
    """Another process' worth of bot on the same state, after the first has its answer."""
    assert answer.by_app
    with serving(slack, folders) as again:
        yield again


def test_after_a_restart_old_threads_are_still_answered(restarted: Scene, answer: Message) -> None:
    """30: what was diagnosed is in the state, and buttons know it too."""
    bob = restarted.user("bob")

    bob.reply(answer, "what happened at iteration 18?")
    bob.click(restarted.details(answer), "ff_lines")

    assert restarted.in_thread(answer, "Iteration 18").thread_ts == answer.ts
    assert "logs/" in bob.wait_for_modal(restarted.cited_first("f02"), PATIENCE).all_text
