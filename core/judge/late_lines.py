"""What ranks say only once their job has stopped making progress: it is about the end, in whatever words.

Every program that waits in vain, gives up or is told to leave says so in words of its own ("still waiting for
worker-e", "other end of the average is gone"). What gives them away is their place: never while the job made progress,
never in a good job.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.course.counters import MIN_TIMES
from core.events.table import EventTable
from core.facts import Blame, Fact
from core.failure_kinds import Kind
from core.job import Status
from core.judge.candidates import Candidate, said_by
from core.judge.ending import Ending
from core.judge.rank_rows import untimed_ends
from core.logs.lines import NO_TIME
from core.model import Role
from core.outcomes import Outcome, outcome_of
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS

MOST = 6  # such messages; a reader looks at few (as in core.answer.build_diagnosis), and programs end with few words
BELOW = 64  # rows that are looked at below it: who stops a job says so in few
_WRITTEN_TOGETHER = "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"  # letters of Chinese, Japanese and Korean
_WORD = re.compile(rf"(?<![^\W\d_]|<)[^\W\d_]{{3,40}}|{_WRITTEN_TOGETHER}{{2}}")
# Three of them, or what is about as long where no blanks part them: a message, no part of a list
_WORDS = re.compile(rf"(?:[^\W\d_]{{2,40}}[\W\d_]{{1,40}}){{2}}[^\W\d_]{{2}}|{_WRITTEN_TOGETHER}{{6}}")
# Frames, heads and parts of a dump; Julia's are two rows each: " [2] reduce!(x::Ring)", "   @ Gnn src/dist.jl:44"
_NO_MESSAGE = re.compile(
    r"^\s*(?:File \"|\w+\(|\[\[|[\w.]+[=(]|#\d|\[(?:<NUM>|\d{1,3})\] [\w.!#]{1,80}(?:\(|$)|@ )|\.(?:cc?|cpp|go|rs|jl):"
    r"|\(most recent call "
)
LATE = Fact(
    Role.PROPAGATED,
    Blame.NAMED,
    Kind.LAST_WORDS,
    0.3,  # like a warning in words that nobody knows: it tells that the job is ending, not why
    "said only once the job had stopped making progress",
    "Read the lines around it: what this program waits for, or why it leaves.",
    known=False,
)


def find_late(parsed: Parsed, candidates: Sequence[Candidate], ending: Ending) -> tuple[Candidate, ...]:
    """The candidates, with what ranks said only after the last progress of a job that did not complete.

    Of one that made progress at its pace until it was stopped, it is how they left.
    """
    table, iterations = parsed.table, parsed.iterations
    at_end = iterations.at_end
    if len(iterations.marks) < MIN_TIMES or at_end or parsed.job.status is Status.COMPLETED:
        return tuple(candidates)
    known = {candidate.event for candidate in candidates} | parsed.telling
    last, ends = last_marks(table, iterations.marks), frozenset(untimed_ends(table).tolist())
    if ending.slow is not None and not (ending.slow.than_good_jobs or ending.hung):
        candidates = [
            candidate.with_role(Role.PROPAGATED, "said once a job that was slow had stopped: who gave up did not break")
            if candidate.role is Role.ROOT and not candidate.fact.known and _after(parsed, candidate.rows, last)
            else candidate
            for candidate in candidates
        ]
    events = [event for event in range(len(table.templates)) if event not in known and is_message(parsed, event)]
    late = [
        _candidate(table, event, first_rows)
        for event, rows in sorted(table.rows_of(events).items())
        if len(first_rows := _by_ranks(table, rows))
        and (_after(parsed, first_rows, last) or _ends_most(parsed, first_rows, ends))
    ]
    broken = [candidate for candidate in candidates if candidate.role is Role.ROOT]
    late = [candidate for candidate in late if not any(_leads_to(table, candidate, root) for root in broken)]
    if ending.steady and parsed.job.status is not Status.FAILED:
        late = [candidate.with_role(Role.TEARDOWN, "said when the job was stopped") for candidate in late]
    first = sorted(late, key=lambda candidate: (int(table.time[candidate.rows].min()), int(candidate.rows[0])))
    return (*candidates, *first[:MOST])


def said_last(parsed: Parsed) -> tuple[Candidate, ...]:
    """What was said for the first time below the last progress of a file that counts it, in any words, first to last.

    Of a job that somebody stopped in words of his own ("stop by hand"), it is how he said so.
    """
    table, marks = parsed.table, parsed.iterations.marks
    if not len(marks):
        return ()
    last = last_marks(table, marks)
    below = [np.arange(row + 1, min(table.rows_of_file(file).stop, row + 1 + BELOW)) for file, row in _marked(last)]
    rows = np.concatenate(below)
    events = np.unique(table.event[rows[table.head[rows]]]).tolist()
    found = [
        _candidate(table, event, own)
        for event, own in sorted(table.rows_of([event for event in events if _may_stop(parsed, event)]).items())
        if bool(((last[table.file[own]] >= 0) & (own > last[table.file[own]])).all())
    ]
    return tuple(sorted(found, key=lambda item: (int(table.time[item.rows].min()), int(item.rows[0]))))


def _marked(last: NDArray[np.intp]) -> list[tuple[int, int]]:
    """Files that count iterations, and the row of the last one that each tells."""
    return [(file, row) for file, row in enumerate(last.tolist()) if row >= 0]


def _may_stop(parsed: Parsed, event: int) -> bool:
    """Whether it is a line of words, that good jobs never say."""
    template = parsed.table.templates[event]
    known = parsed.usual is not None and template.id in parsed.usual.anywhere
    text = template.sample
    says = _WORD.search(text) is not None and not _NO_MESSAGE.search(text) and outcome_of(text) is not Outcome.DONE
    return says and not (template.block or known)


def is_message(parsed: Parsed, event: int) -> bool:
    """Whether it is a sentence that good jobs never say, and that does not tell of a regular end."""
    template = parsed.table.templates[event]
    if template.block or (parsed.usual is not None and template.id in parsed.usual.anywhere):
        return False
    text = template.sample
    return bool(_WORDS.search(text)) and not _NO_MESSAGE.search(text) and outcome_of(text) is not Outcome.DONE


def _by_ranks(table: EventTable, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """The head rows that ranks say; a launcher may repeat them."""
    heads = rows[table.head[rows]]
    return np.asarray(heads[table.is_rank[table.voice[heads]]], np.intp)


def last_marks(table: EventTable, marks: NDArray[np.intp]) -> NDArray[np.intp]:
    """Row of the last progress in each file; before all rows where a file has none."""
    last = np.full(len(table.files), -1, np.intp)
    np.maximum.at(last, table.file[marks], marks)
    return last


def _after(parsed: Parsed, rows: NDArray[np.intp], last_marks: NDArray[np.intp]) -> bool:
    """Whether all rows come after the last progress of the job, by their clock; without one, in their file."""
    table, ended = parsed.table, parsed.iterations.ended
    dated = table.timed[rows] & (ended != NO_TIME)
    last = last_marks[table.file[rows]]
    by_place = (last >= 0) & (rows > last)
    return bool(np.where(dated, table.time[rows] > ended, by_place).all())


def _leads_to(table: EventTable, candidate: Candidate, root: Candidate) -> bool:
    """Whether those who say it break afterwards themselves: it is their work until then, and no word on others."""
    rows = np.concatenate((candidate.rows, root.rows))
    if not (candidate.ranks and set(candidate.ranks) <= set(root.ranks)):
        return False
    if len(np.unique(table.file[rows])) == 1:
        return bool(candidate.rows.max() < root.rows.min())
    return bool(table.timed[rows].all() and table.time[candidate.rows].max() < table.time[root.rows].min())


def _ends_most(parsed: Parsed, rows: NDArray[np.intp], ends: frozenset[int]) -> bool:
    """Whether they are the last words of most ranks, without a clock: in a file of errors that counts no progress."""
    return len(rows) > max(len(parsed.table.ranks) * MAJORITY, MIN_RANKS) and ends.issuperset(rows.tolist())


def _candidate(table: EventTable, event: int, rows: NDArray[np.intp]) -> Candidate:
    nodes, ranks = said_by(table, table.voice[rows])
    return Candidate(
        event=event,
        text=table.templates[event].sample,
        fact=LATE,
        rows=rows,
        count=int(table.heads[event]),
        excess=1.0,
        survived=0.0,
        nodes=nodes,
        ranks=ranks,
        role=Role.PROPAGATED,
    )
