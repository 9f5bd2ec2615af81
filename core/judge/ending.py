"""How a job's progress ended: steadily until somebody stopped it, slower and slower, or long before the end.

A stop from outside says who pulled the plug, not that the job was well. Whether it was is told by its progress until
the order came, against its own past and against good jobs (``core.course.patience``, as in ``firstfault watch``).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.course.job_clock import end_by_logs
from core.course.level_shift import DRIFT, MIN_RATIO
from core.course.pace import SECOND, Course, Pace
from core.course.patience import END_STEPS, patience, patience_in_pause
from core.course.stages import STAGES
from core.events.table import EventTable, rows_by
from core.failure_kinds import Kind
from core.job import Status
from core.judge.bar_clock import ending_by_bar
from core.judge.candidates import Candidate
from core.judge.repeats import find_repeats
from core.judge.slowdown import (
    SHARE,
    Slowdown,
    clocked_slowdown,
    drawn_slowdown,
    growing_slowdown,
    part_slowdown,
    slower_than_good,
    stalling_slowdown,
    told_slowdown,
    uneven_slowdown,
)
from core.judge.work_spans import Span
from core.logs.lines import NO_TIME
from core.logs.origins import Program
from core.model import Role, Stage
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS, few_of

TROUBLE = 0.5  # strength from which on an event is trouble by itself (core.judge.roles.row_queries)
LATE_END = 5.0  # seconds that a scheduler takes to write down the end of a job: 0 to 2.8 in jobs that were well
LATE_BAR = 15.0  # seconds from the clock above a progress bar to its first stroke: imports, set-up (1 to 13 in the lab)
RECENT = 8  # steps whose median is the last pace: of fewer, half may be the pauses before a hang
LAST_STEPS, FLAGGING = 2, 3.0  # the mean of so many last steps beyond so many usual ones is no steady pace
COARSE_STEP = 5.0  # seconds, of which a clock of whole ones rounds away a fifth, as much as a level that is clear rises

_PAUSES = frozenset(
    {Stage.EVALUATION, Stage.CHECKPOINT_SAVING, Stage.CHECKPOINT_LOADING, Stage.DATA_LOADING, Stage.MODEL_LOADING}
)
NUMBERS = frozenset({"own part", "network"})  # those that measure what a part of a step takes
_FROZEN = frozenset({"exit", "stubborn", "no answer"})  # channels of core.nodes that tell of a process that stood still


@dataclass(frozen=True, slots=True)
class Ending:
    """How a job's progress ended.

    progressed: time of the last progress. stopped: when the first order to stop came, else when the job was over;
    both in microseconds of the job's clock, None where unknown. ordered: whether an order is known. failed: when
    something first failed. quiet: seconds without progress until the order or the failure, whichever came first.
    allowed: seconds that are no hang; None where no pace is known. slow: a slowdown that lasted until the end. drift:
    the same, so little that a busy machine may be all there is to it. stage: what began after the last progress.
    flagging: the last steps took much longer than usual. pausing: a checkpoint, an evaluation or the like had begun, of
    which nobody knows how long it takes, and went on for longer than a hang in training would be told. vague: the clock
    is that of a bar, of which nobody knows when it began, and by that it may have hung. usual: seconds that would be a
    hang if no pause were known that the job, or a good one, came through; None where no pace is known. undated: neither
    a clock nor job.json tells when the order to stop came, which may have been long after the last line above it.
    paused: seconds of the longest pause that the job came through, where that was a good part of its time; else 0.
    repeats: what it said again and again in the end, where no clock tells for how long.
    """

    progressed: int | None = None
    stopped: int | None = None
    ordered: bool = False
    failed: int | None = None
    quiet: float = 0.0
    allowed: float | None = None
    slow: Slowdown | None = None
    drift: Slowdown | None = None
    stage: Stage = Stage.UNKNOWN
    flagging: bool = False
    pausing: bool = False
    vague: bool = False
    usual: float | None = None
    undated: bool = False
    paused: float = 0.0
    repeats: str = ""

    def explained_by(self, channels: Collection[str], dumped: int = 0) -> "Ending":
        """The same, with a small slowdown as one where the numbers of few ranks explain it, or the network.

        And with a pause as a hang that is long for this job, though it came through a longer one, perhaps when it
        started, where one process had to be killed or did not answer: that one had not stood still by chance. So it is
        where somebody had stacks dumped, which is done with jobs that hang.

        Args:
            channels: of all signs. dumped: processes whose stacks are known.
        """
        looked_at = dumped >= MIN_RANKS or not _FROZEN.isdisjoint(channels)
        hung = self.usual is not None and self.quiet > self.usual and looked_at
        slow = self.slow if NUMBERS.isdisjoint(channels) else self.slow or self.drift
        return replace(self, slow=slow, allowed=self.usual if hung else self.allowed)

    @property
    def stopped_first(self) -> bool:
        """Whether an order to stop came before anything failed: what fails after it is clearing up."""
        return self.ordered and self.stopped is not None and (self.failed is None or self.stopped <= self.failed)

    @property
    def hung(self) -> bool:
        """Whether there was no progress for longer than the job ever took, or it only said that it waits."""
        return bool(self.repeats) or (self.allowed is not None and self.quiet > self.allowed)

    @property
    def steady(self) -> bool:
        """Whether it made progress at its pace until the end."""
        unsteady = self.hung or self.vague or self.flagging or self.slow is not None
        return self.allowed is not None and not unsteady

    @property
    def at_pace(self) -> bool:
        """Whether nothing at all speaks against steady progress: no pause that only another one excuses, no drift."""
        is_usual = self.usual is None or self.quiet <= self.usual
        return self.steady and is_usual and self.drift is None and not (self.undated or self.paused)


def find_ending(parsed: Parsed, candidates: Sequence[Candidate], spans: Sequence[Span] = ()) -> Ending:
    """How the progress of a job ended, until it was told to stop, something failed, or its logs end."""
    orders = [candidate for candidate in candidates if is_order(parsed.table, candidate)]
    failures = _failures(parsed, candidates)
    order, failure = _first(parsed, orders), _first(parsed, failures)
    undated = order is not None and not any(parsed.table.timed[candidate.rows].any() for candidate in orders)
    if order is not None and undated:
        order = max(order, _over(parsed) or order)
    stopped = order if order is not None else _over(parsed)
    until = min((time for time in (stopped, failure) if time is not None), default=None)
    course = parsed.iterations.course if until is None else parsed.iterations.course.until(until)
    pace, good = course.pace(), parsed.usual.pace if parsed.usual else None
    if pace is None or until is None or (parsed.iterations.last is None and not _fell_silent(course, pace, until)):
        known = Ending(stopped=stopped, ordered=order is not None, failed=failure)
        broke = any(candidate.fact.kind != Kind.KILLED for candidate in failures)  # who kills it may end a hang
        return _without_pace(parsed, spans, until, known, broke=broke)
    progressed = int(course.times[-1])
    late = LATE_END if order is None and failure is None and _ends_by_manifest(parsed) else 0.0
    quiet = max(0.0, (until - progressed) / SECOND - late)
    if parsed.job.status is Status.COMPLETED and failure is None:
        quiet = 0.0  # what it did after its last step was its end
    stage = _stage_after(parsed, progressed)
    training, allowed = _allowed(parsed, course, pace, good, stage)
    is_counted = parsed.iterations.last is not None  # else nobody knows from which iteration on it was slow
    drift = _drift(parsed, course, pace, good) if is_counted else None
    drift = drift or (part_slowdown(parsed) if failure is None else None)
    by_bar = not parsed.table.timed[int(course.rows[-1])]
    usual = patience(pace.progress, pace.progress, 0.0, steps=END_STEPS) if stage not in _PAUSES else None
    vague = by_bar and allowed < quiet <= allowed + LATE_BAR
    allowed += LATE_BAR if by_bar else 0.0
    return Ending(
        progressed=progressed,
        stopped=stopped,
        ordered=order is not None,
        failed=failure,
        quiet=quiet,
        allowed=allowed,
        slow=_slow(parsed, course, pace, good, drift) if is_counted else None,
        drift=drift,
        stage=stage,
        pausing=training < quiet <= allowed and not vague,
        vague=vague,
        usual=usual,
        undated=(undated and not _ends_by_manifest(parsed)) or _is_cut_off(parsed, order, failure),
        paused=_paused(course, pace, good),
        flagging=float(np.mean(course.waits[-LAST_STEPS:])) > FLAGGING * pace.progress and stage not in _PAUSES,
    )


def _paused(course: Course, pace: Pace, good: Pace | None) -> float:
    """Seconds of the longest pause, if no good job had one as long and it was a good part of the time; else 0."""
    longest, whole = float(course.pauses.max()), float(course.times[-1] - course.times[0]) / SECOND
    usual = max(patience(pace.progress, pace.progress, 0.0, steps=END_STEPS), good.longest * MIN_RATIO if good else 0.0)
    return longest if longest > max(usual, SHARE * whole) else 0.0


def _without_pace(
    parsed: Parsed,
    spans: Sequence[Span],
    until: int | None,
    known: Ending,
    *,
    broke: bool,
) -> Ending:
    """The ending of a job without a pace by clocks: by times that it prints, by its bar, by work that was begun."""
    failure = known.failed
    part = None if failure is not None else part_slowdown(parsed)
    slow = told_slowdown(parsed) or drawn_slowdown(parsed)
    quiet, allowed = _standing(parsed, spans, until)
    bar = ending_by_bar(parsed) if allowed is None and failure is None else None
    if bar is not None:
        quiet, allowed = bar.quiet, bar.allowed
    is_done = parsed.job.status is Status.COMPLETED or broke
    repeats = "" if is_done else find_repeats(parsed, counting=failure is not None)
    return replace(
        known,
        # no clock tells of what it repeats when it was
        stopped=None if repeats and not known.ordered else known.stopped,
        quiet=quiet,
        allowed=allowed,
        slow=slow,
        drift=slow or part,
        vague=False if bar is None else bar.vague,
        usual=None if bar is None else bar.usual,
        repeats=repeats,
    )


def _fell_silent(course: Course, pace: Pace, until: int) -> bool:
    """Whether what a job said regularly stayed away long before the end; that it went on proves no progress."""
    quiet = (until - int(course.times[-1])) / SECOND
    return quiet > patience(pace.progress, pace.progress, pace.longest, steps=END_STEPS)


def _slow(parsed: Parsed, course: Course, pace: Pace, good: Pace | None, drift: Slowdown | None) -> Slowdown | None:
    """The slowdown that lasted until the end: against the job's own past, else against good jobs.

    Printed times of steps, where they tell the same, leave out pauses and are finer than a clock of whole seconds. What
    is printed now and then, and the clock, tell each the first iteration that may have been longer: the later one is.
    """
    own = (
        clocked_slowdown(course)
        or uneven_slowdown(parsed, course)
        or growing_slowdown(course)
        or stalling_slowdown(course, pace, good)
    )
    printed = told_slowdown(parsed)
    same = next((slow for slow in (own, drift) if slow and printed and printed.is_like(slow)), None)
    if printed is not None and same is not None:
        return replace(printed, iteration=max(printed.iteration, same.iteration))
    if own is None and printed is not None and _is_rounded_away(course, printed):
        return printed
    return own or slower_than_good(course, pace, good, completed=parsed.job.status is Status.COMPLETED)


def _is_rounded_away(course: Course, printed: Slowdown) -> bool:
    """Whether a clock of whole seconds tells no level of steps so short, and on the average the same two levels."""
    since = np.repeat(course.numbers[1:], course.counts[1:]) > printed.iteration
    if not course.is_coarse or printed.before > COARSE_STEP or not 0 < np.count_nonzero(since) < len(since):
        return False
    before, after = (float(course.steps[side].mean()) for side in (~since, since))
    return printed.is_like(Slowdown(printed.iteration, before, after))


def _drift(parsed: Parsed, course: Course, pace: Pace, good: Pace | None) -> Slowdown | None:
    """One so little that a busy machine may be all there is to it."""
    return (
        clocked_slowdown(course, DRIFT)
        or uneven_slowdown(parsed, course, DRIFT)
        or slower_than_good(course, pace, good, DRIFT, completed=parsed.job.status is Status.COMPLETED)
    )


def is_order(table: EventTable, candidate: Candidate) -> bool:
    """Whether somebody outside tells the job to stop.

    A scheduler does; a launcher only passes on what it was told, for it asks the processes of its node also when one of
    them has failed.
    """
    if candidate.role is Role.ROOT:
        return candidate.fact.stop or candidate.fact.told_to_stop
    if candidate.role is not Role.TEARDOWN:
        return False
    by_scheduler = table.origins[table.voice[candidate.rows[0]]].program is Program.SCHEDULER
    return candidate.fact.stop or candidate.fact.told_to_stop or (candidate.fact.asks_to_stop and by_scheduler)


def _failures(parsed: Parsed, candidates: Sequence[Candidate]) -> list[Candidate]:
    """What tells that the job failed: complaints of few about a peer leave it hanging until somebody ends it."""
    failures = [candidate for candidate in candidates if _is_failure(candidate)]
    nodes_of_failures = {node for candidate in failures for node in candidate.nodes}
    few = len(parsed.nodes) >= MIN_RANKS and len(nodes_of_failures) <= few_of(len(parsed.nodes))
    only_peers = all(candidate.role is Role.PROPAGATED for candidate in failures)
    ordered = any(is_order(parsed.table, candidate) or candidate.fact.stop for candidate in candidates)
    return [] if few and only_peers and ordered else failures


def _is_failure(candidate: Candidate) -> bool:
    tells = candidate.role in (Role.ROOT, Role.PROPAGATED) and not candidate.fact.stop
    return tells and candidate.fact.strength >= TROUBLE


def _first(parsed: Parsed, candidates: Sequence[Candidate]) -> int | None:
    """When the first of these was said, by its own clock; where none has one, by that of the lines above it."""
    rows = np.concatenate([np.zeros(0, np.intp), *(candidate.rows for candidate in candidates)])
    timed = rows[parsed.table.timed[rows]] if len(rows) else rows
    times = parsed.table.time[timed if len(timed) else rows] if len(rows) else np.zeros(0, np.int64)
    return min((time for time in times.tolist() if time != NO_TIME), default=None)


def _over(parsed: Parsed) -> int | None:
    """When the job was over: when the last line came, or a bar was last drawn, or when job.json says, if later."""
    drawn = int(parsed.iterations.course.times.max(initial=NO_TIME))
    last = max(int(parsed.table.spoke.last.max(initial=NO_TIME)), drawn)
    if last == NO_TIME:
        return None
    return max(last, end_by_logs(parsed.job.manifest, _first_line(parsed)) or last)


def _ends_by_manifest(parsed: Parsed) -> bool:
    """Whether job.json, and no line, tells last: a scheduler takes a while to write down the end of a job."""
    last = int(parsed.table.spoke.last.max(initial=NO_TIME))
    return (end_by_logs(parsed.job.manifest, _first_line(parsed)) or NO_TIME) > last


def _is_cut_off(parsed: Parsed, order: int | None, failure: int | None) -> bool:
    """Whether a job was ended, and neither a line nor job.json tells when: its logs may have ended long before."""
    untold = order is None and failure is None and end_by_logs(parsed.job.manifest, _first_line(parsed)) is None
    return untold and parsed.job.status in (Status.CANCELLED, Status.FAILED)


def _first_line(parsed: Parsed) -> int:
    first = parsed.table.spoke.first
    return int(first[first != NO_TIME].min(initial=np.iinfo(np.int64).max))


def _allowed(parsed: Parsed, course: Course, pace: Pace, good: Pace | None, stage: Stage) -> tuple[float, float]:
    """Seconds without progress that are no hang while the job trains, and in the stage that it was in."""
    longest = max(pace.longest, good.longest if good else 0.0)
    progress = max(pace.progress, float(np.median(course.waits[-RECENT:])))  # of a job that became slow, as it was last
    training = patience(progress, progress, longest, steps=END_STEPS)
    if stage not in _PAUSES:
        return training, training
    return training, patience_in_pause(training, _longest_pause(parsed, course, stage) or None)


def _standing(parsed: Parsed, spans: Sequence[Span], until: int | None) -> tuple[float, float | None]:
    """Seconds since most ranks began what they did not end, and how many are no hang; none where they ended all."""
    for span in spans:
        began = [parsed.table.time[row] for row in span.open.values()]
        took = [seconds for of in span.took.values() for seconds in of]
        if until is None or not took or len(began) < MIN_RANKS or len(began) <= len(span.begun) * MAJORITY:
            continue
        quiet = (until - max(int(time) for time in began)) / SECOND - LATE_END
        allowed = patience(max(took), max(took), max(took), steps=END_STEPS)
        if min(began) != NO_TIME and quiet > allowed:
            return quiet, allowed
    return 0.0, None


def _stage_after(parsed: Parsed, progressed: int) -> Stage:
    """The stage that any speaker opened after the last progress; a pause that was announced before any other."""
    table = parsed.table
    late = [file for file, _ in rows_by(table.file_of_voice, np.flatnonzero(table.spoke.last >= progressed))]
    ends = [STAGES[int(parsed.stages[table.rows_of_file(file).stop - 1])] for file in late if table.rows_of_file(file)]
    return next((stage for stage in ends if stage in _PAUSES), ends[0] if ends else Stage.UNKNOWN)


def _longest_pause(parsed: Parsed, course: Course, stage: Stage) -> float:
    """Seconds of the longest pause that the job made in a stage; 0 where it made none."""
    before = np.maximum(course.rows[1:] - 1, 0)
    in_stage = parsed.stages[before] == STAGES.index(stage)
    return float(course.pauses[in_stage].max(initial=0.0))
