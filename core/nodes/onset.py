"""Who alone began to complain when a job became slow: a card that lost lanes, a link that fails, a disk that retries.

The job goes on, so that nothing of it is a failure; what tells is the moment, and that no other node said it.
"""

from collections.abc import Sequence

import numpy as np

from core.course.pace import SECOND
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.judge.ending import Ending, is_order
from core.model import Role
from core.nodes.sign import Sign, short
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS

AT_THE_ONSET = 0.4  # a hint, as what a hung rank lacks: the moment tells, not the words
BEFORE = 60 * SECOND  # printed iterations are up to a minute apart
AFTER = BEFORE + 120 * SECOND  # the kernel complains after time-outs of its own, the longest is hung_task_timeout_secs
_CHECK = "Look at what {} complained of: its kernel log, the links and the clocks of its cards."
_ENDS = frozenset({Kind.END_OF_JOB, Kind.TERMINATED, Kind.LAST_WORDS})


def onset_signs(parsed: Parsed, candidates: Sequence[Candidate], ending: Ending) -> list[Sign]:
    """A sign for the one node that first said something bad near the onset, which no other node said.

    Where it is what makes machines slow, a sign for each of those that said so, if they are less than half of all.
    """
    onset = onset_of_slowdown(parsed, ending)
    if ending.slow is None:
        return []
    found = [candidate for candidate in candidates if _is_alone(parsed, candidate, onset)]
    if len(parsed.nodes) < MIN_RANKS:  # of two each says what the other does not, of one all: only what makes machines
        # slow tells
        found = [candidate for candidate in found if candidate.fact.kind == Kind.SLOW_MACHINE]
    if len({candidate.nodes for candidate in found}) != 1:
        return []  # of several that complain then, chance may have chosen each
    first = min(found, key=lambda candidate: (int(parsed.table.time[candidate.rows].min()), not candidate.fact.known))
    who = f"{first.nodes[0]} alone" if len(first.nodes) == 1 else f"{len(first.nodes)} of {len(parsed.nodes)} nodes"
    because = f"{who} began to say \u201c{short(first.quote or first.text)}\u201d when the job became slow."
    fact = first.fact
    says = f"{fact.says} when the job became slow" if fact.known else "it alone complained when the job became slow"
    return [
        Sign(node, "first", AT_THE_ONSET, because, first.event, says=says, check=_CHECK.format(node))
        for node in first.nodes
    ]


def onset_of_slowdown(parsed: Parsed, ending: Ending) -> int | None:
    """When the job became slow, in microseconds; None where it did not, or was so from its start."""
    slow, course = ending.slow, parsed.iterations.course
    if slow is None or slow.than_good_jobs or not len(course):
        return None
    place = int(np.searchsorted(course.numbers, slow.iteration)) - 1
    return int(course.times[place]) if place >= 0 else None


def _is_alone(parsed: Parsed, candidate: Candidate, onset: int | None) -> bool:
    """Whether one node alone said it for the first time then, or few did of what makes machines slow.

    Of a slow start, and where a kernel counts from its start alone ([900438.358350]), only what makes machines slow.
    """
    slows = candidate.fact.kind == Kind.SLOW_MACHINE
    most = max(1, len(parsed.nodes) * MAJORITY - 1) if slows and onset is not None else 1
    if not 0 < len(candidate.nodes) <= most or tells_of_the_end(candidate) or is_order(parsed.table, candidate):
        return False
    first = int(parsed.table.time[candidate.rows].min())
    if onset is None or not parsed.table.timed[candidate.rows].any():
        return slows
    later = parsed.iterations.course.times
    told = int(later[later > onset].min(initial=onset + AFTER)) - onset  # it became slow until the next iteration told
    return first >= 0 and is_near(first, onset, BEFORE + min(told, AFTER))


def tells_of_the_end(candidate: Candidate) -> bool:
    """Whether it is a stop, or belongs to how a job ends."""
    return candidate.fact.kind in _ENDS or candidate.fact.stop or candidate.role is Role.TEARDOWN


def is_near(time: int, onset: int, after: int = BEFORE) -> bool:
    """Whether a time is that of the onset, as lines with clocks tell it; all in microseconds of the job's clock."""
    return -BEFORE <= time - onset <= after
