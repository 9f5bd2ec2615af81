"""What a verdict is made of, what it says, and what several judges ask of the evidence."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from core.answer.confidence import RIVAL, SUPPORTED, Support
from core.answer.evidence import slowdown
from core.course.broken_number import BrokenNumber
from core.course.leak import Leak
from core.failure_kinds import Kind
from core.job import Status
from core.judge.alone_at_work import AloneAtWork
from core.judge.candidates import Candidate
from core.judge.collective_mismatch import Mismatch
from core.judge.ending import Ending
from core.judge.exits import Exits
from core.judge.repeats import WAITED
from core.live.findings import duration
from core.metrics.metric_finding import MetricFinding
from core.model import Confidence, Role, Scope, Stage
from core.nodes.sign import Suspicion, short
from core.parsed import Parsed
from core.shares import MAJORITY

HELD_UP = 0.4  # score of a suspicion that is told when a job hung: whoever looks has to begin somewhere
MAX_SUSPECTS = 3  # that a headline names
QUOTE = 70  # characters of a log line in a headline; a phone shows about as many
MIN_VOICES = 2  # one that ends alone tells nothing about the others
BEFORE_TRAINING = frozenset({Stage.INITIALIZATION, Stage.MODEL_LOADING, Stage.DATA_LOADING, Stage.CHECKPOINT_LOADING})
_TOLD_APART = frozenset({"own part", "agreement", "memory", "odd"})
COLLECT = "When it hangs again, collect stacks of all ranks (py-spy dump) before it is ended: who stands elsewhere?"

PROFILE = (
    "Collect stacks of all ranks several times (py-spy dump), or profile some steps on each: who does not wait while "
    "most do holds the others up; and compare clocks, temperature and errors of links of all nodes."
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the evidence comes to.

    stop: what told first of a stop from outside, where no direct trace does. onset: what began with a slowdown.
    carried: ordinary lines in which the finding shows, where no trace tells it.
    """

    scope: Scope
    confidence: Confidence
    headline: str
    why: tuple[str, ...]
    suspects: tuple[Suspicion, ...]
    checks: tuple[str, ...]
    stop: tuple[Candidate, ...] = ()
    onset: tuple[Candidate, ...] = ()
    carried: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Findings:
    """All that a verdict is made of.

    candidates, suspicions: the most telling first. outlier: asks the paper's comparison which node it points to,
    where that is none of the given ones. dumped: processes whose stacks somebody collected; crossed: they all wait, in
    different calls. alarm: what metrics tell of the whole job; slower: that its pace fell for good by them. broken:
    what training prints and that is no number any more. leak: memory that grows. mismatch: ranks that wait in
    different collectives. alone: who worked on while all others waited for it.
    """

    parsed: Parsed
    candidates: Sequence[Candidate]
    suspicions: Sequence[Suspicion]
    stage: Stage
    ending: Ending
    exits: Exits
    outlier: Callable[[Collection[str]], str | None] = lambda _: None
    dumped: int = 0
    crossed: bool = False
    alarm: MetricFinding | None = None
    slower: MetricFinding | None = None
    broken: BrokenNumber | None = None
    leak: Leak | None = None
    mismatch: Mismatch | None = None
    alone: AloneAtWork | None = None

    @property
    def roots(self) -> list[Candidate]:
        """Direct traces, the most telling first.

        That most ended without a word tells how they left a job that was slow, or that a node held up.
        """
        why = self.ending.slow is not None or any(item.score >= SUPPORTED for item in self.suspicions)
        return [
            candidate
            for candidate in self.candidates
            if candidate.role is Role.ROOT and not (why and self._left_together(candidate))
        ]

    def _left_together(self, candidate: Candidate) -> bool:
        return candidate.fact.kind == Kind.SILENT_EXIT and len(candidate.nodes) > max(1, len(self.nodes) * MAJORITY)

    @property
    def nodes(self) -> Sequence[str]:
        """Nodes of the job, or its ranks where nobody names a node."""
        return self.parsed.nodes

    @property
    def unit(self) -> str:
        """What is compared: "node", "rank" or "actor"."""
        return self.parsed.unit

    @property
    def completed(self) -> bool:
        """Whether the job completed, by its status."""
        return self.parsed.job.status is Status.COMPLETED

    @property
    def all_dumped(self) -> bool:
        """Whether the stacks of every process of a job of several were collected."""
        ranks = max(len(self.parsed.table.ranks), self.parsed.job.manifest.world_size or len(self.nodes))
        return self.dumped >= ranks >= MIN_VOICES

    @property
    def voices(self) -> int:
        """How many nodes or ranks were told apart."""
        return max(len(self.parsed.table.nodes), len(self.parsed.table.ranks))

    @property
    def place(self) -> str:
        """Where in its course the job failed, for a headline."""
        if self.stage is Stage.UNKNOWN:
            return ""
        return f" during {self.stage.value}{'' if self.stage in BEFORE_TRAINING else self._iteration}"

    @property
    def _iteration(self) -> str:
        """The iteration that the leading root names, else the one completed last."""
        named = self.roots[0].iteration if self.roots else None
        if named is not None:
            return f", in iteration {named}"
        last = self.parsed.iterations.last
        return f", after iteration {last}" if last is not None else ""


def is_troubled(findings: Findings) -> bool:
    """Whether anything but guesses and clearing up speaks of a failure."""
    return any(
        candidate.role in (Role.ROOT, Role.PROPAGATED) and (candidate.fact.known or candidate.score >= SUPPORTED)
        for candidate in findings.candidates
    )


def broke(findings: Findings) -> bool:
    """Whether anything but a stop from outside left a direct trace; to be killed at the end of a wait is none."""
    waited = bool(findings.ending.repeats)
    return any(not (is_stop(root) or (waited and root.fact.kind == Kind.KILLED)) for root in findings.roots)


def is_stop(candidate: Candidate) -> bool:
    """Whether it is a stop from outside, or what a launcher says when it is told to stop."""
    return candidate.fact.stops


def held_up(findings: Findings) -> bool:
    """Whether the job hung or was slow, and nothing else broke."""
    return (findings.ending.hung or findings.ending.slow is not None) and not broke(findings)


def may_have_hung(findings: Findings) -> bool:
    """Whether no clock tells if a job that was stopped had made progress until then."""
    ending = findings.ending
    stopped = ending.stopped_first or findings.parsed.job.status is Status.CANCELLED
    return (ending.allowed is None or ending.pausing or ending.vague) and stopped and not broke(findings)


def leading_stop(findings: Findings) -> Candidate | None:
    """The stop from outside that leads, or that only other words of the same stop precede."""
    roots = findings.roots
    return next((root for place, root in enumerate(roots) if root.fact.stop and all(map(is_stop, roots[:place]))), None)


def was_well(findings: Findings) -> bool:
    """Whether a stop that is never a fault, and that somebody else's machine decided, ended the job."""
    stop = leading_stop(findings)
    return stop is not None and stop.fact.kind == Kind.PREEMPTION


def apart_by_numbers(findings: Findings) -> bool:
    """Whether its numbers tell one node from all others, at whatever pace: they waited for it, or it left them."""
    first = next(iter(findings.suspicions), None)
    if first is None or first.score < SUPPORTED:
        return False
    agreed = any(sign.channel == "series" and sign.weight > SUPPORTED for sign in first.signs)  # of several numbers
    return agreed or any(sign.channel in _TOLD_APART for sign in first.signs)


def same_ground(first: Suspicion, second: Suspicion) -> bool:
    """Whether the same kind of evidence leads both: only then two nodes are accused together."""
    return first.signs[0].channel == second.signs[0].channel and first.signs[0].event == second.signs[0].event


def alike_on_most(findings: Findings) -> Sequence[Suspicion]:
    """The suspects for one kind of evidence, if they are most of the nodes, some ranks on each; else none."""
    top = next(iter(findings.suspicions), None)
    alike = [
        other
        for other in findings.suspicions
        if top is not None and other.score >= RIVAL * top.score and same_ground(top, other)
    ]
    return alike if len(alike) >= MAX_SUSPECTS and len(alike) > len(findings.nodes) * MAJORITY else ()


def course_of(ending: Ending) -> str:
    """For how long a job stood still, or from where on it was slow, in a sentence."""
    if ending.repeats:
        what = "for how long it waited" if WAITED.search(ending.repeats) else "the same again and again"
        return f"Its last lines say {what}: \u201c{short(ending.repeats, QUOTE)}\u201d."
    if ending.hung:
        return (
            f"It made no progress for {duration(ending.quiet)} before it ended; "
            f"at its pace up to {duration(ending.allowed or 0.0)} are usual."
        )
    return slowdown(ending.slow) if ending.slow else ""


def onset_of(ending: Ending) -> int:
    """The first slow iteration; 0 where none is."""
    return ending.slow.iteration if ending.slow else 0


def compared(findings: Findings, support: Support, ours: Collection[str]) -> Support:
    """The support of an answer that names these nodes, after the paper's comparison was asked for its opinion."""
    outlier = findings.outlier(ours)
    return replace(support, outlier=outlier) if outlier not in ours else support


def second_opinion(support: Support) -> tuple[str, ...]:
    """What speaks against an answer: rivals, and the node that the paper's comparison points to."""
    sentences = [f"{rival} is nearly as likely." for rival in support.rivals]
    if support.outlier is not None:
        sentences.append(f"By plain counts of what each node logs {support.outlier} differs most (Isolation Forest).")
    return tuple(sentences)


_THAT_NODE = re.compile(r"\b(?:that|the|this) node\b(?! that)|\bits machine\b")
_THERE = re.compile(r"(?<=nvidia-smi) there\b")


def check_of(check: str, node: str) -> str:
    """What to look at with the node filled in where it is meant first; ``node`` empty: nobody knows which it is."""
    who = node or "each node that reports it"
    filled = _THAT_NODE.sub(lambda _: who, check, count=1)
    return _THERE.sub(lambda _: f" on {who}", filled, count=1)


def what_broke(root: Candidate) -> str:
    """What broke, in words; where no fact knows it, in the words of the log."""
    return root.fact.says if root.fact.known and root.fact.says else f"\u201c{short(root.quote, QUOTE)}\u201d"
