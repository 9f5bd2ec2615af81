"""The history of a run as one self-contained page with pictures; the same run gives the same bytes."""

from collections.abc import Callable
from pathlib import Path

from markupsafe import Markup
from matplotlib.figure import Figure

from bot.history import lines, pictures
from bot.report.page import NARROW, WIDE
from bot.report.page_template import STYLES, environment_of, own_file
from bot.report.style import as_svg
from core.history.history import History


def render(history: History, *, version: str) -> str:
    """The page."""
    environment = environment_of(Path(__file__).parent)
    headline = lines.headline(history)
    return environment.get_template("page.html.j2").render(
        told=history,
        headline=headline,
        parts=[(*row, pictures.COLOUR[row[0]]) for row in lines.parts(history)],
        plots={
            "band": _plot("band", pictures.band, history, headline),
            "windows": _plot("windows", pictures.windows, history, "The productive share of each window over the run."),
            "causes": _plot("causes", pictures.causes, history, "What each cause cost."),
            "between": _plot("between", pictures.between, history, "Time between failures with its interval."),
        },
        facts=list(lines.facts(history)),
        attempts=[line for line in lines.attempts(history) if line],
        problems=[line for line in lines.problems(history) if line],
        version=version,
        styles=own_file(STYLES),
    )


def _plot(name: str, draw: Callable[[History, float], Figure | None], history: History, words: str) -> Markup:
    drawn = []
    for size, width in (("wide", WIDE), ("narrow", NARROW)):
        figure = draw(history, width)
        if figure is not None:
            svg = as_svg(figure, f"{name}-{size}", words)
            drawn.append(svg.replace('class="plot ', f'class="plot {size} ', 1))
    return Markup("\n".join(drawn))  # noqa: S704 drawn and escaped by matplotlib and as_svg
