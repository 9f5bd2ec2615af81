"""The verdict: scope, confidence and headline, decided in code from the evidence and never by a model.

The first judge that has an answer gives it; how sure it is, is the rule of ``core.answer.confidence``.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from core.answer.confidence import SUPPORTED, Ground, Support, confidence, grounds_of, rivals
from core.answer.evidence import slowdown
from core.course.done import says_done
from core.course.pace import SECOND
from core.facts import Blame
from core.job import Status
from core.judge.candidates import Candidate
from core.judge.ending import Ending
from core.judge.exits import Exits
from core.judge.ranks import MAJORITY, last_words
from core.kinds import Kind
from core.live.findings import duration
from core.metrics.found import Finding, Says
from core.model import Confidence, Role, Scope, Stage
from core.naming import together
from core.nodes.sign import Suspicion, short
from core.nodes.spatial import is_local
from core.parsing.parsed import Parsed

RIVAL = 0.8  # a second suspect counts when it has this share of the first one's score
MAX_SUSPECTS = 3
QUOTE = 70  # characters of a log line in a headline; a phone shows about as many
HELD_UP = 0.4  # score of a suspicion that is told when a job hung: whoever looks has to begin somewhere
BEFORE_TRAINING = frozenset({Stage.INITIALIZATION, Stage.MODEL_LOADING, Stage.DATA_LOADING, Stage.CHECKPOINT_LOADING})
MIN_VOICES = 2  # one that ends alone tells nothing about the others
AT_ONCE = 2.0  # seconds; a rank that waits for a dead one says so after a time-out of its own, the shortest are 5 s
_COLLECT = (
    "Collect stacks of all ranks before the next one is ended (py-spy dump), and see which rank stands elsewhere."
)
_VICTIMS = frozenset(
    {Kind.UNREACHABLE, Kind.RENDEZVOUS, Kind.PORT_IN_USE}
)  # kinds that most report and one node causes


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the evidence comes to."""

    scope: Scope
    confidence: Confidence
    headline: str
    why: tuple[str, ...]
    suspects: tuple[Suspicion, ...]
    checks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """All that a verdict is made of.

    candidates, suspicions: the most telling first. outlier: asks the paper's comparison which node it points to.
    dumped: processes whose stacks somebody collected; crossed: they all wait, in different calls. alarm: what metrics
    tell of the whole job.
    """

    parsed: Parsed
    candidates: Sequence[Candidate]
    suspicions: Sequence[Suspicion]
    stage: Stage
    ending: Ending
    exits: Exits
    outlier: Callable[[], str | None] = lambda: None
    dumped: int = 0
    crossed: bool = False
    alarm: Finding | None = None

    @property
    def roots(self) -> list[Candidate]:
        """Direct traces, the most telling first."""
        return [one for one in self.candidates if one.role is Role.ROOT]

    @property
    def nodes(self) -> Sequence[str]:
        """Nodes of the job, or its ranks where nobody names a node."""
        return self.parsed.nodes

    @property
    def unit(self) -> str:
        """What is compared."""
        return self.parsed.unit

    @property
    def voices(self) -> int:
        """How many nodes or ranks were told apart."""
        return max(len(self.parsed.table.nodes), len(self.parsed.table.ranks))

    @property
    def place(self) -> str:
        """Where in its course the job failed, for a headline."""
        if self.stage is Stage.UNKNOWN:
            return ""
        last = self.parsed.iterations.last
        after = f", after iteration {last}" if last is not None and self.stage not in BEFORE_TRAINING else ""
        return f" during {self.stage.value}{after}"


def decide(found: Findings) -> Verdict:
    """Weigh all findings."""
    judges = (
        _completed,
        _stopped,
        _node,
        _stalled,
        _somewhere,
        _job,
        _stopped_unsaid,
        _ended_at_once,
        _dumped,
        _measured,
        _running,
    )
    return next((verdict for judge in judges if (verdict := judge(found)) is not None), None) or _unknown(found)


# --- it did not fail ------------------------------------------------------------------------------------------------


def _completed(found: Findings) -> Verdict | None:
    """A job that completed, by its status, or where nobody tells one by its logs; a crash in the log is believed."""
    status, iterations = found.parsed.job.status, found.parsed.iterations
    at_end = iterations.last is not None and iterations.total is not None and iterations.last >= iterations.total
    if _lagged(found):
        return None  # it reached its end, and took far longer than it needed
    if status is Status.COMPLETED and (at_end or not _crashed(found)):
        sure = Confidence.ESTABLISHED if at_end or not found.roots else Confidence.SUPPORTED
        return Verdict(
            Scope.NONE, sure, "The job completed; nothing to diagnose.", ("job.json says COMPLETED.",), (), ()
        )
    if status is Status.UNKNOWN and at_end and not _troubled(found):
        headline = f"The run reached its end, iteration {iterations.last} of {iterations.total}; nothing to diagnose."
        why = "All planned iterations are complete, and no line speaks of a fault."
        return Verdict(Scope.NONE, Confidence.SUPPORTED, headline, (why,), (), ())
    if status is Status.UNKNOWN and says_done(found.parsed.table, iterations) and not _troubled(found):
        headline = f"The run says that it is done, after iteration {iterations.last}; nothing to diagnose."
        return Verdict(Scope.NONE, Confidence.SUPPORTED, headline, ("No line speaks of a fault.",), (), ())
    return None


def _crashed(found: Findings) -> bool:
    """Whether a rank raised what nothing followed, and its launcher reports that it failed."""
    templates = found.parsed.table.templates
    raised = [one for one in found.roots if templates[one.event].block and one.ranks and one.score >= SUPPORTED]
    reported = any(one.code not in (None, 0) for one in found.exits.of_rank.values())
    planned = found.parsed.iterations.total is not None
    return bool(raised) and (reported or planned)


def _troubled(found: Findings) -> bool:
    """Whether anything but guesses and clearing up speaks of a failure."""
    return any(
        one.role in (Role.ROOT, Role.PROPAGATED) and (one.fact.known or one.score >= SUPPORTED)
        for one in found.candidates
    )


def _stopped(found: Findings) -> Verdict | None:
    """A stop from outside that came before any sign of a failure, of a job that made progress until then."""
    roots, ending = found.roots, found.ending
    if not roots or not roots[0].fact.stop or ending.hung or ending.slow or _stood_out(found) or _lagged(found):
        return None
    if (ending.allowed is None or ending.vague) and not _was_well(found):
        return _undated(found)
    root = roots[0]
    where = f" on {', '.join(root.nodes[:3])}" if root.nodes and len(root.nodes) <= 3 else ""
    grounds = {Ground.STATUS} | ({Ground.PROGRESS} if ending.steady and not ending.pausing else set())
    steady = _steady(ending) if ending.steady else "Whether it made progress until then, no line with a clock tells."
    score = root.score if ending.steady else min(root.score, SUPPORTED - 0.01)
    return Verdict(
        Scope.NONE,
        confidence(Support(score, frozenset(grounds), 2)),
        f"Not a fault: {root.fact.says}{where}{found.place}.",
        (f"\u201c{short(root.quote)}\u201d came before any sign of a failure.", steady),
        _taken_away(root, found),
        (root.fact.check,),
    )


def _lagged(found: Findings) -> bool:
    """Whether the numbers of one node tell that the others waited for it all along, at whatever pace."""
    first = next(iter(found.suspicions), None)
    return first is not None and first.score >= SUPPORTED and any(sign.channel == "own part" for sign in first.signs)


def _stood_out(found: Findings) -> bool:
    """Whether one node is suspicious, of a job of which no clock tells if it made progress."""
    first = next(iter(found.suspicions), None)
    level = HELD_UP if _may_have_hung(found) and not _was_well(found) else SUPPORTED
    undated = found.ending.allowed is None or found.ending.vague
    return undated and first is not None and first.score >= level


def _was_well(found: Findings) -> bool:
    """Whether a stop that is never a fault, and that somebody else's machine decided, ended the job."""
    return found.roots[0].fact.kind == Kind.PREEMPTION


def _undated(found: Findings) -> Verdict:
    """A stop of a job of which no clock tells whether it made progress until then."""
    root = found.roots[0]
    return Verdict(
        Scope.JOB,
        Confidence.WEAK,
        f"{root.fact.says[0].upper()}{root.fact.says[1:]}{found.place}; no clock tells whether it still made progress.",
        (f"\u201c{short(root.quote)}\u201d came before any sign of a failure.", _UNDATED),
        (),
        (root.fact.check, _COLLECT),
    )


_UNDATED = "Lines that count iterations have no time, so a hang before the stop would not show."


def _taken_away(root: Candidate, found: Findings) -> tuple[Suspicion, ...]:
    """The nodes that the platform took away while the others went on: where to look, though nothing is broken there."""
    if root.fact.kind != Kind.PREEMPTION or not is_local(root, found.nodes):
        return ()
    missed = [one for one in found.suspicions if any(sign.channel in ("peers", "silence") for sign in one.signs)]
    return tuple(one for one in missed if one.node in root.nodes)[:MAX_SUSPECTS]


def _stopped_unsaid(found: Findings) -> Verdict | None:
    """A job that was cancelled, or whose processes were all told to end, at its pace: stopped, whoever did it."""
    ending = found.ending
    cancelled = found.parsed.job.status is Status.CANCELLED
    told = {node for one in found.candidates if one.fact.told_to_stop for node in one.nodes}
    all_told = len(told) > len(found.nodes) * MAJORITY
    if not ending.steady or not (cancelled or all_told):
        return None
    troubled = _troubled(found)
    grounds = {Ground.PROGRESS} | ({Ground.STATUS} if cancelled and not ending.pausing and not troubled else set())
    return Verdict(
        Scope.NONE,
        confidence(Support(SUPPORTED, frozenset(grounds), 2)),
        f"Not a fault: the job was stopped from outside{found.place}; it made progress at its pace until then.",
        (_steady(ending), *(("job.json says CANCELLED.",) if cancelled else ())),
        (),
        ("Ask who stopped it and why; the logs show no fault before that.",),
    )


def _ended_at_once(found: Findings) -> Verdict | None:
    """A job of which nobody tells how it ended, whose ranks were all at work until one moment."""
    if found.parsed.job.status is not Status.UNKNOWN or not found.ending.steady or _troubled(found):
        return None
    last = last_words(found.parsed.table).values()
    if len(last) < MIN_VOICES or (max(last) - min(last)) / SECOND > AT_ONCE:
        return None
    return Verdict(
        Scope.NONE,
        Confidence.WEAK,
        f"Probably not a fault: all {len(last)} {found.parsed.table.speaker}s ended at once{found.place}.",
        (_steady(found.ending), "No log says who ended them, and none speaks of a fault."),
        (),
        ("Ask who stopped it: the scheduler's accounting tells, and the kernel's log if it was out of memory.",),
    )


def _steady(ending: Ending) -> str:
    return f"It made progress at its pace until {duration(ending.quiet)} before the end."


# --- a part of the job ----------------------------------------------------------------------------------------------


def _node(found: Findings) -> Verdict | None:
    roots = found.roots
    level = HELD_UP if _held_up(found) or _may_have_hung(found) or _left_open(found) else SUPPORTED
    accused = _accused(roots, found.suspicions, found.nodes, level)
    if accused and found.crossed and _only_implicit(accused[0]):
        return None  # who waits elsewhere than the others is not stuck: the program let them part
    if not accused or MIN_VOICES <= len(found.nodes) <= len(accused):
        return None  # all of them: nobody is special
    names, first = together([suspicion.node for suspicion in accused]), accused[0]
    root = next(
        (root for root in roots if not root.fact.stop and _is_of(root, first)),
        None,
    )
    said = _said(root) if root else "it went silent while the others waited for it"
    if root is None or root.fact.blame is Blame.NOBODY:  # it tells what the others suffer
        said = first.signs[0].says or said
    support = Support(first.score, grounds_of(first.signs), found.voices, rivals(accused, found.suspicions))
    support = _compared(found, support, {one.node for one in accused})
    look = f"Look at {names} itself: process state, kernel log, power, network; take it out and restart."
    check = root.fact.check if root else first.signs[0].check or look
    course = (_course(found.ending),) if _held_up(found) else ()
    headline = f"Look at {names}: {said}{_when(found)}."
    why = (*(sign.because for sign in first.signs), *course, *_second_opinion(support))
    return Verdict(Scope.NODE, confidence(support), headline, why, tuple(accused), (check,))


def _is_of(root: Candidate, suspicion: Suspicion) -> bool:
    return suspicion.node in root.nodes or any(sign.event == root.event for sign in suspicion.signs)


def _held_up(found: Findings) -> bool:
    """Whether the job hung or was slow, and nothing else broke."""
    return (found.ending.hung or found.ending.slow is not None) and not _broke(found)


def _broke(found: Findings) -> bool:
    return any(not _is_stop(one) for one in found.roots)


def _is_stop(one: Candidate) -> bool:
    """Whether it is a stop from outside, or what a launcher says when it is told to stop."""
    return one.fact.stop or one.fact.told_to_stop or one.fact.asks_to_stop


def _may_have_hung(found: Findings) -> bool:
    """Whether no clock tells if a job that was stopped had made progress until then."""
    ending = found.ending
    stopped = ending.stopped_first or found.parsed.job.status is Status.CANCELLED
    return (ending.allowed is None or ending.pausing or ending.vague) and stopped and not _broke(found)


def _left_open(found: Findings) -> bool:
    """Whether the logs of a job of which nobody tells how it ended stop while few ranks lack what the others said."""
    untold = found.parsed.job.status in (Status.RUNNING, Status.UNKNOWN) and not found.ending.ordered
    return untold and not found.roots and any(sign.channel == "lacks" for one in found.suspicions for sign in one.signs)


def _when(found: Findings) -> str:
    """Where in its course the job failed, and that it hung or was slow, if it did."""
    ending = found.ending
    if not _held_up(found):
        return found.place
    if ending.slow is not None and not ending.hung:
        return f"; the job was slow from iteration {ending.slow.iteration} on"
    return f"; the job hung{found.place}"


def _compared(found: Findings, support: Support, ours: Collection[str]) -> Support:
    """The support of an answer that names these nodes, after the paper's comparison was asked for its opinion."""
    outlier = found.outlier()
    return replace(support, outlier=outlier) if outlier not in ours else support


def _second_opinion(support: Support) -> tuple[str, ...]:
    told = [f"{one} is nearly as suspicious." for one in support.rivals]
    if support.outlier is not None:
        told.append(f"By what the nodes log how often, {support.outlier} differs most (Isolation Forest).")
    return tuple(told)


def _accused(
    roots: Sequence[Candidate], suspicions: Sequence[Suspicion], nodes: Sequence[str], level: float
) -> tuple[Suspicion, ...]:
    """Suspects worth naming: none when the leading root concerns more than a part of the nodes."""
    if not suspicions or suspicions[0].score < level:
        return ()
    roots = [root for root in roots if not _is_stop(root)]
    if roots and roots[0].nodes and not is_local(roots[0], nodes) and not _named_by(roots[0], suspicions[0]):
        return ()
    if roots and not roots[0].nodes and _only_implicit(suspicions[0]) and roots[0].score >= SUPPORTED:
        return ()  # what the job itself raised is told; who stood still then waited for it
    waits = bool(roots) and roots[0].fact.blame is Blame.NOBODY and suspicions[0].node in roots[0].nodes
    if waits and not _named_by(roots[0], suspicions[0]):
        return ()  # who reports that somebody is missing is not the one who is
    top = suspicions[0]
    rest = [
        other for other in suspicions[1:MAX_SUSPECTS] if other.score >= RIVAL * top.score and _same_ground(top, other)
    ]
    return (top, *rest)


def _only_implicit(suspicion: Suspicion) -> bool:
    """Whether nothing but what a rank did not say points to it."""
    return all(sign.channel in _IMPLICIT for sign in suspicion.signs)


_IMPLICIT = frozenset({"lacks", "no answer", "contrast", "behind", "lag"})


def _named_by(root: Candidate, suspicion: Suspicion) -> bool:
    return any(sign.event == root.event for sign in suspicion.signs)


def _same_ground(one: Suspicion, other: Suspicion) -> bool:
    """Two nodes are accused together only for the same kind of evidence."""
    return one.signs[0].channel == other.signs[0].channel and one.signs[0].event == other.signs[0].event


# --- all of it ------------------------------------------------------------------------------------------------------


def _stalled(found: Findings) -> Verdict | None:
    """A job that hung or was slow until it was ended, and nobody stands out: never "nothing is broken"."""
    if not _held_up(found):
        return None
    ending, roots = found.ending, found.roots
    stop = f" ({roots[0].fact.says})" if roots and roots[0].fact.stop else ""
    whole = found.voices >= 2 and len(found.parsed.table.ranks) >= (found.parsed.job.manifest.world_size or 2)
    scope = Scope.JOB if whole else Scope.UNKNOWN
    nobody = f"no {found.unit} stands out" if found.voices >= 2 else f"{found.unit}s cannot be told apart in this log"
    what = f"The job hung{found.place}" if ending.hung else f"The job was slow from iteration {_onset(ending)} on"
    return Verdict(scope, Confidence.WEAK, f"{what}{stop}; {nobody}.", (_course(ending),), (), (_COLLECT,))


def _dumped(found: Findings) -> Verdict | None:
    """A job without a clock of which somebody collected stacks, as is done with one that hangs; nobody stands apart."""
    if not found.dumped or found.ending.allowed is not None or _troubled(found):
        return None
    ranks = max(len(found.parsed.table.ranks), found.parsed.job.manifest.world_size or len(found.nodes))
    whole = found.dumped >= ranks >= 2
    return Verdict(
        Scope.JOB if whole else Scope.UNKNOWN,
        Confidence.WEAK,
        f"The job seems to have hung{found.place}: stacks were collected; no {found.unit} stands out in them.",
        (f"The stacks of {found.dumped} processes were dumped; no clock tells whether they still made progress.",),
        (),
        ("Compare the stacks: processes that wait in different calls wait for each other.",),
    )


def _onset(ending: Ending) -> int:
    return ending.slow.iteration if ending.slow else 0


def _course(ending: Ending) -> str:
    if ending.hung:
        return (
            f"It made no progress for {duration(ending.quiet)} before it ended; "
            f"by its pace {duration(ending.allowed or 0.0)} are no hang."
        )
    return slowdown(ending.slow) if ending.slow else ""


def _somewhere(found: Findings) -> Verdict | None:
    """A part of one machine broke, and nobody says of which."""
    root = next(iter(found.roots), None)
    if root is None or not root.fact.hardware or root.nodes or len(found.nodes) <= 1:
        return None
    return Verdict(
        Scope.UNKNOWN,
        Confidence.SUPPORTED if root.score >= SUPPORTED else Confidence.WEAK,
        f"No log says on which {found.unit}: {_said(root)}{found.place}.",
        (f"\u201c{short(root.quote)}\u201d names no {found.unit} that is known.",),
        (),
        (root.fact.check,),
    )


def _job(found: Findings) -> Verdict | None:
    root = next(iter(found.roots), None)
    if root is None:
        return None
    nodes, unit = found.nodes, found.unit
    spread = f"{len(root.nodes)} of {len(nodes)} {unit}s" if root.nodes else "the whole job"
    if len(nodes) == 1:
        spread = f"the only {unit}"
    grounds = {Ground.WORDS} if root.fact.known and root.fact.kind not in _VICTIMS else set()
    grounds |= {Ground.SPREAD} if len(root.nodes) > len(nodes) * MAJORITY and len(root.nodes) > 1 else set()
    support = Support(root.score, frozenset(grounds), found.voices, rivals((), found.suspicions))
    support = _compared(found, support, root.nodes)
    apart = found.voices >= 2 or len(nodes) == 1
    lead = f"No {unit} is special" if apart else f"The {unit}s cannot be told apart in this log"
    return Verdict(
        Scope.JOB,
        confidence(support),
        f"{lead}: {_said(root)}{found.place}.",
        (f"\u201c{short(root.quote)}\u201d concerns {spread}.", *_second_opinion(support)),
        (),
        (root.fact.check,),
    )


# --- nobody knows ---------------------------------------------------------------------------------------------------


def _measured(found: Findings) -> Verdict | None:
    """What metrics tell of the whole job where no log tells anything; they name nobody."""
    if found.alarm is None:
        return None
    return Verdict(
        Scope.UNKNOWN,
        Confidence.WEAK,
        f"By its metrics, {found.alarm.says}{found.place}; no {found.unit} stands out.",
        (found.alarm.because,),
        (),
        (_COLLECT if found.alarm.kind is Says.STANDS else _RECOMPUTE,),
    )


_RECOMPUTE = "Run a step again from the last good checkpoint with the same data, and compare gradients bit by bit."


def _running(found: Findings) -> Verdict | None:
    if found.parsed.job.status is not Status.RUNNING:
        return None
    return Verdict(
        Scope.UNKNOWN,
        Confidence.WEAK,
        f"The job is still running{found.place}; nothing in its logs points to a failure yet.",
        ("job.json says RUNNING.",),
        (),
        ("Ask again when it has ended, or when it no longer makes progress.",),
    )


def _unknown(found: Findings) -> Verdict:
    seen = [candidate for candidate in found.candidates if candidate.role is Role.PROPAGATED]
    if seen and seen[0].fact.kind == Kind.LAST_WORDS:
        return _ended_with(found, seen[0])
    if seen:
        said = short(seen[0].quote)
        why = f"There is only what peers say of each other (\u201c{said}\u201d); no log holds a direct trace."
        check = "Find the logs of the node that the peers waited for, its kernel log, and stack dumps of all ranks."
    elif not len(found.parsed.table):
        why = "No log of this job holds a line that could be read."
        check = "See whether the job ever started, where it wrote its logs, and whether all of them were copied."
    else:
        why = "The logs end without an error, a stop or a silent node."
        check = (
            "Look at what no log shows: scheduler accounting, kernel logs, metrics of the minutes around the last line."
        )
    return Verdict(Scope.UNKNOWN, Confidence.WEAK, f"Nothing conclusive{found.place}.", (why,), (), (check,))


def _ended_with(found: Findings, late: Candidate) -> Verdict:
    """A job of which only words that nobody knows tell how it ended; of all nodes, they concern all of it."""
    said, whole = short(late.quote, QUOTE), len(late.nodes) == len(found.nodes) >= MIN_VOICES
    who = f"all {len(found.nodes)} {found.unit}s" if whole else f"{len(late.nodes)} of {len(found.nodes)} {found.unit}s"
    return Verdict(
        Scope.JOB if whole else Scope.UNKNOWN,
        Confidence.WEAK,
        f"No {found.unit} stands out: {who} ended with \u201c{said}\u201d{found.place}.",
        (f"\u201c{said}\u201d was never said while the job made progress, and no log holds a direct trace.",),
        (),
        (late.fact.check,),
    )


def _said(root: Candidate) -> str:
    """What broke, in words; where no fact knows it, in the words of the log."""
    return root.fact.says if root.fact.known and root.fact.says else f"\u201c{short(root.quote, QUOTE)}\u201d"
