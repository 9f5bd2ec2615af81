"""Judges of what concerns the whole job, or a part of it that nobody names."""

from core.answer.confidence import SUPPORTED, Ground, Support, confidence, rivals
from core.answer.findings import (
    COLLECT,
    MIN_VOICES,
    PROFILE,
    Findings,
    Verdict,
    apart_by_numbers,
    broke,
    check_of,
    compared,
    course_of,
    held_up,
    is_stop,
    onset_of,
    second_opinion,
    what_broke,
)
from core.course.divergence import find_divergence
from core.events.row_text import read_rows
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.judge.ranking import quote
from core.live.findings import duration
from core.model import Confidence, Role, Scope
from core.naming import called, figure, sentence
from core.nodes.sign import short
from core.nodes.slow import SlowerPart, slower_part
from core.shares import MAJORITY

PAIR = 2  # of what a sentence calls "both" and not "all"
_GO_BACK = "Restart from a checkpoint before that; look at the data and the learning rate there, and clip gradients."
# Kinds that most report and one node causes: all wait in vain for it, or get its nan with the next all-reduce
_VICTIMS = frozenset({Kind.UNREACHABLE, Kind.RENDEZVOUS, Kind.PORT_IN_USE, Kind.NUMERICS})
_NO_WORDS = _VICTIMS | {Kind.SILENT_EXIT}


def without_numbers(findings: Findings) -> Verdict | None:
    """A job that went on, or completed, with a loss that is no number; where something else broke, that is told."""
    broken = findings.broken
    if (
        broken is None
        or apart_by_numbers(findings)
        or any(not is_stop(root) and root.fact.known for root in findings.roots)
    ):
        return None
    name, since = broken.name, f"from iteration {broken.iteration} on" if broken.iteration >= 0 else "in the end"
    text = read_rows(findings.parsed.files, findings.parsed.table, [broken.row]).get(broken.row, "")
    return _nobody_is_special(
        findings,
        Ground.NUMBERS,
        f"{name} is nan {since}, and nothing was learned since",
        f"\u201c{short(quote(text))}\u201d, and so on until the last line that tells it.",
        _GO_BACK,
    )


def diverged(findings: Findings) -> Verdict | None:
    """A job that was stopped after its loss had turned: whoever stopped it had a reason."""
    if findings.completed or broke(findings) or held_up(findings) or findings.suspicions:
        return None
    turned = find_divergence(findings.parsed.iterations.series)
    if turned is None:
        return None
    return _nobody_is_special(
        findings,
        Ground.NUMBERS,
        f"the loss rose again from iteration {turned.iteration} on, and stayed high",
        f"It had come down to {figure(turned.lowest)}, and ended at {figure(turned.last)}.",
        _GO_BACK,
    )


def parted(findings: Findings) -> Verdict | None:
    """A job whose ranks wait in different collectives, without a part that is small: no node did that."""
    mismatch = findings.mismatch
    if mismatch is None:
        return None
    parts = ", ".join(f"{called(ranks)} in {short(operation)}" for operation, ranks in mismatch.operations)
    where = "At the end" if mismatch.number is None else f"Under number {mismatch.number:,} of one process group"
    return _nobody_is_special(
        findings,
        Ground.PLACE,
        f"ranks wait in different collectives{findings.place}",
        f"{where}: {parts}.",
        "Look for a branch that not all ranks take: a condition on data, on the rank, or an exception.",
    )


def worked_alone(findings: Findings) -> Verdict | None:
    """A job whose ranks waited in vain for one that was at work of its own: the program let them wait too shortly."""
    alone = findings.alone
    if alone is None:
        return None
    text = short(quote(alone.text), 60)
    return _nobody_is_special(
        findings,
        Ground.PROGRESS,
        f"{alone.called} worked on alone (\u201c{text}\u201d) while the others waited until their time-out"
        f"{findings.place}",
        f"{sentence(alone.called)} was not stuck: it said \u201c{text}\u201d last, and no other rank ever says so.",
        "Let all ranks take part in that work, or wait for it outside of collectives, with a longer time-out.",
    )


def leaking(findings: Findings) -> Verdict | None:
    """A job that did not break, and whose memory grew on most ranks until the end: it would have."""
    leak = findings.leak
    if (
        leak is None
        or len(leak.ranks) <= len(leak.others)
        or broke(findings)
        or held_up(findings)
        or findings.suspicions
    ):
        return None
    return _nobody_is_special(
        findings,
        Ground.NUMBERS,
        f"{leak.name} grew from {figure(leak.before)} to {figure(leak.after)} since iteration {leak.iteration} and "
        "never came back",
        f"It grew alike on {len(leak.ranks)} {findings.parsed.table.speakers}; where memory ends, the job does.",
        "Look for what is kept from step to step: losses with their graphs, batches, a cache, metrics in a list.",
    )


def _nobody_is_special(findings: Findings, ground: Ground, trouble: str, because: str, check: str) -> Verdict:
    """The verdict that something is the matter with the whole job, by one kind of evidence."""
    support = Support(SUPPORTED, frozenset({ground}), findings.voices)
    names = [measured.name for measured in (findings.broken, findings.leak) if measured is not None]
    headline = f"{sentence(trouble, names)}; no {findings.unit} stands out."
    return Verdict(Scope.JOB, confidence(support), headline, (because,), (), (check,))


def stalled(findings: Findings) -> Verdict | None:
    """A job that hung or was slow until it was ended, and nobody stands out: never "nothing is broken"."""
    if not held_up(findings):
        return None
    ending, roots = findings.ending, findings.roots
    stop = f" ({roots[0].fact.says})" if roots and roots[0].fact.stop else ""
    heard = findings.voices >= MIN_VOICES
    iterations = findings.parsed.iterations
    at_end = iterations.at_end
    whole = (
        heard
        or at_end
        or findings.all_dumped
        or (ending.slow is not None and ending.slow.than_good_jobs and not ending.hung)
    )
    scope = Scope.JOB if whole else Scope.UNKNOWN
    nobody = (
        f"no {findings.unit} stands out"
        if findings.voices >= MIN_VOICES
        else f"{findings.unit}s cannot be told apart in this log"
    )
    trouble = (
        f"The job hung{findings.place}" if ending.hung else f"The job was slow from iteration {onset_of(ending)} on"
    )
    part = slower_part(findings.parsed, ending.slow) if ending.slow is not None and not ending.hung else None
    why = (course_of(ending), *(_of_part(part) if part is not None else ()))
    return Verdict(
        scope, Confidence.WEAK, f"{trouble}{stop}; {nobody}.", why, (), (COLLECT if ending.hung else PROFILE,)
    )


def _of_part(part: SlowerPart) -> tuple[str, ...]:
    went = f"{part.name} went from {duration(part.before)} to {duration(part.after)} on most of them"
    return (f"{sentence(part.says)}: {went}.",)


def somewhere(findings: Findings) -> Verdict | None:
    """A part of one machine broke, and nobody says of which."""
    root = next(iter(findings.roots), None)
    if root is None or not root.fact.hardware or root.nodes or len(findings.nodes) <= 1:
        return None
    failures = [candidate for candidate in findings.candidates if candidate.role in (Role.ROOT, Role.PROPAGATED)]
    if root.fact.kind == Kind.NETWORK_LINK and any(
        len(failure.nodes) > len(findings.nodes) * MAJORITY for failure in failures
    ):
        return None  # a link between switches: most nodes suffer from it, and it is of none
    return Verdict(
        Scope.UNKNOWN,
        Confidence.SUPPORTED if root.score >= SUPPORTED else Confidence.WEAK,
        f"No log says on which {findings.unit}: {what_broke(root)}{findings.place}.",
        (f"\u201c{short(root.quote)}\u201d names no {findings.unit} that is known.",),
        (),
        (root.fact.check,),
    )


def of_all(findings: Findings) -> Verdict | None:
    """A direct trace that most of the job shares, or that nobody can place."""
    root = next(iter(findings.roots), None)
    if root is None:
        return None
    nodes, unit = findings.nodes, findings.unit
    text = f"\u201c{short(root.quote)}\u201d"
    grounds = {Ground.WORDS} if root.fact.known and root.fact.kind not in _NO_WORDS else set()
    grounds |= {Ground.SPREAD} if len(root.nodes) > len(nodes) * MAJORITY and len(root.nodes) > 1 else set()
    support = Support(
        root.score, frozenset(grounds), findings.voices, rivals((), findings.suspicions), completed=findings.completed
    )
    support = compared(findings, support, root.nodes)
    apart = findings.voices >= 2 or len(nodes) == 1
    nobody = f"no {unit} stands out" if apart else f"the {unit}s cannot be told apart in this log"
    return Verdict(
        Scope.JOB,
        confidence(support),
        f"{_broke(root)}{_by_whom(findings, root)}{findings.place}; {nobody}.",
        (_logged(text, len(root.nodes), len(nodes), unit), *second_opinion(support)),
        (),
        (check_of(root.fact.check, root.nodes[0] if len(root.nodes) == 1 and unit == "node" else ""),),
    )


def _broke(root: Candidate) -> str:
    """What broke, as the beginning of a sentence; an error that nobody knows by what the log says."""
    said = what_broke(root)
    if not said.startswith("\u201c"):
        return sentence(said)
    return f"{'The program raised' if root.fact.kind == Kind.EXCEPTION else 'The log says'} {said}"


def _by_whom(findings: Findings, root: Candidate) -> str:
    """Where the job's own fault came out, of which one rank or node tells."""
    if findings.voices < MIN_VOICES or len(findings.nodes) < MIN_VOICES or len(root.nodes) != 1:
        return ""
    return f" on {findings.parsed.table.called(root.ranks, root.nodes[0]) if len(root.ranks) == 1 else root.nodes[0]}"


def _logged(text: str, nodes: int, of: int, unit: str) -> str:
    """How many nodes logged a line."""
    if of == 1:
        return f"The only {unit} logged {text}."
    if not nodes:
        return f"{text} was logged; the log does not tell by which {unit}."
    if nodes == of:
        return f"{'Both' if of == PAIR else f'All {of}'} {unit}s logged {text}."
    return f"{nodes} of {of} {unit}s logged {text}."
