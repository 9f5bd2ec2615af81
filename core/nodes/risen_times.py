"""What took longer on most ranks or nodes alike since some moment: a time that each of them prints.

A cause that all share (their data, a setting, the network) makes each step of the job longer, often by less than a
clock of whole seconds shows, or by less than steps differ by themselves.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from core.course.timings import is_rate, may_be_duration
from core.naming import figure
from core.nodes.rank_series import SHORT, find_split, levels_of, resolution
from core.nodes.slow import WAITS
from core.nodes.told_numbers import Told
from core.nodes.told_subjects import MIN_SIDE, Subject
from core.quantiles import median
from core.shares import MAJORITY

TOGETHER = 0.1  # of the values: within so many all ranks of a job meet the same cause
LOWER = 0.97  # times the level before; chosen, not fitted: a loss falls by more, a time of one level by less
PART = 0.25  # of the longest time of a message: less is lost in the noise of a step (as core.nodes.slow.SHARE)


def risen_everywhere(told: Iterable[tuple[int, str, Mapping[Subject, Told]]]) -> str:
    """A time that rose at once on most, and stayed up, by a good part of what the longest of its message took.

    The end of a sentence; empty where none did. Each of a job's steps is longer then, by less than a clock shows.
    """
    of_event: dict[int, list[tuple[str, Mapping[Subject, Told]]]] = defaultdict(list)
    for event, name, values in told:
        if may_be_duration(name) and not is_rate(name) and not WAITS.search(name) and len(name) > SHORT:
            of_event[event].append((name, values))
    for _, numbers in sorted(of_event.items()):
        moved = {name: _moved(values) for name, values in numbers}
        lasting = [of for _, values in numbers for of in values.values() if not _falls(of)]
        longest = max((of.usual for of in lasting), default=0.0)
        for name, (before, after) in sorted(moved.items()):
            if after - before >= PART * longest > 0:
                return f"{name} went from {figure(before)} to {figure(after)} on most of them"
    return ""


def _falls(told: Told) -> bool:
    """Whether it is lower in the second half than in the first: a loss is, in whatever language."""
    half = len(told.values) // 2
    return median(told.values[half:]) < LOWER * median(told.values[:half])


def _moved(told: Mapping[Subject, Told]) -> tuple[float, float]:
    """The level of a number before and after it left it on most, the same way and at about one moment; else 0 twice."""
    grain = resolution(told.values())
    found = {subject: find_split(of, grain) for subject, of in told.items() if len(of.values) >= 2 * MIN_SIDE}
    splits = {subject: split for subject, split in found.items() if split is not None}
    shares = [split.share for split in splits.values()]
    one_way = len({split.octaves > 0 for split in splits.values()}) == 1
    if len(splits) <= len(told) * MAJORITY or not one_way or max(shares) - min(shares) > TOGETHER:
        return 0.0, 0.0
    levels = [levels_of(told[subject], split) for subject, split in splits.items()]
    before, after = (float(np.median([level[side] for level in levels])) for side in (0, 1))
    return before, after
