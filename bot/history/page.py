"""The history of a run as one self-contained page with pictures; the same run gives the same bytes."""

from functools import partial
from pathlib import Path

from bot.history import lines, pictures
from bot.report.page_template import STYLES, own_file, template_of
from bot.report.style import at_both_widths
from core.history.history import History


def render(history: History, *, version: str) -> str:
    """The history as one HTML page."""
    headline = lines.headline(history)
    return template_of(Path(__file__).parent).render(
        history=history,
        headline=headline,
        parts=[(*row, pictures.COLOUR[row[0]]) for row in lines.parts(history)],
        plots={
            name: at_both_widths(name, partial(draw, history), partial(str, words))
            for name, draw, words in (
                ("band", pictures.band, headline),
                ("windows", pictures.windows, "The productive share of each window over the run."),
                ("causes", pictures.causes, "What each cause cost."),
                ("between", pictures.between, "Time between failures with its interval."),
            )
        },
        facts=list(lines.facts(history)),
        attempts=[line for line in lines.attempts(history) if line],
        problems=[line for line in lines.problems(history) if line],
        version=version,
        styles=own_file(STYLES),
    )
