"""A node whose metric leaves those of its peers, and one whose metrics end while theirs go on."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.live.findings import duration
from core.metrics.metric_finding import MetricFinding, Says, clock
from core.metrics.metric_kinds import HIGHER, LOWER, Quantity, is_counter, measure_of
from core.metrics.series import SECOND, Metric

FAR = 5.0  # median absolute deviations (ByteRobust has none; section 11 of our reading of it names five)
LONG = 240.0  # seconds: shorter excursions are evaluation, checkpoints, a fan
MIN_PEERS = 4  # of three, who stands apart may be the one that is right
FEW, SHARE = 1, 0.1  # so many nodes, or this part of them, may leave; more have a shared cause
LEFT, APART_ALL_ALONG, CAME_BACK = 0.6, 0.35, 0.3  # with its peers until then, or never, or again: as sure as silence
UNKNOWN_MEANING = 0.35  # of a name that says nothing: machines may differ in what does not matter
ENDED = 0.35  # an exporter may end by itself
MAX_MOMENTS = 20_000  # of 1,000 nodes 160 MB; of longer jobs several samples count as one
_RELATIVE = 0.02  # of the middle: sensors and clocks differ by as much
_LEAST_ERRORS = 10.0  # of a link or port: some come with every start
_NORMAL = 1.4826  # a standard deviation is so many median absolute deviations


def leaving(metrics: Sequence[Metric], *, until_end: bool = True) -> list[MetricFinding]:
    """Findings about one name of metric, of all nodes.

    Args:
        metrics: of the same name and meaning, each of another node, rank or part of one.
        until_end: whether the last samples are those of the job's end.
    """
    subjects = {metric.who for metric in metrics}
    if len(subjects) < MIN_PEERS:
        return []
    measure = measure_of(metrics[0].name)
    usable = [_prepared(metric, measure) for metric in metrics if len(metric.times) > 1 and int(metric.times[0]) >= 0]
    if len({metric.who for metric in usable}) < MIN_PEERS:
        return []
    peers = _compare(usable, measure)
    found = [
        finding
        for row, metric in enumerate(usable)
        if (finding := _of_one(peers, row, metric, measure, until_end=until_end)) is not None
    ]
    few = max(FEW, SHARE * len(subjects))
    return [] if len({item.who for item in found}) > few else found


def ended(metrics: Sequence[Metric]) -> list[MetricFinding]:
    """Nodes all of whose metrics ended at least four minutes before those of most others."""
    last: dict[str, Metric] = {}
    for metric in metrics:
        if len(metric.times) and (metric.who not in last or metric.times[-1] > last[metric.who].times[-1]):
            last[metric.who] = metric
    if len(last) < MIN_PEERS:
        return []
    usual = float(np.median([int(metric.times[-1]) for metric in last.values()]))
    early = [metric for metric in last.values() if (usual - int(metric.times[-1])) / SECOND >= LONG]
    if len(early) > max(FEW, SHARE * len(last)):
        return []
    return [
        MetricFinding(
            Says.ENDS,
            metric.who,
            ENDED,
            f"{metric.who}'s metrics end at {clock(int(metric.times[-1]))}, "
            f"{duration((usual - int(metric.times[-1])) / SECOND)} before those of the others.",
            "its metrics end before those of the others",
            (metric.cite(len(metric.times) - 1),),
            metric,
            int(metric.times[-1]),
        )
        for metric in early
    ]


def _prepared(metric: Metric, measure: Quantity) -> Metric:
    """What is compared: of a counter its rate, of errors how many came since the start."""
    if measure is Quantity.ERRORS and is_counter(metric.name):
        return replace(metric, values=metric.values - metric.values[0])
    return as_rate(metric) if is_counter(metric.name) or measure is Quantity.TRAFFIC else metric


def as_rate(metric: Metric) -> Metric:
    """A counter as what it gained a second; where it began anew, what it counts since. A gauge of traffic as it is."""
    rising = bool((np.diff(metric.values) >= 0).all()) and metric.values[-1] > metric.values[0]
    if not (rising or is_counter(metric.name)):
        return metric
    gained, seconds = np.diff(metric.values), np.diff(metric.times) / SECOND
    gained = np.where(gained < 0, metric.values[1:], gained)
    rates = gained / np.maximum(seconds, 1e-6)
    return replace(
        metric,
        label=f"rate of {metric.label}",
        times=metric.times[1:],
        values=rates,
        lines=metric.lines[1:],
        iterations=metric.iterations[1:],
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Peers:
    """Metrics by moment, NaN where there is no sample: so many microseconds a step from the origin on.

    middle: of all; scale: how far from it they usually are.
    """

    grid: NDArray[np.float64]
    middle: NDArray[np.float64]
    scale: NDArray[np.float64]
    step: float
    origin: int

    def moments(self, metric: Metric) -> NDArray[np.int64]:
        """The moments of the samples of a metric."""
        return ((metric.times - self.origin) / self.step).astype(np.int64)


def _compare(metrics: Sequence[Metric], measure: Quantity) -> _Peers:
    origin, last = min(int(metric.times[0]) for metric in metrics), max(int(metric.times[-1]) for metric in metrics)
    usual_step = float(np.median([np.median(np.diff(metric.times)) for metric in metrics]))
    step = max(usual_step, (last - origin) / MAX_MOMENTS, 1.0)
    grid = np.full((len(metrics), 1 + int((last - origin) / step)), np.nan)
    for row, metric in enumerate(metrics):
        grid[row, ((metric.times - origin) / step).astype(np.int64)] = metric.values
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # moments at which nobody has a value
        middle = np.nanmedian(grid, axis=0)
        apart = np.abs(grid - middle)
        usual = np.fmax(np.nanmedian(apart, axis=0), np.nanmedian(apart))
    least = _LEAST_ERRORS / FAR if measure is Quantity.ERRORS else 1e-9
    scale = np.maximum.reduce([_NORMAL * usual, _RELATIVE * np.abs(middle), np.full(len(middle), least)])
    return _Peers(grid, middle, scale, step, origin)


def _of_one(peers: _Peers, row: int, metric: Metric, measure: Quantity, *, until_end: bool) -> MetricFinding | None:
    """The last long stretch in which a metric is far from the middle of all, if there is one."""
    own, step = peers.grid[row], peers.step
    off = (own - peers.middle) / peers.scale
    off = off if measure in HIGHER else -off if measure in LOWER else np.abs(off)
    known = np.flatnonzero(np.isfinite(off))
    stretch = _last_long(off[known] > FAR, known, step)
    if stretch is None:
        return None
    first, last = stretch
    to_end = bool(last == known[-1]) and until_end
    value, others = (float(np.nanmedian(of[first : last + 1])) for of in (own, peers.middle))
    since, moments = int(peers.origin + first * step), peers.moments(metric)
    # Errors are of many kinds, and some count reasons: their name says more
    called = metric.name if measure in (Quantity.ERRORS, Quantity.OTHER) else measure.value
    until = "until the end" if to_end else f"for {duration((last - first + 1) * step / SECOND)}"
    return MetricFinding(
        Says.APART,
        metric.who,
        _weight(measure, from_start=bool(first == known[0]), to_end=to_end),
        f"{metric.subject}'s {metric.name} left its peers at {clock(since)} {until}: {value:.4g}, "
        f"the middle of {len(peers.grid)} is {others:.4g}.",
        f"its {called} is far from that of its peers",
        tuple(metric.cite(int(np.searchsorted(moments, place))) for place in dict.fromkeys(stretch)),
        metric,
        since,
        tuple(peers.middle[moments].tolist()),
    )


def _last_long(off: NDArray[np.bool_], known: NDArray[np.intp], step: float) -> tuple[int, int] | None:
    """First and last moment of the last stretch of four minutes or more."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], off.astype(np.int8), [0]])))
    for first, past in zip(edges[-2::-2].tolist(), edges[-1::-2].tolist(), strict=True):
        if (known[past - 1] - known[first] + 1) * step / SECOND >= LONG:
            return int(known[first]), int(known[past - 1])
    return None


def _weight(measure: Quantity, *, from_start: bool, to_end: bool) -> float:
    if not to_end:
        return CAME_BACK
    if from_start:
        return APART_ALL_ALONG
    return LEFT if measure is not Quantity.OTHER else UNKNOWN_MEANING
