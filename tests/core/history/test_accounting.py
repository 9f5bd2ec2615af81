"""Where a run's time went: parts that add up to the millisecond, whatever clocks and attempts do."""

import time
from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from core.history.accounting import Account, TimeUse, _covered, _joined, account
from core.history.attempt import Attempt, End
from core.history.dashboard_points import MOST_ATTEMPTS, attempts_of_points
from core.history.history import history
from core.history.rates import mtbf, recoveries

DAY = 86_400_000
POINTS = 40_000


def attempt(name: str, start: int, end: int, numbers: range | list[int], times: list[int], **more: object) -> Attempt:
    own = np.array(list(numbers), np.int64)
    return Attempt(name, start, end, own, np.array(times, np.int64), **more)  # type: ignore[arg-type]  # its fields


def crashed(
    start: int, first: int, count: int, *, startup: int = 60_000, step: int = 1_000, stall: int = 5_000
) -> Attempt:
    """An attempt of ``count`` iterations at an even pace."""
    times = [start + startup + step * (number + 1) for number in range(count)]
    end = (times[-1] if times else start + startup) + stall
    return attempt(f"at {start}", start, end, range(first, first + count), times)


def test_each_part_of_a_run_by_hand() -> None:
    """Ten iterations, five of them computed again after a minute down, and a start of which one step is training."""
    first = crashed(0, 1, 10)
    second = crashed(first.end + 60_000, 6, 20, stall=0)

    run = account([second, first])

    assert (run.wall, run.ettr) == (second.end, 25_000 / second.end)
    told = {part: value for part, value in run.parts.items() if value}
    assert told == {
        TimeUse.PRODUCTIVE: 25_000,
        TimeUse.RECOMPUTED: 5_000,
        TimeUse.STARTUP: 120_000,
        TimeUse.STALLED: 5_000,
        TimeUse.DOWN: 60_000,
    }
    assert sum(run.lost[0].values()) == 5_000 + 5_000 + 60_000 + 60_000
    assert run.problems == ()


def random_history(seed: int) -> list[Attempt]:
    """Attempts that overlap, leave gaps in iterations, and have clocks that step back or end before they start."""
    chance = np.random.default_rng(seed)
    attempts = []
    for number in range(int(chance.integers(1, 8))):
        start = int(chance.integers(0, 400_000))
        count = int(chance.integers(0, 30))
        numbers = np.cumsum(chance.integers(1, 4, count)) + int(chance.integers(0, 60))
        times = start + np.cumsum(chance.integers(-2_000, 9_000, count))
        attempts.append(
            Attempt(
                f"a{number}",
                start,
                start + int(chance.integers(-20_000, 200_000)),
                numbers.astype(np.int64),
                times.astype(np.int64),
                ended=list(End)[int(chance.integers(0, 4))],
                saving=np.sort(chance.integers(0, 600_000, 5)),
                evaluating=np.sort(chance.integers(0, 600_000, 2)),
            )
        )
    return attempts


def is_whole(run: Account, attempts: list[Attempt]) -> bool:
    wall = max(max(one.start, one.end) for one in attempts) - min(one.start for one in attempts)
    parts = [value for spent in run.spent for value in spent.values()]
    return run.wall == wall and min(parts) >= 0 and all(isinstance(value, int) for value in parts)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [None, 3.0])
def test_the_parts_of_a_thousand_random_histories_add_up(seconds: float | None) -> None:
    """To the millisecond, none is negative, and no more is productive than there was time."""
    for seed in range(1_000):
        attempts = random_history(seed)
        run = account(attempts, seconds)
        assert is_whole(run, attempts), seed
        assert run.ettr is None or 0 <= run.ettr <= 1


def test_contradictions_are_told_and_belong_to_nobody() -> None:
    """An overlap and a missing attempt are unknown, not down."""
    overlap = account([crashed(0, 1, 100), crashed(100_000, 50, 10)])
    missing = account([crashed(0, 1, 10), crashed(200_000, 500, 10)])

    assert overlap.parts[TimeUse.UNKNOWN] > 0
    assert "starts before" in overlap.problems[0]
    assert (missing.parts[TimeUse.DOWN], missing.parts[TimeUse.UNKNOWN]) == (0, 200_000 - 75_000)
    assert "missing" in missing.problems[0]


def test_pauses_have_parts_of_their_own() -> None:
    """A save that the log announces is saving; a minute without a word is unexplained; one slow step is only slow."""
    steps = [1_000] * 40
    steps[10], steps[20], steps[30] = 5_000, 61_000, 4_000
    times = np.cumsum(steps)
    one = attempt("a", 0, int(times[-1]), range(1, 41), times.tolist(), saving=np.array([int(times[10]) - 10]))

    run = account([one])

    assert (run.parts[TimeUse.SAVING], run.parts[TimeUse.UNEXPLAINED], run.slow) == (4_000, 60_000, 3_000)
    assert run.parts[TimeUse.PRODUCTIVE] == 43_000


def test_what_follows_a_completed_training_is_no_stall() -> None:
    """The wrapper of a real job ran on for a quarter of its time after the last iteration."""
    one = attempt("a", 0, 50_000, range(1, 11), list(range(1_000, 11_000, 1_000)), ended=End.COMPLETED)

    assert account([one]).parts[TimeUse.AFTER] == 40_000


def test_lines_every_ten_iterations_lose_what_was_computed_again() -> None:
    """A restart after iteration 30 of 40: a quarter of what was done is lost."""
    first = attempt("a", 0, 400_000, [10, 20, 30, 40], [100_000, 200_000, 300_000, 400_000])
    second = attempt("b", 400_000, 500_000, [40], [500_000])

    assert account([first, second]).parts[TimeUse.RECOMPUTED] == 10_000  # 40 alone: nobody knows where b began
    third = attempt("b", 400_000, 600_000, [40, 50], [500_000, 600_000])
    assert account([first, third]).parts[TimeUse.RECOMPUTED] == 100_000


BLOOM = [  # bigscience-workshop/bigscience train/tr11-176B-ml/chronicles.md: day of 2022 from March 11 on, iteration
    *((0, 0), (7, 12_695), (13, 17_235), (17, 20_448), (19, 21_680), (24, 25_956), (26, 26_343), (32, 31_214)),
    *((48, 42_780), (50, 45_000), (59, 51_000), (115, 94_767)),
]


def test_the_published_progress_of_bloom_has_its_known_share() -> None:
    """BLOOM-176B, 82,072 iterations of 105.22 s in 108 days: .925; the faster ramp-up before is left out, and said."""
    attempts, problems = attempts_of_points([(day * DAY, number) for day, number in BLOOM], 105.22)
    run = account(attempts, 105.22)

    assert run.ettr == pytest.approx(0.925, abs=0.001)
    assert run.parts[TimeUse.UNEXPLAINED] / 3_600_000 == pytest.approx(193, abs=0.5)
    assert ["12,695" in problem for problem in problems] == [True]


def test_an_iteration_that_comes_twice_begins_an_attempt() -> None:
    """Points of a dashboard alone: 41 to 50 were computed twice."""
    points = [(number * 1_000, number) for number in range(1, 51)]
    points += [(100_000 + number * 1_000, number) for number in range(41, 61)]
    attempts, _ = attempts_of_points(points)
    run = account(attempts)

    assert len(attempts) == 2
    assert run.parts[TimeUse.RECOMPUTED] == 10_000
    assert run.wall == 159_000


def test_recovery_ends_with_an_iteration_that_is_new() -> None:
    """What is computed again is no recovery."""
    first, second = crashed(0, 1, 10), crashed(100_000, 6, 10)

    assert recoveries([first, second]) == [int(second.times[5]) - first.end]


@pytest.mark.parametrize("failures", [1, 3, 20])
def test_the_interval_of_the_mtbf_is_exact(failures: int) -> None:
    """At its ends as many failures or more, and as many or fewer, have a chance of 2.5 %."""
    from scipy.stats import poisson  # noqa: PLC0415 the second opinion

    told = mtbf(100.0, failures)
    assert told.high is not None
    assert poisson.cdf(failures, 100 / told.low) == pytest.approx(0.025)
    assert poisson.sf(failures - 1, 100 / told.high) == pytest.approx(0.025)
    assert told.low < 100 / failures < told.high


def test_without_a_failure_there_is_a_lower_end() -> None:
    """Nothing in 90 hours: at least 30."""
    assert (mtbf(90, 0).hours, mtbf(90, 0).low, mtbf(90, 0).high) == (None, 30, None)


@pytest.mark.slow
@pytest.mark.parametrize("iteration", [lambda n: n % 2, lambda n: 10 * (POINTS - n)], ids=["saw", "down"])
def test_points_that_go_back_again_and_again_are_bounded(iteration: Callable[[int], int]) -> None:
    """Each attempt was set against each later one: a thousand took 1.5 s, and twice as many four times as long."""
    began = time.thread_time()
    attempts, problems = attempts_of_points([(1000 * n, iteration(n)) for n in range(POINTS)])

    told = history("run", attempts, problems=problems)

    assert len(told.account.attempts) == MOST_ATTEMPTS
    assert "only the last" in told.problems[0]
    assert told.account.wall == sum(told.account.parts.values())
    assert time.thread_time() - began < 20


def test_what_was_computed_again_is_what_counting_one_by_one_finds() -> None:
    """Steps of one to nine iterations against ranges that touch, overlap and lie apart."""
    chance = Random(5)
    for _ in range(200):
        ranges = _joined([(low, low + chance.randrange(30)) for low in chance.sample(range(200), chance.randrange(6))])
        before = np.sort(np.array(chance.sample(range(250), 40)))
        last = before + np.array([chance.randint(1, 9) for _ in before])
        again = {number for low, high in ranges for number in range(low + 1, high + 1)}
        counted = [
            len(again & set(range(low + 1, high + 1))) / (high - low) for low, high in zip(before, last, strict=True)
        ]

        assert _covered(before, last, ranges).tolist() == counted


def test_an_attempt_that_counts_from_the_beginning_after_a_checkpoint_is_told() -> None:
    """Its numbers may be its own; without a checkpoint of the attempt before it really began anew."""
    first = replace(crashed(0, 1, 10), checkpoints=(5,))
    second = crashed(first.end + 60_000, 1, 20)

    assert [told for told in account([first, second]).problems if "counts from 1" in told] == []
    assert any("counts from 1" in told for told in account([first, replace(second, loaded=True)]).problems)
