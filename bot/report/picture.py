"""The plot in the thread: suspects by node above what happened over time, as one picture that a phone can show."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imsave
from numpy.typing import NDArray

from bot.report import iterations, suspects, timeline
from bot.report.style import PALETTE, TEXT, canvas, drawing
from bot.text.harmless import harmless, shorten
from core.model import Diagnosis, Role, Scope

WIDTH = 3.3  # inches; Slack shows 320 to 360 pixels of it on a phone and in a thread: the smallest text has 10 of them
SHARP = 320  # dots an inch: three for a pixel of a phone
MAX_BARS, MAX_PANELS = 6, 2  # fewer than in the report: what is much taller than wide, Slack makes small
MAX_TEXT = 1_000  # characters of an alternative text, as Slack allows
_MARGIN, _HEADING = 0.12, 0.24  # inches; chosen by eye
_PAPER = int(PALETTE["paper"][-2:], 16)
_NAME = 20  # characters of the job in the heading
_METADATA: dict[str, Any] = {"Software": None}  # it would name the version: other bytes on another machine

Pixels = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Picture:
    """A PNG, and what it shows in words for those who do not see it."""

    png: bytes
    text: str


def draw_picture(diagnosis: Diagnosis) -> Picture | None:
    """The plot of a diagnosis, the same bytes for the same input; None where nothing points anywhere."""
    plots = list(_plots(diagnosis)) if _points_somewhere(diagnosis) else []
    if not plots:
        return None
    words = " ".join((f"{harmless(diagnosis.job, 80)}.", *(plot.words for plot in plots)))
    headings = [
        f"{harmless(diagnosis.job, _NAME)}: {plots[0].heading}",
        *(plot.heading.capitalize() for plot in plots[1:]),
    ]
    return Picture(_png(plots, headings), shorten(words, MAX_TEXT))


@dataclass(frozen=True, slots=True)
class _Plot:
    """A part of the picture, with its heading, and in words."""

    heading: str
    figure: Figure
    words: str


def _points_somewhere(diagnosis: Diagnosis) -> bool:
    """Whether there is anything to show: what did not fail, or says nothing, needs no plot."""
    telling = any(event.role is not Role.BENIGN for event in diagnosis.events)
    return diagnosis.scope is not Scope.NONE and (telling or bool(diagnosis.nodes))


def _plots(diagnosis: Diagnosis) -> Iterator[_Plot]:
    """Suspects; then the numbers of iterations, or the events over time where the logs carry no numbers."""
    width = WIDTH - 2 * _MARGIN
    if figure := suspects.suspects_figure(diagnosis, width, most=MAX_BARS):
        yield _Plot("anomaly score by node", figure, suspects.describe(diagnosis))
    if figure := iterations.iterations_figure(diagnosis, width, most=MAX_PANELS):
        yield _Plot("numbers by iteration", figure, iterations.describe(diagnosis, MAX_PANELS))
    elif figure := timeline.timeline_figure(diagnosis, width):
        yield _Plot("events over time", figure, timeline.describe(diagnosis))


def _png(plots: Sequence[_Plot], headings: Sequence[str]) -> bytes:
    """The parts below each other, on paper: a transparent picture could not be read in dark mode."""
    strips = [
        _pixels(figure)
        for plot, heading in zip(plots, headings, strict=True)
        for figure in (_heading(heading, plot.figure.get_figwidth()), plot.figure)
    ]
    margin = round(_MARGIN * SHARP)
    whole = np.pad(np.vstack(strips), ((margin, margin), (margin, margin), (0, 0)), constant_values=_PAPER)
    buffer = io.BytesIO()
    imsave(buffer, whole, format="png", dpi=SHARP, metadata=_METADATA)
    return buffer.getvalue()


def _heading(text: str, width: float) -> Figure:
    figure = canvas(width, _HEADING)
    with drawing():
        figure.text(0, 0.2, text, fontsize=TEXT, fontweight="bold", color=PALETTE["ink"])
    return figure


def _pixels(figure: Figure) -> Pixels:
    figure.set_dpi(SHARP)
    figure.set_facecolor(PALETTE["paper"])
    agg: Any = FigureCanvasAgg(figure)  # matplotlib has types for most of this class
    with drawing():
        agg.draw()
    return np.asarray(agg.buffer_rgba(), dtype=np.uint8)
