"""The verdict: scope, confidence and headline, decided in code from the evidence and never by a model."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.course.iterations import Iterations
from core.crossjob import Candidate
from core.facts import Blame
from core.job import Status
from core.model import Confidence, Role, Scope, Stage
from core.naming import together
from core.nodes.spatial import Suspicion, is_local, short
from core.parsing.parsed import Parsed

ESTABLISHED = 0.85  # a direct trace of a known kind, with nothing that contradicts it
SUPPORTED = 0.55
RIVAL = 0.8  # a second suspect counts when it has this share of the first one's score
MAX_SUSPECTS = 3
QUOTE = 70  # characters of a log line in a headline; a phone shows about as many


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the evidence comes to."""

    scope: Scope
    confidence: Confidence
    headline: str
    why: tuple[str, ...]
    suspects: tuple[Suspicion, ...]
    checks: tuple[str, ...]


def decide(parsed: Parsed, candidates: Sequence[Candidate], suspicions: Sequence[Suspicion], stage: Stage) -> Verdict:
    """Weigh ranked candidates (most telling first) and suspicions."""
    nodes, place = parsed.nodes, _place(stage, parsed.iterations)
    roots = [candidate for candidate in candidates if candidate.role is Role.ROOT]
    if (healthy := _ended_well(parsed, candidates)) is not None:
        return healthy
    if roots and roots[0].fact.stop:
        return _stopped(roots[0], place)
    if accused := _accused(roots, suspicions, nodes):
        return _node(accused, roots, place)
    if roots:
        unnamed = _of_some_node(roots[0], nodes)
        return _somewhere(roots[0], parsed.unit, place) if unnamed else _job(roots[0], nodes, parsed.unit, place)
    return _running(place) if parsed.job.status is Status.RUNNING else _unknown(parsed, candidates, place)


def _ended_well(parsed: Parsed, candidates: Sequence[Candidate]) -> Verdict | None:
    """The verdict of a job that completed, by its status, or where nobody tells one by its logs."""
    iterations = parsed.iterations
    if parsed.job.status is Status.COMPLETED:
        headline, why = "The job completed; nothing to diagnose.", "job.json says COMPLETED."
        return Verdict(Scope.NONE, Confidence.ESTABLISHED, headline, (why,), (), ())
    if parsed.job.status is Status.UNKNOWN and _reached_end(iterations, candidates):
        headline = f"The run reached its end, iteration {iterations.last} of {iterations.total}; nothing to diagnose."
        why = "All planned iterations are complete, and no line speaks of a fault."
        return Verdict(Scope.NONE, Confidence.SUPPORTED, headline, (why,), (), ())
    return None


def _reached_end(iterations: Iterations, candidates: Sequence[Candidate]) -> bool:
    """Whether all planned iterations are complete and nothing but guesses and clearing up speaks of a failure."""
    if iterations.last is None or iterations.total is None or iterations.last < iterations.total:
        return False
    return not any(
        one.role in (Role.ROOT, Role.PROPAGATED) and (one.fact.known or one.score >= SUPPORTED) for one in candidates
    )


def _stopped(root: Candidate, place: str) -> Verdict:
    where = f" on {', '.join(root.nodes[:3])}" if root.nodes and len(root.nodes) <= 3 else ""
    return Verdict(
        Scope.NONE,
        Confidence.ESTABLISHED,
        f"Not a fault: {root.fact.says}{where}{place}.",
        (f"\u201c{short(root.quote)}\u201d came before any sign of a failure.",),
        (),
        (root.fact.check,),
    )


def _node(accused: Sequence[Suspicion], roots: Sequence[Candidate], place: str) -> Verdict:
    names = together([suspicion.node for suspicion in accused])
    first = accused[0]
    root = next(
        (root for root in roots if first.node in root.nodes or any(sign.event == root.event for sign in first.signs)),
        None,
    )
    said = _said(root) if root else first.signs[0].says or "it went silent while the others waited for it"
    confidence = (
        Confidence.ESTABLISHED if root and root.fact.known and first.score >= ESTABLISHED else _by_score(first.score)
    )
    checks = (
        (root.fact.check,)
        if root
        else (
            first.signs[0].check
            or f"Look at {names} itself: process state, kernel log, power, network; take it out and restart.",
        )
    )
    return Verdict(
        Scope.NODE,
        confidence,
        f"Look at {names}: {said}{place}.",
        tuple(sign.because for sign in first.signs),
        tuple(accused),
        checks,
    )


def _job(root: Candidate, nodes: Sequence[str], unit: str, place: str) -> Verdict:
    spread = f"{len(root.nodes)} of {len(nodes)} {unit}s" if root.nodes else "the whole job"
    if len(nodes) == 1:
        spread = f"the only {unit}"
    confidence = Confidence.ESTABLISHED if root.fact.known and root.score >= ESTABLISHED else _by_score(root.score)
    return Verdict(
        Scope.JOB,
        confidence,
        f"No {unit} is special: {_said(root)}{place}.",
        (f"\u201c{short(root.quote)}\u201d concerns {spread}.",),
        (),
        (root.fact.check,),
    )


def _of_some_node(root: Candidate, nodes: Sequence[str]) -> bool:
    """Whether a part of one machine broke, and nobody says of which."""
    return root.fact.hardware and not root.nodes and len(nodes) > 1


def _somewhere(root: Candidate, unit: str, place: str) -> Verdict:
    return Verdict(
        Scope.UNKNOWN,
        _by_score(root.score),
        f"No log says on which {unit}: {_said(root)}{place}.",
        (f"\u201c{short(root.quote)}\u201d names no {unit} that is known.",),
        (),
        (root.fact.check,),
    )


def _running(place: str) -> Verdict:
    return Verdict(
        Scope.UNKNOWN,
        Confidence.WEAK,
        f"The job is still running{place}; nothing in its logs points to a failure yet.",
        ("job.json says RUNNING.",),
        (),
        ("Ask again when it has ended, or when it no longer makes progress.",),
    )


def _unknown(parsed: Parsed, candidates: Sequence[Candidate], place: str) -> Verdict:
    seen = [candidate for candidate in candidates if candidate.role is Role.PROPAGATED]
    if seen:
        said = short(seen[0].quote)
        why = f"There is only what peers say of each other (\u201c{said}\u201d); no log holds a direct trace."
        check = "Find the logs of the node that the peers waited for, its kernel log, and stack dumps of all ranks."
    elif not len(parsed.table):
        why = "No log of this job holds a line that could be read."
        check = "See whether the job ever started, where it wrote its logs, and whether all of them were copied."
    else:
        why = "The logs end without an error, a stop or a silent node."
        check = (
            "Look at what no log shows: scheduler accounting, kernel logs, metrics of the minutes around the last line."
        )
    return Verdict(Scope.UNKNOWN, Confidence.WEAK, f"Nothing conclusive{place}.", (why,), (), (check,))


def _said(root: Candidate) -> str:
    """What broke, in words; where no fact knows it, in the words of the log."""
    return root.fact.says if root.fact.known else f"\u201c{short(root.quote, QUOTE)}\u201d"


def _accused(
    roots: Sequence[Candidate], suspicions: Sequence[Suspicion], nodes: Sequence[str]
) -> tuple[Suspicion, ...]:
    """Suspects worth naming: none when the leading root concerns more than a part of the nodes."""
    if not suspicions or suspicions[0].score < SUPPORTED:
        return ()
    if roots and roots[0].nodes and not is_local(roots[0], nodes) and not _named_by(roots[0], suspicions[0]):
        return ()
    if roots and roots[0].fact.blame is Blame.NOBODY and suspicions[0].node in roots[0].nodes:
        return ()  # who reports that somebody is missing is not the one who is
    top = suspicions[0]
    rivals = [
        other for other in suspicions[1:MAX_SUSPECTS] if other.score >= RIVAL * top.score and _same_ground(top, other)
    ]
    return (top, *rivals)


def _named_by(root: Candidate, suspicion: Suspicion) -> bool:
    return any(sign.event == root.event for sign in suspicion.signs)


def _same_ground(one: Suspicion, other: Suspicion) -> bool:
    """Two nodes are accused together only for the same kind of evidence."""
    return one.signs[0].channel == other.signs[0].channel and one.signs[0].event == other.signs[0].event


def _by_score(score: float) -> Confidence:
    return Confidence.SUPPORTED if score >= SUPPORTED else Confidence.WEAK


def _place(stage: Stage, iterations: Iterations) -> str:
    if stage is Stage.UNKNOWN:
        return ""
    after = f", after iteration {iterations.last}" if iterations.last is not None else ""
    return f" during {stage.value}{after}"
