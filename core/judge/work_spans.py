"""Work that ranks begin and end, by the program's own order of words: what is not ended, and what takes far longer.

Where on each rank "saving step 15" is always followed by "saved step 15", the two are the ends of a span, whatever the
words are. A rank that never comes to the end of one holds up those that did; one that takes far longer than its peers
makes them wait, though no line tells how long.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.course.pace import SECOND
from core.events.row_text import read_rows
from core.events.table import rows_by
from core.facts import complains
from core.judge.phrase import words_in, words_of_names
from core.logs.lines import mask
from core.parsed import Parsed
from core.shares import MAJORITY

MIN_TIMES = 1  # that the end of a span was told; checkpoints are rare, and jobs hang in their second one as well
MOSTLY = 0.8  # of its beginnings were followed by the end; between the others something else was said
MOST_ROWS = 100_000  # of the messages that are paired, those said least often first: a second of reading
MOST_MESSAGES = 2_000  # of different texts that are read for their words
_PROGRESS = -1  # follows where an iteration was completed first
_NOTHING = -2  # follows the last message of a rank


@dataclass(frozen=True, slots=True)
class Span:
    """Two phrases, masked, of which the second follows the first on each rank that says both.

    took: seconds from the one to the other, of each rank in the order of its run, where both have a clock; iterations:
    the one before each. ended: how often each rank came to the end. begun: how often each began. open: ranks whose last
    word is the beginning, with its row: also those that never came to the end, where most others did.
    """

    begins: str
    ends: str
    took: Mapping[int, Sequence[float]]
    iterations: Mapping[int, Sequence[int]]
    ended: Mapping[int, int]
    open: Mapping[int, int]
    begun: Mapping[int, int]


def find_spans(parsed: Parsed) -> tuple[Span, ...]:
    """The spans of a job; what complains begins and ends none."""
    table = parsed.table
    rows, phrases, rank, texts = _said(parsed)
    follower = _followers(parsed, rows, phrases)
    time, timed, iteration = table.time[rows], table.timed[rows], parsed.iterations.of_row[rows]
    spans = []
    for begins, places in rows_by(phrases, np.arange(len(phrases))):
        after, by = follower[places], rank[places]
        counter = Counter(after.tolist())
        best = max(
            (entry for entry in counter if entry >= 0 and entry != begins),
            key=lambda follower_event: (counter[follower_event], -follower_event),
            default=None,
        )
        if best is None or counter[best] < MIN_TIMES:
            continue
        ended = np.unique(by[after == best])
        ours = np.isin(by, ended)  # others may do another part of the work, where they are many
        most = len(ended) > len(np.unique(by)) * MAJORITY
        if counter[best] < MOSTLY * np.count_nonzero(ours & (after != _NOTHING)):
            continue
        closed = places[ours & (after == best)]
        took: dict[int, list[float]] = defaultdict(list)
        reached: dict[int, list[int]] = defaultdict(list)
        for at in closed[timed[closed] & timed[closed + 1]].tolist():
            took[int(rank[at])].append(float(time[at + 1] - time[at]) / SECOND)
            reached[int(rank[at])].append(int(iteration[at]))
        left = places[(ours | most) & (after == _NOTHING)]
        began = dict(zip(rank[left].tolist(), rows[left].tolist(), strict=True))
        times, begun = Counter(rank[closed].tolist()), Counter(by.tolist())
        spans.append(Span(texts[begins], texts[best], dict(took), dict(reached), times, began, begun))
    return tuple(spans)


def _said(parsed: Parsed) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.int64], Sequence[str]]:
    """Row, phrase and rank of the messages that are paired, of each rank in the order of its run; and the phrases.

    A phrase is all messages of the same words: what differs in a template may be the one word that matters.
    """
    table = parsed.table
    marks = set(np.unique(table.event[parsed.iterations.marks]).tolist())
    heads = table.heads
    events, total = [], 0
    for event in np.argsort(heads, kind="stable").tolist():
        template = table.templates[event]
        if event in marks or event in parsed.telling or template.block or complains(template.sample):
            continue
        total += int(heads[event])
        if total > MOST_ROWS:
            break
        events.append(event)
    rows = table.all_rows_of(events)
    rows = rows[table.is_rank[table.voice[rows]] & (table.rank[rows] >= 0)]
    _, first, message = np.unique(table.message[rows], return_index=True, return_inverse=True)
    texts = read_rows(parsed.files, table, rows[first[:MOST_MESSAGES]])
    masked = [mask(texts.get(row, "").encode()).decode() for row in rows[first[:MOST_MESSAGES]].tolist()]
    places: dict[str, int] = {}
    names = words_of_names(table.nodes)
    numbers = [places.setdefault(own, len(places)) if (own := words_in(text, names)) else -1 for text in masked]
    of_message = np.array([*numbers, *[-1] * (len(first) - len(numbers))], np.int64)
    shown = [masked[numbers.index(place)] for place in range(len(places))]
    kept = of_message[message] >= 0
    rows, phrases = rows[kept], of_message[message][kept]
    order = np.argsort(_in_run(parsed, rows, table.voice[rows]))
    rows = rows[order]
    return rows, phrases[order], table.rank[rows].astype(np.int64), shown


def _in_run(parsed: Parsed, rows: NDArray[np.intp], voices: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Numbers that order rows by their rank and file, and in these as they stand."""
    table = parsed.table
    run = table.rank_of_voice[voices].astype(np.int64) * len(table.files) + table.file_of_voice[voices].astype(np.int64)
    return run * (len(table) + 1) + rows


def _followers(parsed: Parsed, rows: NDArray[np.intp], phrases: NDArray[np.int64]) -> NDArray[np.int64]:
    """What follows each message of a rank in its file: another one, the next iteration, or nothing."""
    width, iterations = len(parsed.table) + 1, parsed.iterations
    positions = _in_run(parsed, rows, parsed.table.voice[rows])
    marks = np.append(np.sort(_in_run(parsed, iterations.marks, iterations.voices)), np.iinfo(np.int64).max)
    following, until = (
        np.append(phrases[1:], _NOTHING)[: len(phrases)],
        np.append(positions[1:], np.iinfo(np.int64).max),
    )
    ends = until[: len(positions)] // width != positions // width
    following[ends] = _NOTHING
    mark = marks[np.searchsorted(marks, positions)]
    following[(mark // width == positions // width) & (ends | (mark < until[: len(positions)]))] = _PROGRESS
    return following
