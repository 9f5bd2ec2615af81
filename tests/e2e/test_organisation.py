"""The bot as a whole organisation installs it: its requests name one workspace or another, and clicks name none."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.support.stage import eventually
from slacksim import Slack
from tests.support.followed import Followed, write
from tests.support.scene import SHARED, Folders, local_slack, serving

ORGANISATION = "E0FIRSTFAULT"


@pytest.fixture(scope="module")
def slack() -> Iterator[Slack]:
    with local_slack(organisation=ORGANISATION) as running:
        yield running


def test_what_is_posted_unasked_is_asked_about_and_approved(slack: Slack, room: str, tmp_path: Path) -> None:
    """51: whoever answers in the thread of a followed job speaks to the bot, though no workspace has asked for it."""
    write(tmp_path / "jobs" / "old-1", status="FAILED")
    folders = Folders(tmp_path, tmp_path / "jobs", tmp_path / "cache")
    with serving(slack, folders, follow_channel=room) as scene:
        eventually(scene.bot.state.followed.begun, "the first look")
        followed = Followed(scene, room)
        followed.fails("new-1")
        followed.look()
        answer = scene.in_full("new-1", room)

        scene.user("bob").reply(answer, 'did anybody see "muons"?')
        assert "muons" in scene.in_thread(answer, "muons").all_text
        scene.user("alice").click(answer, "ff_approve")
        assert "*Approved* by <@U0ALICE>" in scene.until(answer, "Fault pattern `").all_text
        assert {entry.team for entry in scene.bot.state.audit.entries()} == {ORGANISATION}

        scene.user("dave").say("<@U0FIRSTFAULT> why did new-1 fail?", SHARED)
        assert "of another organisation" in scene.told("dave", "of another organisation").all_text
