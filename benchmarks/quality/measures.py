"""The scores of many jobs as a few numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from benchmarks.quality.score import Score, Verdict


@dataclass(frozen=True, slots=True)
class Measures:
    """What a method reaches on a set of jobs; ``None``: no job of the set asks for it.

    macro_f1: mean F1 over the failed jobs. precision, recall: right / (right + wrong) events, found / labelled groups,
    over all failed jobs together. useful: right / all reported events. shown: events a failed job. first, root3: a root
    is found by the first, by the first three events. top1, top3: a faulty node is among the first suspects. accused:
    suspects a job with faulty nodes. quiet: nobody is accused where no node is to blame; accuses: jobs where somebody
    is. scope, stage, iteration: right. verdict: scope and first suspect are; sure: of the failed jobs whose answer is
    ``established``; role: events that find a group claim its role.
    """

    jobs: int
    failed: int
    unanswered: int
    macro_f1: float | None
    f1: float
    precision: float
    recall: float
    useful: float
    shown: float | None
    first: float | None
    root3: float | None
    top1: float | None
    top3: float | None
    accused: float | None
    quiet: float | None
    accuses: int
    scope: float | None
    stage: float | None
    iteration: float | None
    verdict: float | None
    sure: float | None
    role: float | None
    seconds: float


def measure(scores: Sequence[Score]) -> Measures:
    """Sum up; a job without an answer counts as all wrong."""
    failed = [score for score in scores if score.failed]
    right, wrong = _total(failed, Verdict.RIGHT), _total(failed, Verdict.WRONG)
    shown = sum(len(score.verdicts) for score in failed)
    precision = _share(right, right + wrong)
    recall = _share(sum(score.found for score in failed), sum(score.groups for score in failed))
    return Measures(
        jobs=len(scores),
        failed=len(failed),
        unanswered=sum(not score.answered for score in scores),
        macro_f1=_mean(f1_of(score) for score in failed if score.groups),
        f1=_f1(precision, recall),
        precision=precision,
        recall=recall,
        useful=_share(right, shown),
        shown=_mean(len(score.verdicts) for score in failed),
        first=_mean(score.first for score in scores),
        root3=_mean(score.root3 for score in scores),
        top1=_mean(score.top1 for score in scores),
        top3=_mean(score.top3 for score in scores),
        accused=_mean(score.accused for score in scores if score.faulty),
        quiet=_mean(score.quiet for score in scores),
        accuses=sum(score.accuses_wrongly for score in scores),
        scope=_mean(score.scope for score in scores),
        stage=_mean(score.stage for score in scores),
        iteration=_mean(score.iteration for score in scores),
        verdict=_mean(score.verdict for score in scores),
        sure=_mean(score.sure for score in scores),
        role=_mean(right for score in scores for right in score.roles),
        seconds=median(score.seconds for score in scores) if scores else 0.0,
    )


def _total(scores: Iterable[Score], verdict: Verdict) -> int:
    return sum(score.count(verdict) for score in scores)


def f1_of(score: Score) -> float:
    """F1 of the events that are reported of one job."""
    right = score.count(Verdict.RIGHT)
    return _f1(_share(right, right + score.count(Verdict.WRONG)), _share(score.found, score.groups))


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
