"""Who is apart from the first number on: its own work takes longer than that of all others, and its waits are shorter.

Nothing changes, so that nobody knows whether it was always so: stages of a pipeline differ like that. It accuses nobody
by itself; but where such a job was stopped, nobody can be sure that nothing was wrong.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from core.course.level_shift import LONG_DRIFT, LONG_RATIO
from core.course.timings import is_rate, may_be_duration
from core.nodes.far_numbers import OUTSIDE
from core.nodes.rank_series import AGREED
from core.nodes.sign import Sign
from core.nodes.slow import WAITS
from core.nodes.told_numbers import Told
from core.nodes.told_subjects import Subject
from core.shares import MIN_RANKS

LOW, HIGH = 10, 90  # percentiles between which a number lies, but for single ones

Level = tuple[str, float, float]  # a number by its name, its usual value on a node, and on all others


def level_signs(told: Sequence[tuple[int, str, Mapping[Subject, Told]]], *, slow: bool) -> list[Sign]:
    """A hint for the only node whose own work is longer than that of all others while it waits less, or works longer.

    Args:
        told: numbers with their message, their name and whom they are of.
        slow: the job needs longer for each step than good ones do: then this is what tells of whom.
    """
    longer: dict[str, list[Level]] = defaultdict(list)
    shorter: dict[str, list[Level]] = defaultdict(list)
    for _, name, values in told:
        for node, level in _levels(name, values, LONG_DRIFT if slow else LONG_RATIO):
            is_own = may_be_duration(name) and not is_rate(name) and not WAITS.search(name)
            if level[1] > level[2] and is_own:
                longer[node].append(level)
            elif level[1] < level[2]:
                shorter[node].append(level)
    both = [node for node in sorted(longer) if node in shorter]
    if len(both) != 1:
        return []
    (node,) = both
    (name, own, usual), (other, less, more) = longer[node][0], shorter[node][0]
    because = (
        f"{name or 'A number'} of {node} is {own:.3g} from the beginning on, that of all others {usual:.3g}; "
        f"its {other or 'other number'} is {less:.3g}, theirs {more:.3g}."
    )
    check = f"Compare {node} with a healthy node: clocks and throttling, load, memory, storage."
    says = "its own work takes longer than that of all others from the beginning on"
    return [Sign(node, "series" if slow else "outside", AGREED if slow else OUTSIDE, because, says=says, check=check)]


def _levels(name: str, values: Mapping[Subject, Told], ratio: float) -> Iterator[tuple[str, Level]]:
    """Each node whose number is far from that of all others, their ranges apart: its usual values, and theirs.

    The ranges are found once, and not once for each other node: of 64 nodes that takes as long as all else.
    """
    low, high = dict[str, float](), dict[str, float]()
    if len({subject.node for subject in values}) < MIN_RANKS:
        return
    for subject, of in values.items():
        node = subject.node
        low[node] = min(low.get(node, np.inf), float(np.percentile(of.values, LOW)))
        high[node] = max(high.get(node, -np.inf), float(np.percentile(of.values, HIGH)))
    lowest, highest = sorted(low.values())[:2], sorted(high.values())[-2:]
    for node in sorted(low):
        least = lowest[1] if low[node] == lowest[0] else lowest[0]  # of the others
        most = highest[0] if high[node] == highest[1] else highest[1]
        if low[node] > ratio * most or high[node] * ratio < least:
            own = [of.values for subject, of in values.items() if subject.node == node]
            others = [of.values for subject, of in values.items() if subject.node != node]
            yield node, (name, float(np.median(np.concatenate(own))), float(np.median(np.concatenate(others))))
