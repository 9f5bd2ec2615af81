"""Whether weights that are fitted to jobs point to nodes better than those that core has.

Each channel's sign has a weight by its own reason (``core.nodes``), and a node's score is their noisy-or. Here a
logistic regression learns from some jobs how much each channel is worth, and points to a node in the others: whole
kinds of faults are left out in turn, then whole stacks. Weights that are learned are worth their opacity only where
they find more faulty nodes than ours in jobs whose kind, or whose stack, they have never seen.
"""

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from benchmarks.quality.__main__ import labelled_jobs
from benchmarks.quality.ablation import signs_of
from benchmarks.quality.case import Shelf
from benchmarks.quality.labels import Truth, read_truths
from benchmarks.quality.report import NoMarkers, marks, table, write
from bot.fetch.cache import FolderCache
from core.errors import FirstfaultError
from core.nodes.sign import Sign, suspects
from sources.jobs import open_source

FOLDS = 5
BEGIN, END = marks("quality.weights")
_ROUNDS = 2_000  # of the solver


@dataclass(frozen=True)
class WeighedJob:
    """A job of a faulty node: what each channel says of each node (0 where it says nothing), and who is faulty."""

    job_id: str
    kind: str
    stack: str
    weights: Mapping[str, Mapping[str, float]]
    faulty: frozenset[str]
    ours: str | None


@dataclass(frozen=True, slots=True)
class Fold:
    """One part of the jobs: how many there are, and in how many our weights and fitted ones point to a faulty node."""

    held_out: tuple[str, ...]
    jobs: int
    ours: int
    fitted: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables, and write them into a document when asked to."""
    options = _parser().parse_args(arguments)
    try:
        with labelled_jobs(options.jobs, options.truth) as (jobs, truth), tempfile.TemporaryDirectory() as cache:
            source = open_source(jobs)
            shelf = Shelf(source, FolderCache(Path(cache)))
            truths = [
                read_truth
                for read_truth in read_truths(truth)
                if read_truth.failed and read_truth.faulty_nodes and read_truth.scopes == {"node"}
            ]
            asked = [
                job
                for labelled in truths
                if (job := _asked(shelf, labelled, source.manifest(labelled.job_id).framework))
            ]
        text = report(asked)
        print(text)
        for document in options.write or ():
            write(document, text, BEGIN, END)
    except (FirstfaultError, NoMarkers) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def report(asked: Sequence[WeighedJob]) -> str:
    """A table for the kinds, one for the stacks, and what the regression makes of each channel."""
    parts = []
    for name, groups in (("kind of fault", [job.kind for job in asked]), ("stack", [job.stack for job in asked])):
        folds = cross_validate(asked, groups)
        lines = [[str(place + 1), str(fold.jobs), str(fold.ours), str(fold.fitted)] for place, fold in enumerate(folds)]
        total = [sum(fold.jobs for fold in folds), sum(fold.ours for fold in folds), sum(fold.fitted for fold in folds)]
        parts.append(
            f"Held out by {name} ({len(set(groups))} of them):\n\n"
            + table(["fold", "jobs", "ours", "fitted"], [*lines, ["all", *map(str, total)]])
        )
    return "\n\n".join(parts)


def cross_validate(asked: Sequence[WeighedJob], groups: Sequence[str]) -> list[Fold]:
    """Every job is asked once, by a regression that has seen no job of its group."""
    channels = sorted({channel for job in asked for weights in job.weights.values() for channel in weights})
    folds = []
    for learned, tested in GroupKFold(min(FOLDS, len(set(groups)))).split(np.zeros(len(asked)), groups=groups):
        fitted = _fit([asked[place] for place in learned], channels)
        jobs = [asked[place] for place in tested]
        right = sum(_first(job, channels, fitted) in job.faulty for job in jobs)
        out = tuple(sorted({groups[place] for place in tested}))
        folds.append(Fold(out, len(jobs), sum(job.ours in job.faulty for job in jobs), right))
    return folds


def _asked(shelf: Shelf, truth: Truth, framework: str | None) -> WeighedJob | None:
    """What the channels say of a job; None where no node can be told from another."""
    parsed = shelf.case(truth).parsed
    if len(parsed.nodes) < 2:
        return None
    signs = signs_of(parsed)
    weights = {node: _by_channel(signs, node) for node in {*parsed.nodes, *(sign.node for sign in signs)}}
    first = suspects(signs)
    ours = first[0].node if first else None
    return WeighedJob(truth.job_id, truth.kind or "", framework or "unknown", weights, truth.faulty_nodes, ours)


def _by_channel(signs: Sequence[Sign], node: str) -> dict[str, float]:
    """The strongest sign of each channel, as ``core.nodes.sign.suspects`` counts them."""
    found: dict[str, float] = {}
    for sign in signs:
        if sign.node == node:
            found[sign.channel] = max(found.get(sign.channel, 0.0), sign.weight)
    return found


def _fit(asked: Sequence[WeighedJob], channels: Sequence[str]) -> LogisticRegression:
    rows = [_row(weights, channels) for job in asked for weights in job.weights.values()]
    faulty = [node in job.faulty for job in asked for node in job.weights]
    return LogisticRegression(max_iter=_ROUNDS, class_weight="balanced").fit(np.array(rows), faulty)


def _first(job: WeighedJob, channels: Sequence[str], fitted: LogisticRegression) -> str | None:
    """The node that most points to; None where two nodes are alike, or nothing points to anybody."""
    nodes = sorted(job.weights)
    scores = fitted.decision_function(np.array([_row(job.weights[node], channels) for node in nodes]))
    best = int(np.argmax(scores))
    alone = int((scores == scores[best]).sum()) == 1
    return nodes[best] if alone and job.weights[nodes[best]] else None


def _row(weights: Mapping[str, float], channels: Sequence[str]) -> NDArray[np.float64]:
    return np.array([weights.get(channel, 0.0) for channel in channels])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.weights", description=__doc__)
    parser.add_argument("--jobs", metavar="DIR", help="folder or URL with the jobs")
    parser.add_argument("--truth", type=Path, metavar="DIR", help="folder with one ID.json a job")
    parser.add_argument("--write", nargs="*", type=Path, metavar="FILE", help="write the tables into these documents")
    return parser


if __name__ == "__main__":
    sys.exit(main())
