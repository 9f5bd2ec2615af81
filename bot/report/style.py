"""How plots look: one palette, named like the CSS variables of the page, and a figure as an element of a page."""

import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from core.model import Role

# Light colours; ``as_svg`` turns each into the CSS variable of its name, so that the page decides on light or dark.
PALETTE = {
    "ink": "#20242b",
    "muted": "#68707d",
    "rule": "#dfe2e7",
    "track": "#eef0f3",
    "paper": "#fefefe",
    "other": "#a9b1bd",
    "root": "#c73e3a",
    "propagated": "#c48518",
    "teardown": "#6c7ea6",
    "benign": "#7d9a86",
    "series": "#3b6ea5",
}
ROLE_COLOUR = {role: PALETTE[role.value] for role in Role}
ROLE_MARKER = {Role.ROOT: "o", Role.PROPAGATED: "D", Role.TEARDOWN: "s", Role.BENIGN: "|"}  # told apart without colour

POINTS = 72.0  # of an inch
WIDE, NARROW = 6.9, 3.3  # inches of a plot: the page's column, a phone
TEXT = 8.5  # points: 12 pixels on the page
SMALL = 7.5  # points: labels of axes; about 11 pixels on the page
_RC: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],  # comes with matplotlib: the same on every machine
    "font.size": TEXT,
    "svg.fonttype": "none",
    "svg.hashsalt": "firstfault",
    "text.parse_math": False,  # a node may be called $x$
    "text.color": PALETTE["ink"],
    "axes.edgecolor": PALETTE["rule"],
    "path.simplify": True,
}
_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}


@contextmanager
def drawing() -> Iterator[None]:
    """Our settings of matplotlib, for as long as a figure is drawn or saved."""
    with mpl.rc_context(_RC), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # the browser has it
        yield


def canvas(width: float, height: float) -> Figure:
    """An empty transparent figure, in inches."""
    return Figure(figsize=(width, height), facecolor="none")


def panel(figure: Figure, left: float, bottom: float, right: float, top: float) -> Axes:
    """Bare axes whose margins are given in inches."""
    width, height = figure.get_size_inches()
    axes = figure.add_axes(
        (left / width, bottom / height, (width - left - right) / width, (height - bottom - top) / height)
    )
    axes.set_facecolor("none")
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0, labelsize=SMALL, labelcolor=PALETTE["muted"], pad=4)
    return axes


def stacked(width: float, count: int, tall: float, gap: float, below: float) -> tuple[Figure, list[Axes]]:
    """A figure of panels below each other, the first on top, all in inches.

    Args:
        tall: height of a panel. gap: above each, for its title. below: the last, for the axis.
    """
    height = (tall + gap) * count + below
    figure = canvas(width, height)
    tops = [(tall + gap) * row + gap for row in range(count)]
    return figure, [panel(figure, 0.62, height - top - tall, 0.2, top) for top in tops]


def entitle(axes: Axes, title: str) -> None:
    """The title of a panel, at its left."""
    axes.set_title(title, loc="left", fontsize=TEXT, color=PALETTE["ink"], pad=7)


def mark_place(axes: Axes, place: float) -> None:
    """A dashed line upright through a panel: what the evidence points to."""
    axes.axvline(place, color=PALETTE["root"], linewidth=1.1, linestyle=(0, (3, 2)), zorder=1)


def text_width(text: str, size: float = TEXT) -> float:
    """About how many inches a text needs."""
    return len(text) * size * 0.6 / POINTS


def as_svg(figure: Figure, name: str, description: str) -> str:
    """The figure as an element of a page: no references to the outside, ids of its own, the page's colours."""
    buffer = io.StringIO()
    with drawing():
        figure.savefig(buffer, format="svg", transparent=True, metadata=_METADATA)
    drawn = buffer.getvalue()
    drawn = drawn[drawn.index("<svg") :]
    drawn = re.sub(r"<metadata>.*?</metadata>|<style\b.*?</style>|<!--.*?-->", "", drawn, flags=re.DOTALL)
    drawn = _with_own_ids(drawn, name)
    for variable, colour in PALETTE.items():
        drawn = drawn.replace(colour, f"var(--{variable})")
    label = escape(description, quote=True)
    opening = re.compile(r'<svg\b[^>]*?viewBox="([^"]*)"[^>]*>', re.DOTALL)
    return opening.sub(
        rf'<svg viewBox="\1" class="plot {name}" role="img" aria-label="{_literal(label)}">', drawn, count=1
    ).strip()


def at_both_widths(name: str, draw: Callable[[float], Figure | None], words: Callable[[], str]) -> Markup:
    """A plot for a wide and for a narrow page, of which CSS shows one; empty where there is nothing to draw.

    Args:
        words: the plot in words; asked only of one that is drawn.
    """
    drawn = []
    for size, width in (("wide", WIDE), ("narrow", NARROW)):
        figure = draw(width)
        if figure is not None:
            svg = as_svg(figure, f"{name}-{size}", words())
            drawn.append(svg.replace('class="plot ', f'class="plot {size} ', 1))
    return Markup("\n".join(drawn))  # noqa: S704 drawn and escaped by matplotlib and as_svg


def _with_own_ids(drawn: str, name: str) -> str:
    """Only ids that something refers to, with the plot's name before them: a page holds several plots."""
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', drawn))
    drawn = re.sub(r' id="([^"]+)"', lambda found: f' id="{name}-{found[1]}"' if found[1] in used else "", drawn)
    drawn = drawn.replace('xlink:href="#', f'href="#{name}-')
    return drawn.replace("url(#", f"url(#{name}-")


def _literal(text: str) -> str:
    """Text that means itself in a replacement."""
    return text.replace("\\", "\\\\")
