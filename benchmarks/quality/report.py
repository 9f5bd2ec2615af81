"""The numbers as markdown tables, and into documents between two markers."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.quality.measures import Measures


def marks(name: str) -> tuple[str, str]:
    """The lines between which a part of this name stands in a document."""
    return f"<!-- {name}:begin -->", f"<!-- {name}:end -->"


BEGIN, END = marks("quality")
_COLUMNS = {
    "verdict": "verdict",
    "sure": "sure",
    "macro F1": "macro_f1",
    "precision": "precision",
    "recall": "recall",
    "useful": "useful",
    "shown": "shown",
    "first": "first",
    "root3": "root3",
    "top-1": "top1",
    "top-3": "top3",
    "accused": "accused",
    "quiet": "quiet",
    "scope": "scope",
    "role": "role",
    "stage": "stage",
    "iteration": "iteration",
    "s a job": "seconds",
}
_COUNTS = {"shown", "accused", "seconds"}  # no shares: one digit is enough


class NoMarkers(ValueError):
    """A document has no place for the table."""


def methods(sets: Mapping[str, Mapping[str, Measures]]) -> str:
    """One table for each set of jobs, methods as rows."""
    return "\n\n".join(f"{_title(name, by_method)}\n\n{_by_method(by_method)}" for name, by_method in sets.items())


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, texts: Collection[int] = (0,)) -> str:
    """A markdown table; texts: columns that hold words, the others are numbers."""
    ruler = ["---" if place in texts else "--:" for place in range(len(head))]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ruler, *rows))


def cell(measures: Measures, field: str) -> str:
    """A measure as a table shows it."""
    value = getattr(measures, field)
    if value is None:
        return "-"
    return f"{value:.1f}" if field in _COUNTS else f"{value:.2f}"


def write(path: Path, text: str, begin_mark: str = BEGIN, end_mark: str = END) -> None:
    """Put a text between the markers of a document, instead of what stands there.

    Raises:
        NoMarkers: the document is not there, or has no markers.
    """
    document = path.read_text(encoding="utf-8") if path.exists() else ""
    before, begin, rest = document.partition(begin_mark)
    _, end, after = rest.partition(end_mark)
    if not begin or not end:
        raise NoMarkers(f"{path} has no lines {begin_mark} and {end_mark} to write between.")
    path.write_text(f"{before}{begin_mark}\n{text}\n{end_mark}{after}", encoding="utf-8", newline="\n")


def _title(name: str, by_method: Mapping[str, Measures]) -> str:
    counts = next(iter(by_method.values()))
    lost = {method: measures.unanswered for method, measures in by_method.items() if measures.unanswered}
    unanswered = "".join(f" No answer of {method} to {count}." for method, count in lost.items())
    jobs = f"{counts.jobs} job{'s' * (counts.jobs != 1)}"
    return f"**{name}**: {jobs}, {counts.failed} of them failed or stopped.{unanswered}"


def _by_method(by_method: Mapping[str, Measures]) -> str:
    rows = [[name, *(cell(measures, field) for field in _COLUMNS.values())] for name, measures in by_method.items()]
    return table(["method", *_COLUMNS], rows)
