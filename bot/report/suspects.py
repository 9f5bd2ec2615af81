"""The plot of suspects: a bar a node, and one strip for all the nodes that are too many to be drawn alone."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bot.report.plotted import MAX_BARS, split
from bot.report.style import PALETTE, SMALL, TEXT, canvas, drawing, panel, text_width
from bot.text.harmless import harmless
from bot.text.wording import counted
from core.model import Diagnosis

_ROW = 0.27  # inches: a line of TEXT with air
_NAME = 22  # characters: half of a phone's width at TEXT points


def suspects_figure(diagnosis: Diagnosis, width: float, *, most: int = MAX_BARS) -> Figure | None:
    """Scores by node, suspects first, in so many rows; None when no node has one or there is no second to compare."""
    bars = diagnosis.pictures.nodes
    if len(bars) <= 1 or all(bar.score <= 0 for bar in bars):
        return None
    accused = [suspect.node for suspect in diagnosis.nodes]
    alone, others = split(bars, accused, most)
    labels = [harmless(bar.node, _NAME) for bar in alone] + ([f"{len(others):,} others"] if others else [])
    left = max(text_width(label) for label in labels) + 0.15
    with drawing():
        figure = canvas(width, _ROW * len(labels) + 0.12)
        axes = panel(figure, left, 0.06, 0.45, 0.06)
        axes.set(xlim=(0, 1), ylim=(len(labels) - 0.5, -0.5), xticks=[], yticks=range(len(labels)))
        axes.set_yticklabels(labels, fontsize=TEXT, color=PALETTE["ink"])
        for row, bar in enumerate(alone):
            _bar(axes, row, bar.score, suspect=bar.node in accused)
        if others:
            _strip(axes, len(alone), [bar.score for bar in others])
    return figure


def describe(diagnosis: Diagnosis) -> str:
    """The plot in words."""
    scores = sorted(bar.score for bar in diagnosis.pictures.nodes)
    named = ", ".join(f"{harmless(suspect.node, 40)} {suspect.score:.2f}" for suspect in diagnosis.nodes[:8])
    middle = scores[len(scores) // 2]
    return f"Anomaly score of {counted(len(scores), 'node')}, 0 to 1. Suspects: {named or 'none'}. Median {middle:.2f}."


def _bar(axes: Axes, row: int, score: float, *, suspect: bool) -> None:
    axes.barh(row, 1, height=0.5, color=PALETTE["track"])
    axes.barh(row, score, height=0.5, color=PALETTE["root"] if suspect else PALETTE["other"])
    _beside(axes, row, f"{score:.2f}", strong=suspect)


def _strip(axes: Axes, row: int, scores: Sequence[float]) -> None:
    """All other nodes on one line, a tick each (equal ones once): far from the suspects, or not."""
    axes.barh(row, 1, height=0.5, color=PALETTE["track"])
    seen = sorted({round(score, 3) for score in scores})
    axes.vlines(seen, row - 0.25, row + 0.25, color=PALETTE["other"], linewidth=0.8)
    _beside(axes, row, f"≤ {max(scores):.2f}", strong=False)


def _beside(axes: Axes, row: int, text: str, *, strong: bool) -> None:
    axes.annotate(
        text,
        (1, row),
        (6, 0),
        textcoords="offset points",
        va="center_baseline",
        fontsize=SMALL,
        fontweight="bold" if strong else "normal",
        color=PALETTE["ink"] if strong else PALETTE["muted"],
    )
