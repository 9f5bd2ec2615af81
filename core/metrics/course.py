"""Loss, gradient norm and pace of the whole job over its iterations, by rules that say why."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.metrics.metric_finding import MetricFinding, Says, clock
from core.metrics.metric_kinds import Quantity, measure_of
from core.metrics.series import Metric

WINDOW = 50  # values before that a value is set against
BROKEN = 3  # times in a row that a value is no number
NORM_FACTOR = 5.0  # times the middle of the values before (ByteRobust, section 4.1): a warning
LOSS_FAR = 5.0  # median absolute deviations: a factor of a loss hardly ever comes (ln of a vocabulary is 12)
BACK = 50  # values within which a spike of a good run was over (BLOOM-176B, iteration 31,217: 35)
SLOWER, FOR = 0.05, 20  # part and iterations from which on a pace is told (MegaScale's and ByteRobust's users: 5 %)
ALARM, WARNING = 0.6, 0.3  # scores, chosen by hand: a broken number is worth a headline, a slower pace a line
MOST_ASKED = 64  # nodes or ranks: those of one job wait for each other, so that more tell the same
_RELATIVE = 0.02  # of the middle: least deviation that counts as one
_NORMAL = 1.4826  # median absolute deviations in a standard deviation of a normal distribution


def numbers(metrics: Sequence[Metric]) -> list[MetricFinding]:
    """What is broken in losses and gradient norms, a finding a metric at most."""
    found = []
    spiked: dict[Quantity, tuple[Metric, int, int]] = {}
    for metric in metrics:
        measure = measure_of(metric.name)
        if measure not in (Quantity.LOSS, Quantity.NORM) or not len(metric.values):
            continue
        at = _not_numbers(metric.values)
        if at is not None:
            found.append(_told(Says.NUMBERS, metric, at, f"is no finite number from {_moment(metric, at)} on", measure))
        elif (spike := _spike(metric.values, measure)) is not None:
            first, past = spike
            if past - first > BACK:
                says = f"rose at {_moment(metric, first)} and did not come back within {BACK} values"
                found.append(_told(Says.NUMBERS, metric, first, says, measure))
            else:
                spiked.setdefault(measure, (metric, first, past))
    return [*found, *_spikes(spiked)]


def pace(metrics: Sequence[Metric], began: int | None) -> list[MetricFinding]:
    """A job that became slower for at least twenty iterations, until the end of the metric.

    Args:
        began: when the last of several attempts began, in microseconds.
    """
    found = []
    for metric in metrics:
        measure = measure_of(metric.name)
        if measure not in (Quantity.STEP_TIME, Quantity.THROUGHPUT):
            continue
        cost = metric.values if measure is Quantity.STEP_TIME else 1 / np.maximum(metric.values, 1e-12)
        if (onset := _onset(cost)) is None:
            continue
        before, after = float(np.median(metric.values[:onset])), float(np.median(metric.values[onset:]))
        restart = _restart(metric, onset, began)
        because = (
            f"{metric.name} went from {before:.4g} to {after:.4g} at {_moment(metric, onset)} and stayed there for "
            f"{len(cost) - onset} values; {restart}."
        )
        lines = (metric.cite(onset - 1), metric.cite(onset))
        found.append(
            MetricFinding(Says.PACE, "", WARNING, because, "it became slower", lines, metric, int(metric.times[onset]))
        )
    return found[:1]


def pace_of_parts(metrics: Sequence[Metric], began: int | None) -> list[MetricFinding]:
    """The same of a job of which only nodes or ranks have the metric: told when most of them became slower.

    Each waits for the others, so that one slow node is no slower than the rest.
    """
    by_name: dict[str, list[Metric]] = defaultdict(list)
    for metric in metrics:
        if measure_of(metric.name) in (Quantity.STEP_TIME, Quantity.THROUGHPUT):
            by_name[metric.name].append(metric)
    for own in by_name.values():
        asked = own[:: -(-len(own) // MOST_ASKED)]
        found = [finding for metric in asked for finding in pace([metric], began)]
        if 2 * len(found) > len(asked):
            first = min(found, key=lambda finding: (finding.since, finding.metric.label))
            because = f"{first.because[:-1]}, as on {len(found)} of {len(asked)} that were asked."
            return [replace(first, because=f"{first.metric.subject}'s {because}")]
    return []


def _spikes(spiked: dict[Quantity, tuple[Metric, int, int]]) -> list[MetricFinding]:
    """Spikes that came back are warnings; a last one of norm and loss together that had not yet come back is more."""
    still = [measure for measure, (metric, _, past) in spiked.items() if past == len(metric.values)]
    alarm = len(still) > 1
    found = []
    for measure, (metric, first, past) in spiked.items():
        open_end = past == len(metric.values)
        until = "and had not come back at the end" if open_end else f"and came back after {past - first} values"
        kind = Says.NUMBERS if alarm and open_end else Says.SPIKE
        found.append(_told(kind, metric, first, f"rose at {_moment(metric, first)} {until}", measure))
    return found


def _told(kind: Says, metric: Metric, at: int, says: str, measure: Quantity) -> MetricFinding:
    weight = ALARM if kind is Says.NUMBERS else WARNING
    before = [at - 1] if at else []
    lines = tuple(metric.cite(place) for place in (*before, at))
    what = f"the {measure.value} {says}"
    return MetricFinding(kind, "", weight, f"{metric.name} {says}.", what, lines, metric, int(metric.times[at]))


def _not_numbers(values: NDArray[np.float64]) -> int | None:
    """Where it is no finite number three times in a row for the first time."""
    bad = ~np.isfinite(values)
    rows = np.convolve(bad, np.ones(BROKEN), "valid") if len(bad) >= BROKEN else np.zeros(0)
    at = np.flatnonzero(rows == BROKEN)
    return int(at[0]) if len(at) else None


def _spike(values: NDArray[np.float64], measure: Quantity) -> tuple[int, int] | None:
    """The longest stretch above what the values before it allow: its first value, and the first that is back."""
    longest: tuple[int, int] | None = None
    at = WINDOW
    while at < len(values):
        limit = _limit(values[at - WINDOW : at], measure)
        if not values[at] > limit:
            at += 1
            continue
        back = np.flatnonzero(values[at:] <= limit)
        past = at + int(back[0]) if len(back) else len(values)
        if longest is None or past - at > longest[1] - longest[0]:
            longest = at, past
        at = past + 1
    return longest


def _limit(before: NDArray[np.float64], measure: Quantity) -> float:
    finite = before[np.isfinite(before)]
    if not len(finite):
        return float("inf")
    middle = float(np.median(finite))
    if measure is Quantity.NORM:
        return NORM_FACTOR * middle
    usual = max(_NORMAL * float(np.median(np.abs(finite - middle))), _RELATIVE * abs(middle))
    return middle + LOSS_FAR * usual


def _onset(cost: NDArray[np.float64]) -> int | None:
    """Where costs rose for good: the first place behind which nearly all are above nearly all before."""
    if len(cost) < 2 * FOR:
        return None
    limit = (1 + SLOWER) * float(np.median(cost[:FOR]))
    slow = np.convolve(cost > limit, np.ones(FOR), "valid") >= FOR - 1  # one of twenty may be quick
    starts = np.flatnonzero(slow & (cost[: len(slow)] > limit))
    for start in starts[starts >= FOR].tolist():
        if float(np.median(cost[start:])) > (1 + SLOWER) * float(np.median(cost[:start])):
            return int(start)
    return None


def _restart(metric: Metric, onset: int, began: int | None) -> str:
    time = int(metric.times[onset])
    if began is None or time < 0:
        return "no restart is known of"
    near = int(metric.times[max(0, onset - 2)]) <= began <= time
    return "it began with a restart" if near else f"the last restart was at {clock(began)}"


def _moment(metric: Metric, at: int) -> str:
    if metric.iterations[at] >= 0:
        return f"iteration {metric.iterations[at]:,}"
    return clock(int(metric.times[at])) if metric.times[at] >= 0 else f"value {at + 1:,}"
