"""The method with a part switched off, and with one channel alone: what each is worth, and what stands in for it.

``answer`` is the story of ``core/diagnose.py`` once more, in a form that can leave something out; a test holds that it
answers the same when nothing is left out.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from core.answer.present import present
from core.answer.verdict import decide
from core.course.temporal import find_odd_iterations
from core.crossjob import Candidate, find_candidates
from core.dumps.signs import DumpEvidence, find_dump_evidence
from core.model import Diagnosis, Role
from core.nodes.spatial import Sign, suspects
from core.nodes.suspicion import find_signs
from core.parsing.parsed import Parsed
from core.rank import first_time, rank_candidates, stage_of_failure
from core.roles import assign_roles

STEPS: Mapping[str, str] = {
    "cross-job": "good jobs explain nothing",
    "roles": "facts mean the same in every context",
    "ranking": "events in the order of their times",
    "dumps": "neither stacks nor flight recorders",
    "temporal": "iterations are not compared",
}
NO_CHANNEL = "none"
_ROLES = tuple(Role)


def answers_without(parsed: Parsed) -> dict[str, Diagnosis]:
    """The answer without each of the steps, and without each channel that says anything of this job."""
    return {part: answer(parsed, without=part) for part in (*STEPS, *channels_of(parsed))}


def answers_alone(parsed: Parsed) -> dict[str, Diagnosis]:
    """The answer with each of these channels as the only one, and with none at all."""
    return {channel: answer(parsed, channels={channel}) for channel in (NO_CHANNEL, *channels_of(parsed))}


def channels_of(parsed: Parsed) -> tuple[str, ...]:
    """Channels that say anything of a job, sorted; of the others nothing could be lost."""
    candidates = rank_candidates(parsed, assign_roles(parsed, find_candidates(parsed)))
    signs: tuple[Sign, ...] = (*find_signs(parsed, candidates), *find_dump_evidence(parsed).signs)
    return tuple(sorted({sign.channel for sign in signs}))


def answer(parsed: Parsed, *, without: str | None = None, channels: Collection[str] | None = None) -> Diagnosis:
    """What ``diagnose_parsed`` answers when one step or channel does nothing, or only some channels are asked."""
    if without == "cross-job":
        parsed = replace(parsed, usual=None)
    candidates = find_candidates(parsed)
    if without != "roles":
        candidates = assign_roles(parsed, candidates)
    candidates = rank_candidates(parsed, candidates)
    if without == "ranking":
        candidates = tuple(sorted(candidates, key=_by_time(parsed)))
    dumps = DumpEvidence() if without == "dumps" else find_dump_evidence(parsed)
    stage = stage_of_failure(parsed, candidates, dumps.stage)
    odd = () if without == "temporal" else find_odd_iterations(parsed)
    signs: tuple[Sign, ...] = (*find_signs(parsed, candidates), *dumps.signs)
    asked = [sign for sign in signs if sign.channel != without and (channels is None or sign.channel in channels)]
    verdict = decide(parsed, candidates, suspects(asked), stage)
    return present(parsed, candidates, verdict, stage, odd, dumps)


def _by_time(parsed: Parsed) -> Callable[[Candidate], tuple[int, int]]:
    return lambda one: (_ROLES.index(one.role), first_time(parsed.table, one))
