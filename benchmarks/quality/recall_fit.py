"""Count how often the answer of a fault library was right, by how far job and pattern agree (faultlib/score.toml).

``python -m benchmarks.quality.recall_fit --write`` counts on the jobs of this repository and writes the file. Every
set of jobs is a team of its own, with a library of one job of each cause that it has met; which jobs those were, and
which of them teaches, is drawn anew each time.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from statistics import fmean

import numpy as np

from benchmarks.quality.__main__ import BLIND, LAB, OTHER, ROOT, blind_jobs, labelled_jobs
from benchmarks.quality.recall_cases import RecallCase, read_cases
from benchmarks.quality.recall_taught import calibration_error, cause_of, is_one_fault
from bot.fetch.cache import FolderCache
from faultlib.levels import Agreement, Level, agreement, read_score
from faultlib.lexical import Lexicon
from faultlib.likely_patterns import causes_of
from faultlib.seeds import read_seeds
from faultlib.signature import find_matches
from sources.jobs import open_source

DRAWN = 60  # libraries of each set
PAST = (0.1, 0.25, 1.0)  # part of a set's jobs that a team has seen before, in turn: what is frequent is known first
FILE = ROOT / "faultlib" / "score.toml"
CACHE = Path(tempfile.gettempdir(), "firstfault-recall")
FOLDS = 5  # parts of the causes of which each is held out in turn
Agreements = Mapping[int, Mapping[int, Agreement]]  # job -> other job, as a pattern -> how far they agree


@dataclass(frozen=True, slots=True)
class FirstAnswer:
    """What a job of a cause was told first. stage: place in PAST; size: patterns of the library."""

    cause: str
    level: Level
    alone: bool
    stage: int
    size: int
    right: bool


@dataclass(frozen=True, slots=True)
class Answered:
    """The answers of a team's libraries. sizes: patterns that they have on average, by place in PAST."""

    sizes: tuple[float, ...]
    answers: tuple[FirstAnswer, ...]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was counted, and write it when asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.recall_fit", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {FILE.relative_to(ROOT)}")
    options = parser.parse_args(arguments)
    teams: list[Answered] = []
    with labelled_jobs(None, None) as (jobs, truth), blind() as (more, more_truth):
        own = blake2b(LAB.read_bytes() + OTHER.read_bytes()).hexdigest()
        unseen = blake2b(b"".join(archive.read_bytes() for archive in BLIND)).hexdigest()
        for source, origin, labels in ((jobs, own, truth), (more, unseen, more_truth)):
            cases = read_cases(open_source(source), origin, labels, FolderCache(CACHE))
            teams.append(answers_of([case for case in cases if case.kind and is_one_fault(case)]))
    text = as_text(teams)
    sys.stdout.write(f"{text}\n{checked(teams)}")
    if options.write:
        FILE.write_text(text, encoding="utf-8")
    return 0


@contextmanager
def blind() -> Iterator[tuple[str, Path]]:
    """Where the jobs of the blind sets and their truth are."""
    with blind_jobs() as chosen:
        yield chosen.jobs, Path(chosen.jobs).parent / "truth"


def as_text(teams: Sequence[Answered]) -> str:
    """What was counted, as ``faultlib.levels`` reads it."""
    sizes = [round(fmean(team.sizes[stage] for team in teams), 1) for stage in range(len(PAST))]
    lines = [
        "# How often the first answer of a team's library was right, in libraries of so many patterns on average:",
        "# of each size, of each team that was counted, right answers and all.",
        f"sizes = {sizes}",
    ]
    tallies = [tally(team.answers) for team in teams]
    for level in Level:
        lines.append(f"[{level.name.lower()}]")
        for name, alone in (("alone", True), ("beside", False)):
            found = [[list(team.get((level, alone, stage), (0, 0))) for team in tallies] for stage in range(len(PAST))]
            lines.append(f"{name} = {found}")
    return "\n".join(lines) + "\n"


def tally(answers: Iterable[FirstAnswer]) -> Mapping[tuple[Level, bool, int], tuple[int, int]]:
    """Right answers and all, by level, whether alone, and place of the part in PAST."""
    counts: dict[tuple[Level, bool, int], tuple[int, int]] = {}
    for answer in answers:
        key = (answer.level, answer.alone, answer.stage)
        right, every = counts.get(key, (0, 0))
        counts[key] = (right + answer.right, every + 1)
    return counts


def checked(teams: Sequence[Answered]) -> str:
    """How far said likelihoods are from what was right, over the answers that were counted, as a markdown table.

    Of answers whose causes were held out in turn nothing was counted but what other causes' jobs were answered.
    """
    rows = [
        "| team | answers | counted on all | causes held out | counted on the other team |",
        "| --- | --: | --: | --: | --: |",
    ]
    for number, team in enumerate(teams):
        others = [other for place, other in enumerate(teams) if place != number]
        held_out = [
            pair
            for fold in range(FOLDS)
            for pair in _said(
                [_without(team, fold) for team in teams],
                [answer for answer in team.answers if fold_of(answer.cause) == fold],
            )
        ]
        errors = (_said(teams, team.answers), held_out, _said(others, team.answers))
        rows.append(
            f"| {number + 1} | {len(team.answers)} | {' | '.join(f'{calibration_error(pairs):.3f}' for pairs in errors)} |"
        )
    return "\n".join(rows) + "\n"


def fold_of(cause: str) -> int:
    """Which part of the causes is left out with this one."""
    return blake2b(cause.encode()).digest()[0] % FOLDS


def _without(team: Answered, fold: int) -> Answered:
    return Answered(team.sizes, tuple(answer for answer in team.answers if fold_of(answer.cause) != fold))


def _said(counted: Sequence[Answered], answers: Iterable[FirstAnswer]) -> list[tuple[float, bool]]:
    """How likely each answer is said to be, and whether it was right."""
    score = read_score(as_text(counted))
    return [(score.likelihood(answer.level, alone=answer.alone, size=answer.size), answer.right) for answer in answers]


def agreements(cases: Sequence[RecallCase]) -> Agreements:
    """How far each job agrees with the pattern of each other one."""
    entries = [case.entry for case in cases]
    lexicon = Lexicon(pattern.words() for pattern in (*read_seeds(), *(entry.pattern for entry in entries)))
    found: dict[int, dict[int, Agreement]] = {}
    for row, case in enumerate(cases):
        traces = causes_of(case.seen.diagnosis)
        matches = find_matches(entries, case.seen.occurrences, case.seen.nodes)
        literal = {match.entry.id for match in matches if traces & set(match.events)}
        pairs = (
            (column, agreement(case.entry.pattern, entry.pattern, lexicon, literal=entry.id in literal))
            for column, entry in enumerate(entries)
            if column != row
        )
        found[row] = {column: how for column, how in pairs if how is not None}
    return found


def answers_of(cases: Sequence[RecallCase], drawn: int = DRAWN) -> Answered:
    """The first answer of each job in libraries that are drawn with a fixed seed."""
    agreed, draw = agreements(cases), np.random.default_rng(0)
    causes = [cause_of(case) for case in cases]
    jobs_of = {cause: [row for row, other in enumerate(causes) if other == cause] for cause in sorted(set(causes))}
    found: list[FirstAnswer] = []
    sizes: list[list[int]] = [[] for _ in PAST]
    for number in range(drawn):
        stage = number % len(PAST)
        past = draw.random(len(cases)) < PAST[stage]
        seen_before = ([row for row in rows if past[row]] for rows in jobs_of.values())
        library = {int(draw.choice(rows)) for rows in seen_before if rows}
        sizes[stage].append(len(library))
        for row, cause in enumerate(causes):
            known = [(how.order, column) for column, how in agreed[row].items() if column in library]
            if not known:
                continue
            _, best = min(known)
            level = agreed[row][best].level
            alone = sum(agreed[row][column].level is level for _, column in known) == 1
            found.append(FirstAnswer(cause, level, alone, stage, len(library), causes[best] == cause))
    return Answered(tuple(map(fmean, sizes)), tuple(found))


if __name__ == "__main__":
    sys.exit(main())
