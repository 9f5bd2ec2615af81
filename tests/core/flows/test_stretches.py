"""Slow stretches, drifts and slow steps in series of durations."""

import numpy as np
import pytest

from core.flows.stretches import SHORTEST, find_level, find_stretch, slow_steps, without_pauses


def noise(count: int, seed: int = 0) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return 400 * (1 + 0.02 * np.random.default_rng(seed).standard_normal(count))


@pytest.mark.parametrize(("first", "last"), [(30, 59), (20, 40), (0, 25), (50, 56)])
def test_a_level_is_found_wherever_it_is(first: int, last: int) -> None:
    """Half of the run, its beginning, its middle: sigma over all steps would miss the first."""
    durations = noise(60)
    durations[first : last + 1] *= 1.3

    found = find_stretch(durations)

    assert found is not None
    assert (found.first, found.last, found.drifts) == (first, last, False)


def test_a_long_series_is_searched_in_coarse_places_first() -> None:
    """The edges are exact all the same."""
    durations = noise(1_000)
    durations[417:811] *= 1.3

    found = find_stretch(durations)

    assert found is not None
    assert (found.first, found.last) == (417, 810)


def test_a_line_is_a_drift() -> None:
    """Steps that get slower and slower are no level."""
    durations = noise(90)
    durations[25:] += 8.0 * np.arange(1, 66)

    found = find_stretch(durations)

    assert found is not None
    assert found.drifts
    assert abs(found.first - 25) <= 6  # a line in the logarithm is bent: the onset comes a few steps early


@pytest.mark.parametrize("seed", range(5))
def test_noise_is_nothing(seed: int) -> None:
    """Steady steps have neither a stretch nor a slow step."""
    durations = noise(90, seed)

    assert find_stretch(durations) is None
    assert slow_steps(durations, None) == []


def test_single_steps_stand_out_from_their_neighbours() -> None:
    """Also two of them one after the other."""
    durations = noise(90)
    durations[[40, 41, 70]] = 900

    assert [slow.step for slow in slow_steps(durations, find_stretch(durations)) if slow.plain] == [40, 41, 70]


def test_long_steps_within_a_wide_spread_need_a_name() -> None:
    """Where steps differ much by themselves, one of half as long again is no slow step by its length alone."""
    durations = 400 + 60 * np.random.default_rng(1).normal(size=90)
    durations[40] = 570

    assert [(slow.step, slow.plain) for slow in slow_steps(durations, None) if not slow.noisy] == [(40, False)]


def test_a_quarter_longer_within_the_spread_needs_a_name_that_nobody_comes_near() -> None:
    """However much steps differ: of such steps nobody hears without a clear name (core/flows/findings.py)."""
    durations = 400 + 100 * np.sin(np.arange(90))
    durations[45] = 510

    (slow,) = [slow for slow in slow_steps(durations, None) if slow.step == 45]

    assert (slow.plain, slow.noisy) == (False, True)


def test_pauses_do_not_hide_a_stretch() -> None:
    """A few checkpoints of half a minute cost more than all that a slow switch does to the steps between them."""
    durations = noise(60)
    durations[27:50] *= 1.15
    wrote = np.zeros(60, bool)
    wrote[[10, 19, 28, 37, 46]] = True
    durations[wrote] = 29_000

    found = find_stretch(without_pauses(durations, wrote))

    assert find_stretch(durations) is None
    assert found is not None
    assert (found.first, found.last) == (27, 49)


def test_steps_that_nearly_all_write_are_no_pauses() -> None:
    """A job that logs to storage in each step; and a step that writes and is no longer than others stays as it is."""
    durations = noise(40)
    wrote = np.arange(40) % 10 != 0

    assert without_pauses(durations, wrote) is durations
    assert (without_pauses(durations, ~wrote) == durations).all()


@pytest.mark.parametrize("count", [9, 40])
def test_the_stretch_with_the_least_cost_is_that_of_all_pairs_tried_one_by_one(count: int) -> None:
    """The medians of all pairs are looked up in one order of the values; the twin sorts for each pair."""

    def cost(first: int, after: int) -> float:
        inner, outer = values[first:after], np.append(values[:first], values[after:])
        if min(len(inner), len(outer)) < SHORTEST or np.median(inner) <= np.median(outer):
            return np.inf
        return float(np.abs(inner - np.median(inner)).sum() + np.abs(outer - np.median(outer)).sum())

    values = noise(count, seed=7)
    values[count // 3 :] *= 1.01
    costs = {(first, after - 1): cost(first, after) for first in range(count) for after in range(first, count + 1)}

    found, saved = find_level(values)

    assert found == min(costs, key=costs.__getitem__)
    assert saved == pytest.approx(1 - min(costs.values()) / np.abs(values - np.median(values)).sum())
