"""Medians and percentiles are numpy's, to the last bit."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.quantiles import median, percentile_of_sorted

NUMBERS = st.lists(st.floats(-1e300, 1e300) | st.integers(-3, 3).map(float), min_size=1, max_size=40).map(np.array)


@given(NUMBERS)
def test_a_median_is_that_of_numpy(values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> None:
    """Of odd and even counts, of equal numbers and of very different ones."""
    assert median(values) == float(np.median(values))


@pytest.mark.parametrize("percent", [0, 10, 50, 90, 100])
@given(NUMBERS)
def test_a_percentile_is_that_of_numpy(percent: int, values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> None:
    """Between two numbers it is interpolated from the nearer one, as numpy does."""
    assert percentile_of_sorted(np.sort(values), percent) == float(np.percentile(values, percent))


def test_the_median_of_nothing_or_of_no_number_is_none() -> None:
    """Neither is a level that anything could be compared with."""
    assert math.isnan(median(np.zeros(0)))
    assert math.isnan(median(np.array([1.0, math.nan, 2.0])))
