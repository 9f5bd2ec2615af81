"""Who is told of what real processes do, with a real clock: these have no other."""

import pytest

from tests.support.workers import Recorder


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()
