"""Steps are cut where bytes are equal, whatever their length."""

import numpy as np
import pytest
from numpy.typing import NDArray

from core.flows.boundaries import find_boundaries


def bursts(steps: int = 60, pause: int | None = 30, *, lost: int | None = None) -> NDArray[np.int64]:
    """Three buckets a step, 30 ms apart; steps of 0.4 s with a tenth of jitter, one of them paused."""
    random = np.random.default_rng(0)
    clock, rows = 0.0, []
    for step in range(steps):
        clock += 0.3 * random.normal(1, 0.1) + (1.1 if step == pause else 0)
        for size in (100_000, 300_000, 300_000):
            rows.append((clock * 1e6, (clock + 0.01) * 1e6, size))
            clock += 0.03
    if lost is not None:
        del rows[lost]
    return np.array(rows).astype(np.int64)


def test_a_pause_inside_does_not_shift_later_steps() -> None:
    """Each step ends with its third bucket."""
    found = find_boundaries(bursts())

    assert found is not None
    assert found.last.tolist() == list(range(2, 180, 3))
    assert found.size == 700_000
    assert found.equal == pytest.approx(1.0)


def test_a_lost_record_costs_one_step_at_most() -> None:
    """The boundaries behind it stay where they are."""
    whole, found = find_boundaries(bursts()), find_boundaries(bursts(lost=91))

    assert whole is not None
    assert found is not None
    assert len(set(whole.last.tolist()) - {place if place < 91 else place + 1 for place in found.last.tolist()}) <= 1


@pytest.mark.parametrize("count", [0, 1, 5])
def test_few_bursts_have_no_steps(count: int) -> None:
    """Of fewer than six nothing is usual."""
    assert find_boundaries(bursts()[:count]) is None


def test_checkpoints_every_so_many_steps_are_no_steps() -> None:
    """The longest silences have equal bytes in between too; of those six hold too few steps to be any."""
    random = np.random.default_rng(1)
    begin, rows = 0, []
    for step in range(55):
        part = int(random.uniform(0.02, 0.98) * 1_000_000)
        for place, size in enumerate((part, 1_000_000 - part)):
            rows.append([begin, begin + 4_000, size])
            if not place:  # who is late holds each burst up, in half of the steps for as long as a step takes
                begin += 290_000 if random.random() < 0.5 else 20_000
        begin += 280_000 + 1_500_000 * (step % 11 == 10)

    found = find_boundaries(np.array(rows, np.int64))

    assert found is not None
    assert abs(len(found.last) - 55) <= 1
    assert found.equal > 0.9
