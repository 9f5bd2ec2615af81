"""Core against its slow twins : two ways to compute the same, one of them checked by eye."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.baseline import normal, profile_job
from core.course.counters import RANK_SKEW
from core.job import Status
from core.judge import candidates as crossjob
from core.judge import temporal
from core.judge.candidates import beyond_normal
from core.logs.file_rows import carry_time
from core.logs.lines import NO_TIME
from core.model import Series
from core.nodes.sign import Sign, suspects
from tests.support import slow_twins as naive
from tests.support.jobs import job, lines, parse

EVENTS = st.lists(st.integers(0, 4), max_size=12).map(tuple)
WORDS = ("up", "ready", "loading the shard", "retrying", "ERROR push failed")
SAID = st.lists(st.sampled_from(WORDS), max_size=14)
slow = settings(max_examples=50)  # each example parses a job


@given(EVENTS, EVENTS)
def test_distance_of_sequences(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    """The library's edits and indels agree with plain dynamic programming."""
    (found,) = temporal.distances([one, other], np.array([0]), np.array([1]))

    assert found == pytest.approx(naive.distance(one, other))


@given(st.floats(-1e4, 1e4), st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=15))
def test_robust_deviation(value: float, others: list[float]) -> None:
    """Median and MAD by sorting."""
    assert temporal.deviation(value, others) == pytest.approx(naive.deviation(value, others))


LEVELS = st.tuples(st.sampled_from([0.0, 1.0, 100.0]), st.sampled_from([1.0, 1.9, 2.0, 3.0, 20.0]), st.integers(0, 30))


@given(LEVELS, st.lists(st.floats(0.9, 1.1), min_size=1, max_size=45), st.floats(0, 1))
def test_level_shift(levels: tuple[float, float, int], noise: list[float], weight: float) -> None:
    """The running median finds the same place as a median of everything, at every place."""
    level, factor, at = levels
    values = [level * (factor if n >= at else 1) * (1 + (chance - 1) * weight) for n, chance in enumerate(noise)]
    expected = naive.shift(values, window=temporal.WINDOW, ratio=temporal.MIN_RATIO, deviations=temporal.DEVIATIONS)

    found = temporal.level_shifts([Series("x", tuple(range(len(values))), tuple(values))])

    assert [odd.iteration for odd in found] == ([] if expected is None else [expected])


@given(st.lists(st.sampled_from([NO_TIME, 1, 5, 3, 9]), max_size=12))
def test_times_are_carried(times: list[int]) -> None:
    """Down, and at the start up."""
    carried = carry_time(np.array(times, np.int64))

    assert carried.tolist() == naive.carried_times(times, none=NO_TIME)


@slow
@given(st.lists(st.none() | st.integers(0, 30), max_size=15))
def test_iterations_are_carried(rows: list[int | None]) -> None:
    """Of a file without clock, with restarts anywhere."""
    texts = ["something else" if number is None else f"iteration {number}/ 99 | x" for number in rows]

    found = parse(job({"train.log": lines(*texts)})).iterations.of_row

    assert found.tolist() == naive.carried_iterations(rows, skew=RANK_SKEW)


@slow
@given(st.lists(SAID, min_size=3, max_size=5))
def test_a_profile_counts_by_cohort_and_speaker(ranks: list[list[str]]) -> None:
    """One file a rank: the first and the last rank are cohorts of their own."""
    said = {f"rank {n}": texts for n, texts in enumerate(ranks)}
    cohorts = {
        f"rank {n}": "first" if n == 0 else "last" if n == len(ranks) - 1 else "other" for n in range(len(ranks))
    }
    one = job({f"rank_{n}.log": lines(*texts) for n, texts in enumerate(ranks)}, world_size=len(ranks))

    profile = profile_job(one, cache=None, workers=1, progress=None)

    found = {
        (cohort.rpartition("|")[2], text): (count.speakers, count.total, count.most)
        for (cohort, text), count in profile.counts.items()
    }
    assert found == naive.counts(said, cohorts)


@slow
@given(SAID, st.lists(SAID, min_size=1, max_size=3))
def test_what_goes_beyond_good_jobs(said: list[str], good: list[list[str]]) -> None:
    """Rows of one speaker that the noisiest of the good jobs does not explain."""
    profiles = [
        profile_job(
            job({"rank_0.log": lines(*texts)}, job_id=f"s{n}", status=Status.COMPLETED),
            cache=None, workers=1, progress=None,
        )
        for n, texts in enumerate(good)
    ]  # fmt: skip
    parsed = parse(job({"rank_0.log": lines(*said)}), *(job({"rank_0.log": lines(*texts)}) for texts in good))
    usual = normal(profiles, parsed.templates)

    for event, rows in parsed.table.rows_of(range(len(parsed.table.templates))).items():
        text = parsed.table.templates[event].text
        allowed = max(texts.count(text) for texts in good)
        kept = beyond_normal(parsed.table, event, rows, usual)
        assert kept.rows.tolist() == naive.excess(
            said, text, allowed=allowed, slack=crossjob.SLACK, spare=crossjob.SPARE
        )


@given(st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_signs_of_several_channels_add_up(weights: list[float]) -> None:
    """By noisy-or over the channels."""
    (one,) = suspects([Sign("a", f"channel {n}", weight, "x") for n, weight in enumerate(weights)])

    assert one.score == pytest.approx(naive.noisy_or(weights))
