"""Alarms over a rolling window of flows: what its answers say again and again, with hysteresis.

The judgement is that of ``core.flows.analyse``; here it is only asked whether it holds. A finding is an alarm when
``RAISE`` answers in a row have it in their newest part, or ``NAMELESS`` where it names nobody, which is noise more
often; a hang at once, for it lasted six steps already. A slowdown that fills the window is found no more, because
nothing in it is faster: it stands as long as steps are longer than halfway back to what they were. It is over when
``OVER`` answers in a row say so.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from core.flows.answer import FlowFinding, FlowsAnswer, JobAnswer
from core.flows.stretches import SLOWER

LOUD = frozenset({"slow_compute", "slow_nic", "slow_group", "slow_switch", "slowdown", "drift", "hang"})
RAISE, OVER = (
    2,
    3,
)  # answers in a row: nothing was raised in an hour of a healthy job (tests/bot/flows), see docs/LOG.md
NAMELESS = 4  # the same of what names nobody: with two, real noise of thirty seconds raised one on a healthy job (d12)
SOON = 2  # steps before the newest part that a finding may end and still reach it

Key = tuple[str, str]  # the first NIC of a job, for a NIC is in one job; and who is named


class AlarmState(StrEnum):
    """What became of an alarm."""

    RAISED = "raised"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Alarm:
    """That something is slow or stopped, or that it no longer is.

    Attributes:
        job: as the answer has it that said so; of one that is no longer seen the last one.
        at: when the newest record was sent, microseconds since 1970.
        since: when it began, the same.
    """

    state: AlarmState
    job: JobAnswer
    finding: FlowFinding
    at: int
    since: int


@dataclass
class _Case:
    """What is known of one that may be at fault."""

    job: JobAnswer
    finding: FlowFinding
    since: int
    seen: int = 0
    missed: int = 0
    raised: bool = False
    level: float | None = None  # microseconds of a step, halfway between what was usual and what is


class FlowAlarms:
    """The alarms of a stream of answers."""

    def __init__(self) -> None:
        self._cases: dict[Key, _Case] = {}
        self._end = 0

    def hear(self, answer: FlowsAnswer) -> list[Alarm]:
        """Take note of an answer over a window; the alarms that it raises or ends."""
        before, self._end = self._end, max(self._end, answer.span[1])
        alarms: list[Alarm] = []
        jobs = {job.nics[0]: job for job in answer.jobs}
        now = dict(_current(answer, before))
        for key, (job, finding) in now.items():
            case = self._cases.setdefault(key, _Case(job, finding, finding.start))
            case.job, case.finding, case.seen, case.missed = job, finding, case.seen + 1, 0
            case.level = _level(job, finding) or case.level
            if not case.raised and (finding.kind == "hang" or case.seen >= (RAISE if key[1] else NAMELESS)):
                case.raised = True
                alarms.append(self._alarm(AlarmState.RAISED, case))
        for key in [key for key in self._cases if key not in now]:
            case = self._cases[key]
            case.missed = 0 if case.raised and _stands(case, jobs.get(key[0]), before) else case.missed + 1
            if not case.raised or case.missed >= OVER:
                del self._cases[key]
                if case.raised:
                    alarms.append(self._alarm(AlarmState.OVER, case))
        return alarms

    @property
    def standing(self) -> int:
        """How many alarms stand."""
        return sum(case.raised for case in self._cases.values())

    def _alarm(self, state: AlarmState, case: _Case) -> Alarm:
        return Alarm(state, case.job, case.finding, self._end, case.since)


def _current(answer: FlowsAnswer, before: int) -> Iterator[tuple[Key, tuple[JobAnswer, FlowFinding]]]:
    """Findings that reach what is newer than ``before``, by whom they name; of several the most anomalous."""
    for job in answer.jobs:
        for finding in sorted(job.findings, key=lambda finding: finding.score):
            reach = before - SOON * job.timeline.period if len(job.timeline) else before
            if finding.kind in LOUD and finding.end > reach:
                yield (job.nics[0], _who(job, finding)), (job, finding)


def _who(job: JobAnswer, finding: FlowFinding) -> str:
    """Who is named, by what is called the same in every answer: groups are numbered anew in each."""
    subject = finding.subject
    if subject is None:
        return ""
    group = next((item.nics for item in job.groups if item.id == subject.group), ())
    return subject.switch or subject.server or subject.nic or " ".join(group)


def _level(job: JobAnswer, finding: FlowFinding) -> float | None:
    """Microseconds halfway between the steps within a finding and those before it; None where those are no shorter."""
    durations = job.timeline.durations
    first, last = finding.steps
    if finding.kind == "hang" or not 0 < first <= last < len(durations):
        return None
    before, within = float(np.median(durations[:first])), float(np.median(durations[first : last + 1]))
    longer = within > (1 + SLOWER) * before  # a link may be slow by its own signs alone
    return (before + within) / 2 if longer else None


def _stands(case: _Case, job: JobAnswer | None, before: int) -> bool:
    """Whether what was found still is, though an answer does not say so."""
    if job is None or not len(job.timeline):
        return False
    newest = job.timeline.end > before
    if case.finding.kind == "hang":
        return not newest.any()
    return (
        case.level is not None and bool(newest.any()) and float(np.median(job.timeline.durations[newest])) > case.level
    )
