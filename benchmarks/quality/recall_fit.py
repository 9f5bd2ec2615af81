"""Count how often the answer of a fault library was right, by how far job and pattern agree (faultlib/score.toml).

``python -m benchmarks.quality.recall_fit --write`` counts on the jobs of this repository and writes the file. Every
set of jobs is a team of its own. Which jobs it has met before is drawn anew each time; in every second library each of
them has joined the pattern of its cause, in the others one job of each cause is all that was ever confirmed.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np

from benchmarks.quality.__main__ import BLIND, LAB, OTHER, ROOT, blind_jobs, labelled_jobs
from benchmarks.quality.recall_cases import RecallCase, read_cases
from benchmarks.quality.recall_taught import calibration_error, cause_of, is_one_fault
from bot.fetch.cache import FolderCache
from faultlib.levels import Agreement, Backing, Level, agreement, backing, read_score
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
    """What a job of a cause was told first."""

    cause: str
    level: Level
    backed: Backing
    right: bool


Answers = Sequence[FirstAnswer]  # of the libraries of one team


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was counted, and write it when asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.recall_fit", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {FILE.relative_to(ROOT)}")
    options = parser.parse_args(arguments)
    with labelled_jobs(None, None) as (jobs, truth):
        origin = blake2b(LAB.read_bytes() + OTHER.read_bytes()).hexdigest()
        sets = (read_cases(open_source(jobs), origin, truth, FolderCache(CACHE)), blind_cases())
        teams = [answers_of([case for case in cases if case.kind and is_one_fault(case)]) for cases in sets]
    text = as_text(teams)
    sys.stdout.write(f"{text}\n{checked(teams)}")
    if options.write:
        FILE.write_text(text, encoding="utf-8")
    return 0


def blind_cases() -> Sequence[RecallCase]:
    """The jobs of the blind sets: a team of its own."""
    origin = blake2b(b"".join(archive.read_bytes() for archive in BLIND)).hexdigest()
    with blind_jobs() as blind:
        truth = Path(blind.jobs).parent / "truth"
        return read_cases(open_source(blind.jobs), origin, truth, FolderCache(CACHE))


def as_text(teams: Sequence[Answers]) -> str:
    """What was counted, as ``faultlib.levels`` reads it."""
    lines = [
        "# How often the first answer of a team's library was right: [right, answers] of each team that was counted."
    ]
    tallies = [tally(team) for team in teams]
    for level in Level:
        lines.append(f"[{level.name.lower()}]")
        for backed in Backing:
            found = [list(team.get((level, backed), (0, 0))) for team in tallies]
            lines.append(f"{backed.name.lower()} = {found}")
    return "\n".join(lines) + "\n"


def tally(answers: Answers) -> Mapping[tuple[Level, Backing], tuple[int, int]]:
    """Right answers and all, by level and backing."""
    counts: dict[tuple[Level, Backing], tuple[int, int]] = {}
    for answer in answers:
        right, every = counts.get((answer.level, answer.backed), (0, 0))
        counts[answer.level, answer.backed] = (right + answer.right, every + 1)
    return counts


def checked(teams: Sequence[Answers]) -> str:
    """How far said likelihoods are from what was right, over the answers that were counted, as a markdown table.

    Of answers whose causes were held out in turn nothing was counted but what other causes' jobs were answered.
    """
    head = ("team", "answers", "counted on all", "causes held out", "counted on the other team")
    lines = [f"| {' | '.join(head)} |", f"| --- |{' --: |' * (len(head) - 1)}"]
    for number, team in enumerate(teams, start=1):
        others = [other for other in teams if other is not team]
        pairs = (_said(teams, team), list(_held_out(teams, team)), _said(others, team))
        errors = " | ".join(f"{calibration_error(said):.3f}" for said in pairs)
        lines.append(f"| {number} | {len(team)} | {errors} |")
    return "\n".join(lines) + "\n"


def fold_of(cause: str) -> int:
    """Which part of the causes is left out with this one."""
    return blake2b(cause.encode()).digest()[0] % FOLDS


def _held_out(teams: Sequence[Answers], team: Answers) -> Iterator[tuple[float, bool]]:
    """How likely each answer of a team is said to be where no job of its part of the causes was counted."""
    for fold in range(FOLDS):
        known = [[answer for answer in other if fold_of(answer.cause) != fold] for other in teams]
        yield from _said(known, [answer for answer in team if fold_of(answer.cause) == fold])


def _said(counted: Sequence[Answers], answers: Answers) -> list[tuple[float, bool]]:
    """How likely each answer is said to be, and whether it was right."""
    score = read_score(as_text(counted))
    return [(score.likelihood(answer.level, answer.backed), answer.right) for answer in answers]


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


def answers_of(cases: Sequence[RecallCase], drawn: int = DRAWN) -> Answers:
    """The first answer of each job in libraries that are drawn with a fixed seed."""
    agreed, draw = agreements(cases), np.random.default_rng(0)
    causes = [cause_of(case) for case in cases]
    jobs_of = {cause: [row for row, other in enumerate(causes) if other == cause] for cause in sorted(set(causes))}
    found: list[FirstAnswer] = []
    for number in range(drawn):
        joined = number // len(PAST) % 2
        past = draw.random(len(cases)) < PAST[number % len(PAST)]
        seen_before = ([row for row in rows if past[row]] for rows in jobs_of.values())
        met = [rows for rows in seen_before if rows]
        shown = {row for rows in met for row in (rows if joined else [int(draw.choice(rows))])}
        known = ({column: how for column, how in agreed[row].items() if column in shown} for row in range(len(cases)))
        found += [_first(row, causes, agreeing) for row, agreeing in enumerate(known) if agreeing]
    return found


def _first(row: int, causes: Sequence[str], agreeing: Mapping[int, Agreement]) -> FirstAnswer:
    """What a job is told first of the jobs that a library knows, as ``faultlib.likely_patterns.shares`` orders them."""
    level = min((how.order, how.level) for how in agreeing.values())[1]
    jobs, likeness = Counter[str](), dict[str, float]()
    for column, how in agreeing.items():
        if how.level is level:
            jobs[causes[column]] += 1
            likeness[causes[column]] = max(likeness.get(causes[column], 0.0), how.likeness)
    best = min(jobs, key=lambda cause: (-jobs[cause], -likeness[cause], cause))
    return FirstAnswer(causes[row], level, backing(jobs[best], jobs.total() - jobs[best]), best == causes[row])


if __name__ == "__main__":
    sys.exit(main())
