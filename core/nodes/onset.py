"""Who alone began to complain when a job became slow: a card that lost lanes, a link that fails, a disk that retries.

The job goes on, so that nothing of it is a failure; what tells is the moment, and that no other node said it. Or when
it stood still: who says again and again that it waits for its batch, while the others wait for it without a word.
"""

from collections.abc import Sequence

import numpy as np

from core.course.pace import SECOND
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.judge.ending import Ending, is_order
from core.judge.rank_rows import ranks_of_nodes
from core.model import Role
from core.nodes.sign import Sign, short
from core.parsed import Parsed
from core.shares import MIN_RANKS

AGAIN = 3  # times: twice is said of a thing that is tried once more (as core.judge.repeats.LEAST)
AT_THE_ONSET = 0.4  # a hint, as what a hung rank lacks: the moment tells, not the words
BEFORE = 60 * SECOND  # printed iterations are up to a minute apart
AFTER = BEFORE + 120 * SECOND  # the kernel complains after time-outs of its own, the longest is hung_task_timeout_secs
_ENDS = frozenset({Kind.END_OF_JOB, Kind.TERMINATED, Kind.LAST_WORDS})


def onset_signs(parsed: Parsed, candidates: Sequence[Candidate], ending: Ending) -> list[Sign]:
    """A sign for the one node that first said something bad near the onset, which no other node said."""
    onset = onset_of_slowdown(parsed, ending)
    if ending.slow is None:
        return _of_hang(parsed, candidates, ending)
    found = [candidate for candidate in candidates if _is_alone(parsed, candidate, onset)]
    if len(parsed.nodes) < MIN_RANKS:  # of two each says what the other does not, of one all: only what makes machines
        # slow tells
        found = [candidate for candidate in found if candidate.fact.kind == Kind.SLOW_MACHINE]
    if len({candidate.nodes for candidate in found}) != 1:
        return []  # of several that complain then, chance may have chosen each
    first = min(found, key=lambda candidate: (int(parsed.table.time[candidate.rows].min()), not candidate.fact.known))
    (node,) = first.nodes
    because = f"{node} alone began to say \u201c{short(first.quote or first.text)}\u201d when the job became slow."
    fact = first.fact
    says = f"{fact.says} when the job became slow" if fact.known else "it alone complained when the job became slow"
    check = f"Look at what {node} complained of: its kernel log, the links and the clocks of its cards."
    return [Sign(node, "first", AT_THE_ONSET, because, first.event, says=says, check=check)]


def _of_hang(parsed: Parsed, candidates: Sequence[Candidate], ending: Ending) -> list[Sign]:
    """A sign for the one node that complains again and again since the job stands still, which no other node does.

    Not for that of the first rank, which may speak for all.
    """
    since = ending.progressed
    if not ending.hung or since is None or len(parsed.nodes) < MIN_RANKS:
        return []
    again = [
        candidate
        for candidate in candidates
        if len(candidate.nodes) == 1
        and candidate.count >= AGAIN
        and not (candidate.fact.known and candidate.fact.kind != Kind.LAST_WORDS)
        and int(parsed.table.time[candidate.rows].min()) > since
        and not is_order(parsed.table, candidate)
    ]
    if len({candidate.nodes for candidate in again}) != 1:
        return []
    (node,), first = again[0].nodes, again[0]
    if node == _first_node(parsed):
        return []
    what = f"\u201c{short(first.quote or first.text)}\u201d"
    because = f"{node} alone said {first.count} times {what} while the job stood still."
    check = f"Look at {node}: what its process waits for (py-spy dump), its storage and its network."
    says = "it alone complained, again and again, while the job stood still"
    return [Sign(node, "first", AT_THE_ONSET, because, first.event, says=says, check=check)]


def _first_node(parsed: Parsed) -> str:
    """The node of rank 0; where nobody tells ranks, the first in order."""
    homes = ranks_of_nodes(parsed.table, parsed.job.manifest.node_ranks)
    return next((node for node, ranks in homes.items() if 0 in ranks), parsed.nodes[0])


def onset_of_slowdown(parsed: Parsed, ending: Ending) -> int | None:
    """When the job became slow, in microseconds; None where it did not, or was so from its start."""
    slow, course = ending.slow, parsed.iterations.course
    if slow is None or slow.than_good_jobs or not len(course):
        return None
    place = int(np.searchsorted(course.numbers, slow.iteration)) - 1
    return int(course.times[place]) if place >= 0 else None


def _is_alone(parsed: Parsed, candidate: Candidate, onset: int | None) -> bool:
    """Whether one node alone said it for the first time then.

    Of a slow start, and where a kernel counts from its start alone ([900438.358350]), only what makes machines slow.
    """
    if len(candidate.nodes) != 1 or tells_of_the_end(candidate) or is_order(parsed.table, candidate):
        return False
    first = int(parsed.table.time[candidate.rows].min())
    if onset is None or not parsed.table.timed[candidate.rows].any():
        return candidate.fact.kind == Kind.SLOW_MACHINE
    later = parsed.iterations.course.times
    told = int(later[later > onset].min(initial=onset + AFTER)) - onset  # it became slow until the next iteration told
    return first >= 0 and is_near(first, onset, BEFORE + min(told, AFTER))


def tells_of_the_end(candidate: Candidate) -> bool:
    """Whether it is a stop, or belongs to how a job ends."""
    return candidate.fact.kind in _ENDS or candidate.fact.stop or candidate.role is Role.TEARDOWN


def is_near(time: int, onset: int, after: int = BEFORE) -> bool:
    """Whether a time is that of the onset, as lines with clocks tell it; all in microseconds of the job's clock."""
    return -BEFORE <= time - onset <= after
