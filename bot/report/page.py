"""The page: template, styles and script beside this file, the plots, and the raw lines, put into one text."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup, escape
from matplotlib.figure import Figure

from bot.note.note import GUESS, TITLES, Note
from bot.report import iterations, metrics, suspects, timeline
from bot.report.activity import heat_map
from bot.report.citations import MAX_LINES, citations
from bot.report.matrix import node_matrix
from bot.report.page_template import STYLES, own_file, script_hash, template_of
from bot.report.speedscope import to_speedscope
from bot.report.style import at_both_widths
from bot.report.trace import has_timeline, to_trace
from bot.text import wording
from bot.text.harmless import harmless
from bot.text.known_fault import KnownFault
from core.logs.context import Excerpt, Place
from core.model import Diagnosis, FirstPlot, Role, Scope, Stage

MAX_SENTENCE = 1_000  # characters; longer than any that core writes, so that only hostile text is cut
MAX_EXPORT = 200_000  # characters of a file within the page; larger ones the command line writes
MAX_FRAME = 300  # characters, with the indent
_FOLDER = Path(__file__).parent
_ID = re.compile(r"\b[EMNIP][0-9]{1,4}\b")


def render_report(
    diagnosis: Diagnosis,
    excerpts: Mapping[Place, Excerpt],
    *,
    known: Sequence[KnownFault] = (),
    note: Note | None = None,
    version: str,
) -> str:
    """The whole diagnosis as one HTML page that needs nothing else; the same input gives the same bytes.

    Its script only filters and marks, and is named by its hash; where it may not run, all is there to read.
    """
    shown: set[Place] = set()
    script = own_file(_FOLDER / "page.js")
    evidence = (*diagnosis.events, *diagnosis.nodes, *diagnosis.iterations, *diagnosis.metrics)
    return template_of(_FOLDER).render(
        d=diagnosis,
        linked=_linker(diagnosis, known),
        known=known,
        note=note,
        note_lists=TITLES,
        guess=GUESS,
        w=wording,
        Role=Role,
        Scope=Scope,
        Stage=Stage,
        max_lines=MAX_LINES,
        max_frame=MAX_FRAME,
        version=version,
        styles=own_file(STYLES),
        clocks=_clocks(diagnosis),
        cited={cited_evidence.id: citations(cited_evidence, excerpts, shown) for cited_evidence in evidence},
        plots=_plots(diagnosis),
        first=diagnosis.pictures.first_plot if diagnosis.scope is not Scope.NONE else FirstPlot.NONE,
        FirstPlot=FirstPlot,
        heat=heat_map(diagnosis),
        matrix=node_matrix(diagnosis),
        flame_width=sum(bar.width for bar in diagnosis.pictures.stacks if not bar.depth),
        exports=_exports(diagnosis),
        script=script,
        script_hash=script_hash(script),
    )


def _exports(diagnosis: Diagnosis) -> dict[str, tuple[str, str]]:
    """What other programs open, by the name of its file: what it is, and the file itself as an address of data."""
    found = {
        "timeline.json": ("Timeline for ui.perfetto.dev", to_trace(diagnosis) if has_timeline(diagnosis) else ""),
        "stacks.speedscope.json": ("Stacks for www.speedscope.app", to_speedscope(diagnosis)),
    }
    return {
        name: (title, f"data:application/json,{quote(text, safe='')}")  # as text: what takes secrets out must see it
        for name, (title, text) in found.items()
        if 0 < len(text) <= MAX_EXPORT
    }


def _clocks(diagnosis: Diagnosis) -> dict[str, str]:
    times = wording.clocks([event.first_time for event in diagnosis.events], milliseconds=True)
    return dict(zip((event.id for event in diagnosis.events), times, strict=True))


def _plots(diagnosis: Diagnosis) -> dict[str, Markup]:
    """Each plot for a wide and for a narrow page; an empty text where there is nothing to draw."""
    found: dict[str, tuple[Callable[[Diagnosis, float], Figure | None], Callable[[Diagnosis], str]]] = {
        "suspects": (suspects.suspects_figure, suspects.describe),
        "timeline": (timeline.timeline_figure, timeline.describe),
        "iterations": (iterations.iterations_figure, iterations.describe),
        "metrics": (metrics.metrics_figure, metrics.describe),
    }
    return {
        name: at_both_widths(name, partial(draw, diagnosis), partial(words, diagnosis))
        for name, (draw, words) in found.items()
    }


def _linker(diagnosis: Diagnosis, faults: Sequence[KnownFault]) -> Callable[[str], Markup]:
    """What makes the ids of evidence in a sentence lead to the evidence."""
    known = {
        evidence.id for evidence in (*diagnosis.events, *diagnosis.nodes, *diagnosis.iterations, *diagnosis.metrics)
    }
    known |= {fault.id for fault in faults}

    def link(evidence_id: str) -> str:
        return f'<a href="#{evidence_id}">{evidence_id}</a>' if evidence_id in known else evidence_id

    def linked(sentence: str) -> Markup:
        escaped = str(escape(harmless(sentence, MAX_SENTENCE)))
        with_links = _ID.sub(lambda found: link(found[0]), escaped)
        return Markup(with_links)  # noqa: S704 escaped above

    return linked
