"""The plot of iterations: the numbers that the logs carry, a panel each, with the suspicious iteration marked."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from bot.report.plotted import MAX_PANELS, drawable, shown
from bot.report.style import PALETTE, SMALL, drawing, entitle, mark_place, stacked
from bot.text.harmless import harmless
from core.model import Diagnosis, IterationEvidence, Series

MAX_MARKS = 3  # chosen: core names few, and labels of more touch each other
_PANEL = 1.05  # inches; chosen by eye: four panels are a page's height
_LABEL = 0.2  # of the width: what the longest label takes on a phone
_GAP = 0.42  # inches: a title and its air
_COLUMNS = 400  # of a panel; more points are drawn as the least and the largest value of a column
_PLAIN = 1e-3, 1e9  # numbers between them are written without an exponent
_DOTS = 3  # so few points make no line
_LOGARITHMIC = 50  # largest value as a multiple of the least one


def iterations_figure(diagnosis: Diagnosis, width: float, *, most: int = MAX_PANELS) -> Figure | None:
    """Time an iteration, loss and what else there is, over iterations; None without any number."""
    series = shown(diagnosis, most)
    if not series:
        return None
    numbers = [number for curve in series for number in curve.iterations]
    numbers += [mark.iteration for mark in marked(diagnosis)]
    low, high = min(numbers), max(numbers)
    with drawing():
        figure, panels = stacked(width, len(series), _PANEL, _GAP, 0.3)
        for row, (axes, curve) in enumerate(zip(panels, series, strict=True)):
            axes.set_xlim(low - (high - low or 1) * 0.02, high + (high - low or 1) * 0.02)
            _panel(axes, curve, diagnosis, labelled=row == 0)
            _iteration_axis(axes, last=row == len(series) - 1)
    return figure


def marked(diagnosis: Diagnosis) -> list[IterationEvidence]:
    """The iterations that the evidence points to, without those far weaker than the first."""
    first = diagnosis.iterations[0].score if diagnosis.iterations else 0.0
    return [evidence for evidence in diagnosis.iterations if evidence.score >= first / 2][:MAX_MARKS]


def describe(diagnosis: Diagnosis, most: int = MAX_PANELS) -> str:
    """The plot in words."""
    parts = []
    for series in shown(diagnosis, most):
        finite = [value for value in series.values if drawable(value)]
        broken = len(series.values) - len(finite)
        words = f"{harmless(series.name, 40)}"
        if finite:
            words += f" from {short(min(finite))} to {short(max(finite))}, last {short(finite[-1])}"
        parts.append(words + (f", {broken:,} not finite" if broken else ""))
    marks = ", ".join(str(evidence.iteration) for evidence in marked(diagnosis))
    return f"Numbers by iteration: {'; '.join(parts)}. Marked iterations: {marks or 'none'}."


def short(value: float, digits: int = 3) -> str:
    """A number in few characters: "1.9", "11.2k", "3e+19"."""
    size = abs(value)
    if not math.isfinite(value):
        return str(value)
    if size >= _PLAIN[1] or 0 < size < _PLAIN[0]:
        return f"{value:.0e}".replace("e+0", "e+").replace("e-0", "e-")
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if size >= unit:
            return f"{value / unit:.{digits}g}{name}"
    return f"{value:.{digits}g}"


def thinned(series: Series) -> tuple[list[int], list[float]]:
    """The points to draw: all, or the least and the largest of each of _COLUMNS columns, in the order of iterations."""
    points = sorted(zip(series.iterations, series.values, strict=True), key=lambda point: point[0])
    if len(points) <= 2 * _COLUMNS:
        return [number for number, _ in points], [value if drawable(value) else math.nan for _, value in points]
    kept: set[tuple[int, float]] = set()
    for column in range(_COLUMNS):
        part = points[column * len(points) // _COLUMNS : (column + 1) * len(points) // _COLUMNS]
        finite = [point for point in part if drawable(point[1])]
        if finite:
            kept |= {min(finite, key=lambda point: point[1]), max(finite, key=lambda point: point[1])}
    chosen = sorted(kept)
    return [number for number, _ in chosen], [value for _, value in chosen]


def _panel(axes: Axes, series: Series, diagnosis: Diagnosis, *, labelled: bool) -> None:
    numbers, values = thinned(series)
    finite = [value for value in values if drawable(value)]
    if finite and min(finite) > 0 and max(finite) / min(finite) > _LOGARITHMIC:
        axes.set_yscale("log")
    axes.plot(
        numbers,
        values,
        color=PALETTE["series"],
        linewidth=1.3,
        solid_joinstyle="round",
        marker="o" if len(numbers) <= _DOTS else None,
        markersize=4,
    )
    broken = [n for n, value in zip(series.iterations, series.values, strict=True) if not drawable(value)]
    if broken:
        heights = [0.08] * len(broken)
        axes.plot(broken, heights, "x", transform=axes.get_xaxis_transform(), color=PALETTE["root"], markersize=5)
    title = harmless(series.name, 40) + (f"   x: {_kinds(series)}" if broken else "")
    entitle(axes, title)
    _value_axis(axes, finite)
    for evidence in marked(diagnosis):
        mark_place(axes, evidence.iteration)
    if labelled:
        _labels(axes, marked(diagnosis))


def _labels(axes: Axes, marks: Sequence[IterationEvidence]) -> None:
    """Ids above the marks, the first ones first, where there is room."""
    low, high = axes.get_xlim()
    taken: list[int] = []
    for evidence in marks:
        if any(abs(evidence.iteration - other) < (high - low) * _LABEL for other in taken):
            continue
        taken.append(evidence.iteration)
        axes.annotate(
            f"{evidence.id}: {evidence.iteration:,}",
            (evidence.iteration, 1),
            (0, 4),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="right" if evidence.iteration > high - (high - low) * _LABEL else "left",
            fontsize=SMALL,
            fontweight="bold",
            color=PALETTE["root"],
        )


def _kinds(series: Series) -> str:
    """What the crosses stand for."""
    nan = any(math.isnan(value) for value in series.values)
    infinite = any(not drawable(value) and not math.isnan(value) for value in series.values)
    return " or ".join(word for word, there in (("NaN", nan), ("infinite", infinite)) if there)


def _value_axis(axes: Axes, finite: Sequence[float]) -> None:
    if not finite:
        axes.set_yticks([])
        return
    low, high = min(finite), max(finite)
    pad = (high - low) * 0.12 or abs(high) * 0.1 or 1.0
    if axes.get_yscale() == "linear":
        axes.set_ylim(low - pad, high + pad)
    places = [low, high] if low < high else [high]
    digits = next((digits for digits in (3, 4, 5, 6) if short(low, digits) != short(high, digits)), 3)
    axes.set_yticks(places, [short(place, digits) for place in places])
    axes.set_yticks([], minor=True)
    axes.grid(axis="y", color=PALETTE["rule"], linewidth=0.6)


def _iteration_axis(axes: Axes, *, last: bool) -> None:
    axes.set_axisbelow(True)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:,.0f}"))
    if not last:
        axes.tick_params(labelbottom=False)
        return
    axes.set_xlabel("iteration", fontsize=SMALL, color=PALETTE["muted"], loc="left", labelpad=4)
