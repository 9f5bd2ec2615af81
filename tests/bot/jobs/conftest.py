"""A state with a real clock: real processes have no other."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.state.state import State, open_state
from tests.support.workers import Recorder


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    opened = open_state(tmp_path / "state.db")
    yield opened
    opened.close()


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()
