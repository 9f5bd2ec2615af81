"""The attempts that a job's logs hold: one, or several where it was started again in the same files.

Start and end are those of job.json where it has both: what runs after training often has no clock (of four public Slurm
jobs a quarter of the time), and the last line with a clock is not the end.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from core.course.checkpoints import saved_times
from core.course.job_clock import moment, zone
from core.course.markers import Markers, find_markers
from core.course.pace import Course, course_of
from core.course.stages import STAGES
from core.events.table import rows_by
from core.facts import fact_of
from core.history.attempt import Attempt, AttemptSuspect, End
from core.history.restarts import BEGINNING, Restart, find_restarts
from core.job import Status
from core.logs.lines import NO_TIME
from core.model import Confidence, Diagnosis, Role, Scope, Stage
from core.parsed import Parsed

MILLISECOND = 1_000  # microseconds
SKEW = 3  # ranks that share a file are this many iterations apart at most
PAUSE = 10  # medians of a step: a shorter pause is no restart
# Those that are told apart, the last ones: Llama 3 was interrupted 466 times in 54 days (arXiv:2407.21783).
MAX_ATTEMPTS = 1 << 10
_BEGINNING = [STAGES.index(stage) for stage in BEGINNING]

_EXCEPTION = re.compile(r"\b([A-Z]\w{0,63}(?:Error|Exception|Interrupt))(?=:|$)", re.MULTILINE)

Span = tuple[int, int]  # microseconds of the logs' clock
Begun = tuple[Course, Restart | None]  # how far an attempt came; how it began where an end before it was told


def attempts_of(parsed: Parsed, diagnosis: Diagnosis) -> tuple[Attempt, ...]:
    """The attempts in the logs of a job, in their order; none where neither a line nor job.json has a clock."""
    times, stages = _timed(parsed)
    manifest = parsed.job.manifest
    began, ended = moment(manifest.start), moment(manifest.end)
    has_times = began is not None and ended is not None
    if not len(times):
        return (_silent(parsed, diagnosis, (began, ended)),) if began is not None and ended is not None else ()
    first, last = int(times[0]), int(times[-1])
    ahead = zone(began, first) if began is not None else 0
    low, high = (began + ahead, ended + ahead) if began is not None and ended is not None else (first, last)
    begun = _begun(parsed, times, stages)
    courses = [course for course, _ in begun]
    spans = _spans(begun, times, stages, (low, high))
    saved, causes = np.sort(saved_times(parsed.table, parsed.memory)), _causes(parsed) if len(courses) > 1 else None
    loading, saving, evaluating = (
        _in_stage(times, stages, stage, shift)
        for stage, shift in (
            (Stage.CHECKPOINT_LOADING, 0),
            (Stage.CHECKPOINT_SAVING, ahead),
            (Stage.EVALUATION, ahead),
        )
    )
    attempts = []
    for number, (course, (start, end)) in enumerate(zip(courses, spans, strict=True)):
        final = number == len(courses) - 1
        cause, raised = (
            _cause(diagnosis)
            if causes is None or final
            else causes.between(int(course.times[-1]) if len(course) else start, spans[number + 1][0])
        )
        name = parsed.job.id if len(courses) == 1 else f"{parsed.job.id} #{number + 1}"
        attempts.append(
            replace(
                _outline(parsed, name, (start - ahead, end - ahead)),
                numbers=course.numbers,
                times=(course.times - ahead) // MILLISECOND,
                ended=_ended(parsed, diagnosis) if final else End.FAILED,
                cause=cause,
                raised=raised,
                saving=saving,
                evaluating=evaluating,
                checkpoints=_checkpoints(course, saved, (start, end)),
                suspects=_suspects(diagnosis) if final else (),
                checked=final and bool(manifest.checked),
                loaded=len(course) > 0
                and bool(np.diff(np.searchsorted(loading, (start // MILLISECOND, course.times[0] // MILLISECOND))) > 0),
                clock="job.json" if has_times else "first and last line",
            )
        )
    return tuple(attempts)


def _silent(parsed: Parsed, diagnosis: Diagnosis, span: Span) -> Attempt:
    """An attempt of which job.json alone tells when it ran: it died before a line, or no line has a clock."""
    cause, raised = _cause(diagnosis)
    return replace(
        _outline(parsed, parsed.job.id, span),
        ended=_ended(parsed, diagnosis),
        cause=cause,
        raised=raised,
        suspects=_suspects(diagnosis),
        checked=bool(parsed.job.manifest.checked),
        clock="job.json",
    )


def _outline(parsed: Parsed, name: str, span: Span) -> Attempt:
    """When an attempt ran, and what job.json tells of it."""
    manifest = parsed.job.manifest
    return Attempt(
        name,
        span[0] // MILLISECOND,
        span[1] // MILLISECOND,
        nodes=manifest.nodes or (parsed.table.nodes if parsed.unit == "node" else ()),
        code=manifest.code,
        arguments=manifest.arguments,
        ranks=manifest.world_size or (sum(map(len, manifest.node_ranks.values()))),
        every=manifest.checkpoint_every or 0,
    )


def _timed(parsed: Parsed) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """Times of all rows that have one, in order, and their stages."""
    pairs = zip(parsed.table.time.parts(), parsed.stages.parts(), strict=True)
    found = [(time[known], stage[known]) for (_, time), (_, stage) in pairs if (known := time != NO_TIME).any()]
    if not found:
        return np.zeros(0, np.int64), np.zeros(0, np.int8)
    times, stages = np.concatenate([time for time, _ in found]), np.concatenate([stage for _, stage in found])
    order = np.argsort(times, kind="stable")
    return times[order], stages[order]


def _in_stage(times: NDArray[np.int64], stages: NDArray[np.int8], stage: Stage, ahead: int) -> NDArray[np.int64]:
    found: NDArray[np.int64] = (times[stages == STAGES.index(stage)] - ahead) // MILLISECOND
    return found


# --- several attempts in the same files ----------------------------------------------------------------------------


def _begun(parsed: Parsed, times: NDArray[np.int64], stages: NDArray[np.int8]) -> list[Begun]:
    """How far each attempt came, and the lines that tell its beginning; at least one, which may be empty."""
    table = parsed.table
    _, marks = find_markers(table, parsed.files, parsed.job.manifest.total_iterations, parsed.memory)
    number_of = np.array([origin.attempt for origin in table.origins], np.int64)
    by_number = number_of[marks.voices]
    if len(by_number) and by_number.min() < by_number.max():  # torchrun keeps a folder an attempt
        return [(course_of(marks.only(mine)), None) for _, mine in rows_by(by_number, np.arange(len(by_number)))]
    restarts = find_restarts(table, marks.rows, parsed.memory)
    opens = sorted(restart.opens for restart in restarts)
    falls = [fell for before, fell in _falls(marks) if bisect_right(opens, before) >= bisect_right(opens, fell)]
    cuts = sorted(
        [*((restart.opens, restart) for restart in restarts), *((fell, None) for fell in falls)], key=lambda cut: cut[0]
    )
    cuts = cuts[-MAX_ATTEMPTS:]
    places = np.searchsorted(np.array([time for time, _ in cuts], np.int64), marks.times, side="right")
    order = np.argsort(places, kind="stable")
    parts = np.split(order, np.searchsorted(places[order], np.arange(1, len(cuts) + 1)))
    begin = times[np.isin(stages, _BEGINNING)]
    found: list[Begun] = []
    for part, how in zip(parts, (None, *(restart for _, restart in cuts)), strict=True):
        first, *others = _restarted(course_of(marks.only(part)), begin)
        found += [(first, how), *((other, None) for other in others)]
    return found[-MAX_ATTEMPTS:]


def _falls(marks: Markers) -> list[tuple[int, int]]:
    """Where the voice that begins anew most often counts a lower iteration: times of its line before, and of it."""
    found: list[list[tuple[int, int]]] = []
    for _, mine in rows_by(marks.voices, np.flatnonzero(marks.times != NO_TIME)):
        fell = np.flatnonzero(np.diff(marks.numbers[mine]) < -SKEW)
        when = marks.times[mine]
        found.append(sorted(zip(when[fell].tolist(), when[fell + 1].tolist(), strict=True), key=lambda pair: pair[1]))
    return max(found, key=len, default=[])


def _restarted(course: Course, begin: NDArray[np.int64]) -> Iterator[Course]:
    """Parts of a course between which a program began anew (``begin``), without computing an iteration again."""
    pace = course.pace()
    if pace is None:
        yield course
        return
    counted = np.diff(np.searchsorted(begin, course.times)) > 0
    cuts = np.flatnonzero(counted & (course.pauses > PAUSE * pace.progress)) + 1
    for part in np.split(np.arange(len(course)), cuts):
        yield Course(course.numbers[part], course.times[part], course.rows[part], course.counts[part])


def _spans(begun: list[Begun], times: NDArray[np.int64], stages: NDArray[np.int8], whole: Span) -> list[Span]:
    """When each attempt began and ended: between two lies the longest silence before a program begins anew.

    Where its end was told, as that of a launcher, the silence comes after that: a hang before it is no time between.
    """
    starts, ends = [whole[0]], []
    for (course, _), (following, how) in pairwise(begun):
        low = int(course.times[-1]) if len(course) else starts[-1]
        high = int(following.times[0]) if len(following) else whole[1]
        if how is not None:
            low = max(low, how.died) if how.died < how.opens else low  # a traceback has no clock of its own
            high = how.opens
        within = slice(int(np.searchsorted(times, low)), int(np.searchsorted(times, high, side="right")))
        between = times[within]
        anew = np.flatnonzero(np.isin(stages[within], _BEGINNING))
        is_shown = how is None and len(anew) > 0 and anew[0] > 0
        upto = int(anew[0]) + 1 if is_shown else len(between)
        at = int(np.argmax(np.diff(between[:upto]))) + 1 if upto > 1 else 0
        ends.append(int(between[max(0, at - 1)]) if len(between) else low)
        starts.append(int(between[at]) if len(between) else high)
    return list(zip(starts, [*ends, whole[1]], strict=True))


# --- what ended it -------------------------------------------------------------------------------------------------


def _ended(parsed: Parsed, diagnosis: Diagnosis) -> End:
    status = parsed.job.status
    if status is Status.RUNNING:
        return End.RUNNING
    if diagnosis.scope is not Scope.NONE:
        return End.FAILED if status is not Status.COMPLETED else End.COMPLETED
    return End.PLANNED if diagnosis.checks else End.COMPLETED


def _cause(diagnosis: Diagnosis) -> tuple[str, str]:
    """What broke, in short, and its exception; empty of a job that completed, and where nothing is known."""
    step = diagnosis.next
    if step is None or (diagnosis.scope is Scope.NONE and not diagnosis.checks):
        return "", ""
    leading = next((event for event in diagnosis.events if event.role is Role.ROOT), None)
    return step.cause, _raised(leading.template) if leading else ""


def _raised(template: str) -> str:
    """The type of the exception that a template holds: of the last one, which is what a traceback ends in."""
    found = _EXCEPTION.findall(template)
    return found[-1] if found else ""


def _suspects(diagnosis: Diagnosis) -> tuple[AttemptSuspect, ...]:
    """Nodes that the diagnosis names with more than a weak verdict."""
    if diagnosis.scope is not Scope.NODE or diagnosis.confidence is Confidence.WEAK:
        return ()
    return tuple(
        AttemptSuspect(node.node, diagnosis.next.kind if diagnosis.next else "unknown") for node in diagnosis.nodes
    )


@dataclass(frozen=True, slots=True)
class _Causes:
    """When what may end an attempt was said, in order, and the place of each in ``told``, the strongest first."""

    times: NDArray[np.int64]
    places: NDArray[np.intp]
    told: tuple[tuple[str, str], ...]

    def between(self, low: int, high: int) -> tuple[str, str]:
        """The strongest that was said from one time to another, in short, and its exception; empty for none."""
        first, stop = np.searchsorted(self.times, low), np.searchsorted(self.times, high, side="right")
        return self.told[int(self.places[first:stop].min())] if first < stop else ("", "")


def _causes(parsed: Parsed) -> _Causes:
    """Direct traces of a failure, for the attempts that are not the last one."""
    table = parsed.table
    facts = {
        event: fact_of(table.templates[event].sample, block=table.templates[event].block) for event in parsed.telling
    }
    roots = {event: fact for event, fact in facts.items() if fact and fact.role is Role.ROOT and not fact.stop}
    rows = table.rows_of(roots)
    ordered = sorted(rows, key=lambda event: (-roots[event].strength, event))
    times = [table.time[rows[event]] for event in ordered]
    when = np.concatenate([np.zeros(0, np.int64), *times])
    order = np.argsort(when, kind="stable")
    return _Causes(
        when[order],
        np.repeat(np.arange(len(ordered)), [len(own) for own in times])[order],
        tuple((roots[event].says, _raised(table.templates[event].sample)) for event in ordered),
    )


# --- checkpoints ---------------------------------------------------------------------------------------------------


def _checkpoints(course: Course, saved: NDArray[np.int64], span: Span) -> tuple[int, ...]:
    """The iterations after which a checkpoint was complete, in one attempt."""
    own = saved[np.searchsorted(saved, span[0]) : np.searchsorted(saved, span[1], side="right")]
    places = np.searchsorted(course.times, own, side="right") - 1
    return tuple(sorted({int(course.numbers[place]) for place in places.tolist() if place >= 0}))
