"""What a job says regularly while it makes progress, where nothing that it says counts iterations.

``seen 3.80M samples, 12,255 samples/s`` every five seconds: nobody knows which iteration that is, but as long as it
comes the job goes on, and when it stays away the job stands still.
"""

import numpy as np
from numpy.typing import NDArray

from core.events.table import EventTable, rows_by
from core.facts import complains
from core.logs.origins import Program
from core.shares import MAJORITY

LEAST = 8  # times that each speaker says it: as many as show where a level was left (core.course.level_shift)
NEAR = 2.0  # times the usual pause, or half of it,
REGULAR = 0.8  # that so many of all pauses are near to: others hold an evaluation or a checkpoint


def find_pulse(table: EventTable) -> NDArray[np.intp]:
    """Rows of the message with numbers that most speakers say regularly, by their own clocks; none where none is."""
    works = np.array(
        [
            origin.program is not Program.DAEMON and bool(origin.node or origin.rank is not None)
            for origin in table.origins
        ],
        np.bool_,
    )
    speakers = np.unique(table.counts.voice[works[table.counts.voice]]) if works.any() else np.zeros(0, np.int64)
    events = [
        event
        for event, template in enumerate(table.templates)
        if table.heads[event] >= LEAST
        and "<NUM>" in template.sample
        and not template.block
        and not complains(template.sample)
    ]
    best, found = (0, 0), np.zeros(0, np.intp)
    for _, rows in sorted(table.rows_of(events).items()):
        own = rows[table.head[rows] & table.timed[rows] & works[table.voice[rows]]]
        regular = [mine for _, mine in rows_by(table.voice, own) if _is_regular(table.time[mine])]
        size = (len(regular), sum(map(len, regular)))
        if size > best and len(regular) > len(speakers) * MAJORITY:
            best, found = size, np.sort(np.concatenate(regular))
    return found


def _is_regular(times: NDArray[np.int64]) -> bool:
    pauses = np.diff(times)
    usual = float(np.median(pauses)) if len(pauses) >= LEAST - 1 else 0.0
    return usual > 0 and float(np.mean((pauses <= usual * NEAR) & (pauses >= usual / NEAR))) >= REGULAR
