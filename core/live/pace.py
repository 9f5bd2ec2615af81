"""How often somebody speaks: the times of the last words, and the pauses between them."""

from collections import deque
from itertools import pairwise
from statistics import median

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
