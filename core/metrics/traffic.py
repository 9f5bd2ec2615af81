"""No traffic between nodes while iterations stand; and what a device reports of itself."""

from collections.abc import Sequence

import numpy as np

from core.failure_kinds import BROKEN_XIDS
from core.live.findings import duration
from core.metrics.metric_finding import MetricFinding, Says, clock
from core.metrics.metric_kinds import Quantity, measure_of
from core.metrics.peers import as_rate
from core.metrics.series import SECOND, Metric

STILL = 600.0  # seconds without traffic (ByteRobust, section 4.1: ten minutes)
NOTHING = 0.01  # of the usual rate: monitoring and shells go on
HUNG = 0.5  # between the two below: that all stood still is sure, and names nobody
DEVICE, SUSPICIOUS = 0.8, 0.4  # a driver's own report of a broken device; one that programs cause too


def standing(metrics: Sequence[Metric], progressed: int | None) -> list[MetricFinding]:
    """That no traffic flowed for ten minutes until the end, on any node.

    Args:
        progressed: when the last iteration was complete, in microseconds; None where no clock tells.
    """
    usable = [metric for metric in metrics if measure_of(metric.name) is Quantity.TRAFFIC and len(metric.times) > 1]
    usable = [as_rate(metric) for metric in usable if int(metric.times[0]) >= 0]
    quiet = [(metric, start) for metric in usable if (start := _quiet_from(metric)) is not None]
    flows = [metric for metric in usable if float(np.max(np.abs(metric.values), initial=0.0)) > 0]
    if not quiet or len(quiet) < len(flows):
        return []
    metric, at = max(quiet, key=lambda pair: int(pair[0].times[pair[1]]))
    since, end = int(metric.times[at]), int(metric.times[-1])
    if (end - since) / SECOND < STILL or (progressed is not None and progressed > since + STILL * SECOND / 2):
        return []
    stood = "no line tells whether iterations went on" if progressed is None else "iterations stood"
    long = duration((end - since) / SECOND)
    because = f"No traffic on any of {len(flows)} series for {long} from {clock(since)} on; {stood}."
    lines = tuple(metric.cite(place) for place in (max(0, at - 1), at))
    return [
        MetricFinding(Says.STANDS, "", HUNG, because, "no traffic flowed and nothing progressed", lines, metric, since)
    ]


def devices(metrics: Sequence[Metric]) -> list[MetricFinding]:
    """Devices that report a fault: an Xid, memory errors that could not be corrected."""
    found = []
    for metric in metrics:
        measure = measure_of(metric.name)
        if measure not in (Quantity.XID, Quantity.BROKEN_MEMORY):
            continue
        before = metric.values[0] if measure is Quantity.BROKEN_MEMORY and len(metric.values) > 1 else 0.0
        at = np.flatnonzero(np.isfinite(metric.values) & (metric.values > before))
        if not len(at):
            continue
        place, value = int(at[0]), float(metric.values[at[0]])
        sure = measure is Quantity.BROKEN_MEMORY or value in BROKEN_XIDS
        what = f"Xid {value:.0f}" if measure is Quantity.XID else f"{value:.0f} {measure.value}"
        when = f" at {clock(int(metric.times[place]))}" if metric.times[place] >= 0 else ""
        found.append(
            MetricFinding(
                Says.DEVICE,
                metric.who,
                DEVICE if sure else SUSPICIOUS,
                f"{metric.subject} reports {what} ({metric.name}){when}.",
                f"its device reports {what}",
                (metric.cite(place),),
                metric,
                int(metric.times[place]),
            )
        )
    return found


def _quiet_from(metric: Metric) -> int | None:
    """The first sample from which on nothing flows, of a metric in which something flowed before."""
    flowing = np.flatnonzero(np.nan_to_num(metric.values) > NOTHING * float(np.nanmax(metric.values, initial=0.0)))
    if not len(flowing):
        return None
    usual = float(np.nanmedian(metric.values[: flowing[-1] + 1]))
    flowing = np.flatnonzero(np.nan_to_num(metric.values) > NOTHING * usual)
    at = int(flowing[-1]) + 1 if len(flowing) else 0
    return at if at < len(metric.values) else None
