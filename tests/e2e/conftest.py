"""One bot for the tests of a file, and a channel for each test."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from slacksim import Slack
from tests.support.places import EXAMPLES
from tests.support.scene import Folders, Scene, local_slack, serving
from tests.support.scene_jobs import make_jobs


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What all bots may share: jobs, which are only read, and caches, which only save time."""
    place = tmp_path_factory.mktemp("e2e")
    shutil.copytree(EXAMPLES, place / "jobs")
    make_jobs(place / "jobs")
    return place


@pytest.fixture(autouse=True, scope="module")
def clean_environment(shared: Path) -> Iterator[None]:
    """As for all tests, but as long as the bot of the file lives: its children inherit the environment."""
    with pytest.MonkeyPatch.context() as environment:
        for name in os.environ:
            if name.startswith(("FIRSTFAULT_", "XDG_", "SLACK_", "OPENAI_", "AWS_")):
                environment.delenv(name)
        environment.setenv("HOME", str(shared / "home"))
        environment.setenv("XDG_CACHE_HOME", str(shared / "home" / "cache"))
        yield


@pytest.fixture(autouse=True, scope="module")
def children(forked: None) -> None:
    """Those of all bots here are forked."""


@pytest.fixture(scope="module")
def slack() -> Iterator[Slack]:
    with local_slack() as running:
        yield running


@pytest.fixture(autouse=True)
def reloaded(slack: Slack) -> None:
    """No test waits for what an earlier one has left: open windows, and messages for one person."""
    slack.reload()


@pytest.fixture(scope="module")
def folders(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return Folders(tmp_path_factory.mktemp("bot"), shared / "jobs", shared / "cache")


@pytest.fixture(scope="module")
def scene(slack: Slack, folders: Folders) -> Iterator[Scene]:
    """The bot of the file: over HTTP, where starting and stopping take no seconds; only alice may approve."""
    with serving(slack, folders) as running:
        yield running
    assert not [
        call for call in slack.journal.calls() if call.outcome == "missing_scope"
    ]  # 53: the manifest asks for all


@pytest.fixture(scope="module")
def rooms(slack: Slack) -> Iterator[str]:
    return iter([channel.id for channel in slack.workspace.channels if channel.name.startswith("room-")])


@pytest.fixture
def room(rooms: Iterator[str]) -> str:
    """A channel in which nothing was said before."""
    return next(rooms)
