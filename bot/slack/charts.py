"""Slack's own charts and table of a diagnosis: suspects by node, numbers by iteration; readable without an image.

docs.slack.dev/reference/block-kit/blocks/data-visualization-block and .../data-table-block. Workspaces that have no
such blocks refuse the message; they are shown the picture.
"""

from collections.abc import Sequence

from bot.report.plotted import drawable, shown, split
from bot.slack.blocks import Block, Blocks, Message, section
from bot.slack.text import clip, code, fallback, literal
from bot.text.wording import counted
from core.model import Diagnosis, NodeEvidence, Series

MAX_CHARTS, MAX_POINTS, MAX_LABEL, MAX_TITLE = 2, 20, 20, 50  # of Slack: of a message; of a series; characters
MAX_BARS, MAX_ROWS, PAGE = 12, 20, 5  # ours: of a chart on a phone, of the table, and of its page at first
# Characters; ours: a cell of a phone wraps, and an alternative text is as in bot/report/picture.py.
MAX_CELL, MAX_TEXT = 120, 1_000
DIGITS = 4  # significant ones of a number


def chart_message(diagnosis: Diagnosis, words: str) -> Message | None:
    """Charts and a table of suspects; None where there is no course of numbers to draw, which a picture shows better.

    Args:
        words: the charts in words, for notifications and for who does not see them.
    """
    numbers = [chart for series in shown(diagnosis) if (chart := _course(series))]
    if not numbers:
        return None
    charts = [*_scores(diagnosis), *numbers][:MAX_CHARTS]
    title = section(f"{code(diagnosis.job, 80)} in numbers")
    return Message(fallback(words, MAX_TEXT), (*title, *charts, *_table(diagnosis.nodes)))


def _scores(diagnosis: Diagnosis) -> Blocks:
    """Anomaly score by node, suspects first; nothing without a second node to compare."""
    bars = diagnosis.pictures.nodes
    if len(bars) <= 1 or all(bar.score <= 0 for bar in bars):
        return ()
    alone, others = split(bars, [suspect.node for suspect in diagnosis.nodes], MAX_BARS)
    points = [(bar.node, bar.score) for bar in alone]
    if others:
        points.append((f"best of {len(others):,} others", max(bar.score for bar in others)))
    return (_chart("Anomaly score by node", "bar", "score", points, "node"),)


def _course(series: Series) -> Block | None:
    """A number over iterations, at most MAX_POINTS of them at even distances, the last one among them."""
    finite = [point for point in zip(series.iterations, series.values, strict=True) if drawable(point[1])]
    points = dict(sorted(finite))
    if len(points) <= 1:
        return None
    iterations = list(points)
    last, most = len(iterations) - 1, min(len(iterations), MAX_POINTS)
    kept = [iterations[place * last // (most - 1)] for place in range(most)]
    return _chart(
        f"{series.name} by iteration", "line", series.name, [(str(at), points[at]) for at in kept], "iteration"
    )


def _chart(title: str, kind: str, name: str, points: Sequence[tuple[str, float]], x_label: str) -> Block:
    labels = _different([label for label, _ in points])
    data = [{"label": label, "value": _rounded(value)} for label, (_, value) in zip(labels, points, strict=True)]
    return {
        "type": "data_visualization",
        "title": clip(literal(title, MAX_TITLE), MAX_TITLE),
        "chart": {
            "type": kind,
            "series": [{"name": _label(name), "data": data}],
            "axis_config": {"categories": labels, "x_label": x_label, "y_label": _label(name)},
        },
    }


def _table(suspects: Sequence[NodeEvidence]) -> Blocks:
    """Suspects with their scores, by which a reader may sort; nothing where nobody is one."""
    if not suspects:
        return ()
    head = [_text(name) for name in ("Node", "Score", "Ranks", "Evidence")]
    rows = [
        [
            _text(suspect.node),
            {"type": "raw_number", "value": _rounded(suspect.score), "text": f"{suspect.score:.2f}"},
            _text(_ranks(suspect.ranks)),
            _text(", ".join((suspect.id, *suspect.events))),
        ]
        for suspect in suspects[:MAX_ROWS]
    ]
    caption = f"{counted(len(suspects), 'suspect')}" + (f", the first {MAX_ROWS}" if len(suspects) > MAX_ROWS else "")
    return ({"type": "data_table", "caption": caption, "page_size": PAGE, "rows": [head, *rows]},)


def _ranks(ranks: Sequence[int]) -> str:
    named = ", ".join(str(rank) for rank in ranks[:8])
    return f"{named} and {len(ranks) - 8:,} more" if len(ranks) > 8 else named or "-"


def _text(words: str) -> Block:
    return {"type": "raw_text", "text": clip(literal(words, MAX_CELL), MAX_CELL) or "-"}


def _label(name: str) -> str:
    return clip(literal(name, MAX_LABEL), MAX_LABEL) or "-"


def _different(names: Sequence[str]) -> list[str]:
    """Labels, each once: long names that are cut to the same one are numbered."""
    labels: list[str] = []
    for name in names:
        label, number = _label(name), 1
        while label in labels:
            number += 1
            tail = f" ({number})"
            label = _label(name)[: MAX_LABEL - len(tail)] + tail
        labels.append(label)
    return labels


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
