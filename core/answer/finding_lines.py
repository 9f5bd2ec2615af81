"""The lines in which a finding shows that nobody complains of: the time of a slow step, a loss that is none.

Whoever looks first looks at them. They are ordinary lines: well jobs print them too, so that no fault pattern may take
one for a cause (``EventEvidence.ordinary``).
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.answer.findings import Findings, Verdict, held_up, is_stop
from core.answer.not_failed import AT_ONCE
from core.course.pace import SECOND
from core.course.stages import STAGES
from core.course.timings import MOST_ROWS
from core.course.unmarked_counts import find_beside
from core.events.table import EventTable
from core.facts import Blame, Fact
from core.failure_kinds import Kind
from core.judge.candidates import Candidate, said_by
from core.judge.ranking import telling_roots
from core.model import Role, Scope
from core.nodes.sign import Sign, Suspicion
from core.parsed import Parsed

MOST = 2  # rows of one message: the first that shows it, and one that shows that it stayed so
SHOWS = 0.5  # score of such a line: the finding is as sure as the verdict says, the line only shows it
_ORDINARY = Fact(Role.ROOT, Blame.NOBODY, Kind.NONE, 0.0, "", "", known=False)
_ORDERS = (Role.ROOT, Role.TEARDOWN)
_OF_A_STEP = frozenset({"own part", "lag"})  # channels of numbers that stand in the lines that count iterations


def with_finding_lines(findings: Findings, verdict: Verdict) -> Verdict:
    """The verdict, with the lines that carry it where no trace of what broke does."""
    if (stop := _first_of_stop(findings, verdict)) is not None:
        carried: Candidate | None = stop
    elif verdict.scope is Scope.NONE:
        return verdict
    elif is_by_numbers(findings):
        carried = _of_number(findings)
    elif verdict.suspects:
        carried = _of_suspect(findings, verdict.suspects[0])
    else:
        carried = None if verdict.onset else _of_slowdown(findings)
    return verdict if carried is None else replace(verdict, carried=(carried,))


def _first_of_stop(findings: Findings, verdict: Verdict) -> Candidate | None:
    """What told first of a stop from outside, of a job of which nothing else is told: the order, then who was told.

    Tracebacks are how a process left, after it was told.
    """
    table, shown = findings.parsed.table, telling_roots(findings.candidates) or verdict.stop
    if verdict.suspects or held_up(findings) or not shown or not all(map(is_stop, shown)):
        return None
    times: dict[int, int] = {}
    for order in findings.candidates:
        timed = order.rows[table.timed[order.rows]]  # srun has no clock: when it spoke, the line above does not tell
        if is_stop(order) and order.role in _ORDERS and not table.templates[order.event].block and len(timed):
            times[order.event] = int(table.time[timed].min())
    if not times:
        return None
    at_once = min(times.values()) + int(AT_ONCE * SECOND)  # the buffers of one moment mix
    early = [order for order in findings.candidates if times.get(order.event, at_once + 1) <= at_once]
    first = min(early, key=lambda order: (not order.fact.stop, times[order.event], int(order.rows.min())))
    return first.with_role(Role.ROOT, "the first sign of the stop")


def is_by_numbers(findings: Findings) -> bool:
    """Whether a number that is none any more leads, and nothing that is known broke."""
    return findings.broken is not None and not any(root.fact.known and not is_stop(root) for root in findings.roots)


def _of_number(findings: Findings) -> Candidate | None:
    """The first line that tells that a number is none."""
    broken = findings.broken
    if broken is None:
        return None
    because = f"{broken.name} is nan from here on, until the last line that tells it."
    return _ordinary(findings.parsed, np.array([broken.row], np.intp), because)


def _of_slowdown(findings: Findings) -> Candidate | None:
    """The first lines that count iterations since a job was slow of which nobody stands apart."""
    slow, iterations = findings.ending.slow, findings.parsed.iterations
    if slow is None or slow.than_good_jobs or findings.ending.hung or findings.roots or not held_up(findings):
        return None
    since = iterations.marks[iterations.numbers >= slow.iteration]
    return _ordinary(findings.parsed, since, "Steps take longer from here on, until the end.")


def _of_suspect(findings: Findings, suspect: Suspicion) -> Candidate | None:
    """The lines by which the first suspect stands apart; none where it says itself what broke, or a known fact does."""
    broke = [root for root in findings.roots if not is_stop(root)]
    if any(root.fact.known or suspect.node in root.nodes for root in broke):
        return None
    sign = suspect.signs[0]
    return _ordinary(findings.parsed, _rows(findings, sign), sign.because)


def _rows(findings: Findings, sign: Sign) -> NDArray[np.intp]:
    """Rows of the event table in which a sign shows."""
    table = findings.parsed.table
    if sign.rows:
        return _own(table, np.array(sign.rows, np.intp), sign.node)
    if sign.channel in _OF_A_STEP:
        return _steps(findings, sign)
    return np.zeros(0, np.intp)


def _own(table: EventTable, rows: NDArray[np.intp], node: str) -> NDArray[np.intp]:
    """Those of the rows that the node itself wrote; all of them where another one tells of it."""
    mine = rows[table.node[rows] == table.nodes.index(node)] if node in table.nodes else rows
    return mine if len(mine) else rows


def _steps(findings: Findings, sign: Sign) -> NDArray[np.intp]:
    """Lines of the ranks of a sign that count the first iterations since it holds."""
    iterations, slow = findings.parsed.iterations, findings.ending.slow or findings.ending.drift
    since = sign.iteration if sign.iteration is not None else slow.iteration if slow is not None else None
    if since is None:
        return np.zeros(0, np.intp)
    table = findings.parsed.table
    own = np.isin(table.rank_of_voice[iterations.voices], sign.ranks)
    if own.any():
        return iterations.marks[own & (iterations.numbers >= since)]
    beside = find_beside(table, findings.parsed.files, iterations, MOST_ROWS)  # as core.course.timings reads them
    return beside.rows[np.isin(beside.ranks, sign.ranks) & (beside.numbers >= since)]


def _ordinary(parsed: Parsed, rows: NDArray[np.intp], because: str) -> Candidate | None:
    """An event of the message that the first of these rows holds; None without any."""
    table = parsed.table
    if not len(rows):
        return None
    rows = rows[np.lexsort((rows, table.time[rows]))]
    event = int(table.event[rows[0]])
    every = rows[table.event[rows] == event]
    rows = np.sort(every[:MOST])
    nodes, ranks = said_by(table, table.voice[rows])
    return Candidate(
        event=event,
        text=table.templates[event].sample,
        fact=_ORDINARY,
        rows=rows,
        count=len(every),
        excess=0.0,
        survived=0.0,
        nodes=nodes,
        ranks=ranks,
        role=Role.ROOT,
        score=SHOWS,
        stage=STAGES[int(parsed.stages[rows[:1]][0])],
        why=because,
        ordinary=True,
    )
