"""From a diagnosis to the situation in which somebody has to decide what to do."""

import re

import numpy as np

from core.answer.confidence import rivals
from core.answer.findings import Findings, Verdict
from core.course.checkpoints import saved_times
from core.course.pace import SECOND
from core.events.messages import message_rows
from core.events.row_text import read_rows
from core.events.table import EventTable
from core.facts import Fact
from core.failure_kinds import BROKEN_XIDS, Kind
from core.job import Status
from core.judge.candidates import Candidate
from core.logs.blocks.frames import read_frames
from core.logs.lines import NO_TIME
from core.metrics.metric_finding import Says
from core.model import Role, Scope
from core.next.situation import OF_KIND, FaultClass, Past, Situation
from core.nodes.slow import slower_part
from core.parsed import Parsed

OWN_REPORT = 0.95  # strength of what a device or its driver reports itself; programs tell of a failed kernel with less
MAX_FRAMES = 200  # rows of a traceback, the last ones; torch's own frames lie between the user's and the error
WINDOW = 300 * SECOND  # of flaps that count together (ByteRobust, section 4.1: twice within five minutes)
_XID = re.compile(r"\bXid\b(?: ?\([^)]{0,64}\))?:? (\d{1,3})\b")  # in brackets: an address on the bus
_LIBRARY = re.compile(r"site-packages|dist-packages|/lib/python|<frozen|<string>")


def situation(found: Findings, verdict: Verdict) -> Situation:
    """What the decision needs of a diagnosis.

    Args:
        found: all findings.
        verdict: what they came to.
    """
    parsed = found.parsed
    leading = _leading(found, verdict)
    flapped = _flapped(found) if leading is None and verdict.scope is Scope.UNKNOWN else None
    leading = leading or flapped
    nodes = parsed.unit == "node"
    total = len(found.nodes) if nodes and found.nodes else None
    return Situation(
        scope=verdict.scope,
        confidence=verdict.confidence,
        broken=_broken(leading, verdict) if leading else _by_numbers(found, verdict),
        says=_says(found, verdict, leading),
        accused=flapped.nodes if flapped else tuple(suspect.node for suspect in verdict.suspects),
        rivals=rivals(verdict.suspects, found.suspicions) if verdict.suspects else (),
        flapped=flapped is not None,
        unit=parsed.unit,
        total=total,
        running=parsed.job.status is Status.RUNNING,
        completed=parsed.job.status is Status.COMPLETED,
        stuck=found.ending.hung or found.ending.slow is not None or _says_alarm(found, Says.STANDS),
        slower=found.slower is not None,
        flaps=_flaps(parsed.table, leading) if leading else 1,
        stop=_stop(found),
        frame=frame(parsed, leading) if leading else "",
        spares=parsed.job.manifest.spares,
        alone=parsed.job.manifest.parallel.get("dp") == "1",
        startup=startup(parsed),
        redo=redo(parsed),
        past=Past(checked=parsed.job.manifest.checked or None),
    )


def _broken(leading: Candidate, verdict: Verdict) -> FaultClass:
    """What is broken; what most nodes complain of while nobody is suspected is no machine of the job."""
    shared = verdict.scope is not Scope.NODE and any(item.event == leading.event for item in verdict.onset)
    return OF_KIND.get(Kind(leading.fact.kind), FaultClass.UNKNOWN) if shared else broken(leading.fact, leading.quote)


def broken(fact: Fact, quote: str = "") -> FaultClass:
    """What a fact says is broken; ``quote``: the line that says it."""
    xid = _XID.search(quote)
    if xid is not None:
        return FaultClass.MACHINE if int(xid[1]) in BROKEN_XIDS else FaultClass.PROCESS
    if fact.kind == Kind.ACCELERATOR and fact.strength < OWN_REPORT:
        return FaultClass.PROCESS
    kind = OF_KIND.get(Kind(fact.kind), FaultClass.UNKNOWN)
    return FaultClass.MACHINE if fact.hardware and kind is not FaultClass.LINK else kind


def _says_alarm(found: Findings, kind: Says) -> bool:
    return found.alarm is not None and found.alarm.kind is kind


def _by_numbers(found: Findings, verdict: Verdict) -> FaultClass:
    channels = {sign.channel for suspect in verdict.suspects for sign in suspect.signs[:1]}
    if found.broken is not None or "agreement" in channels or _says_alarm(found, Says.NUMBERS):
        return FaultClass.NUMBERS
    if "memory" in channels:
        return FaultClass.PROCESS
    if verdict.scope is Scope.JOB and (found.mismatch or found.alone) is not None:
        return FaultClass.CODE
    return FaultClass.CODE if _all_leak(found, verdict) else FaultClass.UNKNOWN


def _all_leak(found: Findings, verdict: Verdict) -> bool:
    return found.leak is not None and verdict.scope is Scope.JOB and not found.ending.hung and not found.ending.slow


def startup(parsed: Parsed) -> float | None:
    """Seconds from the first line to the first iteration, less one step; None where no clock tells.

    Both by the clock of the node that counts iterations first: another one may be hours away.
    """
    table, course = parsed.table, parsed.iterations.course
    pace = course.pace()
    if pace is None or not len(course):
        return None
    voice = int(table.voice[course.rows[:1]][0])
    home = table.node_of_voice[voice]
    same = table.node_of_voice == home if home >= 0 else table.file_of_voice == table.file_of_voice[voice]
    first = table.spoke.first[same]
    began = int(first[first != NO_TIME].min(initial=np.iinfo(np.int64).max))
    return max(0.0, (int(course.times[0]) - began) / SECOND - pace.step) if began <= int(course.times[0]) else None


def redo(parsed: Parsed) -> float | None:
    """Seconds of training since the last checkpoint that was complete; None where no line tells of one."""
    course, saved = parsed.iterations.course, saved_times(parsed.table, parsed.memory)
    if not len(course) or not len(saved):
        return None
    return max(0.0, (int(course.times[-1]) - int(saved[-1])) / SECOND)


def frame(parsed: Parsed, leading: Candidate) -> str:
    """The last frame of the user's own code in the traceback of an event: "loss.py:17 in masked"; else empty."""
    if not parsed.table.templates[leading.event].block:
        return ""
    rows = message_rows(parsed.table, int(leading.rows[0]))
    frames = read_frames(list(read_rows(parsed.files, parsed.table, rows[-MAX_FRAMES:]).values()))
    own = [traceback_frame for traceback_frame in frames if not _LIBRARY.search(traceback_frame.file)]
    return f"{own[-1].file.rpartition('/')[2]}:{own[-1].line} in {own[-1].function}" if own else ""


def _leading(found: Findings, verdict: Verdict) -> Candidate | None:
    """The direct trace that the verdict is about: of the first suspect where there is one."""
    roots = [root for root in found.roots if not root.fact.stop and root.fact.says]
    if verdict.scope is not Scope.NODE:
        return next(iter((*roots, *(item for item in verdict.onset if item.fact.known))), None)
    first = verdict.suspects[0]
    sign_events = {sign.event for sign in first.signs}
    return next((root for root in roots if first.node in root.nodes or root.event in sign_events), None)


def _stop(found: Findings) -> str:
    """What ended it from outside, in words; empty where nothing did."""
    text = next((root.fact.says for root in found.roots if root.fact.stop), "")
    unharmed = not any(candidate.role is Role.PROPAGATED for candidate in found.candidates)
    cancelled = found.parsed.job.status is Status.CANCELLED and unharmed
    return text or ("the job was stopped from outside" if cancelled else "")


def _flapped(found: Findings) -> Candidate | None:
    """The link that went down on one node of a job that runs, and that the job survived."""
    links = (
        candidate
        for candidate in found.candidates
        if candidate.fact.hardware
        and OF_KIND.get(Kind(candidate.fact.kind)) is FaultClass.LINK
        and len(candidate.nodes) == 1
    )
    return next(links, None) if found.parsed.job.status is Status.RUNNING else None


def _says(found: Findings, verdict: Verdict, leading: Candidate | None) -> str:
    if verdict.scope is Scope.NONE:
        stop = _stop(found)
        return stop if stop and verdict.checks else _well(found, verdict)
    if verdict.scope is Scope.JOB and found.alone is not None:
        return f"{found.alone.called} works on alone while the others wait until their time-out"
    if leading is not None:
        return leading.fact.says
    if verdict.scope is Scope.NODE:
        return verdict.suspects[0].signs[0].says or "it went silent while the others waited for it"
    return _says_of_all(found)


def _well(found: Findings, verdict: Verdict) -> str:
    """That it completed, and what happened on the way all the same."""
    if found.parsed.job.status is not Status.COMPLETED:
        return "it ended as planned or was stopped from outside"
    on_the_way = [reason.rstrip(".") for reason in verdict.why[1:2]]  # the first tells of the status
    return f"it completed (on the way: {on_the_way[0]}; see why before the next job)" if on_the_way else "it completed"


def _says_of_all(found: Findings) -> str:
    if found.mismatch is not None:
        return "its ranks wait in different collectives"
    if found.ending.hung:
        return "it hung"
    if found.leak is not None and not found.ending.slow:
        return f"its {found.leak.name} grew without end"
    if found.alarm is not None:
        return found.alarm.says
    if found.broken is not None:
        return f"{found.broken.name} is nan"
    return _how_slow(found)


def _how_slow(found: Findings) -> str:
    """That it was slow, by its metrics or by its lines, and which part of a step; empty where it was not."""
    if found.ending.slow is None:
        return found.slower.says if found.slower is not None else ""
    part = slower_part(found.parsed, found.ending.slow)
    return f"it was slow: {part.says}" if part is not None else "it was slow"


def _flaps(table: EventTable, leading: Candidate) -> int:
    """How often it was said within the five minutes that hold most of it; lines of one second are one time."""
    times = table.time[leading.rows]
    seconds = np.unique(times[times != NO_TIME] // SECOND) * SECOND
    ends = np.searchsorted(seconds, seconds + WINDOW, side="right")
    return max(1, int((ends - np.arange(len(seconds))).max(initial=0)))
