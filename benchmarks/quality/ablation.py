"""The method with a part switched off, and with one channel alone: what each is worth, and what stands in for it.

``answer`` is the story of ``core/diagnose.py`` once more, in a form that can leave something out; a test holds that it
answers the same when nothing is left out.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from core.answer.build_diagnosis import as_told, present
from core.answer.findings import Findings
from core.answer.verdict import decide
from core.dumps.dump_signs import DumpEvidence, find_dump_evidence
from core.judge.candidates import Candidate, find_candidates
from core.judge.ending import Ending, find_ending
from core.judge.exits import Exits, find_exits
from core.judge.ranking import first_time, rank_candidates, stage_of_failure
from core.judge.roles.assign import assign_roles
from core.judge.temporal import find_odd_iterations
from core.l4.opinion import find_outlier
from core.metrics.evidence import MetricFindings, find_metric_evidence
from core.model import Diagnosis, Role
from core.next.advise import with_next_step
from core.nodes.sign import Sign, suspects
from core.nodes.suspicion import find_signs
from core.parsed import Parsed

STEPS: Mapping[str, str] = {
    "cross-job": "good jobs explain nothing",
    "exits": "nobody reports how a process ended",
    "roles": "facts mean the same in every context",
    "ending": "whether the job made progress until its end is not asked",
    "ranking": "events in the order of their times",
    "dumps": "neither stacks nor flight recorders",
    "temporal": "iterations are not compared",
    "comparison": "the paper's comparison of nodes is not asked",
}
NO_CHANNEL = "none"
_ROLES = tuple(Role)


@dataclass(frozen=True, slots=True)
class Found:
    """What a verdict is made from: candidates, the most telling first, and signs of all channels."""

    candidates: Sequence[Candidate]
    exits: Exits
    ending: Ending
    dumps: DumpEvidence
    signs: Sequence[Sign]
    metrics: MetricFindings


def answers_without(parsed: Parsed) -> dict[str, Diagnosis]:
    """The answer without each of the steps, and without each channel that says anything of this job."""
    return {part: answer(parsed, without=part) for part in (*STEPS, *channels_of(parsed))}


def answers_alone(parsed: Parsed) -> dict[str, Diagnosis]:
    """The answer with each of these channels as the only one, and with none at all."""
    return {channel: answer(parsed, channels={channel}) for channel in (NO_CHANNEL, *channels_of(parsed))}


def channels_of(parsed: Parsed) -> tuple[str, ...]:
    """Channels that say anything of a job, sorted; of the others nothing could be lost."""
    return tuple(sorted({sign.channel for sign in _find(parsed).signs}))


def signs_of(parsed: Parsed) -> Sequence[Sign]:
    """What all channels say of a job's nodes."""
    return _find(parsed.with_numbered_nodes()).signs


def answer(parsed: Parsed, *, without: str | None = None, channels: Collection[str] | None = None) -> Diagnosis:
    """What ``diagnose_parsed`` answers when one step or channel does nothing, or only some channels are asked."""
    if without == "cross-job":
        parsed = replace(parsed, usual=None)
    told, parsed = parsed, parsed.with_numbered_nodes()
    found = _find(parsed, without)
    candidates, dumps = found.candidates, found.dumps
    ending = found.ending.explained_by({sign.channel for sign in found.signs if sign.channel != without})
    stage = stage_of_failure(parsed, candidates, ending, dumps.stage)
    odd = () if without == "temporal" else find_odd_iterations(parsed)
    asked = [sign for sign in found.signs if sign.channel != without and (channels is None or sign.channel in channels)]
    opinion = _no_opinion if without == "comparison" else partial(find_outlier, parsed)
    findings = Findings(
        *(parsed, candidates, suspects(asked), stage, ending, found.exits, opinion, dumps.dumped, dumps.crossed),
        found.metrics.alarm,
    )
    verdict = decide(findings)
    answer = present(told, *as_told(parsed, candidates, verdict), findings, odd, dumps, found.metrics)
    return with_next_step(answer, findings, verdict)


def _find(parsed: Parsed, without: str | None = None) -> Found:
    """All steps before the verdict, but for the one that is left out."""
    candidates = find_candidates(parsed)
    exits = Exits({}, {}) if without == "exits" else find_exits(parsed)
    if without != "roles":
        candidates = assign_roles(parsed, candidates, exits)
    ending = Ending() if without == "ending" else find_ending(parsed, candidates)
    dumps = DumpEvidence() if without == "dumps" else find_dump_evidence(parsed)
    candidates = rank_candidates(parsed, (*candidates, *dumps.traces))
    if without == "ranking":
        candidates = tuple(sorted(candidates, key=_by_time(parsed)))
    metrics = find_metric_evidence(parsed, candidates)
    signs = (*find_signs(parsed, candidates, ending, exits), *dumps.signs, *metrics.signs)
    return Found(candidates, exits, ending, dumps, signs, metrics)


def _no_opinion(_: Collection[str]) -> None:
    """The paper's comparison points to nobody."""


def _by_time(parsed: Parsed) -> Callable[[Candidate], tuple[int, int]]:
    return lambda candidate: (_ROLES.index(candidate.role), first_time(parsed.table, candidate))
