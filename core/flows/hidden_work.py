"""Who is slow by its own signs, though the lengths of steps do not show it.

Noise, experts and others' waiting hide a slow link or accelerator in the lengths of steps; its own lateness or work has
two levels, or grows, and that of all others has neither.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.flows.jobs import Floats
from core.flows.signs import FlowSign
from core.flows.stretches import SHORTEST, find_drift, find_level

# Of the L1 cost of a server's work beside that of the others, that two levels save, and times what they save of any
# other's; its rise in parts of a step, and times the next rise. All 86 slow accelerators that are alone above these are
# the guilty ones, and of 240 jobs with another fault or none six that have a slow link (docs/LOG.md)
SAVED, TIMES, RISEN, APART = 0.3, 1.5, 0.2, 3.0
# The same of a rise half as high, where next to nobody else rose: .46 and .26 of the cost, 5 and 3 times the next, of a
# stage and of a rank of FSDP whose jobs hardly felt it; of what is not guilty in 46 jobs none (docs/LOG.md)
SAVED_ALONE, TIMES_ALONE, RISEN_ALONE, APART_ALONE = 0.25, 2.5, 0.1, 10.0
NEXT_ALONE = 0.4  # and of its rise not beside the others the part that any other's may have: .26 and .15 (the same two)
LONG = 2 * SHORTEST  # steps at least: noise of a shared machine lasted for seven (docs/LOG.md)
# Of what two levels save, that a line saves where the work grows: .88 to 1.8 in 25 drifts, .79 at most in 60 levels
GROWS = 0.85


# Of a link that is slow by its own signs: of the L1 cost of its series, that two levels save. Six that steps hid saved
# .48 to .89, and of 300 other jobs none .35 but from the first steps on (docs/LOG.md)
LINK_SAVED = 0.35


@dataclass(frozen=True)
class HiddenWork:
    """Longer work of one server.

    Attributes:
        first, last: its steps.
        grows: it becomes longer and longer.
        rise, other: microseconds a step that it became longer beside the others, and the next highest rise.
        before: its own, microseconds a step.
    """

    server: str
    first: int
    last: int
    grows: bool
    rise: float
    before: float
    other: float


def grows(values: Floats) -> bool:
    """Whether what became longer becomes longer and longer, more than that it has two levels."""
    return find_drift(values)[1] >= GROWS * find_level(values)[1]


def find_hidden_work(work: FlowSign, homes: Mapping[int, str], period: float) -> HiddenWork | None:
    """The one server whose work clearly became longer; None where none is alone in that.

    Args:
        work: of each NIC (core/flows/own_work.py).
        homes: the server of each.
        period: of a step, in the unit of the signs.
    """
    names = sorted({homes[nic] for (nic,) in work.things})
    if len(names) < 2 or len(work.values) < 2 * LONG:
        return None
    of = np.array([names.index(homes[nic]) for (nic,) in work.things])
    values = np.where(np.isfinite(work.values), work.values, 0.0)
    mean = np.stack([values[:, of == place].mean(axis=1) for place in range(len(names))], 1)
    others = [np.median(np.delete(mean, place, 1), axis=1) for place in range(len(names))]
    beside = mean - np.stack(others, 1)  # a machine that is busy with other tenants makes the work of all longer
    levels = [find_level(series) for series in beside.T]
    saved = [level[1] for level in levels]
    place = int(np.argmax(saved))
    steps, most = levels[place]
    second = max(np.delete(saved, place))
    if steps is None or most < max(SAVED_ALONE, TIMES * second):
        return None
    start, line = find_drift(beside[:, place])
    grows = start is not None and steps[1] == len(mean) - 1 and line >= GROWS * most
    first, last = (start, steps[1]) if grows and start is not None else steps
    inside = np.zeros(len(mean), bool)
    inside[steps[0] : steps[1] + 1] = True
    rise, whole = (np.median(of[inside], axis=0) - np.median(of[~inside], axis=0) for of in (beside, mean))
    before = float(np.median(mean[~inside, place]))
    other = max(0.0, float(np.delete(rise, place).max()))
    clear = most >= SAVED and rise[place] >= max(RISEN * period, APART * other)
    alone = most >= TIMES_ALONE * second and rise[place] >= max(RISEN_ALONE * period, APART_ALONE * other)
    alone &= float(np.delete(whole, place).max()) <= NEXT_ALONE * whole[place]
    if first < SHORTEST or last - first + 1 < LONG or not (clear or alone):
        return None
    return HiddenWork(names[place], first, last, grows, float(rise[place]), before, other)


def stretch_above(sign: FlowSign) -> tuple[int, int] | None:
    """The steps in which the thing that is above all others by most is on a higher level; None where there is none."""
    if len(sign.things) < 2:
        return None
    values = np.where(np.isfinite(sign.values), sign.values, 0.0)
    second, first = np.sort(values, axis=1)[:, -2:].T
    above = np.bincount(values.argmax(axis=1), first - second)
    steps, saved = find_level(values[:, int(above.argmax())])
    return steps if saved > LINK_SAVED else None
