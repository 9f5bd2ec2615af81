"""Work that ranks begin and end, by the program's own order of words: what is not ended, and what takes far longer.

Where on each rank "saving step 15" is always followed by "saved step 15", the two are the ends of a span, whatever the
words are. A rank that never comes to the end of one holds up those that did; one that takes far longer than its peers
makes them wait, though no line tells how long.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.course.pace import SECOND
from core.facts import complains
from core.job import Status
from core.judge.ending import Ending
from core.judge.rank import quote
from core.judge.ranks import MAJORITY
from core.logs.lines import mask
from core.nodes.sign import Sign, short
from core.parsing.parsed import Parsed
from core.text import read_rows

FEW = 0.25  # of the ranks; what more of them share is another part of the program (as in core.nodes.stall)
MIN_RANKS = 3  # of two that differ, either may be the odd one
MIN_TIMES = 1  # that the end of a span was told; checkpoints are rare, and jobs hang in their second one as well
MOSTLY = 0.8  # of its beginnings were followed by the end; between the others something else was said
MOST_ROWS = 100_000  # of the messages that are paired, those said least often first: a second of reading
UNFINISHED = 0.4  # like what it lacks of its peers' last words (core.nodes.stall.LACKS), which is the same
MOST_MESSAGES = 2_000  # of different texts that are read for their words
_WORD = re.compile(r"(?<![<A-Za-z])[A-Za-z]{2,40}(?![>A-Za-z])")  # not of the names of masks
_HEAD = re.compile(r"^(?:<TS>|DEBUG|INFO|\W){1,20}")
_PROGRESS = -1  # follows where an iteration was completed first
_NOTHING = -2  # follows the last message of a rank


@dataclass(frozen=True, slots=True)
class Span:
    """Two phrases, masked, of which the second follows the first on each rank that says both.

    took: seconds from the one to the other, of each rank in the order of its run, where both have a clock. ended: how
    often each rank came to the end. open: ranks that began once more, and neither said the end nor went on, with the
    row of their beginning. begun: how often each rank began, also one that never ends.
    """

    begins: str
    ends: str
    took: Mapping[int, Sequence[float]]
    ended: Mapping[int, int]
    open: Mapping[int, int]
    begun: Mapping[int, int]


def find_spans(parsed: Parsed) -> tuple[Span, ...]:
    """The spans of a job; what complains begins and ends none."""
    table = parsed.table
    rows, phrase, rank, texts = _said(parsed)
    follower = _followers(parsed, rows, phrase)
    time, timed = table.time[rows], table.timed[rows]
    spans = []
    for begins, said in enumerate(texts):
        here = phrase == begins
        told = Counter(follower[here].tolist())
        best = max((one for one in told if one >= 0 and one != begins), key=lambda one: (told[one], -one), default=None)
        if best is None or told[best] < MIN_TIMES:
            continue
        ours = here & np.isin(rank, np.unique(rank[here & (follower == best)]))  # others may do another part of it
        if told[best] < MOSTLY * np.count_nonzero(ours & (follower != _NOTHING)):
            continue
        closed = np.flatnonzero(ours & (follower == best))
        took: dict[int, list[float]] = defaultdict(list)
        for at in closed[timed[closed] & timed[closed + 1]].tolist():
            took[int(rank[at])].append(float(time[at + 1] - time[at]) / SECOND)
        left = np.flatnonzero(ours & (follower == _NOTHING))
        began = dict(zip(rank[left].tolist(), rows[left].tolist(), strict=True))
        spans.append(Span(said, texts[best], took, Counter(rank[closed].tolist()), began, Counter(rank[here].tolist())))
    return tuple(spans)


def unfinished_signs(parsed: Parsed, ending: Ending, home: Mapping[int, str]) -> list[Sign]:
    """Signs for the nodes of the few ranks that began what they did not end, when most had ended it or waited for them.

    Args:
        home: node of each rank.
    """
    if len(home) < MIN_RANKS or not _is_open_end(parsed, ending):
        return []
    signs = []
    for span in find_spans(parsed):
        few = sorted(span.open.keys() & home.keys())
        if not few or len(few) > max(1, len(home) * FEW):
            continue
        most = Counter(span.begun.values()).most_common(1)[0][0]
        came = [rank for rank in home if span.begun.get(rank, 0) == most]
        ended = [rank for rank in home if span.ended.get(rank, 0) == most]
        alone = len(span.ended) <= max(1, len(home) * FEW)  # the end is told by few: it is their own work
        if len(came) <= len(home) * MAJORITY or any(span.begun[rank] != most for rank in few):
            continue
        if len(ended) > len(home) * MAJORITY:
            rest = f"{len(ended)} of {len(home)} {parsed.table.speaker}s did"
        elif alone and ending.hung:
            rest = "all came so far, and only it had something left to do"
        else:
            continue
        signs += _signs(parsed, span, few, rest, home)
    return signs


def _is_open_end(parsed: Parsed, ending: Ending) -> bool:
    """Whether the job may have stood still in the end: it did by its clock, or nobody tells how it ended."""
    untold = parsed.job.status in (Status.RUNNING, Status.UNKNOWN) and not ending.ordered and ending.failed is None
    return ending.hung or ending.pausing or ending.vague or untold


def _signs(parsed: Parsed, span: Span, few: Sequence[int], rest: str, home: Mapping[int, str]) -> list[Sign]:
    texts = read_rows(parsed.files, parsed.table, [span.open[rank] for rank in few])
    ends = short(without_head(span.ends), 60)
    signs = []
    for node in sorted({home[rank] for rank in few}):
        own = [rank for rank in few if home[rank] == node]
        begins = short(without_head(quote(texts.get(span.open[own[0]], span.begins))), 60)
        because = (
            f"{parsed.table.called(own, node)} said \u201c{begins}\u201d and never came to \u201c{ends}\u201d; {rest}."
        )
        check = f"Look at what that takes on {node}: storage and mounts, the network to it, a process that is stuck."
        says = f"it never got past \u201c{begins}\u201d"
        signs.append(Sign(node, "lacks", UNFINISHED, because, says=says, check=check, ranks=tuple(own)))
    return signs


def without_head(text: str) -> str:
    """A text, masked or not, without its clock and level, which tell nothing of what is done."""
    return _HEAD.sub("", text)


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
        if event in marks or template.block or complains(template.sample):
            continue
        total += int(heads[event])
        if total > MOST_ROWS:
            break
        events.append(event)
    rows = np.sort(np.concatenate([np.zeros(0, np.intp), *table.rows_of(events).values()]))
    rows = rows[table.is_rank[table.voice[rows]] & (table.rank[rows] >= 0)]
    _, first, message = np.unique(table.message[rows], return_index=True, return_inverse=True)
    texts = read_rows(parsed.files, table, rows[first[:MOST_MESSAGES]])
    said = [mask(texts.get(row, "").encode()).decode() for row in rows[first[:MOST_MESSAGES]].tolist()]
    places: dict[str, int] = {}
    words = (" ".join(_WORD.findall(text)) for text in said)
    phrase = [places.setdefault(own, len(places)) if own else -1 for own in words]
    of_message = np.array([*phrase, *[-1] * (len(first) - len(phrase))], np.int64)
    shown = [said[phrase.index(place)] for place in range(len(places))]
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


def _followers(parsed: Parsed, rows: NDArray[np.intp], phrase: NDArray[np.int64]) -> NDArray[np.int64]:
    """What follows each message of a rank in its file: another one, the next iteration, or nothing."""
    width, iterations = len(parsed.table) + 1, parsed.iterations
    here = _in_run(parsed, rows, parsed.table.voice[rows])
    marks = np.append(np.sort(_in_run(parsed, iterations.marks, iterations.voices)), np.iinfo(np.int64).max)
    following, until = np.append(phrase[1:], _NOTHING)[: len(phrase)], np.append(here[1:], np.iinfo(np.int64).max)
    ends = until[: len(here)] // width != here // width
    following[ends] = _NOTHING
    mark = marks[np.searchsorted(marks, here)]
    following[(mark // width == here // width) & (ends | (mark < until[: len(here)]))] = _PROGRESS
    return following
