"""One diagnosis against the truth.

Labels of one role whose texts differ in numbers only are one group; all lines of a labelled block belong to its group.
A reported event finds a group when half of the event's lines in the job belong to labelled groups and one of them to
this group, or when half of the lines that it cites do. Going down the reported events, one is

    right    it finds a group that was not found yet        repeat   it finds only groups that were found before
    idle     half of its lines are labelled ``teardown``    wrong    anything else
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.quality.labels import Place, Truth
from core.model import Confidence, Diagnosis, EventEvidence, Role, Scope

Group = tuple[str, str]  # role, text without its numbers
NEAR = 1  # iterations: what is printed at the end of one may belong to the next
_PREFIX = re.compile(r"^\s*(\d+:\s*)?(\[default\d+\]:)?\s*(\[rank\d+\]:)?\s*")
_NUMBER = re.compile(r"0x[0-9a-f]+|[0-9a-f]*\d[0-9a-f.:]*")
_SKELETON = 90  # characters that two labels of one group share


class Verdict(StrEnum):
    """What a reported event is worth."""

    RIGHT = "right"
    REPEAT = "repeat"
    IDLE = "idle"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Score:
    """How a diagnosis of one job did. ``None``: the job does not ask for this.

    verdict: what a person acts on is right, the scope and the first suspect (or nobody). sure: the same, of an answer
    that says ``established``. roles: of each event that finds a group, whether it claims the role of the group.
    """

    job_id: str
    failed: bool
    faulty: bool  # nodes are to blame, and known
    verdicts: tuple[Verdict, ...]
    groups: int
    found: int
    accused: int
    scope: bool
    first: bool | None = None
    root3: bool | None = None
    top1: bool | None = None
    top3: bool | None = None
    quiet: bool | None = None
    stage: bool | None = None
    iteration: bool | None = None
    verdict: bool | None = None
    sure: bool | None = None
    roles: tuple[bool, ...] = ()
    answered: bool = True
    seconds: float = 0.0

    @property
    def accuses_wrongly(self) -> bool:
        """Whether nodes are named although none is to blame."""
        return self.accused > 0 and not self.faulty

    def count(self, verdict: Verdict) -> int:
        """Reported events with this verdict."""
        return self.verdicts.count(verdict)


@dataclass(frozen=True, slots=True)
class JobLabels:
    """What has to be found in a job, and the lines that cost nothing."""

    groups: Mapping[Group, frozenset[Place]]
    neutral: frozenset[Place]


@dataclass(frozen=True, slots=True)
class Judged:
    """Verdict of each reported event and whether it finds a root, and all groups that were found.

    roles: of each event that finds a group, whether it claims the group's role.
    """

    verdicts: tuple[Verdict, ...]
    roots: tuple[bool, ...]
    roles: tuple[bool, ...]
    found: frozenset[Group]


def score_job(truth: Truth, diagnosis: Diagnosis | None, events: Mapping[Place, str], *, seconds: float = 0.0) -> Score:
    """Score the diagnosis of a job; no diagnosis (the method failed) is all wrong.

    Args:
        events: the event of each line of the job, as ``firstfault events`` prints them.
    """
    labelled = labels_of(truth)
    judged = judge(diagnosis.events if diagnosis else (), labelled, events)
    suspects = [node.node for node in diagnosis.nodes] if diagnosis else []
    has_root = truth.failed and any(role == Role.ROOT for role, _ in labelled.groups)
    faulty = truth.failed and bool(truth.faulty_nodes)
    scope = diagnosis is not None and diagnosis.scope in truth.scopes
    top1 = bool(truth.faulty_nodes & set(suspects[:1])) if faulty else None
    quiet = None if faulty else _quiet(truth, diagnosis)
    verdict = scope and bool(top1 if faulty else quiet) if truth.failed else None
    is_sure = diagnosis is not None and diagnosis.confidence is Confidence.ESTABLISHED
    return Score(
        job_id=truth.job_id,
        failed=truth.failed,
        faulty=faulty,
        verdicts=judged.verdicts,
        groups=len(labelled.groups),
        found=len(judged.found),
        accused=len(suspects),
        scope=scope,
        first=any(judged.roots[:1]) if has_root else None,
        root3=any(judged.roots[:3]) if has_root else None,
        top1=top1,
        top3=bool(truth.faulty_nodes & set(suspects[:3])) if faulty else None,
        quiet=quiet,
        stage=_stage(truth, diagnosis),
        iteration=_iteration(truth, diagnosis),
        verdict=verdict,
        sure=verdict if is_sure else None,
        roles=judged.roles if truth.failed else (),
        answered=diagnosis is not None,
        seconds=seconds,
    )


def labels_of(truth: Truth) -> JobLabels:
    """Group the labels of a job."""
    groups: dict[Group, frozenset[Place]] = defaultdict(frozenset)
    neutral: frozenset[Place] = frozenset()
    for label in truth.labels:
        if label.role == Role.TEARDOWN:
            neutral |= label.lines
        else:
            groups[label.role, skeleton(label.text)] |= label.lines
    return JobLabels(dict(groups), neutral)


def skeleton(text: str) -> str:
    """A line without the names of its rank, its numbers and its end."""
    return _NUMBER.sub("#", _PREFIX.sub("", text))[:_SKELETON]


def judge(reported: Sequence[EventEvidence], labelled: JobLabels, events: Mapping[Place, str]) -> Judged:
    """Go down the reported events."""
    wanted = frozenset().union(*labelled.groups.values())
    places: dict[str, list[Place]] = defaultdict(list)
    for place, event in events.items():
        places[event].append(place)
    found: set[Group] = set()
    verdicts, roots, roles = [], [], []
    for item in reported:
        lines = places.get(item.event, [])
        cited = [(line.file, line.line) for line in item.lines]
        evidence = {place for cited_places in (lines, cited) if _mostly(cited_places, wanted) for place in cited_places}
        hit = {group for group, members in labelled.groups.items() if members & evidence}
        idle = _mostly(lines, labelled.neutral) or _mostly(cited, labelled.neutral)
        verdicts.append(_verdict(hit, found, idle=idle))
        roots.append(any(role == Role.ROOT for role, _ in hit))
        roles += [item.role in {role for role, _ in hit}] if hit else []
        found |= hit
    return Judged(tuple(verdicts), tuple(roots), tuple(roles), frozenset(found))


def _verdict(hit: set[Group], found: set[Group], *, idle: bool) -> Verdict:
    if hit - found:
        return Verdict.RIGHT
    if hit:
        return Verdict.REPEAT
    return Verdict.IDLE if idle else Verdict.WRONG


def _mostly(places: Sequence[Place], of: Iterable[Place]) -> bool:
    return bool(places) and sum(place in of for place in places) * 2 >= len(places)


def _quiet(truth: Truth, diagnosis: Diagnosis | None) -> bool | None:
    """Nobody is accused where no node is to blame; of a healthy job, nothing at all."""
    if truth.failed:
        return diagnosis is not None and not diagnosis.nodes
    if not truth.healthy:
        return None
    if diagnosis is None or diagnosis.nodes or diagnosis.scope is not Scope.NONE:
        return False
    return all(event.role is not Role.ROOT for event in diagnosis.events)


def _stage(truth: Truth, diagnosis: Diagnosis | None) -> bool | None:
    if not truth.failed or truth.stage is None:
        return None
    return diagnosis is not None and diagnosis.stage == truth.stage


def _iteration(truth: Truth, diagnosis: Diagnosis | None) -> bool | None:
    if not truth.failed or truth.iteration is None:
        return None
    iterations = diagnosis.iterations[:1] if diagnosis else ()
    return any(abs(iteration.iteration - truth.iteration) <= NEAR for iteration in iterations)
