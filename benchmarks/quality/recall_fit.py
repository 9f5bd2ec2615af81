"""Fit how likely the answer of a fault library is right, by how far job and pattern agree (faultlib/score.toml).

``python -m benchmarks.quality.recall_fit --write`` fits on jobs of this repository and writes the file. The jobs of
each author are a team of its own, for a team calls its faults by names that it agrees in. Which jobs it has met before
is drawn anew each time; in every second library each of them has joined the pattern of its cause, in the others one job
of each cause is all that was ever confirmed. A job counts once, in however many libraries it asked. Sets that are not
``FITTED`` are held: ``benchmarks.quality.recall`` tells of them how far the likelihoods are from what was right.
"""

import argparse
import sys
import tarfile
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from benchmarks.quality.__main__ import BLIND, LAB, OTHER, ROOT, labelled_jobs
from benchmarks.quality.recall_calibration import Told, calibration_error, least_error
from benchmarks.quality.recall_cases import RecallCase, read_cases
from benchmarks.quality.recall_taught import cause_of
from benchmarks.unpack import unpack
from bot.fetch.cache import FolderCache
from faultlib.levels import Agreement, Backing, Grade, Level, agreement, backing, grade_of, is_sure, read_score
from faultlib.lexical import Lexicon
from faultlib.likely_patterns import SHOWN, causes_of
from faultlib.seeds import read_seeds
from faultlib.signature import find_matches
from sources.jobs import open_source

DRAWN = 60  # libraries of each team
PAST = (0.1, 0.25, 1.0)  # part of a team's jobs that it has seen before, in turn: what is frequent is known first
OWN = "lab and other"  # one library, as they are measured
FITTED = (OWN, *(f"blind-{name}" for name in "abcdefghijklmo"))  # the other sets are held: nothing is fitted on them
PULL = 2.0  # towards no weight at all (scikit-learn's C): of .1 to 2 the best where team and causes are held out
FOLDS = 5  # parts of the causes of which each is held out in turn
FILE = ROOT / "faultlib" / "score.toml"
CACHE = Path(tempfile.gettempdir(), "firstfault-recall")
Agreements = Mapping[int, Mapping[int, Agreement]]  # job -> other job, as a pattern -> how far they agree
Teams = Mapping[str, Sequence[RecallCase]]  # by author


@dataclass(frozen=True, slots=True)
class FirstAnswer:
    """What a job of a cause was told first. weight: what it counts; those of one job come to one."""

    team: str
    job: str
    cause: str
    level: Level
    backed: Backing
    right: bool
    weight: float = 1.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was fitted and how well it holds, and write it when asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.recall_fit", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {FILE.relative_to(ROOT)}")
    options = parser.parse_args(arguments)
    with labelled_jobs(None, None) as (jobs, truth):
        origin = blake2b(LAB.read_bytes() + OTHER.read_bytes()).hexdigest()
        own = read_cases(open_source(jobs), origin, truth, FolderCache(CACHE))
    teams = {OWN: own, **blind_teams(FITTED)}
    answers = answers_of_teams(teams)
    text = as_text(answers, together(teams))
    sys.stdout.write(f"{text}\n{checked(answers)}")
    if options.write:
        FILE.write_text(text, encoding="utf-8")
    return 0


def blind_teams(wanted: Collection[str] = ()) -> Teams:
    """The jobs of the blind sets by their authors: of the first set by the first letter of the id, a batch of one each.

    Each set is read for itself, for authors give their jobs the same ids.

    Args:
        wanted: sets that are read; none: all.
    """
    teams: dict[str, list[RecallCase]] = {}
    for archive in BLIND:
        name = archive.name.partition(".")[0]
        if wanted and name not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            with tarfile.open(archive) as packed:
                unpack(packed, folder)
            origin = blake2b(archive.read_bytes()).hexdigest()
            cases = read_cases(open_source(f"{folder}/jobs"), origin, Path(folder, "truth"), FolderCache(CACHE))
        for case in cases:
            teams.setdefault(f"first-{case.job_id[0]}" if name == "blind" else name, []).append(case)
    return teams


def together(teams: Teams) -> Sequence[FirstAnswer]:
    """Answers of all blind authors as one team: only here several jobs of one cause have the same message."""
    every = [case for name, cases in teams.items() if name != OWN for case in cases]
    return answers_of_teams({"together": every})


def as_text(answers: Sequence[FirstAnswer], often: Iterable[FirstAnswer]) -> str:
    """What was fitted, as ``faultlib.levels`` reads it.

    Args:
        often: answers of which those with the same message as several jobs are counted.
    """
    base, weights = _weights(answers)
    right = _jobs(answer for answer in often if is_sure(answer.level, answer.backed))
    lines = [
        "# How likely the first answer of a team's library is right: log odds (benchmarks.quality.recall_fit).",
        f"base = {base:.3f}",
        "# Jobs that were told a pattern of which several jobs have the same message, and no other's: right, all.",
        f"sure = [{sum(right.values()):.1f}, {len(right)}]",
        "[grade]",
        *(f"{grade.name.lower()} = {weights.get(grade, 0.0):.3f}" for grade in Grade),
        "[backing]",
        *(f"{backed.name.lower()} = {weights.get(backed, 0.0):.3f}" for backed in Backing),
        "[counted]  # jobs, by the grade of their first answer: right, all; for the reader",
    ]
    for grade in Grade:
        of_grade = [answer for answer in answers if grade_of(answer.level) is grade]
        right_jobs = sum(answer.weight * answer.right for answer in of_grade)
        lines.append(f"{grade.name.lower()} = [{right_jobs:.1f}, {sum(answer.weight for answer in of_grade):.1f}]")
    return "\n".join(lines) + "\n"


def _jobs(answers: Iterable[FirstAnswer]) -> Mapping[str, float]:
    """How often each job's answers were right."""
    found: dict[str, list[bool]] = defaultdict(list)
    for answer in answers:
        found[answer.job].append(answer.right)
    return {job: sum(right) / len(right) for job, right in found.items()}


def _weights(answers: Sequence[FirstAnswer]) -> tuple[float, Mapping[Grade | Backing, float]]:
    """Log odds by a logistic regression: a base, and what each grade and each backing adds.

    Each team counts as much as any other, whatever the number of its jobs: whoever uses this is one team more.
    """
    names: list[Grade | Backing] = [*Grade, *Backing]
    alike: defaultdict[tuple[str, Grade, Backing, bool], float] = defaultdict(float)
    of_team: defaultdict[str, float] = defaultdict(float)
    for answer in answers:
        alike[answer.team, grade_of(answer.level), answer.backed, answer.right] += answer.weight
        of_team[answer.team] += answer.weight
    usual = sum(of_team.values()) / len(of_team)
    features = [[name in (grade, backed) for name in names] for _, grade, backed, _ in alike]
    right = [was_right for *_, was_right in alike]
    model = LogisticRegression(C=PULL, max_iter=1000)
    model.fit(features, right, sample_weight=[weight * usual / of_team[team] for (team, *_), weight in alike.items()])
    return float(model.intercept_[0]), dict(zip(names, map(float, model.coef_[0]), strict=True))


def checked(answers: Sequence[FirstAnswer]) -> str:
    """How far said likelihoods are from what was right, as a markdown table: teams, causes, or both held out."""
    head = ("held out", "jobs", "calibration error", "if it were perfect", "of what is shown", "shown jobs")
    lines = [f"| {' | '.join(head)} |", f"| --- |{' --: |' * (len(head) - 1)}"]
    for name, part_of in (("the team", _team), ("the causes", _fold), ("both", None)):
        told = _held_out(answers, part_of)
        shown = [one for one in told if one.likely >= SHOWN]
        errors = (calibration_error(told), least_error(told), calibration_error(shown))
        cells = (f"{sum(one.weight for one in told):.0f}", *(f"{error:.3f}" for error in errors))
        lines.append(f"| {name} | {' | '.join(cells)} | {sum(one.weight for one in shown):.0f} |")
    return "\n".join(lines) + "\n"


def _held_out(answers: Sequence[FirstAnswer], part_of: Callable[[FirstAnswer], str] | None) -> list[Told]:
    """How likely each answer is said to be by a score that was fitted without its part.

    Args:
        part_of: names the part; None: neither the answers of its team nor those of its causes were fitted.
    """
    told = []
    for team, fold in sorted({(_team(answer), _fold(answer)) for answer in answers}):
        asked = [answer for answer in answers if (_team(answer), _fold(answer)) == (team, fold)]
        if part_of is not None:
            rest = [answer for answer in answers if part_of(answer) != part_of(asked[0])]
        else:
            rest = [answer for answer in answers if _team(answer) != team and _fold(answer) != fold]
        score = read_score(as_text(rest, ()))
        told += [Told(score.likelihood(one.level, one.backed), one.right, one.weight) for one in asked]
    return told


def _team(answer: FirstAnswer) -> str:
    return answer.team


def _fold(answer: FirstAnswer) -> str:
    return str(blake2b(answer.cause.encode()).digest()[0] % FOLDS)


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


def answers_of_teams(teams: Teams, drawn: int = DRAWN) -> Sequence[FirstAnswer]:
    """The first answers of all teams' jobs, those of a job weighing one."""
    found = [answer for name, cases in teams.items() for answer in _answers_of(name, cases, drawn)]
    asked = Counter((answer.team, answer.job) for answer in found)
    return [
        FirstAnswer(one.team, one.job, one.cause, one.level, one.backed, one.right, 1 / asked[one.team, one.job])
        for one in found
    ]


def _answers_of(name: str, every: Sequence[RecallCase], drawn: int) -> Sequence[FirstAnswer]:
    """The first answer of each job in libraries that are drawn with a fixed seed."""
    cases = [case for case in every if case.kind and case.fault.is_one]
    agreed, draw = agreements(cases), np.random.default_rng(0)
    causes = [cause_of(case) for case in cases]
    jobs_of = {cause: [row for row, other in enumerate(causes) if other == cause] for cause in sorted(set(causes))}
    found: list[FirstAnswer] = []
    for number in range(drawn):
        past = draw.random(len(cases)) < PAST[number % len(PAST)]
        shown = _shown(jobs_of, past, draw, joined=bool(number // len(PAST) % 2))
        known = ({column: how for column, how in agreed[row].items() if column in shown} for row in range(len(cases)))
        found += [
            _first((name, cases[row].job_id), causes, row, agreeing) for row, agreeing in enumerate(known) if agreeing
        ]
    return found


def _shown(
    jobs_of: Mapping[str, Sequence[int]], past: NDArray[np.bool_], draw: np.random.Generator, *, joined: bool
) -> frozenset[int]:
    """The jobs by which a library knows its causes: all that it has met, or one of each."""
    seen_before = ([row for row in rows if past[row]] for rows in jobs_of.values())
    met = [rows for rows in seen_before if rows]
    return frozenset(row for rows in met for row in (rows if joined else [int(draw.choice(rows))]))


def _first(who: tuple[str, str], causes: Sequence[str], row: int, agreeing: Mapping[int, Agreement]) -> FirstAnswer:
    """What a job is told first of the jobs that a library knows, as ``faultlib.likely_patterns.shares`` orders them."""
    level = min((how.order, how.level) for how in agreeing.values())[1]
    jobs, likeness = Counter[str](), dict[str, float]()
    for column, how in agreeing.items():
        if how.level is level:
            jobs[causes[column]] += 1
            likeness[causes[column]] = max(likeness.get(causes[column], 0.0), how.likeness)
    best = min(jobs, key=lambda cause: (-jobs[cause], -likeness[cause], cause))
    backed = backing(jobs[best], jobs.total() - jobs[best])
    return FirstAnswer(*who, causes[row], level, backed, best == causes[row])


if __name__ == "__main__":
    sys.exit(main())
