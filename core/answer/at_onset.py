"""What began to be said when a job became slow or stood still: no failure by itself, but what a reader looks for first.

A disk that retries, a processor that is too hot, a file system that every node waits for: the job goes on after it, so
that no rule of ``core.judge`` takes it for what broke. The moment, and who says it, tie it to the slowdown.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.answer.confidence import Ground, Support, confidence
from core.answer.findings import Findings, Verdict, broke, check_of, held_up, may_have_hung
from core.answer.repeated_words import find_repeated
from core.answer.slow_work import find_slow_work
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.judge.ending import is_order
from core.logs.lines import NO_TIME
from core.model import Role, Scope
from core.nodes.onset import AFTER, AT_THE_ONSET, BEFORE, is_near, onset_of_slowdown, tells_of_the_end
from core.nodes.sign import short
from core.shares import MAJORITY

SURE = 0.8  # strength of a direct trace; what is weaker is said by machines that are well, too
_LOOK_AT_IT = (
    "Look at what all of them name: the log, load and network of that server, and whether other jobs wait for it."
)
_SHARED = frozenset({Kind.STORAGE, Kind.REMOTE_SERVICE})
MOST = 3  # a reader looks at few; the lines of one fault that differ are told together


def with_onset(findings: Findings, verdict: Verdict) -> Verdict:
    """The verdict, with the events of the moment in which the job became slow or stood still.

    Those of the suspects alone; where nobody is suspected those of most nodes, or the work that takes longer since.
    """
    nobody = not verdict.suspects
    held = held_up(findings) or (nobody and may_have_hung(findings))
    if broke(findings) or verdict.scope is Scope.NONE or (nobody and not held):
        return verdict
    suspects = {suspicion.node for suspicion in verdict.suspects}
    at_onset = [_told_then(findings, candidate, suspects) for candidate in findings.candidates]
    began = [candidate for candidate in at_onset if candidate is not None]
    time = findings.parsed.table.time
    began.sort(key=lambda candidate: (not candidate.fact.known, int(time[candidate.rows].min()), candidate.event))
    if not began:
        return _with_work(findings, verdict) if nobody else verdict
    return _with_events(findings, verdict, began)


def _with_events(findings: Findings, verdict: Verdict, began: Sequence[Candidate]) -> Verdict:
    """The verdict with what began to be said; where nobody is suspected and all share it, the headline has it too."""
    first, sure, headline = began[0], verdict.confidence, verdict.headline
    who = first.nodes[0] if len(first.nodes) == 1 else f"{len(first.nodes)} {findings.unit}s"
    when = "Since then " if held_up(findings) else ""
    because = f"{when}{who} logged \u201c{short(first.quote or first.text)}\u201d: {first.fact.says}."
    check = check_of(first.fact.check, first.nodes[0] if len(first.nodes) == 1 and findings.unit == "node" else "")
    if not verdict.suspects and first.fact.known:
        headline = f"{headline.removesuffix('.')}; {_share(findings, first)} report that {first.fact.says}."
    if not verdict.suspects and _is_shared(findings, first):
        check = _LOOK_AT_IT
        support = Support(first.fact.strength, frozenset({Ground.SPREAD}), findings.voices)
        sure = confidence(support) if held_up(findings) else sure
    return replace(
        verdict,
        confidence=sure,
        headline=headline,
        why=(*verdict.why, because),
        checks=tuple(dict.fromkeys((*((check,) if first.fact.known else ()), *verdict.checks))),
        onset=tuple(began[:MOST]),
    )


def _share(findings: Findings, candidate: Candidate) -> str:
    every = len(findings.nodes)
    who = f"all {every}" if len(candidate.nodes) == every else f"{len(candidate.nodes)} of {every}"
    return f"{who} {findings.unit}s"


def _with_work(findings: Findings, verdict: Verdict) -> Verdict:
    """The verdict with the work that takes longer since, or what it waits for, in words that no rule knows."""
    work = find_slow_work(findings) or find_repeated(findings)
    if work is None:
        return verdict
    checks = (work.shown[0].fact.check, *verdict.checks)
    return replace(verdict, why=(*verdict.why, work.because), checks=checks, onset=work.shown)


def _may_tell(findings: Findings, candidate: Candidate) -> bool:
    """Whether it is neither harmless, nor a part of how the job ended, nor what ranks say of their peers."""
    if candidate.fact.known and candidate.fact.kind == Kind.NONE:
        return False
    ends = tells_of_the_end(candidate) or is_order(findings.parsed.table, candidate)
    return not ends and candidate.role is not Role.PROPAGATED


def _told_then(findings: Findings, candidate: Candidate, suspects: Collection[str]) -> Candidate | None:
    """The candidate with what suspects said from then on, if no other node said it then; else None.

    Without suspects all of it, if most nodes began to say it then; what all share may have failed before, too.
    """
    if not suspects and _is_shared(findings, candidate):
        return _as_root(candidate, "most nodes complain of it, and all share it")
    if not _may_tell(findings, candidate):
        return None
    table, rows = findings.parsed.table, candidate.rows
    moment = _since_then(findings, candidate)
    names = {table.origins[voice].node for voice in np.unique(table.voice[rows[moment]]).tolist()} - {None}
    if not moment.any() or not suspects:
        most = bool(moment.all()) and len(names) > max(1, len(findings.nodes) * MAJORITY)
        return _as_root(candidate) if most and not suspects else None
    if not names or not names <= set(suspects):
        return None
    nodes = tuple(sorted(name for name in names if name))
    ranks = tuple(sorted({int(rank) for rank in table.rank[rows[moment]] if rank >= 0}))
    return _as_root(replace(candidate, rows=rows[moment], count=int(moment.sum()), nodes=nodes, ranks=ranks))


def _is_shared(findings: Findings, candidate: Candidate) -> bool:
    """Whether most nodes complain of what all of them share, more than good jobs do, and not before the onset alone.

    A kernel complains of a file server after time-outs of its own and counts from its start, so that no clock ties it
    to the onset.
    """
    fact, table = candidate.fact, findings.parsed.table
    if not (fact.known and fact.kind in _SHARED and fact.role is Role.ROOT and fact.strength >= SURE):
        return False
    onset, times = onset_of_slowdown(findings.parsed, findings.ending), table.time[candidate.rows]
    since = candidate.rows[(times == NO_TIME) | (times >= (onset - BEFORE if onset is not None else 0))]
    names = {table.origins[voice].node for voice in np.unique(table.voice[since]).tolist()} - {None}
    return len(names) > max(1, len(findings.nodes) * MAJORITY)


def _since_then(findings: Findings, candidate: Candidate) -> NDArray[np.bool_]:
    """Which rows came since shortly before the moment, of an event that began near it; of an unknown moment any row.

    What does not slow a machine down tells nothing of a job that was slow from its start.
    """
    ending, times = findings.ending, findings.parsed.table.time[candidate.rows]
    onset = onset_of_slowdown(findings.parsed, ending)  # of a job that was slow before it hung, when that began
    onset = ending.progressed if onset is None and ending.hung else onset
    if onset is None:
        tells = candidate.fact.kind == Kind.SLOW_MACHINE or (not held_up(findings) and candidate.fact.strength >= SURE)
        return np.full(len(times), tells and candidate.fact.known)
    since = (times != NO_TIME) & (times >= onset - BEFORE)
    began = bool(since.any()) and (ending.hung or is_near(int(times[since].min()), onset, AFTER))
    return np.asarray(since & began, np.bool_)


def _as_root(candidate: Candidate, why: str = "this began when the job became slow or stood still") -> Candidate:
    return replace(candidate, role=Role.ROOT, why=why, score=max(candidate.score, AT_THE_ONSET))
