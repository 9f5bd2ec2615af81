"""Judges of jobs whose logs tell too little: what is known is said, and nobody is named."""

import numpy as np

from core.answer.findings import COLLECT, MIN_VOICES, PROFILE, QUOTE, Findings, Verdict, is_stop, is_troubled
from core.answer.not_failed import risen_time
from core.course.iterations import NO_ITERATION
from core.facts import complains
from core.failure_kinds import Kind
from core.job import Status
from core.judge.candidates import Candidate
from core.metrics.metric_finding import Says
from core.model import Confidence, Role, Scope
from core.naming import sentence
from core.nodes.sign import short

_RECOMPUTE = "Run a step again from the last good checkpoint with the same data, and compare gradients bit by bit."

MOST_BEHIND = 16  # messages of a speaker behind its complaint: of a launcher, of a library that is unloaded
MAX_SPEAKERS = 256  # whose last ones are looked at
_UNKNOWN = frozenset({Kind.WARNING, Kind.EXCEPTION})
_CHECKS = {Says.STANDS: COLLECT, Says.PACE: PROFILE}


def dumped(findings: Findings) -> Verdict | None:
    """A job without a clock of which somebody collected stacks, as is done with one that hangs; nobody stands apart."""
    if not findings.dumped or findings.ending.allowed is not None or is_troubled(findings):
        return None
    return Verdict(
        Scope.JOB if findings.all_dumped else Scope.UNKNOWN,
        Confidence.WEAK,
        f"The job seems to have hung{findings.place}: stacks were collected; no {findings.unit} stands out in them.",
        (f"Stacks of {findings.dumped} processes were collected; no clock tells whether they still made progress.",),
        (),
        ("Compare the stacks: processes that wait in different calls wait for each other.",),
    )


def measured(findings: Findings) -> Verdict | None:
    """What metrics tell of the whole job where no log tells anything; they name nobody."""
    seen = findings.alarm or findings.slower
    if seen is None:
        return None
    return Verdict(
        Scope.UNKNOWN,
        Confidence.WEAK,
        f"By its metrics, {seen.says}{findings.place}; no {findings.unit} stands out.",
        (seen.because,),
        (),
        (_CHECKS.get(seen.kind, _RECOMPUTE),),
    )


def slower(findings: Findings) -> Verdict | None:
    """A job of which nothing is known but that a time which all print became longer."""
    if findings.completed or not (risen := risen_time(findings)):
        return None
    return Verdict(
        Scope.JOB,
        Confidence.WEAK,
        f"The job\u2019s steps had become longer{findings.place}; no {findings.unit} stands out.",
        (f"{sentence(risen)}.",),
        (),
        ("See what changed then for all: data, storage, network, a setting.",),
    )


def running(findings: Findings) -> Verdict | None:
    """A job that goes on, of which no log tells anything bad."""
    if findings.parsed.job.status is not Status.RUNNING:
        return None
    return Verdict(
        Scope.UNKNOWN,
        Confidence.WEAK,
        f"The job is still running{findings.place}; nothing in its logs points to a failure yet.",
        ("job.json says RUNNING.",),
        (),
        ("Ask again when it has ended, or when it no longer makes progress.",),
    )


def unclear(findings: Findings) -> Verdict:
    """A job of which no judge has an answer, with what to look at next."""
    seen = [candidate for candidate in findings.candidates if candidate.role is Role.PROPAGATED]
    if (shared := _complaint_of_all(findings)) is not None:
        return _ended_with(findings, shared)
    if seen and seen[0].fact.kind == Kind.LAST_WORDS:
        return _ended_with(findings, seen[0])
    if seen:
        text = short(seen[0].quote)
        why = f"There is only what peers say of each other (\u201c{text}\u201d); no log holds a direct trace."
        check = "Find the logs of the node that the peers waited for, its kernel log, and stack dumps of all ranks."
    elif not len(findings.parsed.table):
        why = "No log of this job holds a line that could be read."
        check = "See whether the job ever started, where it wrote its logs, and whether all of them were copied."
    else:
        why = "The logs end without an error, a stop or a silent node."
        check = (
            "Look at what no log shows: scheduler accounting, kernel logs, metrics of the minutes around the last line."
        )
        if _all_speak(findings):
            return _of_all_or_nobody(findings, why, check)
    return Verdict(
        Scope.UNKNOWN, Confidence.WEAK, f"Nothing conclusive was found{findings.place}.", (why,), (), (check,)
    )


def _all_speak(findings: Findings) -> bool:
    """Whether the logs of every node of several are there."""
    nodes, spoke = findings.nodes, {origin.node for origin in findings.parsed.table.origins}
    return len(nodes) >= MIN_VOICES and findings.unit == "node" and spoke.issuperset(nodes)


def _of_all_or_nobody(findings: Findings, why: str, check: str) -> Verdict:
    """A job whose logs are there, and of whose nodes none stands out: most often what ended it concerned all of them.

    Of 23 labelled jobs of which nothing else was found, 4 were the fault of a node (docs/LOG.md, 2026-11-28).
    """
    return Verdict(
        Scope.JOB,
        Confidence.WEAK,
        f"The job ended without a word of why{findings.place}; no {findings.unit} stands out.",
        (why, f"The logs of all {len(findings.nodes)} {findings.unit}s are there, and no difference is worth a name."),
        (),
        (check,),
    )


def _complaint_of_all(findings: Findings) -> Candidate | None:
    """What every node complained of last, in words that no rule knows, and no good job says; the first one."""
    of_all = [
        candidate
        for candidate in findings.candidates
        if not (is_stop(candidate) or candidate.ordinary)
        and candidate.fact.kind in _UNKNOWN
        and len(candidate.nodes) == len(findings.nodes) >= MIN_VOICES
        and len(candidate.ranks)
        in (0, len(findings.parsed.table.ranks))  # for who says nothing, others may have waited
        and complains(findings.parsed.table.templates[candidate.event].sample)
        and _is_last(findings, candidate)
    ]
    return min(of_all, key=lambda candidate: int(candidate.rows[0]), default=None)


def _is_last(findings: Findings, candidate: Candidate) -> bool:
    """Whether nobody made progress after it, nor said much more."""
    iterations, table = findings.parsed.iterations, findings.parsed.table
    last = iterations.last if iterations.last is not None else NO_ITERATION
    if int(iterations.of_row[candidate.rows].min()) < last:
        return False
    voices, ranks = table.voice[candidate.rows].tolist(), table.rank[candidate.rows].tolist()
    lasts = dict(zip(zip(voices, ranks, strict=True), candidate.rows.tolist(), strict=True))
    for (voice, rank), row in list(lasts.items())[:MAX_SPEAKERS]:
        rows = np.arange(row + 1, table.rows_of_file(int(table.file_of_voice[voice])).stop)
        own = table.voice[rows] == voice if rank < 0 else table.rank[rows] == rank  # its other stream is its own, too
        if np.count_nonzero(own & table.head[rows]) > MOST_BEHIND:
            return False
    return True


def _ended_with(findings: Findings, late: Candidate) -> Verdict:
    """A job of which only words that nobody knows tell how it ended; of all nodes, they concern all of it."""
    text, whole = short(late.quote, QUOTE), len(late.nodes) == len(findings.nodes) >= MIN_VOICES
    who = (
        f"all {len(findings.nodes)} {findings.unit}s"
        if whole
        else f"{len(late.nodes)} of {len(findings.nodes)} {findings.unit}s"
    )
    return Verdict(
        Scope.JOB if whole else Scope.UNKNOWN,
        Confidence.WEAK,
        f"{sentence(who)} ended with \u201c{text}\u201d{findings.place}; no {findings.unit} stands out.",
        (f"\u201c{text}\u201d was never said while the job made progress, and no log holds a direct trace.",),
        (),
        (late.fact.check,),
    )
