"""Jumps, drifts, and series that stay."""

import pytest

from bot.ask.trends import trend_of


@pytest.mark.parametrize(
    ("values", "kind", "at"),
    [
        ([1.0] * 10 + [5.0] * 10, "jumped", 10),
        ([5.0] * 10 + [1.0] * 10, "jumped", 10),
        ([1 + 0.2 * step for step in range(20)], "drifted", 7),
        ([1.0, 1.02, 0.99, 1.01, 1.0, 0.98, 1.0], "stayed", 0),
        ([1.0] * 9 + [9.0] + [1.0] * 10, "stayed", 0),
    ],
)
def test_the_trend_of_a_series(values: list[float], kind: str, at: int) -> None:
    """A single outlier is no trend; where a change begins is told."""
    trend = trend_of(values)
    assert trend is not None
    assert (trend.kind, trend.at) == (kind, at)


@pytest.mark.parametrize("values", [[], [1.0, 2.0], [1.0, float("nan"), 2.0, 3.0]])
def test_what_is_too_short_or_no_number_has_none(values: list[float]) -> None:
    """Three values are no course."""
    assert trend_of(values) is None
