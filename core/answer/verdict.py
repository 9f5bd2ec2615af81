"""The verdict: scope, confidence and headline, decided in code from the evidence and never by a model.

The first judge that has an answer gives it; how sure it is, is the rule of ``core.answer.confidence``.
"""

from core.answer.findings import Findings, Verdict
from core.answer.node_at_fault import of_nodes
from core.answer.not_failed import completed, ended_at_once, stopped, stopped_unsaid
from core.answer.unclear_jobs import dumped, measured, running, slower, unclear
from core.answer.whole_job import diverged, leaking, of_all, parted, somewhere, stalled, without_numbers, worked_alone


def decide(findings: Findings) -> Verdict:
    """The verdict of the first judge who has one on these findings; else that the job is unclear."""
    judges = (
        without_numbers,
        leaking,
        diverged,
        completed,
        stopped,
        of_nodes,
        parted,
        worked_alone,
        stalled,
        somewhere,
        of_all,
        stopped_unsaid,
        ended_at_once,
        dumped,
        measured,
        slower,
        running,
    )
    return next((verdict for judge in judges if (verdict := judge(findings)) is not None), None) or unclear(findings)
