"""Whether a run says itself that it is done."""

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from core.model import Scope
from tests.support.jobs import job, lines


def ends(word: str) -> Job:
    """A job of which nobody tells how it ended, without clocks, whose ranks say this last."""
    files = {
        f"rank_{rank}.log": lines(*(f"rank {rank}: iter {n:5d} loss=2.5" for n in range(10, 610, 10)), word)
        for rank in range(4)
    }
    return job(files, status=Status.UNKNOWN)


@pytest.mark.parametrize("word", ["finished 600 iterations", "event=done steps=600 wall_s=471.2", "done: 600 updates"])
def test_who_says_so_of_the_last_iteration_is_done_in_any_words(word: str) -> None:
    """The number tells that it is not a part of the work."""
    found = diagnose(ends(word), [])

    assert found.scope is Scope.NONE
    assert "The run says that it is done, after iteration 600" in found.headline


@pytest.mark.parametrize("word", ["finished 12 shards", "evaluation done in 3 s", "600 samples left"])
def test_what_is_done_beside_the_last_iteration_ends_no_run(word: str) -> None:
    """A checkpoint is done, too."""
    assert "says that it is done" not in diagnose(ends(word), []).headline
