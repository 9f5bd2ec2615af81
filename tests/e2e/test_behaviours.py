"""The sixty behaviours that people expect of the bot, a row each, in the local Slack; files beside this go deeper."""

import os
from collections.abc import Iterator

import pytest

from tests.support.behaviours import answering, approving, asking, operating
from tests.support.behaviours.stage import ROWS, Stage
from tests.support.scene import Scene

# Six minutes: a bot for each setting, a diagnosis for most rows; most of it is in the files beside this, too.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("FIRSTFAULT_BEHAVIOURS" not in os.environ, reason="FIRSTFAULT_BEHAVIOURS=1 runs the sixty"),
]
SUBJECTS = (asking, answering, approving, operating)  # each enters its rows


@pytest.fixture(scope="module")
def stage(scene: Scene, rooms: Iterator[str], tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(scene, rooms, scene.diagnosed("f01", next(rooms)), tmp_path_factory.mktemp("others"))


@pytest.mark.parametrize("number", range(1, 61))
def test_the_bot_behaves(stage: Stage, number: int) -> None:
    """Each behaviour is exercised as a person would."""
    ROWS[number](stage)
