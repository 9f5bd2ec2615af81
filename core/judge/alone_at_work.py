"""A rank that went on with work of its own while all others waited for it until they gave up: the program let it.

``if rank == 0: evaluate()`` before a barrier, a data set that the first rank alone prepares: it counts on, so many of
so many, in words that no other rank ever says, and the collective's time-out ends the job. It is not stuck, and no
machine is at fault. Who repeats what it waits for counts nothing but seconds.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.course.pace import SECOND
from core.events.row_text import read_rows
from core.judge.ending import Ending
from core.logs.voices import rank_called
from core.parsed import Parsed

MIN_LINES = 5  # of one message: four pauses between them, as many as core.nodes asks for a level (MIN_SIDE)
PAUSES = 2.0  # times its usual pause that may lie between its last line and the end, as LAST_STEPS of core.judge.ending
_OF_ALL = re.compile(r"(?<![\w.])(?P<done>\d{1,15}) ?(?:/|of) ?(?P<all>\d{1,15})(?![\w.])")
MAX_EVENTS = 256  # messages that are looked at, those said most often first
PAIR = 2  # one alone is waited for by nobody


@dataclass(frozen=True, slots=True)
class AloneAtWork:
    """Who worked on: its node, what it is called, and the event and the last line in which it told of its work."""

    node: str | None
    called: str
    event: int
    text: str


def find_alone_at_work(parsed: Parsed, ending: Ending) -> AloneAtWork | None:
    """The one speaker that worked on until the others failed, in a job that hung; None where none did, or several."""
    table, since, until = parsed.table, ending.progressed, ending.failed or ending.stopped
    if not ending.hung or since is None or until is None or len(table.nodes) < PAIR:
        return None
    often = [event for event, heads in enumerate(table.heads.tolist()) if heads >= MIN_LINES]
    often = [event for event in often if "<NUM>" in table.templates[event].sample]
    often.sort(key=lambda event: (-int(table.heads[event]), event))
    counting = set(np.unique(table.voice[parsed.iterations.marks]).tolist())  # what watches a machine trains nothing
    found: dict[int, NDArray[np.intp]] = {}
    for _, rows in sorted(table.rows_of(often[:MAX_EVENTS]).items()):
        voices = np.unique(table.voice[rows])
        if len(voices) == 1 and (table.origins[voices[0]].rank is not None or voices[0] in counting):
            late = rows[table.timed[rows] & (table.time[rows] > since) & (table.time[rows] <= until)]
            if _goes_on(table.time[late], until) and len(late) > len(found.get(int(voices[0]), ())):
                found[int(voices[0])] = late
    if len(found) != 1:
        return None
    ((voice, rows),) = found.items()
    texts = [text for _, text in sorted(read_rows(parsed.files, table, rows[-MIN_LINES:]).items())]
    if not _counts_on(texts):
        return None
    origin = table.origins[voice]
    called = rank_called(origin.rank) if origin.rank is not None else f"a process of {origin.node}"
    return AloneAtWork(origin.node, called, int(table.event[rows[-1:]][0]), texts[-1])


def _counts_on(texts: Sequence[str]) -> bool:
    """Whether these lines, in order, tell of more and more that is done, of the same whole."""
    found = [match for text in texts if (match := _OF_ALL.search(text)) is not None]
    done = [int(match["done"]) for match in found]
    return len(found) == len(texts) and len({match["all"] for match in found}) == 1 and done == sorted(set(done))


def _goes_on(times: NDArray[np.int64], until: int) -> bool:
    """Whether lines come evenly until that moment, all in microseconds."""
    if len(times) < MIN_LINES:
        return False
    pauses = np.diff(np.sort(times))
    return bool(until - times.max() <= PAUSES * max(float(pauses.max()), SECOND))
