"""A state in a temporary folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.state.state import State, open_state
from tests.support.states import Hands


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
def state(tmp_path: Path, clock: Hands) -> Iterator[State]:
    opened = open_state(tmp_path / "home" / "state.db", clock=clock)
    yield opened
    opened.close()
