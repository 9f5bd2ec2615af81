"""When checkpoints were complete, as the log says; one that was only announced is none."""

import re
from functools import cache

import numpy as np
from numpy.typing import NDArray

from core.events.table import EventTable
from core.logs.lines import NO_TIME
from core.memory import Memory
from core.phrases import any_of, patterns_in


def saved_times(table: EventTable, memory: Memory | None = None) -> NDArray[np.int64]:
    """Microseconds at which checkpoints were complete, sorted; every rank may tell the same one."""

    def look() -> tuple[NDArray[np.int64]]:
        pattern = _is_saved()
        events = [place for place, template in enumerate(table.templates) if pattern.search(template.sample)]
        found = [table.time[rows] for rows in table.rows_of(events).values()] if events else []
        times = np.concatenate(found) if found else np.zeros(0, np.int64)
        return (np.sort(times[times != NO_TIME]),)

    return (look() if memory is None else memory.arrays("checkpoints", look))[0]


@cache
def _is_saved() -> re.Pattern[str]:
    return any_of(patterns_in("checkpoints.toml", "saved"))
