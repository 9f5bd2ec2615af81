"""From a diagnosis to the situation in which somebody has to decide what to do."""

import re
from collections.abc import Sequence

import numpy as np

from core.answer.findings import Findings, Verdict
from core.course.checkpoints import saved_times
from core.course.pace import SECOND
from core.events.table import EventTable
from core.facts import Fact
from core.job import Status
from core.judge.candidates import Candidate
from core.kinds import BROKEN_XIDS, Kind
from core.logs.lines import NO_TIME
from core.metrics.found import Says
from core.model import EventEvidence, Role, Scope
from core.next.situation import OF_KIND, Broken, Past, Situation
from core.parsed import Parsed

OWN_REPORT = 0.95  # strength of what a device or its driver reports itself; programs tell of a failed kernel with less
WINDOW = 300 * SECOND  # of flaps that count together (ByteRobust, section 4.1: twice within five minutes)
_XID = re.compile(r"\bXid\b(?: ?\([^)]{0,64}\))?:? (\d{1,3})\b")  # in brackets: an address on the bus
_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<name>\S+)')
_LIBRARY = re.compile(r"site-packages|dist-packages|/lib/python|<frozen|<string>")


def situation(
    found: Findings, verdict: Verdict, events: Sequence[EventEvidence] = (), past: Past | None = None
) -> Situation:
    """What the decision needs of a diagnosis.

    Args:
        found: all findings.
        verdict: what they came to.
        events: evidence of the answer, for the frame in which code failed.
        past: what earlier attempts came to.
    """
    parsed, leading = found.parsed, _leading(found, verdict)
    nodes = parsed.unit == "node"
    total = len(found.nodes) if nodes and found.nodes else None
    return Situation(
        scope=verdict.scope,
        confidence=verdict.confidence,
        broken=broken(leading.fact, leading.quote) if leading else _by_numbers(found, verdict),
        says=_says(found, verdict, leading),
        accused=tuple(one.node for one in verdict.suspects),
        unit=parsed.unit,
        total=total,
        running=parsed.job.status is Status.RUNNING,
        completed=parsed.job.status is Status.COMPLETED,
        stuck=found.ending.hung or found.ending.slow is not None or _says_alarm(found, Says.STANDS),
        flaps=_flaps(parsed.table, leading) if leading else 1,
        frame=frame(events),
        spares=parsed.job.manifest.spares,
        startup=startup(parsed),
        redo=redo(parsed),
        past=past or Past(),
    )


def broken(fact: Fact, quote: str = "") -> Broken:
    """What a fact says is broken; ``quote``: the line that says it."""
    xid = _XID.search(quote)
    if xid is not None:
        return Broken.MACHINE if int(xid[1]) in BROKEN_XIDS else Broken.PROCESS
    if fact.kind == Kind.ACCELERATOR and fact.strength < OWN_REPORT:
        return Broken.PROCESS
    kind = OF_KIND.get(Kind(fact.kind), Broken.UNKNOWN)
    return Broken.MACHINE if fact.hardware and kind is not Broken.LINK else kind


def _says_alarm(found: Findings, kind: Says) -> bool:
    return found.alarm is not None and found.alarm.kind is kind


def _by_numbers(found: Findings, verdict: Verdict) -> Broken:
    channels = {sign.channel for one in verdict.suspects for sign in one.signs[:1]}
    if found.broken is not None or "agreement" in channels or _says_alarm(found, Says.NUMBERS):
        return Broken.NUMBERS
    if "memory" in channels:
        return Broken.PROCESS
    return Broken.CODE if _all_leak(found, verdict) else Broken.UNKNOWN


def _all_leak(found: Findings, verdict: Verdict) -> bool:
    return found.leak is not None and verdict.scope is Scope.JOB and not found.ending.hung and not found.ending.slow


def startup(parsed: Parsed) -> float | None:
    """Seconds from the first line to the first iteration, less one step; None where no clock tells."""
    first = parsed.table.spoke.first
    began = int(first[first != NO_TIME].min(initial=np.iinfo(np.int64).max))
    course, pace = parsed.iterations.course, parsed.iterations.course.pace()
    if pace is None or not len(course) or began > int(course.times[0]):
        return None
    return max(0.0, (int(course.times[0]) - began) / SECOND - pace.step)


def redo(parsed: Parsed) -> float | None:
    """Seconds of training since the last checkpoint that was complete; None where no line tells of one."""
    course, saved = parsed.iterations.course, saved_times(parsed.table, parsed.memory)
    if not len(course) or not len(saved):
        return None
    return max(0.0, (int(course.times[-1]) - int(saved[-1])) / SECOND)


def frame(events: Sequence[EventEvidence]) -> str:
    """The last frame of the user's own code in the traceback of the leading event: "loss.py:17 in masked"."""
    leading = next((event for event in events if event.role is Role.ROOT), None)
    frames = [match for line in (leading.lines if leading else ()) if (match := _FRAME.search(line.text))]
    own = [match for match in frames if not _LIBRARY.search(match["file"])]
    return f"{own[-1]['file'].rpartition('/')[2]}:{own[-1]['line']} in {own[-1]['name']}" if own else ""


def _leading(found: Findings, verdict: Verdict) -> Candidate | None:
    """The direct trace that the verdict is about: of the first suspect where there is one."""
    roots = [one for one in found.roots if not one.fact.stop]
    if verdict.scope is not Scope.NODE:
        return roots[0] if roots else None
    first = verdict.suspects[0]
    told = {sign.event for sign in first.signs}
    return next((one for one in roots if first.node in one.nodes or one.event in told), None)


def _says(found: Findings, verdict: Verdict, leading: Candidate | None) -> str:
    if verdict.scope is Scope.NONE:
        stop = next((one.fact.says for one in found.roots if one.fact.stop), "")
        return stop if stop and verdict.checks else "it ended as planned or was stopped from outside"
    if leading is not None:
        return leading.fact.says
    if verdict.scope is Scope.NODE:
        return verdict.suspects[0].signs[0].says or "it went silent while the others waited for it"
    return _says_of_all(found)


def _says_of_all(found: Findings) -> str:
    if found.ending.hung:
        return "it hung"
    if found.leak is not None and not found.ending.slow:
        return f"its {found.leak.name} grew without end"
    if found.alarm is not None:
        return found.alarm.says
    if found.broken is not None:
        return f"{found.broken.name} is nan"
    return "it was slow" if found.ending.slow else ""


def _flaps(table: EventTable, leading: Candidate) -> int:
    """How often it was said within the five minutes that hold most of it; lines of one second are one time."""
    times = table.time[leading.rows]
    seconds = np.unique(times[times != NO_TIME] // SECOND) * SECOND
    ends = np.searchsorted(seconds, seconds + WINDOW, side="right")
    return max(1, int((ends - np.arange(len(seconds))).max(initial=0)))
