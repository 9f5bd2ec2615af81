"""How a series of numbers went: whether it stayed, jumped or drifted, and from which place on."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

FEWEST = 4  # values that have a course
STAYS = 0.15  # share of change below which nobody would call a curve rising or falling
IN_ONE = 0.6  # share of the whole change that one step must bring to be a jump, as an eye sees it in a curve
MOSTLY = 0.75  # share of the values from a place on that must lie beyond the old level for the change to begin there
END = 0.2  # share of the values whose middle stands for the end


@dataclass(frozen=True, slots=True)
class Trend:
    """kind: "stayed", "jumped" or "drifted". rose: upwards. at: the place of the value with which the change begins.

    before, after: the middle of the values before it and of the last fifth.
    """

    kind: str
    rose: bool
    at: int
    before: float
    after: float

    def says(self, place: str) -> str:
        """A sentence; ``place``: where the change begins, as "at iteration 44"."""
        if self.kind == "stayed":
            return f"it stayed about the same: {self.before:.4g} in the beginning, {self.after:.4g} at the end."
        way = "rose" if self.rose else "fell"
        how = "a jump" if self.kind == "jumped" else "a drift, no jump"
        return f"{how}: it {way} from {self.before:.4g} to {self.after:.4g}, from {place} on."


def trend_of(values: Sequence[float]) -> Trend | None:
    """The trend of a series; None where it is too short to have any."""
    series = np.array(values, np.float64)
    if len(series) < FEWEST or not np.all(np.isfinite(series)):
        return None
    size = max(1, round(END * len(series)))
    before, after = float(np.median(series[: max(2, len(series) // 3)])), float(np.median(series[-size:]))
    change = after - before
    if abs(change) <= STAYS * max(abs(before), abs(after), 1e-12):
        return Trend("stayed", change > 0, 0, before, after)
    beyond = (series - before) * np.sign(change) > 0.3 * abs(change)
    share = beyond[::-1].cumsum()[::-1] / np.arange(len(series), 0, -1)
    begins = np.flatnonzero(beyond & (share >= MOSTLY))
    at = int(begins[0]) if len(begins) else len(series) - 1
    step = float(np.max(np.diff(series) * np.sign(change)))
    near = series[at] - series[at - 1] if at else 0.0
    jumped = max(step, near * np.sign(change)) >= IN_ONE * abs(change)
    return Trend(
        "jumped" if jumped else "drifted", change > 0, at, float(np.median(series[:at] if at else series[:1])), after
    )
