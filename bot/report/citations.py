"""The raw lines behind a claim, as the report shows them: neighbouring lines of one file together, once on the page."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.text.harmless import harmless
from core.logs.context import MAX_CHARACTERS, Excerpt, Place
from core.model import Diagnosis, Evidence, Line

RADIUS = 8  # lines before and after
MAX_LINES = 8  # of one claim that are shown; an event of 1,024 ranks says the same 1,024 times


@dataclass(frozen=True, slots=True)
class Row:
    """A line in its context; ``gap`` when lines before it are left out."""

    number: int
    text: str
    cited: bool
    gap: bool


@dataclass(frozen=True, slots=True)
class Citation:
    """Cited lines of one file that stand near each other, with what is around them."""

    file: str
    numbers: str
    rows: tuple[Row, ...]
    missing: str


def cited_places(diagnosis: Diagnosis) -> list[Place]:
    """Every line that the report shows in context."""
    claims: Sequence[Evidence] = (*diagnosis.events, *diagnosis.nodes, *diagnosis.iterations, *diagnosis.metrics)
    return sorted({(line.file, line.line) for claim in claims for line in claim.lines[:MAX_LINES]})


def citations(evidence: Evidence, excerpts: Mapping[Place, Excerpt], shown: set[Place]) -> list[Citation]:
    """The evidence's lines that were not shown before, in the evidence's own order of files; ``shown`` grows."""
    new = [line for line in evidence.lines[:MAX_LINES] if (line.file, line.line) not in shown]
    shown |= {(line.file, line.line) for line in new}
    return [_citation(group, excerpts) for group in _groups(new)]


def _groups(lines: Iterable[Line]) -> list[list[Line]]:
    """Lines of one file whose contexts touch each other, by number; groups in the order of their first line."""
    of_file: dict[str, list[Line]] = {}
    for line in lines:
        of_file.setdefault(line.file, []).append(line)
    groups: list[list[Line]] = []
    for same in of_file.values():
        same.sort(key=lambda line: line.line)
        groups.append([same[0]])
        for line in same[1:]:
            if line.line - groups[-1][-1].line <= 2 * RADIUS + 1:
                groups[-1].append(line)
            else:
                groups.append([line])
    return groups


def _citation(group: Sequence[Line], excerpts: Mapping[Place, Excerpt]) -> Citation:
    found = [excerpts[place] for line in group if (place := (line.file, line.line)) in excerpts]
    texts = {line.line: line.text for line in group} | {
        line.line: line.text for excerpt in found for line in excerpt.lines
    }
    wanted = {line.line for line in group}
    numbers = sorted(texts)
    rows = [
        Row(
            number,
            harmless(texts[number].rstrip(), MAX_CHARACTERS),
            number in wanted,
            bool(at) and numbers[at - 1] != number - 1,
        )
        for at, number in enumerate(numbers)
    ]
    missing = " ".join(dict.fromkeys(harmless(excerpt.missing, 200) for excerpt in found if excerpt.missing))
    return Citation(harmless(group[0].file, 300), ", ".join(str(line.line) for line in group), tuple(rows), missing)
