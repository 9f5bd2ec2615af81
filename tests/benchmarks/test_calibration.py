"""The calibration error of answers, in bins by likelihood, and the least that so few answers can have."""

import pytest

from benchmarks.quality.recall_calibration import Told, bins_of, calibration_error, least_error


def test_an_error_is_the_distance_between_said_and_right() -> None:
    """By bins, each weighed by its answers; answers of weight count as much as they weigh."""
    told = [Told(0.75, right=True), Told(0.75, right=False), Told(0.25, right=False, weight=2.0)]

    assert [(one.said, one.right, one.weight) for one in bins_of(told)] == [(0.25, 0.0, 2.0), (0.75, 0.5, 2.0)]
    assert calibration_error(told) == pytest.approx(0.25)
    assert calibration_error([]) == 0


def test_few_answers_are_never_perfect() -> None:
    """A likelihood that is true has an error all the same, and less of it the more answers there are."""
    few, many = ([Told(0.5, right=bool(number % 2)) for number in range(count)] for count in (10, 1000))

    assert least_error(few) == pytest.approx(0.12, abs=0.03)
    assert least_error(many) < least_error(few) / 5
