"""Fit the score of a pattern (faultlib/score.toml) on pairs of labelled jobs, cross-validated by cause.

``python -m benchmarks.quality.recall_fit --write`` fits on the jobs of this repository and writes the file.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
import tomli_w
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from benchmarks.quality.__main__ import LAB, OTHER, ROOT, labelled_jobs
from benchmarks.quality.recall_cases import RecallCase, read_cases
from benchmarks.quality.recall_taught import cause_of
from bot.fetch.cache import FolderCache
from faultlib.lexical import Lexicon
from faultlib.score import NAMES, Fitted, Weights, features, shares_cause
from faultlib.seeds import read_seeds
from faultlib.signature import find_matches
from sources.jobs import open_source

FOLDS = 5
FILE = ROOT / "faultlib" / "score.toml"
CACHE = Path(tempfile.gettempdir(), "firstfault-recall")
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Every failed job beside the pattern of every other: ``values`` of shape (jobs, jobs, features)."""

    causes: NDArray[np.str_]
    values: Numbers
    cause: NDArray[np.bool_]  # whether the two share a trait of the cause


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was fitted, and write it when asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.recall_fit", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {FILE.relative_to(ROOT)}")
    options = parser.parse_args(arguments)
    with labelled_jobs(None, None) as (jobs, truth):
        origin = blake2b(LAB.read_bytes() + OTHER.read_bytes()).hexdigest()
        cases = read_cases(open_source(jobs), origin, truth, FolderCache(CACHE))
    text = as_text(fit(pairs_of([case for case in cases if case.kind])))
    sys.stdout.write(text)
    if options.write:
        FILE.write_text(text, encoding="utf-8")
    return 0


def as_text(by: Fitted) -> str:
    """What was fitted, as ``faultlib.score`` reads it."""
    return tomli_w.dumps(
        {
            name: {
                "intercept": round(weights.intercept, 3),
                "slope": round(weights.slope, 3),
                "offset": round(weights.offset, 3),
                "weights": {feature: round(weight, 3) for feature, weight in weights.weights.items()},
            }
            for name, weights in (("cause", by.cause), ("others", by.others))
        }
    )


def pairs_of(cases: Sequence[RecallCase]) -> Pairs:
    """The features of all pairs."""
    patterns = [case.entry.pattern for case in cases]
    lexicon = Lexicon(pattern.words() for pattern in (*read_seeds(), *patterns))
    entries = [case.entry for case in cases]
    values = np.zeros((len(cases), len(cases), len(NAMES)))
    cause = np.zeros((len(cases), len(cases)), bool)
    for row, case in enumerate(cases):
        matched = {match.entry.id for match in find_matches(entries, case.seen.occurrences, case.seen.nodes)}
        for column, entry in enumerate(entries):
            cause[row, column] = shares_cause(case.entry.pattern, entry.pattern)
            values[row, column] = features(case.entry.pattern, entry.pattern, lexicon, matched=entry.id in matched)
    return Pairs(np.array([cause_of(case) for case in cases]), values, cause)


def fit(pairs: Pairs) -> Fitted:
    """Weights of both kinds of pairs; causes that a row is judged by were not seen in fitting it."""
    jobs = len(pairs.causes)
    same = pairs.causes[:, None] == pairs.causes[None, :]
    others = ~np.eye(jobs, dtype=bool)
    _, number = np.unique(pairs.causes, return_inverse=True)
    fold = number % FOLDS
    odds = np.full((jobs, jobs), -np.inf)
    models = {}
    for shared in (True, False):
        kind = others & (pairs.cause == shared)
        for left_out in range(FOLDS):
            seen = kind & (fold != left_out)[:, None] & (fold != left_out)[None, :]
            left = kind & (fold == left_out)[:, None]
            odds[left] = _model(pairs.values[seen], same[seen]).decision_function(pairs.values[left])
        models[shared] = _model(pairs.values[kind], same[kind])
    best = _best(odds, same, pairs)
    return Fitted(*(_weights(models[shared], best[best[:, 2] == shared]) for shared in (True, False)))


def _model(values: Numbers, same: NDArray[np.bool_]) -> LogisticRegression:
    return LogisticRegression(max_iter=1000).fit(values, same)


def _weights(model: LogisticRegression, best: Numbers) -> Weights:
    second = LogisticRegression(max_iter=1000).fit(best[:, :1], best[:, 1])
    weights = dict(zip(NAMES, model.coef_[0].tolist(), strict=True))
    return Weights(float(model.intercept_[0]), weights, float(second.coef_[0, 0]), float(second.intercept_[0]))


def _best(odds: Numbers, same: NDArray[np.bool_], pairs: Pairs) -> Numbers:
    """Each job's best pattern in a library of one job a cause; of a cause that no other job has, all are wrong.

    Columns: log odds, whether it has the job's cause, whether it shares a trait of the cause.
    """
    causes = pairs.causes
    taught = np.sort(np.unique(causes, return_index=True)[1])
    found = []
    for row in range(len(causes)):
        for wanted in (True, False):
            of_cause = taught[(pairs.cause[row, taught] == wanted) & np.isfinite(odds[row, taught])]
            if len(of_cause):
                column = of_cause[np.argmax(odds[row, of_cause])]
                found.append((odds[row, column], float(same[row, column]), float(wanted)))
    return np.array(found)


if __name__ == "__main__":
    sys.exit(main())
