"""The app's home, as Slack asks for it when somebody opens it."""

from benchmarks.support.patience import PATIENCE
from slacksim import View
from tests.support.scene import Scene
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

    assert waits.all_text.count("f07") >= 2
    assert "in use" in waits.all_text
    assert "Failed lately" in other.all_text
    assert "Waits for your decision" not in other.all_text + after.all_text
    assert [violations(dict(page.content)) for page in (waits, other, after)] == [[], [], []]
