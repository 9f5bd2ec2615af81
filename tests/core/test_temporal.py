"""Temporal: iterations that differ from those before them, by their events and by their numbers."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.diagnose import diagnose
from core.judge import temporal
from core.judge.temporal import MIN_HISTORY, WINDOW, deviation, distances, level_shifts, odd_sequences, sequences_of
from core.model import Series
from tests.support.jobs import at, four_nodes, job, lines, parse

SEQUENCES = st.lists(st.integers(0, 5), max_size=12).map(tuple)


def distance(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    (found,) = distances([one, other], np.array([0]), np.array([1]))
    return float(found)


@given(SEQUENCES, SEQUENCES)
def test_distance_is_symmetric_and_within_bounds(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    """0 for equal sequences and only for them, at most 1, the same both ways."""
    assert distance(one, other) == distance(other, one)
    assert 0 <= distance(one, other) <= 1
    assert (distance(one, other) == 0) == (one == other)


@given(SEQUENCES, SEQUENCES, st.permutations(range(6)))
def test_distance_knows_no_numbering(one: tuple[int, ...], other: tuple[int, ...], names: list[int]) -> None:
    """Events are categories: however they are numbered, the distance is the same (DTW over ids depends on it)."""
    renamed = tuple(names[event] for event in one), tuple(names[event] for event in other)

    assert distance(*renamed) == distance(one, other)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((), (), 0.0),
        ((1,), (2,), 1.0),
        ((), (1, 2), 1.0),
        ((1, 2, 3), (1, 2, 3), 0.0),
        ((1,), (1, 1, 1, 1), (3 / 4 + 3 / 5 + 0) / 3),
        ((1, 2), (2, 1), (1 + 0 + 0) / 3),
    ],
)
def test_distance_by_hand(one: tuple[int, ...], other: tuple[int, ...], expected: float) -> None:
    """Edit, multiset and set difference, in equal parts: a retry storm of one event is seen."""
    assert distance(one, other) == pytest.approx(expected)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20), st.floats(-1e6, 1e6))
def test_deviation_is_never_negative(others: list[float], value: float) -> None:
    """The median itself deviates by nothing, and equal numbers divide by nothing."""
    assert deviation(value, others) >= 0
    assert deviation(float(others[0]), [others[0]]) == 0


def sequences(count: int, odd: dict[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    return {n: odd.get(n, (1, 2, 3, 4)) for n in range(1, count + 1)}


def test_an_iteration_with_other_events_is_odd() -> None:
    """It differs from the ten before it, and those do not differ from each other."""
    (odd,) = odd_sequences(sequences(20, {15: (1, 2, 9, 9, 9, 9, 3, 4)}))

    assert odd.iteration == 15
    assert "iteration 15" in odd.because
    assert 0 < odd.score < 0.95


@pytest.mark.parametrize(
    "said",
    [
        {},
        sequences(3, {3: (9, 9)}),
        sequences(20, {}),
        sequences(20, {15: (1, 2, 3, 4, 4)}),
        {n: (1, 2) if n % 2 else (3, 4) for n in range(1, 30)},
    ],
)
def test_what_is_usual_is_not_odd(said: dict[int, tuple[int, ...]]) -> None:
    """Too short a history, one stray line, or a job in which every second iteration is another."""
    assert odd_sequences(said) == ()


def noisy(count: int, level: float, noise: float, seed: int) -> list[float]:
    """Numbers around a level, the same ones every time."""
    chance = random.Random(seed)
    return [level * (1 + noise * chance.uniform(-1, 1)) for _ in range(count)]


def shifts(values: list[float], first: int = 1) -> list[int]:
    one = Series("time per iteration (ms)", tuple(range(first, first + len(values))), tuple(values))
    return [odd.iteration for odd in level_shifts([one])]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("factor", [3.0, 10.0])
def test_a_number_that_left_its_level_and_stayed_away_is_found(factor: float, seed: int) -> None:
    """From 0.2 s to 1 s an iteration: a slow node prints the same lines as before."""
    values = noisy(30, 200, 0.1, seed) + noisy(20, 200 * factor, 0.1, seed + 100)

    assert shifts(values) == [31]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("noise", [0.0, 0.1, 0.3])
def test_noise_is_no_shift(noise: float, seed: int) -> None:
    """Neither is a constant."""
    assert shifts(noisy(60, 200, noise, seed)) == []


def test_a_spike_is_no_shift() -> None:
    """Saving a checkpoint takes long once, and the level comes back."""
    assert shifts([200.0] * 30 + [5000.0] + [200.0] * 30) == []
    assert shifts([200.0] * 30 + [5000.0] * 5 + [200.0] * 30) == []


@pytest.mark.parametrize(
    "values",
    [[], [1.0], [0.0] * 40, [-3.0] * 20 + [-30.0] * 20, [5.0 - n / 20 for n in range(80)], [1.0] * 5 + [9.0] * 5],
)
def test_series_that_hold_no_shift(values: list[float]) -> None:
    """Empty, zero, negative, falling as a loss should, or too short to have a level."""
    assert shifts(values) == []


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
def test_the_iteration_at_which_a_number_broke_comes_first(broken: float) -> None:
    """A loss that is no number any more is the strongest sign of all, and its first iteration counts."""
    (odd,) = level_shifts([Series("loss", (10, 20, 30, 40), (5.0, 4.0, broken, broken))])

    assert (odd.iteration, odd.score) == (30, 1.0)
    assert odd.because.startswith("loss is ")


def test_a_broken_loss_is_the_first_iteration_of_a_diagnosis() -> None:
    """Before the last complete one."""
    said = [at(n, f"iteration {n}/ 90 | lm loss: {'nan' if n > 20 else 5.0} |") for n in range(1, 41)]

    found = diagnose(four_nodes(dict.fromkeys(range(4), said)), []).iterations

    assert [one.iteration for one in found[:2]] == [21, 40]
    assert found[0].because == "Loss is nan from iteration 21 on."


def test_the_last_complete_iteration_is_always_told() -> None:
    """It is certain, whatever else is odd, and comes before what only differs."""
    said = [
        at(n, f"iteration {n}/ 90 | elapsed time per iteration (ms): {200 if n < 30 else 900}.0 |")
        for n in range(1, 41)
    ]

    found = diagnose(four_nodes(dict.fromkeys(range(4), said)), []).iterations

    assert [one.iteration for one in found] == [40, 30]
    assert found[0].because == "Iteration 40 is the last that any rank completed, of 90 planned."


def test_events_between_iterations_are_compared_end_to_end() -> None:
    """A burst of lines that came in no other iteration marks it."""
    said = [
        line
        for n in range(1, 41)
        for line in (
            *(["retrying the transfer", "link flapped"] * 4 if n == 25 else ["tick"]),
            f"iteration {n}/ 90 | x",
        )
    ]

    found = diagnose(job({"rank_0.log": lines(*(at(n, line) for n, line in enumerate(said)))}), []).iterations

    assert [one.iteration for one in found] == [40, 25]


def test_a_sequence_is_what_was_said_since_the_iteration_before() -> None:
    """Up to the line that says that this one is complete; rare events only, where successful jobs know the others."""
    said = ["start", "iteration 1/ 9 | x", "forward", "backward", "iteration 2/ 9 | x", "iteration 3/ 9 | x", "end"]
    parsed = parse(job({"rank_0.log": lines(*said)}))
    texts = [template.text for template in parsed.table.templates]

    found = sequences_of(parsed.table, parsed.iterations, np.ones(len(texts), np.bool_))
    rare = sequences_of(parsed.table, parsed.iterations, np.array([text == "backward" for text in texts]))

    assert {number: [texts[event] for event in events] for number, events in found.items()} == {
        2: ["forward", "backward", "iteration <NUM>/ <NUM> | x"],
        3: ["iteration <NUM>/ <NUM> | x"],
    }
    assert {number: [texts[event] for event in events] for number, events in rare.items()} == {2: ["backward"], 3: []}


def test_the_window_is_the_papers() -> None:
    """Ten iterations before; a median needs some of them."""
    assert WINDOW == 10
    assert 1 < MIN_HISTORY < WINDOW


def _first_shift(values: list[float]) -> int | None:
    """The slow twin: the median of all values before, anew for each."""
    for place in range(WINDOW, len(values) - 2):
        low, after = float(np.median(values[:place])), values[place:]
        rises = low > 0 and min(after) >= temporal.MIN_RATIO * low
        if rises and deviation(float(np.median(after)), values[:place]) >= temporal.DEVIATIONS:
            return place
    return None


@given(st.lists(st.integers(1, 9).map(float), min_size=13, max_size=40), st.integers(1, 60), st.integers(3, 9))
def test_a_shift_is_where_the_slow_twin_finds_it(before: list[float], level: int, after: int) -> None:
    """Whatever came before: two heaps know the same median."""
    values = [*before, *[float(level)] * after]
    found, first = temporal._shift(np.array(values)), _first_shift(values)
    assert found == first or (
        found is not None and first is not None and first < found <= first + len(values) // WINDOW
    )


def test_levels_are_compared_ever_more_seldom_where_their_noise_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of values that were twice the median a thousand times, the noise is asked for some dozen times."""
    asked = 0

    def counted(*_: object) -> float:
        nonlocal asked
        asked += 1
        return 0.0

    monkeypatch.setattr(temporal, "deviation", counted)
    assert temporal._shift(np.array([0.01, 1.0] * 1000 + [2.0] * 1500)) is None
    assert 0 < asked < 40
