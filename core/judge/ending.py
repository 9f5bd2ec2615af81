"""How a job's progress ended: steadily until somebody stopped it, slower and slower, or long before the end.

A stop from outside says who pulled the plug, not that the job was well. Whether it was is told by its progress until
the order came, against its own past and against good jobs (``core.course.patience``, as in ``firstfault watch``).
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.course.pace import SECOND, Course, Pace
from core.course.patience import END_STEPS, patience, patience_in_pause
from core.course.shift import DRIFT, MIN_RATIO, find_shift, find_uneven_shift
from core.course.stages import STAGES
from core.course.timings import LAG, find_timings, is_milliseconds, is_rate
from core.course.wall import end_by_logs
from core.events.table import EventTable, rows_by
from core.judge.candidates import Candidate
from core.logs.lines import NO_TIME
from core.logs.origins import Program
from core.model import Role, Stage
from core.parsing.parsed import Parsed

SLOWER_THAN_GOOD = 3.0  # times the step of the slowest good job: machines differ by less than two (docs/LOG.md)
TROUBLE = 0.5  # strength from which on an event is trouble by itself (core.judge.roles)
LATE_END = 5.0  # seconds that a scheduler takes to write down the end of a job: 0 to 2.8 in jobs that were well
LATE_BAR = 15.0  # seconds from the clock above a progress bar to its first stroke: imports, set-up (1 to 13 in the lab)
LAST_STEPS, FLAGGING = 2, 3.0  # the mean of so many last steps beyond so many usual ones is no steady pace
FEW = 0.25  # of the nodes (as in core.nodes.stall)
MIN_RANKS = 3  # of two that differ, either may be the odd one
# A printed time of a whole step: step_time, iter time, time/step, "elapsed time per iteration", sec/it, ms/update
_TOTAL = re.compile(r"step|iter|elapsed|/(?:it|update|upd|batch)\b|^time$", re.IGNORECASE)
_PAUSES = frozenset(
    {Stage.EVALUATION, Stage.CHECKPOINT_SAVING, Stage.CHECKPOINT_LOADING, Stage.DATA_LOADING, Stage.MODEL_LOADING}
)
_NUMBERS = frozenset({"own part", "network"})  # those that measure what a part of a step takes
_FROZEN = frozenset({"exit", "stubborn", "no answer"})  # channels of core.nodes that tell of a process that stood still
_KNOWN_PAUSES = (Stage.EVALUATION, Stage.CHECKPOINT_SAVING)


@dataclass(frozen=True, slots=True)
class Slowdown:
    """Steps became slower for good: from which iteration on, and seconds a step before (or in good jobs) and after.

    uneven: single steps say little, only what they come to; before and after are means.
    """

    iteration: int
    before: float
    after: float
    than_good_jobs: bool = False
    uneven: bool = False


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
    hang if no pause were known that the job, or a good one, came through; None where no pace is known.
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

    def explained_by(self, channels: Collection[str]) -> "Ending":
        """The same, with a small slowdown as one where the numbers of few ranks explain it, or the network.

        And with a pause as a hang that is long for this job, though it came through a longer one, perhaps when it
        started, where one process had to be killed or did not answer: that one had not stood still by chance.
        """
        hung = self.usual is not None and self.quiet > self.usual and not _FROZEN.isdisjoint(channels)
        slow = self.slow if _NUMBERS.isdisjoint(channels) else self.slow or self.drift
        return replace(self, slow=slow, allowed=self.usual if hung else self.allowed)

    @property
    def stopped_first(self) -> bool:
        """Whether an order to stop came before anything failed: what fails after it is clearing up."""
        return self.ordered and self.stopped is not None and (self.failed is None or self.stopped <= self.failed)

    @property
    def hung(self) -> bool:
        """Whether there was no progress for longer than the job ever took."""
        return self.allowed is not None and self.quiet > self.allowed

    @property
    def steady(self) -> bool:
        """Whether it made progress at its pace until the end."""
        unsteady = self.hung or self.vague or self.flagging or self.slow is not None
        return self.allowed is not None and not unsteady


def find_ending(parsed: Parsed, candidates: Sequence[Candidate]) -> Ending:
    """How the progress of a job ended, until it was told to stop, something failed, or its logs end."""
    orders = [one for one in candidates if is_order(parsed.table, one)]
    order, failure = _first(parsed, orders), _first(parsed, _failures(parsed, candidates))
    stopped = order if order is not None else _over(parsed)
    until = min((time for time in (stopped, failure) if time is not None), default=None)
    course = parsed.iterations.course if until is None else parsed.iterations.course.until(until)
    pace, good = course.pace(), parsed.usual.pace if parsed.usual else None
    if pace is None or until is None:
        told, part = _told_slowdown(parsed), None if failure is not None else _part_slowdown(parsed)
        return Ending(stopped=stopped, ordered=order is not None, failed=failure, slow=told, drift=told or part)
    progressed = int(course.times[-1])
    late = LATE_END if order is None and failure is None else 0.0
    quiet = max(0.0, (until - progressed) / SECOND - late)
    stage = _stage_after(parsed, progressed)
    training, allowed = _allowed(parsed, course, pace, good, stage)
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
        slow=_slowdown(course, pace, good) or _uneven_slowdown(parsed, course),
        drift=_slowdown(course, pace, good, DRIFT) or (_part_slowdown(parsed) if failure is None else None),
        stage=stage,
        pausing=training < quiet <= allowed and not vague,
        vague=vague,
        usual=usual,
        flagging=float(np.mean(course.waits[-LAST_STEPS:])) > FLAGGING * pace.progress and stage not in _PAUSES,
    )


def is_order(table: EventTable, one: Candidate) -> bool:
    """Whether somebody outside tells the job to stop.

    A scheduler does; a launcher only passes on what it was told, for it asks the processes of its node also when one of
    them has failed.
    """
    if one.role is Role.ROOT:
        return one.fact.stop
    if one.role is not Role.TEARDOWN:
        return False
    by_scheduler = table.origins[table.voice[one.rows[0]]].program is Program.SCHEDULER
    return one.fact.stop or one.fact.told_to_stop or (one.fact.asks_to_stop and by_scheduler)


def _failures(parsed: Parsed, candidates: Sequence[Candidate]) -> list[Candidate]:
    """What tells that the job failed: complaints of few about a peer leave it hanging until somebody ends it."""
    found = [one for one in candidates if _is_failure(one)]
    told = {node for one in found for node in one.nodes}
    few = len(parsed.nodes) >= MIN_RANKS and len(told) <= max(1, len(parsed.nodes) * FEW)
    only_peers = all(one.role is Role.PROPAGATED for one in found)
    ordered = any(is_order(parsed.table, one) or one.fact.stop for one in candidates)
    return [] if few and only_peers and ordered else found


def _is_failure(one: Candidate) -> bool:
    tells = one.role in (Role.ROOT, Role.PROPAGATED) and not one.fact.stop
    return tells and one.fact.strength >= TROUBLE


def _first(parsed: Parsed, candidates: Sequence[Candidate]) -> int | None:
    """When the first of these was said, by its own clock; where none has one, by that of the lines above it."""
    rows = np.concatenate([np.zeros(0, np.intp), *(one.rows for one in candidates)])
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


def _first_line(parsed: Parsed) -> int:
    first = parsed.table.spoke.first
    return int(first[first != NO_TIME].min(initial=np.iinfo(np.int64).max))


def _allowed(parsed: Parsed, course: Course, pace: Pace, good: Pace | None, stage: Stage) -> tuple[float, float]:
    """Seconds without progress that are no hang while the job trains, and in the stage that it was in."""
    longest = max(pace.longest, good.longest if good else 0.0)
    training = patience(pace.progress, pace.progress, longest, steps=END_STEPS)
    if stage not in _PAUSES:
        return training, training
    return training, patience_in_pause(training, _longest_pause(parsed, course, stage) or None)


def _stage_after(parsed: Parsed, progressed: int) -> Stage:
    """The stage that any speaker opened after the last progress; a pause that was announced before any other."""
    table = parsed.table
    late = [file for file, _ in rows_by(table.file_of_voice, np.flatnonzero(table.spoke.last >= progressed))]
    ends = [STAGES[int(parsed.stages[table.rows_of_file(file).stop - 1])] for file in late if table.rows_of_file(file)]
    return next((stage for stage in ends if stage in _PAUSES), ends[0] if ends else Stage.UNKNOWN)


def _longest_pause(parsed: Parsed, course: Course, stage: Stage) -> float:
    """Seconds of the longest pause that the job made in a stage; 0 where it made none."""
    before = np.maximum(course.rows[1:] - 1, 0)
    here = parsed.stages[before] == STAGES.index(stage)
    return float(course.pauses[here].max(initial=0.0))


def _told_slowdown(parsed: Parsed) -> Slowdown | None:
    """The slowdown that lines tell of which have no clock: by the time of a step that they print."""
    told = find_timings(parsed.table, parsed.files, parsed.iterations)
    totals = {name: values for name, values in told.items() if _TOTAL.search(name)}
    found = [slow for _, values in sorted(totals.items()) if (slow := _shift_of(values)) is not None]
    return max(found, key=lambda slow: slow.after, default=None)


def _part_slowdown(parsed: Parsed) -> Slowdown | None:
    """The slowdown that one rank alone tells of, by a part of a step that it prints."""
    found = []
    for name, values in find_timings(parsed.table, parsed.files, parsed.iterations).items():
        if name == LAG or is_rate(name) or len(values) < MIN_RANKS:
            continue
        shifts = [slow for of in values.values() if (slow := _shift_of({0: of})) is not None]
        if len(shifts) == 1:
            scale = 1000 if is_milliseconds(name) else 1
            found.append(Slowdown(shifts[0].iteration, shifts[0].before / scale, shifts[0].after / scale))
    return max(found, key=lambda slow: (slow.after - slow.before, -slow.iteration), default=None)


def _shift_of(values: Mapping[int, Mapping[int, float]]) -> Slowdown | None:
    """Where the median over the ranks of a printed time left its level."""
    numbers = sorted({number for of_rank in values.values() for number in of_rank})
    each = [float(np.median([of[number] for of in values.values() if number in of])) for number in numbers]
    shift = find_shift(np.array(each, np.float64))
    return None if shift is None else Slowdown(numbers[shift.place - 1] + 1, shift.before, shift.after)


def _uneven_slowdown(parsed: Parsed, course: Course) -> Slowdown | None:
    """A slowdown that single steps do not show; what a pause for an evaluation or a checkpoint takes is left out."""
    before = np.maximum(course.rows[1:] - 1, 0)
    stages = np.isin(parsed.stages[before], [STAGES.index(stage) for stage in _KNOWN_PAUSES])
    steps = np.where(np.repeat(stages, course.counts[1:]), np.median(course.steps), course.steps)
    found = find_uneven_shift(steps)
    if found is None:
        return None
    shift, _ = found
    return Slowdown(course.iteration_of_step(shift.place), shift.before, shift.after, uneven=True)


def _slowdown(course: Course, pace: Pace, good: Pace | None, ratio: float = MIN_RATIO) -> Slowdown | None:
    shift = find_shift(course.steps, ratio, coarse=course.is_coarse)
    if shift is not None:
        return Slowdown(course.iteration_of_step(shift.place), shift.before, shift.after)
    if good is not None and good.step > 0 and pace.step >= SLOWER_THAN_GOOD * good.step:
        return Slowdown(int(course.numbers[0]), good.step, pace.step, than_good_jobs=True)
    return None
