"""Iterations that are counted anew in each epoch: they go on as one count, and what is printed is a part of it.

Lightning and Keras draw a bar for each epoch (``Epoch 1:  24%|...| 22/90``), MXNet prints ``Epoch[3] Batch [120]``,
MMEngine and PaddleClas ``Epoch(train) [2][290/600]`` and ``[Epoch 2/120][Iter: 20/200]``: the number alone is that of
a hundred iterations, and a fall of it is no job that began anew.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.course.counters import ALONE, RANK_SKEW
from core.course.markers import Markers
from core.events.row_text import read_rows
from core.events.table import EventTable, rows_by
from core.job import LogFile

MOST_BORDERS = 8  # from one epoch to the next, whose lines are read
_NUMBER = re.compile(ALONE)


@dataclass(frozen=True, slots=True)
class Epochs:
    """How many iterations each epoch has, and the number of its first one; length 0 where the count goes through."""

    length: int = 0
    first: int = 1

    def within(self, number: int) -> int:
        """The iteration as its line prints it."""
        return self.first + (number - self.first) % self.length if self.length else number


THROUGH = Epochs()


def find_epochs(table: EventTable, files: Mapping[str, LogFile], marks: Markers) -> Epochs:
    """The epochs of a job, by whoever begins most often anew: each began with the first number, after the last one.

    Which the last one is, the lines say ("20/200"); else another number of theirs rises by one at each border, and at
    no other place: that of the epoch. A job that failed and began anew does neither.
    """
    voices = [mine for _, mine in rows_by(marks.voices, np.arange(len(marks.rows)))]
    mine = max(voices, key=lambda of: len(_falls(marks.numbers[of])), default=np.zeros(0, np.intp))
    fell = _falls(marks.numbers[mine])
    if not len(fell):
        return THROUGH
    numbers, first, step = marks.numbers[mine], int(marks.numbers[mine].min()), _usual_step(marks.numbers[mine])
    begins = numbers[fell + 1] <= first + step
    told = marks.totals[mine][fell]
    full = begins & (told > 0) & (numbers[fell] + step >= told) & (numbers[fell] <= told)
    if full.any() and full.sum() >= begins.sum():
        return Epochs(int(np.bincount(told[full]).argmax()), min(first, 1))
    top = int(numbers[fell[begins]].max(initial=0))
    length = top + (step if first == 0 else 0)
    said = table.event[marks.rows[mine]]  # by another message another count may begin
    alike = begins & (numbers[fell] + step >= top) & (said[fell] == said[fell + 1])
    if first > max(1, step) or length < 2 * step or not alike.any() or alike.sum() < begins.sum():
        return THROUGH
    return Epochs(length, min(first, 1)) if _is_epoch_told(table, files, marks.rows[mine], fell[alike]) else THROUGH


def counted_through(marks: Markers, epochs: Epochs) -> Markers:
    """The same markers, with numbers that go on from epoch to epoch."""
    if not epochs.length:
        return marks
    through = marks.numbers.copy()
    for _, mine in rows_by(marks.voices, np.arange(len(marks.rows))):
        numbers = marks.numbers[mine]
        steps, step = np.diff(numbers), _usual_step(numbers)
        is_begun = (numbers[1:] <= epochs.first + step) & (numbers[:-1] + step >= epochs.first + epochs.length - 1)
        behind = (numbers[:-1] <= epochs.first + step) & (numbers[1:] + step >= epochs.first + epochs.length - 1)
        begun = is_begun & (steps < -RANK_SKEW)
        again = behind & (steps > epochs.length / 2)  # another rank of the same voice ends its epoch later
        through[mine] += epochs.length * np.append(0, np.cumsum(begun.astype(np.int64) - again))
    return replace(marks, numbers=through)


def _falls(numbers: NDArray[np.int64]) -> NDArray[np.intp]:
    """Places before which a count fell."""
    return np.flatnonzero(np.diff(numbers) < -RANK_SKEW)


def _usual_step(numbers: NDArray[np.int64]) -> int:
    steps = np.diff(numbers)
    return int(np.median(steps[steps > 0])) if (steps > 0).any() else 1


def _is_epoch_told(
    table: EventTable, files: Mapping[str, LogFile], rows: NDArray[np.intp], fell: NDArray[np.intp]
) -> bool:
    """Whether one number of the lines rises by one at each border of two epochs, and is the same within each."""
    # ranks that share a voice begin one after the other: 19, 20, 1, 20, 1, 2
    apart = np.diff(fell) * 2 > max(int(np.diff(fell).max(initial=0)), int(fell[0]))
    last, begun = fell[np.append(True, apart)], np.append(0, fell[np.append(apart, True)] + 1)
    last, begun = last[-MOST_BORDERS:], begun[-MOST_BORDERS - 1 :]
    texts = read_rows(files, table, np.unique(rows[np.concatenate([begun, (begun[:-1] + last) // 2, last])]))
    told = [
        [_numbers(texts.get(int(rows[at]), "")) for at in (first, (first + end) // 2, end, after)]
        for first, end, after in zip(begun[:-1].tolist(), last.tolist(), begun[1:].tolist(), strict=True)
    ]
    places = min(len(numbers) for lines in told for numbers in lines)
    return any(all(a[at] == b[at] == c[at] == after[at] - 1 for a, b, c, after in told) for at in range(places))


def _numbers(text: str) -> Sequence[int]:
    return [int(number) for number in _NUMBER.findall(text)]
