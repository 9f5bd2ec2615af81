"""How far a running job is: its iterations and their pace, its stage, and whether it hangs.

What counts up is progress: the iteration markers of ``core.course.iterations`` and every progress bar. A job hangs when
it made none for far longer than it ever took; pauses that were announced (a checkpoint, an evaluation) may take long,
until the job has shown how long its own take.
"""

import re
from collections import deque
from functools import lru_cache
from itertools import pairwise
from statistics import median

from core.course.markers import dialects
from core.course.patience import MIN_STEPS, patience, patience_in_pause
from core.course.stages import STAGES, opened_by
from core.live.findings import JOB, LiveFinding, LiveKind, duration
from core.live.numbers import Numbers
from core.live.tail import Heard
from core.model import Stage
from core.naming import natural, together

MAX_NAMED = 8  # ranks in a sentence; of more it says how many
_BAR = 3  # weight of progress bars in rules/iterations.toml
_MAIN = 6  # from this weight on a dialect counts iterations for sure
_MAX_DIGITS = 9  # of an iteration: more are an id or a time
_RESTARTED = 3  # iterations that a number falls by when a run begins anew (core.course.iterations)
_PAUSES = frozenset(
    {Stage.EVALUATION, Stage.CHECKPOINT_SAVING, Stage.CHECKPOINT_LOADING, Stage.DATA_LOADING, Stage.MODEL_LOADING}
    | {Stage.INITIALIZATION}
)


# Beyond the rule packs, in whatever framework: "(before save_checkpoint for iteration 50)". What is done says "saved".
_ANNOUNCES = re.compile(
    r"(?:sav(?:e|ing)|writ(?:e|ing)|load(?:ing)?)[ _](?:\w+ )?checkpoint|\bvalidating\b", re.IGNORECASE
)


class JobProgress:
    """Iterations, stage and pace of one job."""

    def __init__(self, planned: int | None) -> None:
        self.iteration: int | None = None
        self.total = planned
        self._planned = planned
        self._weight = 0
        self.numbers = Numbers()
        self._of_speaker: dict[str, int] = {}
        self._bars: dict[tuple[str, int], int] = {}
        self._pace = LivePace()
        self._steps: deque[tuple[float, int]] = deque(maxlen=KEPT)  # when which iteration was done
        self._per_step = 1  # iterations from one marker to the next
        self._stage = Stage.UNKNOWN
        self._paused: dict[Stage, float] = {}  # the longest pause that the job came through, by stage
        self._hung_since: float | None = None

    @property
    def last(self) -> float | None:
        """When there was progress last."""
        return self._pace.last

    @property
    def finished(self) -> bool:
        """Whether all planned iterations are done."""
        return self.total is not None and self.iteration is not None and self.iteration >= self.total

    def seconds_per_iteration(self) -> float | None:
        """The usual time of an iteration, once some are done."""
        each = [
            (at - before) / (number - earlier)
            for (before, earlier), (at, number) in pairwise(self._steps)
            if number > earlier
        ]
        return median(each) if len(each) >= MIN_STEPS else None

    @property
    def known(self) -> bool:
        """Whether enough iterations came to tell the pace."""
        return self._pace.words > MIN_STEPS

    def hear(self, heard: Heard, file: str, at: float, who: str) -> bool:
        """Take note of a line; whether it was progress."""
        stage, dialect = _meaning(heard.body)
        if dialect is None:
            self._stage = stage or self._stage
            return False
        _, read, weight = dialect
        match = read.search(heard.unlabelled)
        if match is None or not self._counts_up(match, weight, file, who):
            return False
        self._advance(at)
        return True

    def look(self, now: float) -> LiveFinding | None:
        """The finding that the job hangs, once."""
        last, allowed = self._pace.last, self.patience()
        if last is None or allowed is None or self._hung_since is not None or now - last <= allowed:
            return None
        self._hung_since = last
        return self._hung(now, now - last)

    def patience(self) -> float | None:
        """Seconds without progress that are no hang; None while no pace is known, and when nothing more is to come."""
        if not self.known or self.finished:
            return None
        each = self.seconds_per_iteration()
        step = self._pace.usual() if each is None else each * self._per_step
        training = patience(step, self._pace.usual(), self._pace.longest())
        if self._stage not in _PAUSES:
            return training
        return patience_in_pause(training, self._paused.get(self._stage))

    def resumed(self, now: float) -> LiveFinding | None:
        """The finding that a hung job goes on, once."""
        if self._hung_since is None or self._pace.last is None or self._pace.last <= self._hung_since:
            return None
        quiet, self._hung_since = self._pace.last - self._hung_since, None
        says = f"the job goes on after {duration(quiet)}{self._where(' with iteration {}')}"
        return LiveFinding(LiveKind.RESUMED, now, JOB, says, quiet)

    def _hung(self, now: float, quiet: float) -> LiveFinding:
        longest = max(self._paused.get(self._stage, 0.0), self._pace.longest())
        each = self.seconds_per_iteration()
        took = f"its iterations took {duration(each)}, " if each is not None else ""
        says = (
            f"the whole job has made no progress for {duration(quiet)}{self._where(', since iteration {}')}; {took}its"
            f" longest pause of late was {duration(longest)}{self._behind()}"
        )
        return LiveFinding(LiveKind.HUNG, now, JOB, says, quiet, longest)

    def _behind(self) -> str:
        """Who has not finished the iteration that most have; nothing when nobody stands out."""
        behind = [who for who, number in self._of_speaker.items() if number < (self.iteration or 0)]
        if not behind or len(behind) * 2 >= len(self._of_speaker):
            return ""
        names = together(sorted(behind, key=natural)[:MAX_NAMED])
        more = f" and {len(behind) - MAX_NAMED:,} more" if len(behind) > MAX_NAMED else ""
        return f"; {names}{more} did not finish it"

    def _where(self, words: str) -> str:
        return "" if self.iteration is None else words.format(f"{self.iteration:,}")

    def _counts_up(self, match: re.Match[str], weight: int, file: str, who: str) -> bool:
        groups = match.groupdict()
        digits, planned = groups.get("iteration") or groups.get("step"), groups.get("total")
        if digits is None or len(digits) > _MAX_DIGITS:
            return False
        number = int(digits)
        total = int(planned) if planned and len(planned) <= _MAX_DIGITS else None
        if weight == _BAR:
            before = self._bars.get((file, total or 0), -1)
            self._bars[file, total or 0] = number
            if number == before or not self._is_main_bar(total, weight):
                return number != before
        elif weight < min(self._weight, _MAIN):
            return False
        self._of_speaker[who] = number
        self.numbers.hear(match.string, number)
        return self._reach(number, total, weight)

    def _is_main_bar(self, total: int | None, weight: int) -> bool:
        """Whether this bar counts iterations: of several the longest, unless lines count them."""
        if self._weight > weight or total is None:
            return False
        return total == self._planned or total >= max(bar_total for _, bar_total in self._bars)

    def _reach(self, number: int, total: int | None, weight: int) -> bool:
        self._weight = max(self._weight, weight)
        self.total = self._planned or total or self.total
        if self.iteration is not None and self.iteration - _RESTARTED <= number <= self.iteration:
            return False
        step = number - self.iteration if self.iteration is not None else 1
        if step > 0:
            self._per_step = step
        self.iteration = number
        return True

    def _advance(self, at: float) -> None:
        last = self._pace.last
        if last is not None and self._pace.words > MIN_STEPS:
            pause = at - last
            if self._stage in _PAUSES:
                self._paused[self._stage] = max(pause, self._paused.get(self._stage, 0.0))
        self._stage = Stage.TRAINING
        self._pace.speak(at)
        if self.iteration is not None:
            if self._steps and self._steps[-1][0] == at:
                self._steps.pop()
            self._steps.append((at, self.iteration))


@lru_cache(maxsize=1 << 14)
def _meaning(body: bytes) -> tuple[Stage | None, tuple[str, re.Pattern[str], int] | None]:
    """The stage that such a line opens, and the dialect in which it counts iterations."""
    text = body.decode("utf-8", "replace")
    dialect = next((item for item in dialects() if item.marker.search(text)), None)
    if dialect is not None:
        return Stage.TRAINING, (dialect.name, dialect.read, dialect.weight)
    place = opened_by(text)
    if place >= 0:
        return STAGES[place], None
    return (Stage.CHECKPOINT_SAVING if _ANNOUNCES.search(text) else None), None


KEPT = 64  # words whose times are kept: enough for the quarter hour of a rank that speaks every 15 s


class LivePace:
    """The pace of one voice, or of the job's progress; seconds of the caller's clock."""

    def __init__(self, kept: int = KEPT) -> None:
        self._times: deque[float] = deque(maxlen=kept)
        self.words = 0  # at different times; what comes together is one word

    def speak(self, at: float) -> None:
        """Something was said at this time; never earlier than what was said before."""
        if not self._times or at > self._times[-1]:
            self._times.append(at)
            self.words += 1

    @property
    def last(self) -> float | None:
        """When it spoke last."""
        return self._times[-1] if self._times else None

    def pauses(self) -> list[float]:
        """The pauses between the words that are remembered."""
        return [after - before for before, after in pairwise(self._times)]

    def longest(self) -> float:
        """The longest of them; 0 when there are none."""
        return max(self.pauses(), default=0.0)

    def usual(self) -> float:
        """The median of them; 0 when there are none."""
        pauses = self.pauses()
        return median(pauses) if pauses else 0.0

    def longest_between(self, start: float, now: float) -> float:
        """The longest time without a word from ``start`` to ``now``, as far as words are remembered."""
        start = max(start, self._times[0]) if self.words > len(self._times) else start
        times = [start, *(at for at in self._times if start < at < now), now]
        return max(after - before for before, after in pairwise(times))
