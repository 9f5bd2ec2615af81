"""Numbers that the iterations of a running job carry: a loss that is none any more, a level that at least doubled.

Level shifts are those of ``core.judge.temporal``; while a job runs they count only once they have lasted for a while,
because what is still rising may be a step of evaluation or a slow disk.
"""

from collections import deque
from math import isfinite

from core.course.markers import measures
from core.judge.temporal import level_shifts
from core.live.findings import JOB, LiveFinding, LiveKind
from core.model import Series

KEPT = 128  # values of a series
LASTED = 12  # values at the new level
BROKEN = 3  # values in a row that are no numbers: a single one is what loss scaling skips
EVERY = 4  # new values between two looks for a shift


class Numbers:
    """The last values of each series."""

    def __init__(self) -> None:
        self._values: dict[str, deque[tuple[int, float]]] = {}
        self._new: dict[str, int] = {}
        self._told: set[str] = set()

    def hear(self, text: str, iteration: int) -> None:
        """Take the numbers of a line that says an iteration; of several lines about one the first counts."""
        for measure in measures():
            if measure.name in self._told or (match := measure.read.search(text)) is None:
                continue
            values = self._values.setdefault(measure.name, deque(maxlen=KEPT))
            if not values or values[-1][0] != iteration:
                values.append((iteration, float(match[1]) * measure.scale))
                self._new[measure.name] = self._new.get(measure.name, 0) + 1

    def look(self, now: float) -> list[LiveFinding]:
        """What is odd about them, each series once."""
        findings = []
        for name in [name for name, new in self._new.items() if new >= EVERY or self._is_broken(name)]:
            self._new[name] = 0
            says = self._odd(name)
            if says:
                self._told.add(name)
                findings.append(LiveFinding(LiveKind.NUMBERS, now, JOB, says))
        return findings

    def _is_broken(self, name: str) -> bool:
        last = [value for _, value in self._values[name]][-BROKEN:]
        return name not in self._told and len(last) == BROKEN and not any(map(isfinite, last))

    def _odd(self, name: str) -> str:
        values = list(self._values[name])
        if self._is_broken(name):
            return f"{name} is {values[-1][1]} since iteration {values[-BROKEN][0]:,}"
        finite = [(iteration, value) for iteration, value in values if isfinite(value)]
        if len(finite) <= LASTED:
            return ""
        series = Series(name, tuple(at for at, _ in finite), tuple(value for _, value in finite))
        lasting = [odd for odd in level_shifts((series,)) if odd.iteration <= finite[-LASTED][0]]
        return lasting[0].because.rstrip(".") if lasting else ""
