"""The app's home, as Slack asks for it when somebody opens it, and what its buttons do."""

from benchmarks.support.patience import PATIENCE
from slacksim import Snapshot, View
from tests.support.scene import Scene
from tests.support.scene_jobs import RUNNING
from tests.support.slack_payloads import violations


def home(scene: Scene, name: str, words: str) -> View:
    """The page of a person, opened until it holds these words."""
    user = scene.user(name)
    before = scene.slack.journal.calls("views.publish")
    user.open_home()
    scene.slack.wait_for(
        lambda _: len(scene.slack.journal.calls("views.publish")) > len(before), PATIENCE, "a home that is published"
    )
    (page,) = [view for view in scene.slack.snapshot().homes if view.user == user.id]
    assert words in page.all_text
    return page


def test_a_home_shows_what_is_ones_own_and_what_waits(scene: Scene, room: str) -> None:
    """54: alice approves: she sees what waits, until it is decided; bob sees nothing of hers."""
    answer = scene.diagnosed("f07", room)
    waits = home(scene, "alice", "Waits for your decision")
    other = home(scene, "bob", "Nothing yet.")
    scene.user("alice").click(answer, "ff_approve")
    scene.until(answer, "Fault pattern `")
    after = home(scene, "alice", "You asked")

    assert "Look at gpu018" in waits.all_text
    assert "Look at gpu018" in after.all_text
    assert "<@U0ALICE>" not in after.all_text
    assert waits.all_text.count("`f07`") == 1
    assert "in use" in waits.all_text
    assert "Failed lately" in other.all_text
    assert "Waits for your decision" not in other.all_text + after.all_text
    assert [violations(dict(page.content)) for page in (waits, other, after)] == [[], [], []]


def published(scene: Scene, name: str, words: str, *, without: str = "\0") -> View:
    """The page of a person as it is made anew after a click."""
    user = scene.user(name).id

    def found(now: Snapshot) -> View | None:
        return next(
            (
                one
                for one in now.homes
                if one.user == user and words in one.all_text and without not in str(one.content)
            ),
            None,
        )

    return scene.slack.wait_for(found, PATIENCE, f"a home with {words!r}")


def test_a_note_is_approved_from_the_home(scene: Scene, room: str) -> None:
    """One click there archives it, after a question, and the page that is made anew does not wait for it any more."""
    answer = scene.diagnosed("f42", room)
    page = home(scene, "alice", "Waits for your decision")
    (approve,) = [
        one
        for block in page.blocks
        for one in block.get("elements", ())
        if one.get("action_id") == "ff_approve" and one["value"] in str(scene.shown(answer).blocks)
    ]

    assert "confirm" in approve
    scene.user("alice").click_in_home("ff_approve", approve["value"])

    scene.until(answer, "*Approved* by <@U0ALICE>")
    after = published(scene, "alice", "You asked", without=approve["value"])
    assert violations(dict(after.content)) == []


def test_jobs_are_diagnosed_watched_and_left_from_the_home(scene: Scene) -> None:
    """What is started there is told in the messages of the app; the page lists it, and takes it back."""
    bob = scene.user("bob")
    page = home(scene, "bob", "Failed lately")
    for block in page.blocks:  # of a run of this test that was ended in its middle
        if "ff_unwatch" in str(block):
            bob.click_in_home("ff_unwatch", block["accessory"]["value"])
    (job, *_) = [block["accessory"]["value"] for block in page.blocks if "ff_diagnose" in str(block)]
    bob.click_in_home("ff_diagnose", job)
    scene.parent(job, bob.direct_channel)
    scene.slack.wait_for(
        lambda seen: any("ff_watch" in str(view.blocks) for view in seen.homes if view.user == bob.id),
        PATIENCE,
        "a running job on the page",
    )
    bob.click_in_home("ff_watch", RUNNING)
    page = published(scene, "bob", "You watch")
    (stop,) = [block["accessory"] for block in page.blocks if "ff_unwatch" in str(block)]

    bob.click_in_home("ff_unwatch", stop["value"])

    published(scene, "bob", "Runs now", without="You watch")
    told = scene.slack.snapshot().messages(bob.direct_channel)
    assert any("not watched any more" in one.text.lower() for one in told)


def test_the_thread_is_opened_from_the_home(scene: Scene, room: str) -> None:
    """A button leads to the message of each answer; that it is clicked is acknowledged and does nothing."""
    answer = scene.diagnosed("f01", room, by="carol")
    page = home(scene, "carol", "You asked")
    links = [block["accessory"] for block in page.blocks if "ff_open" in str(block)]
    before = len(scene.slack.journal.calls("chat.postMessage"))

    clicked = scene.user("carol").click_in_home("ff_open")

    assert clicked.acknowledged
    assert any(answer.ts.replace(".", "") in link["url"] for link in links)
    assert len(scene.slack.journal.calls("chat.postMessage")) == before


def test_a_question_that_is_offered_in_messages_is_answered(scene: Scene, room: str) -> None:
    """52: who opens the messages of the app is offered questions about failed jobs, each of which can be sent."""
    scene.diagnosed("f15", room, by="bob")
    bob = scene.user("bob")
    bob.open_home("messages")

    (call, *_) = scene.slack.wait_for(
        lambda _: scene.slack.journal.calls("assistant.threads.setSuggestedPrompts", "ok"), PATIENCE, "prompts"
    )
    question = str(call.args["prompts"][0]["message"])
    bob.direct(question)

    job = question.split()[2]
    assert job in scene.answer(job, bob.direct_channel).text
