"""Iterations that are counted anew in each epoch: how many came before those of the last one.

Lightning and Keras draw a bar for each epoch (``Epoch 1:  24%|...| 22/90``), MMEngine and PaddleClas print
``Epoch(train) [2][290/600]`` and ``[Epoch 2/120][Iter: 20/200]``: the number alone is that of a hundred iterations.
"""

import re
from collections.abc import Mapping

import numpy as np

from core.course.iterations import Iterations
from core.events.row_text import read_rows
from core.events.table import EventTable
from core.job import LogFile

MOST = 256  # lines that are read, evenly spread over the run
_OF = re.compile(r"(?<![\d.])(\d{1,9}) ?/ ?(\d{1,9})(?![\d.])")  # "31/140"
_EPOCH = re.compile(r"\bepoch\s?(?:\(\w{1,12}\))?[\s:=\[(]{0,4}(\d{1,6})(?![\d.])", re.IGNORECASE)
_FIRST = (0, 1)  # numbers that the first epoch has


def iterations_of_epochs_before(table: EventTable, files: Mapping[str, LogFile], iterations: Iterations) -> int:
    """How many iterations the epochs before the last one had; 0 where lines count through, or do not tell it.

    Told by lines like the last one that count an iteration, of the same voice: the first epoch, the length of each, and
    that the count began anew with one.
    """
    if not len(iterations.marks):
        return 0
    at = int(np.argmax(iterations.numbers))
    mark, last, event = int(iterations.marks[at]), int(iterations.numbers[at]), int(table.event[iterations.marks[at]])
    rows = table.rows_of([event])[event]
    rows = rows[table.voice[rows] == table.voice[mark]]
    rows = np.union1d(rows[np.unique(np.linspace(0, len(rows) - 1, MOST).astype(np.intp))], [mark])
    texts = read_rows(files, table, rows)
    lengths = [length for number, length in _OF.findall(texts.get(mark, "")) if int(number) == last]
    if not lengths:
        return 0
    told = [
        (int(named[1]), int(number))
        for text in texts.values()
        if (named := _EPOCH.search(text)) is not None
        for number, length in _OF.findall(text, named.end())[:1]
        if length == lengths[0]
    ]
    epoch = max((epoch for epoch, _ in told), default=0)
    first = min((epoch for epoch, _ in told), default=0)
    before = max((number for other, number in told if other < epoch), default=0)
    begun = min((number for other, number in told if other == epoch), default=0)
    return (epoch - first) * int(lengths[0]) if first in _FIRST and before > begun else 0
