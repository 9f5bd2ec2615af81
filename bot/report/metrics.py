"""The plot of metrics: a panel a finding, the metric against the middle of its peers, and since when it tells."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bot.report.iterations import short
from bot.report.plotted import drawable, ticks
from bot.report.style import PALETTE, SMALL, drawing, entitle, mark_place, stacked
from bot.text.harmless import harmless
from core.model import Diagnosis, MetricEvidence

MAX_PANELS = 4  # as plotted.py
_PANEL, _GAP = 0.9, 0.45  # inches; chosen by eye, a little lower than those of iterations


def metrics_figure(diagnosis: Diagnosis, width: float) -> Figure | None:
    """The metrics of the first findings over time; None where none has two samples with a time."""
    shown = _shown(diagnosis)
    if not shown:
        return None
    with drawing():
        figure, panels = stacked(width, len(shown), _PANEL, _GAP, 0.2)
        for axes, evidence in zip(panels, shown, strict=True):
            values = _finite(evidence.values)
            if evidence.peers:
                axes.plot(evidence.times, _finite(evidence.peers), color=PALETTE["other"], linewidth=1.1)
            axes.plot(evidence.times, values, color=PALETTE["series"], linewidth=1.3)
            if evidence.since is not None:
                mark_place(axes, evidence.since)
            entitle(axes, harmless(f"{evidence.id}  {evidence.who}: {evidence.metric}", 60))
            _axes(axes, evidence)
    return figure


def describe(diagnosis: Diagnosis) -> str:
    """The plot in words."""
    sentences = [
        f"{harmless(evidence.metric, 40)} of {harmless(evidence.who, 40)}, last {short(evidence.values[-1])}"
        for evidence in _shown(diagnosis)
    ]
    return f"Metrics over time: {'; '.join(sentences)}."


def _shown(diagnosis: Diagnosis) -> list[MetricEvidence]:
    return [metric for metric in diagnosis.metrics if len(metric.times) > 1 and metric.times[0] >= 0][:MAX_PANELS]


def _finite(values: Sequence[float]) -> list[float]:
    return [value if drawable(value) else math.nan for value in values]


def _axes(axes: Axes, metric: MetricEvidence) -> None:
    """Least and largest value, and round times."""
    both = sorted(value for value in (*metric.values, *metric.peers) if drawable(value))
    if both:
        pad = (both[-1] - both[0]) * 0.12 or abs(both[-1]) * 0.1 or 1.0
        axes.set_ylim(both[0] - pad, both[-1] + pad)
        places = sorted({both[0], both[-1]})
        axes.set_yticks(places, [short(place) for place in places])
    places_in_time = ticks(metric.times[0], metric.times[-1], 6)
    axes.set_xticks([time for time, _ in places_in_time], [word for _, word in places_in_time], fontsize=SMALL)
