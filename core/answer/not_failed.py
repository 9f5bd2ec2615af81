"""Judges of jobs that did not fail: they completed, or somebody outside stopped them while they were well."""

from collections.abc import Collection

from core.answer.confidence import SUPPORTED, Ground, Support, confidence
from core.answer.findings import (
    COLLECT,
    HELD_UP,
    MAX_SUSPECTS,
    MIN_VOICES,
    Findings,
    Verdict,
    apart_by_numbers,
    is_troubled,
    leading_stop,
    may_have_hung,
    was_well,
)
from core.course.end_of_run import says_done
from core.course.pace import SECOND
from core.failure_kinds import Kind
from core.job import Status
from core.judge.candidates import Candidate
from core.judge.ending import Ending
from core.judge.late_lines import said_last
from core.judge.rank_rows import last_words, ranks_of_nodes
from core.judge.ranking import first_time
from core.live.findings import duration
from core.logs.lines import NO_TIME
from core.model import Confidence, Role, Scope
from core.naming import sentence, together
from core.nodes.risen_times import risen_everywhere
from core.nodes.sign import Suspicion, short
from core.nodes.spatial import is_local
from core.nodes.told_numbers import told_numbers
from core.shares import MAJORITY

AT_ONCE = 2.0  # seconds; a rank that waits for a dead one says so after a time-out of its own, the shortest are 5 s
# What to do about a stop of a job of which nobody knows whether it made progress: a fact's own check says that it did
_IF_WELL = {
    Kind.TIME_LIMIT: "See whether it made progress until then; if so, ask for more time, or save more often.",
    Kind.CANCELLED: "Ask who cancelled it and why.",
}
_UNTIMED = "Lines that count iterations have no time, so a hang before the stop would not show."
_UNDATED = "The logs do not tell when it was stopped, so a hang before that would not show."
_UNCOUNTED = "No line counts iterations, so a hang before the stop would not show."


def completed(findings: Findings) -> Verdict | None:
    """A job that completed, by its status, or where nobody tells one by its logs; a crash in the log is believed.

    Never established: that it ended says nothing of what its logs do not tell, such as weights that are wrong.
    """
    status, iterations = findings.parsed.job.status, findings.parsed.iterations
    at_end = iterations.at_end
    if apart_by_numbers(findings) or findings.ending.slow is not None:
        return None  # it took far longer than it needed
    if status is Status.COMPLETED and (at_end or not _crashed(findings)):
        headline = "The job completed; there is nothing to diagnose."
        because = ("job.json says COMPLETED.", *_outside(findings))
        return Verdict(Scope.NONE, Confidence.SUPPORTED, headline, because, (), ())
    if status is Status.UNKNOWN and at_end and not is_troubled(findings):
        headline = (
            f"The run reached its end, iteration {iterations.last} of {iterations.total}; there is nothing to diagnose."
        )
        why = "All planned iterations are complete, and no line reports a fault."
        return Verdict(Scope.NONE, Confidence.SUPPORTED, headline, (why,), (), ())
    if (
        status is Status.UNKNOWN
        and says_done(findings.parsed.table, findings.parsed.files, iterations)
        and not is_troubled(findings)
    ):
        headline = f"The run says that it is done, after iteration {iterations.last}; there is nothing to diagnose."
        return Verdict(Scope.NONE, Confidence.SUPPORTED, headline, ("No line reports a fault.",), (), ())
    return None


def _crashed(findings: Findings) -> bool:
    """Whether a rank raised what nothing followed, and its launcher reports that it failed."""
    templates = findings.parsed.table.templates
    raised = [root for root in findings.roots if templates[root.event].block and root.ranks and root.score >= SUPPORTED]
    reported = any(ending.code not in (None, 0) for ending in findings.exits.of_rank.values())
    planned = findings.parsed.iterations.total is not None
    return bool(raised) and (reported or planned)


def stopped(findings: Findings) -> Verdict | None:
    """A stop from outside that came before any sign of a failure, of a job that made progress until then."""
    root, ending = leading_stop(findings), findings.ending
    if (
        root is None
        or ending.hung
        or ending.slow
        or _stood_out(findings)
        or apart_by_numbers(findings)
        or findings.alarm
    ):
        return None
    if (ending.allowed is None or ending.vague or ending.undated or ending.flagging) and not was_well(findings):
        return _undated(root, findings)
    if not was_well(findings) and (risen := risen_time(findings)):
        return _slower(findings, sentence(root.fact.says), risen)
    where = f" on {', '.join(root.nodes[:3])}" if root.nodes and len(root.nodes) <= 3 else ""
    outside = _outside(findings)
    grounds = {Ground.STATUS} | ({Ground.PROGRESS} if ending.at_pace and not (ending.pausing or outside) else set())
    steady = _steady(ending) if ending.steady else "No line with a time shows whether it made progress until then."
    score = root.score if ending.steady else min(root.score, SUPPORTED - 0.01)
    return Verdict(
        Scope.NONE,
        confidence(Support(score, frozenset(grounds), 2)),
        f"Not a fault: {root.fact.says}{where}{findings.place}.",
        (f"\u201c{short(root.quote)}\u201d came before any sign of a failure.", steady, *outside),
        _taken_away(root, findings),
        (root.fact.check,),
    )


def risen_time(findings: Findings) -> str:
    """A time that rose on most ranks or nodes before the end, where their clock shows no slowdown; empty for none."""
    table, manifest = findings.parsed.table, findings.parsed.job.manifest
    home = {rank: node for node, ranks in ranks_of_nodes(table, manifest.node_ranks).items() for rank in ranks}
    return risen_everywhere(told_numbers(findings.parsed, home))


def _slower(findings: Findings, stop: str, risen: str) -> Verdict:
    """A stop of a job whose steps had become longer on all nodes alike."""
    return Verdict(
        Scope.JOB,
        Confidence.WEAK,
        f"{stop}{findings.place}; before that its steps had become longer, and no node stands out.",
        (f"{sentence(risen)}.",),
        (),
        ("See what changed then for all: data, storage, network, a setting; and ask who stopped it and why.",),
        _first_orders(findings),
    )


def _outside(findings: Findings) -> list[str]:
    """What one node alone tells, numbers far from all others' and what makes machines slow, and no good job did.

    Whoever stopped the job may have done it for these.
    """
    numbers = [sign.because for item in findings.suspicions for sign in item.signs if sign.channel == "outside"]
    slowed = [
        candidate
        for candidate in findings.candidates
        if candidate.fact.kind == Kind.SLOW_MACHINE and candidate.excess >= 1 and len(candidate.nodes) == 1
    ]
    first = {(candidate.nodes, candidate.fact.says): candidate for candidate in reversed(slowed)}
    complaints = [
        f"{together(nodes)} alone logged \u201c{short(candidate.quote)}\u201d: {says}."
        for (nodes, says), candidate in sorted(first.items())
    ]
    return numbers + complaints


def _stood_out(findings: Findings) -> bool:
    """Whether one node is suspicious, of a job of which no clock tells if it made progress."""
    first = next(iter(findings.suspicions), None)
    level = HELD_UP if may_have_hung(findings) and not was_well(findings) else SUPPORTED
    undated = findings.ending.allowed is None or findings.ending.vague or findings.ending.undated
    return undated and first is not None and first.score >= level


def _undated(root: Candidate, findings: Findings) -> Verdict:
    """A stop of a job of which nobody knows whether it made progress at its pace until then."""
    slowed = findings.ending.flagging
    but = "its last steps took far longer" if slowed else "no clock tells whether it still made progress"
    return Verdict(
        Scope.JOB,
        Confidence.WEAK,
        f"{sentence(root.fact.says)}{findings.place}; {but}.",
        (f"\u201c{short(root.quote)}\u201d came before any sign of a failure.", _unknown(findings)),
        (),
        (root.fact.check if findings.ending.flagging else _IF_WELL.get(Kind(root.fact.kind), root.fact.check), COLLECT),
    )


def _taken_away(root: Candidate, findings: Findings) -> tuple[Suspicion, ...]:
    """The nodes that the platform took away while the others went on: where to look, though nothing is broken there."""
    if root.fact.kind != Kind.PREEMPTION or not is_local(root, findings.nodes):
        return ()
    missed = [
        suspicion
        for suspicion in findings.suspicions
        if any(sign.channel in ("peers", "silence") for sign in suspicion.signs)
    ]
    return tuple(suspicion for suspicion in missed if suspicion.node in root.nodes)[:MAX_SUSPECTS]


def stopped_unsaid(findings: Findings) -> Verdict | None:
    """A job that was cancelled, or whose processes were all told to end, at its pace: stopped, whoever did it."""
    ending = findings.ending
    cancelled = findings.parsed.job.status is Status.CANCELLED
    told_nodes = {node for candidate in findings.candidates if candidate.fact.told_to_stop for node in candidate.nodes}
    all_told = len(told_nodes) > len(findings.nodes) * MAJORITY
    if not (cancelled or all_told) or findings.alarm:
        return None  # what metrics tell may be why somebody stopped it
    troubled = is_troubled(findings)
    after = troubled and cancelled and ending.stopped_first
    if ending.allowed is None and ending.slow is None and not findings.dumped and (after or not troubled):
        return _stopped_at_an_unknown_pace(findings, told_nodes)
    hung = ending.hung or ending.slow is not None or ending.flagging
    if not troubled and not hung and (ending.vague or ending.undated):
        return _stopped_at_an_unknown_pace(findings, told_nodes)
    if not ending.steady:
        return None
    if risen := risen_time(findings):
        return _slower(findings, "The job was stopped from outside", risen)
    outside = _outside(findings)
    sure = cancelled and ending.at_pace and not (ending.pausing or troubled or outside)
    grounds = {Ground.PROGRESS} | ({Ground.STATUS} if sure else set())
    return Verdict(
        Scope.NONE,
        confidence(Support(SUPPORTED, frozenset(grounds), 2)),
        f"Not a fault: the job was stopped from outside{findings.place}; it made progress at its pace until then.",
        (_steady(ending), *(("job.json says CANCELLED.",) if cancelled else ()), *outside),
        (),
        ("Ask who stopped it and why; the logs show no fault before that.",),
        _first_orders(findings),
    )


def _stopped_at_an_unknown_pace(findings: Findings, told_nodes: Collection[str]) -> Verdict:
    """A job that was cancelled, or told to end, of which too little is known to say whether it made progress."""
    orders = f"{len(told_nodes)} of {len(findings.nodes)} {findings.unit}s were told to end." if told_nodes else ""
    trouble = "What failed came after the order." if is_troubled(findings) else "No line reports a fault."
    cancelled = "job.json says CANCELLED." if findings.parsed.job.status is Status.CANCELLED else ""
    return Verdict(
        Scope.JOB,
        Confidence.WEAK,
        f"The job was stopped from outside{findings.place}; no clock tells whether it still made progress.",
        (*filter(None, (orders, cancelled)), _unknown(findings), trouble, *_outside(findings)),
        (),
        ("Ask who stopped it and why.", COLLECT),
        _first_orders(findings),
    )


def _first_orders(findings: Findings) -> tuple[Candidate, ...]:
    """What told first that the job was to stop; what launchers ask of their processes only where nobody was told.

    Where nobody knows such words, what was said once it had made its last progress ("qdel by mueller: enough for the
    talk"). Tracebacks are how a process left, after it was told.
    """
    table = findings.parsed.table
    candidates = [candidate for candidate in findings.candidates if not table.templates[candidate.event].block]
    told = [candidate for candidate in candidates if candidate.fact.told_to_stop]
    asked = [candidate for candidate in candidates if candidate.fact.asks_to_stop]
    orders = told or asked or said_last(findings.parsed)
    began = min((first_time(table, order) for order in orders), default=NO_TIME)
    return tuple(
        order.with_role(Role.ROOT, "the first sign of the stop")
        for order in orders
        if first_time(table, order) <= began + AT_ONCE * SECOND
    )[:MAX_SUSPECTS]


def ended_at_once(findings: Findings) -> Verdict | None:
    """A job of which nobody tells how it ended, whose ranks were all at work until one moment."""
    if findings.parsed.job.status is not Status.UNKNOWN or not findings.ending.steady or is_troubled(findings):
        return None
    last = last_words(findings.parsed.table).values()
    if len(last) < MIN_VOICES or (max(last) - min(last)) / SECOND > AT_ONCE:
        return None
    return Verdict(
        Scope.NONE,
        Confidence.WEAK,
        f"Probably not a fault: all {len(last)} {findings.parsed.table.speakers} ended at once{findings.place}.",
        (_steady(findings.ending), "No log says who ended them, and none reports a fault."),
        (),
        ("Ask who stopped it: the scheduler's accounting tells, and the kernel's log if it was out of memory.",),
    )


def _unknown(findings: Findings) -> str:
    """Why nobody knows whether a job made progress until it was stopped."""
    ending = findings.ending
    if ending.flagging:
        return "Its last steps took far longer than those before: it may have been stopped for that."
    if findings.parsed.iterations.last is None:
        return _UNCOUNTED
    return _UNDATED if ending.undated else _UNTIMED


def _steady(ending: Ending) -> str:
    until = f"It made progress at its pace until {duration(ending.quiet)} before the end"
    return f"{until}, but for a pause of {duration(ending.paused)}." if ending.paused else f"{until}."
