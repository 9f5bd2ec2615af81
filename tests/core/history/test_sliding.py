"""The productive share over sliding windows, and in hours of ranks."""

from dataclasses import replace

import numpy as np
import pytest

from core.history.accounting import TimeUse, account
from core.history.attempt import Attempt, End
from core.history.sliding_share import sliding

SECOND = 1_000


def attempt(name: str, start: int, numbers: range, end: int, ended: End = End.FAILED) -> Attempt:
    """Ten seconds of start, then an iteration a second; times in seconds."""
    times = np.array([(start + 10 + place) * SECOND for place in range(1, len(numbers) + 1)], np.int64)
    return Attempt(name, start * SECOND, end * SECOND, np.array(numbers, np.int64), times, ended)


RUN = (attempt("a", 0, range(1, 101), 150), attempt("b", 200, range(81, 181), 310, End.COMPLETED))


def test_windows_are_what_counting_by_hand_finds() -> None:
    """80 kept iterations of the first, then none until the second has begun; the whole run is one window."""
    run = account(RUN)
    found = sliding(run, 20 * SECOND)
    assert found is not None

    share = dict(zip((found.ends // SECOND).tolist(), found.shares.tolist(), strict=True))
    assert (share[20], share[60], share[100], share[150], share[310]) == (0.5, 1.0, 0.5, 0.0, 1.0)
    whole = sliding(run, run.wall)
    assert whole is not None
    assert whole.shares.tolist() == [pytest.approx(run.ettr)]


@pytest.mark.parametrize("length", [0, -1, 10**12])
def test_a_window_that_is_longer_than_the_run_has_no_share(length: int) -> None:
    """And none of no length."""
    assert sliding(account(RUN), length) is None


def test_hours_of_ranks_weigh_attempts_where_their_number_changes() -> None:
    """Half of the ranks in the second attempt; nothing where all have the same, or one is not known."""
    ranks = (8, 4)
    run = account([replace(one, ranks=count) for one, count in zip(RUN, ranks, strict=True)])

    whole = sum(count * sum(own.values()) for count, own in zip(ranks, run.spent, strict=True))
    kept = sum(count * own[TimeUse.PRODUCTIVE] for count, own in zip(ranks, run.spent, strict=True))
    assert run.ettr_by_ranks == pytest.approx(kept / whole)
    assert run.ettr_by_ranks != pytest.approx(run.ettr)
    assert account([replace(one, ranks=8) for one in RUN]).ettr_by_ranks is None
    assert account([replace(RUN[0], ranks=8), RUN[1]]).ettr_by_ranks is None
