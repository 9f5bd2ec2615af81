"""Three pictures of a run: a band over time, what each cause cost, and the time between failures with its interval."""

import textwrap

from matplotlib.figure import Figure

from bot.history.lines import duration
from bot.report.style import PALETTE, SMALL, TEXT, canvas, drawing, panel, text_width
from bot.text.harmless import harmless
from core.history.accounting import TimeUse
from core.history.history import History
from core.history.rates import HOUR

COLOUR = {
    TimeUse.PRODUCTIVE: "series",
    TimeUse.STARTUP: "propagated",
    TimeUse.RECOMPUTED: "root",
    TimeUse.STALLED: "teardown",
    TimeUse.DOWN: "other",
    **dict.fromkeys((TimeUse.SAVING, TimeUse.EVALUATING, TimeUse.AFTER), "benign"),
    **dict.fromkeys((TimeUse.UNEXPLAINED, TimeUse.UNKNOWN), "muted"),
}  # of the palette; what is alike shares one, and the table beside the band tells them apart
# Within an attempt: what is computed again was computed last, and the time down comes after it.
_ORDER = (
    *(TimeUse.STARTUP, TimeUse.PRODUCTIVE, TimeUse.SAVING, TimeUse.EVALUATING, TimeUse.UNEXPLAINED, TimeUse.RECOMPUTED),
    *(TimeUse.STALLED, TimeUse.AFTER, TimeUse.UNKNOWN, TimeUse.DOWN),
)
MAX_POINTS = 800  # more than the pixels of the plot
MAX_BARS = 8  # as MAX_CAUSES of the text
_NAME = 44  # characters: what fits beside bars at the widest
_ROW = 0.27  # inches: a line of TEXT with air, as in bot/report/suspects.py
_LABELS, _BESIDE = 0.55, 0.15  # of the width, at most; inches between labels and bars


def band(history: History, width: float) -> Figure | None:
    """The run from its first start to its last end, each attempt's parts in their order; None without time."""
    if not history.account.wall:
        return None
    with drawing():
        figure = canvas(width, 0.62)
        axes = panel(figure, 0.02, 0.25, 0.02, 0.04)
        hours = history.account.wall / HOUR
        axes.set(xlim=(0, hours), ylim=(0, 1), yticks=[])
        axes.set_xticks([0, hours])
        axes.set_xticklabels(["start", duration(history.account.wall)], fontsize=SMALL)
        first, last = axes.get_xticklabels()
        first.set_horizontalalignment("left")
        last.set_horizontalalignment("right")
        spans: dict[TimeUse, list[tuple[float, float]]] = {part: [] for part in TimeUse}
        at = 0.0
        for spent in history.account.spent:
            for part in _ORDER:
                spans[part].append((at, spent[part] / HOUR))
                at += spent[part] / HOUR
        for part, pieces in spans.items():
            shown = [piece for piece in pieces if piece[1] > 0]
            if shown:
                axes.broken_barh(shown, (0, 1), facecolors=PALETTE[COLOUR[part]], linewidth=0)
    return figure


def windows(history: History, width: float) -> Figure | None:
    """The productive share of each window over the run; None where none were asked for."""
    shares = history.windows
    if shares is None or len(shares.shares) < 2:
        return None
    every = -(-len(shares.shares) // MAX_POINTS)
    with drawing():
        figure = canvas(width, 1.1)
        axes = panel(figure, 0.45, 0.25, 0.1, 0.06)
        hours = (shares.ends[::every] - shares.ends[0]) / HOUR
        axes.set(xlim=(0, max(float(hours[-1]), 1e-9)), ylim=(0, 1), yticks=[0, 1])
        axes.set_yticklabels(["0 %", "100 %"], fontsize=SMALL)
        axes.set_xticks([])
        axes.plot(hours, shares.shares[::every], color=PALETTE["series"], linewidth=1.2)
    return figure


def causes(history: History, width: float) -> Figure | None:
    """A bar a cause, the dearest first; None without one."""
    shown = [cause for cause in history.causes if cause.total][:MAX_BARS]
    if not shown:
        return None
    labels = [_fitting(cause.name, width * _LABELS - _BESIDE) for cause in shown]
    left = max(text_width(label) for label in labels) + _BESIDE
    with drawing():
        figure = canvas(width, _ROW * len(shown) + 0.12)
        axes = panel(figure, left, 0.06, 0.8, 0.06)
        most = max(cause.total for cause in shown)
        axes.set(xlim=(0, most), ylim=(len(shown) - 0.5, -0.5), xticks=[], yticks=range(len(shown)))
        axes.set_yticklabels(labels, fontsize=TEXT, color=PALETTE["ink"])
        for row, cause in enumerate(shown):
            axes.barh(row, cause.total, height=0.5, color=PALETTE["other" if cause.planned else "root"])
            length, end = duration(cause.total), (cause.total, row)
            axes.annotate(length, end, (6, 0), textcoords="offset points", va="center", fontsize=SMALL)
    return figure


def _fitting(name: str, width: float) -> str:
    """As much of the name as is no wider than so many inches."""
    label = harmless(name, _NAME)
    room = next(room for room in range(_NAME, 0, -1) if room == 1 or text_width(label[:room]) <= width)
    return textwrap.shorten(label, room, placeholder="…") if len(label) > room else label


def between(history: History, width: float) -> Figure | None:
    """The mean time between failures and its interval, on a scale of factors of ten; None without a failure."""
    often = history.mtbf
    if often.hours is None or often.high is None:
        return None
    with drawing():
        figure = canvas(width, 0.62)
        axes = panel(figure, 0.1, 0.25, 0.1, 0.04)
        axes.set(xscale="log", xlim=(often.low / 2, often.high * 2), ylim=(0, 1), yticks=[])
        axes.minorticks_off()
        marks = (often.low, often.hours, often.high)
        axes.set_xticks(marks)
        axes.set_xticklabels([duration(round(mark * HOUR)) for mark in marks], fontsize=SMALL)
        axes.hlines(0.5, often.low, often.high, color=PALETTE["other"], linewidth=3)
        axes.plot([often.hours], [0.5], "o", color=PALETTE["root"])
    return figure
