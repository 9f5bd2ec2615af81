"""No traffic between nodes while iterations stand; and what a device reports of itself."""

from collections.abc import Sequence

import numpy as np

from core.kinds import BROKEN_XIDS
from core.live.findings import duration
from core.metrics.found import MetricFinding, Says, clock
from core.metrics.kinds import Quantity, measure_of
from core.metrics.peers import as_rate
from core.metrics.series import SECOND, Metric

STILL = 600.0  # seconds without traffic (ByteRobust, section 4.1: ten minutes)
NOTHING = 0.01  # of the usual rate: monitoring and shells go on
HUNG = 0.5
DEVICE, SUSPICIOUS = 0.8, 0.4  # a driver's own report of a broken device; one that programs cause too


def standing(metrics: Sequence[Metric], progressed: int | None) -> list[MetricFinding]:
    """That no traffic flowed for ten minutes until the end, on any node.

    Args:
        progressed: when the last iteration was complete, in microseconds; None where no clock tells.
    """
    usable = [one for one in metrics if measure_of(one.name) is Quantity.TRAFFIC and len(one.times) > 1]
    usable = [as_rate(one) for one in usable if int(one.times[0]) >= 0]
    quiet = [(one, start) for one in usable if (start := _quiet_from(one)) is not None]
    flows = [one for one in usable if float(np.max(np.abs(one.values), initial=0.0)) > 0]
    if not quiet or len(quiet) < len(flows):
        return []
    one, at = max(quiet, key=lambda pair: int(pair[0].times[pair[1]]))
    since, end = int(one.times[at]), int(one.times[-1])
    if (end - since) / SECOND < STILL or (progressed is not None and progressed > since + STILL * SECOND / 2):
        return []
    stood = "no line tells whether iterations went on" if progressed is None else "iterations stood"
    long = duration((end - since) / SECOND)
    because = f"No traffic on any of {len(flows)} series for {long} from {clock(since)} on; {stood}."
    lines = tuple(one.cite(place) for place in (max(0, at - 1), at))
    return [
        MetricFinding(Says.STANDS, "", HUNG, because, "no traffic flowed and nothing progressed", lines, one, since)
    ]


def devices(metrics: Sequence[Metric]) -> list[MetricFinding]:
    """Devices that report a fault: an Xid, memory errors that could not be corrected."""
    found = []
    for one in metrics:
        measure = measure_of(one.name)
        if measure not in (Quantity.XID, Quantity.BROKEN_MEMORY):
            continue
        before = one.values[0] if measure is Quantity.BROKEN_MEMORY and len(one.values) > 1 else 0.0
        at = np.flatnonzero(np.isfinite(one.values) & (one.values > before))
        if not len(at):
            continue
        place, value = int(at[0]), float(one.values[at[0]])
        sure = measure is Quantity.BROKEN_MEMORY or value in BROKEN_XIDS
        what = f"Xid {value:.0f}" if measure is Quantity.XID else f"{value:.0f} {measure.value}"
        when = f" at {clock(int(one.times[place]))}" if one.times[place] >= 0 else ""
        found.append(
            MetricFinding(
                Says.DEVICE,
                one.who,
                DEVICE if sure else SUSPICIOUS,
                f"{one.subject} reports {what} ({one.name}){when}.",
                f"its device reports {what}",
                (one.cite(place),),
                one,
                int(one.times[place]),
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
