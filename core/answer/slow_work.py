"""What took longer, or was first said, since a job became slow of which no node stands apart.

A service that all wait for, a disk of all, retries in words of the program's own. Nobody complains in words that are
known, so that only place and numbers tell: longer since then, or never said before. Of a job that is slower than good
ones from its start, what its ranks said before the first iteration and no good job did: another network, a library
that cannot be loaded, another setting.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.answer.findings import Findings
from core.course.iterations import NO_ITERATION
from core.course.level_shift import MIN_RATIO
from core.course.patience import MIN_STEPS
from core.course.stages import STAGES
from core.events.row_text import read_rows
from core.events.table import EventTable
from core.facts import Blame, Fact, fact_of
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.judge.durations import MAX_ROWS, is_timed, last_duration
from core.judge.late_lines import is_message
from core.judge.ranking import quote
from core.judge.slowdown import KNOWN_PAUSES, SHARE, Slowdown
from core.live.findings import duration
from core.model import Role
from core.nodes.onset import AT_THE_ONSET, onset_of_slowdown
from core.nodes.sign import short
from core.shares import MAJORITY

MOST_EVENTS = 256  # messages that are looked at, those said least often first: what follows a fault is said seldom
TIMES = 3  # a message is said since the onset: what is said once or twice may be an evaluation or the end of an epoch
QUARTER = 0.25  # of durations before the onset may be as long as the usual one since: single reads are slow at any time
MOST_SHOWN = 3  # of messages at the start; a reader looks at few
WORDS = 2  # of a message; "No device found." has three, numbers and names of modules none
_WORD = re.compile(r"\b[A-Za-z]{2,20}\b")
_LONGER = "this tells what took longer"
_OTHER = "no good job said this before its first iteration"
_PROGRESS = re.compile(r"\b(?:iter|iteration|step|epoch|update|batch)\b\W{0,3}<NUM>", re.IGNORECASE)
_LOOK = "Look at the service or the storage that this line speaks of: was it slow, too, for others?"
_CHECK = {
    _OTHER: "Compare what these lines speak of with a good job: its settings, libraries, network and devices.",
}


@dataclass(frozen=True, slots=True, eq=False)
class SlowWork:
    """Messages that tell why a job was slow: events to show, and a sentence about the first.

    cost: seconds that it takes longer than before; 0.0 where only its place tells.
    """

    shown: tuple[Candidate, ...]
    because: str
    cost: float


def find_slow_work(findings: Findings) -> SlowWork | None:
    """The message that tells best what took longer since the onset, or what was other than in good jobs at the start.

    A duration that grew by a good part of what a step did comes before a message that was never said before.
    """
    parsed, slow = findings.parsed, findings.ending.slow
    if slow is not None and slow.than_good_jobs:
        return _other_at_the_start(findings)
    if slow is None or np.count_nonzero(parsed.iterations.numbers < slow.iteration) < MIN_STEPS:
        return None
    table = parsed.table
    found = [
        work
        for event, rows in sorted(table.rows_of(_asked(findings)).items())
        if (work := _work(findings, event, rows, slow)) is not None
    ]
    return min(found, key=lambda work: (-work.cost, int(table.time[work.shown[0].rows].min())), default=None)


def _other_at_the_start(findings: Findings) -> SlowWork | None:
    """What was said before the first iteration, and never by good jobs: what most ranks said first."""
    parsed, table = findings.parsed, findings.parsed.table
    if parsed.usual is None:
        return None
    unusual = [
        event
        for event, template in enumerate(table.templates)
        if template.id not in parsed.usual.anywhere and not template.block and _tells(template.sample)
    ]
    rows_of_event = table.rows_of(sorted(unusual, key=lambda event: (int(table.heads[event]), event))[:MOST_EVENTS])
    said = [
        shown_event(table, event, rows, _OTHER)
        for event, rows in sorted(rows_of_event.items())
        if bool((parsed.iterations.of_row[rows] == NO_ITERATION).all())
    ]
    early = [event for event in said if _is_of_one_or_most(findings, event)]
    early.sort(key=lambda candidate: (-len(candidate.ranks), -len(candidate.nodes), int(candidate.rows[0])))
    if not early:
        return None
    text, who = first_quote(findings, early[0].rows), speakers(findings, early[0])
    because = f"Before the first iteration {who} said \u201c{text}\u201d, which no good job did."
    return SlowWork(tuple(early[:MOST_SHOWN]), because, 0.0)


def _is_of_one_or_most(findings: Findings, event: Candidate) -> bool:
    """Whether one node says it, or most do: what some say makes no job slow, nor what a node says that it is called."""
    parsed = findings.parsed
    if len(event.nodes) == 1:
        return event.nodes[0] not in first_quote(findings, event.rows)
    speaking, everyone = max((len(event.ranks), len(parsed.table.ranks)), (len(event.nodes), len(parsed.nodes)))
    return speaking <= 1 or speaking > everyone * MAJORITY


def speakers(findings: Findings, event: Candidate) -> str:
    """Who says an event, for a sentence: a node by its name, several by how many they are."""
    if len(event.nodes) == 1:
        return event.nodes[0]
    many = ((len(event.ranks), "rank"), (len(event.nodes), findings.unit))
    return next((f"{number} {noun}s" for number, noun in many if number > 1), "the job")


def _asked(findings: Findings) -> Collection[int]:
    """Messages of words that no rule knows and that count no iteration, those said least often first."""
    table = findings.parsed.table
    known = {candidate.event for candidate in findings.candidates}
    known.update(np.unique(table.event[findings.parsed.iterations.marks]).tolist())
    asked = [
        event
        for event, template in enumerate(table.templates)
        if event not in known and table.heads[event] >= TIMES and not template.block
    ]
    return sorted(asked, key=lambda event: (int(table.heads[event]), event))[:MOST_EVENTS]


def _work(findings: Findings, event: int, rows: NDArray[np.intp], slow: Slowdown) -> SlowWork | None:
    parsed = findings.parsed
    before, since = _split(findings, rows, slow)
    if len(since) < TIMES or int(parsed.iterations.of_row[since].min()) >= (parsed.iterations.last or 0):
        return None  # said behind the last progress alone: how it ended
    timed = is_timed(parsed.table.templates[event].sample)
    work = _took_longer(findings, event, before, since, slow) if timed else None
    return work if work is not None or not _is_new(findings, event, before) else _first_said(findings, event, since)


def _split(findings: Findings, rows: NDArray[np.intp], slow: Slowdown) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Those of the rows before and since the onset: by their clock, else by the iterations that are counted above."""
    table, iterations = findings.parsed.table, findings.parsed.iterations
    onset, reached = onset_of_slowdown(findings.parsed, findings.ending), iterations.of_row[rows]
    dated = table.timed[rows] & (onset is not None)
    since = np.where(dated, table.time[rows] >= (onset or 0), reached >= slow.iteration - 1)
    return rows[~since], rows[since & (dated | (reached != NO_ITERATION))]


def _took_longer(
    findings: Findings, event: int, before: NDArray[np.intp], since: NDArray[np.intp], slow: Slowdown
) -> SlowWork | None:
    """A message whose duration grew by a good part of what a step did; one that is new cost all that it took."""
    was, now = _durations(findings, before), _durations(findings, since)
    if len(now) < TIMES or (len(was) < TIMES and not _is_new(findings, event, before)):
        return None
    usual, earlier = float(np.median(list(now.values()))), np.array(list(was.values()) or [0.0])
    grew = usual - float(np.median(earlier))
    if grew < SHARE * (slow.after - slow.before) or np.mean(earlier >= usual / MIN_RATIO) > QUARTER:
        return None
    shown = np.array([row for row, value in now.items() if value >= usual], np.intp)
    told = f"{duration(float(np.median(earlier)))} before" if was else "it was never said before"
    because = (
        f"Since then it took {duration(usual)} at \u201c{first_quote(findings, shown)}\u201d and its like; {told}."
    )
    return SlowWork((shown_event(findings.parsed.table, event, shown, _LONGER),), because, grew)


def first_quote(findings: Findings, rows: NDArray[np.intp]) -> str:
    """The first of these rows, without its time and labels."""
    row = int(rows[0])
    return short(quote(read_rows(findings.parsed.files, findings.parsed.table, [row]).get(row, "")))


def _durations(findings: Findings, rows: NDArray[np.intp]) -> dict[int, float]:
    """Seconds that each of these rows tells, in table order; of very many an even part."""
    chosen = rows[:: len(rows) // MAX_ROWS + 1]
    lines = sorted(read_rows(findings.parsed.files, findings.parsed.table, chosen).items())
    told = ((row, last_duration(text)) for row, text in lines)
    return {row: seconds for row, seconds in told if seconds is not None}


def _first_said(findings: Findings, event: int, since: NDArray[np.intp]) -> SlowWork | None:
    """A message that was never said before the onset, and again and again until the end.

    In no evaluation or save, and none that names an iteration: it tells of progress.
    """
    parsed, reached = findings.parsed, findings.parsed.iterations.of_row[since]
    first, last = int(reached.min()), parsed.iterations.last or 0
    slow = findings.ending.slow
    middle = ((slow.iteration if slow else 0) + last) // 2
    paused = np.isin(parsed.stages[since], [STAGES.index(stage) for stage in KNOWN_PAUSES])
    tells = is_message(parsed, event) and not _PROGRESS.search(parsed.table.templates[event].sample)
    if not tells or first > middle or int(reached.max()) < middle or paused.any():
        return None
    shown = shown_event(parsed.table, event, since, _LONGER)
    text, who = first_quote(findings, since), speakers(findings, shown)
    return SlowWork((shown,), f"Since then {who} said \u201c{text}\u201d, {len(since)} times.", 0.0)


def _tells(sample: str) -> bool:
    """Whether a message says something in words, and nothing that is known to be harmless."""
    fact = fact_of(sample, block=False)
    return len(_WORD.findall(sample)) >= WORDS and (fact is None or fact.kind != Kind.NONE or not fact.known)


def _is_new(findings: Findings, event: int, before: NDArray[np.intp]) -> bool:
    """Whether it was never said before the onset, nor by good jobs."""
    usual = findings.parsed.usual
    return not len(before) and (usual is None or findings.parsed.table.templates[event].id not in usual.anywhere)


def shown_event(table: EventTable, event: int, rows: NDArray[np.intp], why: str) -> Candidate:
    """An event of ordinary words that is shown as a root, for the reason why."""
    origins = [table.origins[voice] for voice in np.unique(table.voice[rows]).tolist()]
    return Candidate(
        event=event,
        text=table.templates[event].sample,
        fact=Fact(Role.ROOT, Blame.NOBODY, Kind.NONE, 0.0, "", _CHECK.get(why, _LOOK), known=False),
        rows=rows,
        count=len(rows),
        excess=1.0,
        survived=1.0,
        nodes=tuple(sorted({origin.node for origin in origins if origin.node})),
        ranks=tuple(sorted({origin.rank for origin in origins if origin.rank is not None})),
        role=Role.ROOT,
        score=AT_THE_ONSET,
        why=why,
        ordinary=True,
    )
