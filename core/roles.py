"""Roles that only context decides: survived errors, kills that were asked for, stops from outside, agents that end.

A fact says what a message means by itself (``core.facts``); whether it is the fault, its echo or the clearing up
depends on what else the job said, and when (docs/how-it-works.md, "Roles").
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.crossjob import GRACE, KILLED, Candidate
from core.events.table import EventTable
from core.facts import Blame, Fact
from core.logs.origins import Program
from core.model import Role
from core.parsing.parsed import Parsed
from core.text import read_rows

SURVIVED = 0.5  # share of its rows that the job survived beyond which a known event is no cause
WORTH_A_LOOK = 0.4  # strength from which on an unknown message may be a root; a warning alone is none
TROUBLE = 0.5  # strength from which on an event is trouble by itself: exceptions and what peers report, not warnings
MAX_EXITS = 4096  # reports of ended processes that are read: one a rank of the largest jobs
_STORE, _TERMINATED, _SILENT, _ABORTED = "store lost", "terminated", "peer silent", "aborted"  # in rules/facts.toml
_REQUESTS = re.compile(
    r"asked to terminate|-> terminating|did not stop within|sending SIGKILL|death signal|got signal: 15"
    r"|received SIGTERM",
    re.IGNORECASE,
)
_TOLD = re.compile(r"death signal|got signal: 15|closing signal", re.IGNORECASE)
_EXITED = re.compile(r"failed \(exitcode: (?!-)\d+\)")
_LOCAL_RANK = re.compile(r"local_rank: (\d+)")
_SILENT_EXIT = Fact(
    Role.TEARDOWN,
    Blame.SELF,
    "silent exit",
    0.2,
    "a process there ended with an error and without a word",
    "Look for its standard error elsewhere, for a core file, and into the kernel log of that node.",
)
_NEVER = np.iinfo(np.int64).max

Rows = NDArray[np.intp]
Chosen = Callable[[Rows], NDArray[np.bool_]]  # which of these rows


def assign_roles(parsed: Parsed, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Candidates with the roles that they have in this job."""
    table = parsed.table
    candidates = _demote_survived(table, candidates)
    candidates = _clear_asked_kills(table, candidates)
    candidates = _clear_endings(table, candidates)
    candidates = _weigh_stops(table, candidates)
    candidates = _promote_first_stop(table, candidates)
    return tuple(_promote_silent_exits(parsed, candidates))


def _demote_survived(table: EventTable, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Errors that were followed by progress, and mere warnings, are benign; unknown lines after one survival."""

    def demote(one: Candidate) -> Candidate:
        periodic = not one.fact.known and not table.templates[one.event].block  # exceptions are no beat
        limit = 0.0 if periodic else SURVIVED
        if one.role in (Role.ROOT, Role.PROPAGATED) and one.survived > limit:
            return one.with_role(Role.BENIGN, "the job went on after it")
        if one.role is Role.ROOT and not one.fact.known and one.fact.strength < WORTH_A_LOOK:
            return one.with_role(Role.BENIGN, "a warning that nothing else supports")
        return one

    return [demote(one) for one in candidates]


def _clear_asked_kills(table: EventTable, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """SIGKILL after a request to end is clearing up; the scheduler reports it after any request."""
    asked = _first_times(table, _requests(candidates))
    scheduler = np.array([origin.program is Program.SCHEDULER for origin in table.origins] or [False], np.bool_)

    def was_asked(rows: Rows) -> NDArray[np.bool_]:
        late: NDArray[np.bool_] = table.time[rows] >= asked.min()
        return np.asarray(_after(table, rows, asked) | (scheduler[table.voice[rows]] & late), np.bool_)

    why = "killed after it was asked to stop"
    return [_without(table, one, was_asked, why) if one.fact.kind == KILLED else one for one in candidates]


def _clear_endings(table: EventTable, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """What peers tell after their own node was told to end, or an agent of a store after its node had failed.

    And a watchdog that waited in vain for a peer ends its own process with SIGABRT: that is no fault of its node.
    """
    asked = _first_times(table, _requests(candidates))
    troubled = _first_times(table, [one for one in candidates if _is_trouble(one)])
    waited = _first_times(table, [one for one in candidates if _waited(one)])
    why = "its node was ending already"

    def clear(one: Candidate) -> Candidate:
        if one.fact.kind == _ABORTED and one.role is Role.ROOT:
            return _without(
                table,
                one,
                lambda rows: waited[table.node[rows]] <= table.time[rows],
                "it had waited for a peer in vain",
            )
        if one.fact.kind == _TERMINATED and one.role is Role.ROOT:
            return _without(table, one, lambda rows: _after(table, rows, np.minimum(asked, troubled)), why)
        if one.role is Role.PROPAGATED:
            since = troubled if one.fact.kind == _STORE else asked
            return _without(table, one, lambda rows: _after(table, rows, since), why)
        return one

    return [clear(one) for one in candidates]


def _is_trouble(one: Candidate) -> bool:
    tells = one.role in (Role.ROOT, Role.PROPAGATED) and one.fact.kind not in (_STORE, _TERMINATED)
    return tells and not one.fact.stop and one.fact.strength >= TROUBLE


def _waited(one: Candidate) -> bool:
    return one.role is Role.PROPAGATED and one.fact.kind == _SILENT


def _weigh_stops(table: EventTable, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """A stop from outside explains what comes after it, and explains nothing when something had failed before.

    Who timed out before the stop had waited for long: what kept them waiting is older still.
    """
    stops = [one for one in candidates if one.fact.stop and one.role is Role.ROOT]
    roots = [one for one in candidates if one.role is Role.ROOT and not one.fact.stop and one.fact.strength >= TROUBLE]
    if not stops:
        return candidates
    stopped = min(_onset(table, one) for one in stops)
    waited = [one for one in candidates if _waited(one)]
    if any(_came_before(table, one, stopped) for one in (*roots, *waited)):
        why, cleared = "something had failed before", stops
    else:
        why, cleared = "came after the stop", roots
    return [one.with_role(Role.TEARDOWN, why) if one in cleared else one for one in candidates]


def _promote_first_stop(table: EventTable, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """A launcher that is told to stop where the stop began is not clearing up: it is how the stop began."""
    stops = [one for one in candidates if one.fact.stop and one.role is Role.ROOT and one.nodes]
    if not stops:
        return candidates
    began, _ = min(_onset(table, one) for one in stops)
    nodes = {node for one in stops for node in one.nodes}
    places = [place for place, node in enumerate(table.nodes) if node in nodes]

    def elsewhere(rows: Rows) -> NDArray[np.bool_]:
        soon = (table.time[rows] >= began) & (table.time[rows] <= began + GRACE)
        return np.asarray(~(soon & np.isin(table.node[rows], places)), np.bool_)

    def promote(one: Candidate) -> Candidate:
        if one.role is not Role.TEARDOWN or not _TOLD.search(one.text) or elsewhere(one.rows).all():
            return one
        return _without(table, one, elsewhere, "").with_role(Role.ROOT, "the launcher that was stopped first")

    return [promote(one) for one in candidates]


def _promote_silent_exits(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """A launcher's report of a process that ended by itself without a word is the only trace there is."""
    table = parsed.table
    told = {rank for one in candidates if one.role in (Role.ROOT, Role.PROPAGATED) for rank in one.ranks}
    exits = [one for one in candidates if one.role is Role.TEARDOWN and _EXITED.search(one.text)]
    asked = _first_times(table, _requests(candidates))
    ranks = {(origin.node, origin.local_rank): origin.rank for origin in table.origins if origin.local_rank is not None}

    def explained(rows: Rows) -> NDArray[np.bool_]:
        read = rows[:MAX_EXITS]
        texts = read_rows(parsed.files, table, read)
        silent = np.zeros(len(rows), np.bool_)
        for at, (row, voice) in enumerate(zip(read.tolist(), table.voice[read].tolist(), strict=True)):
            local = _LOCAL_RANK.search(texts.get(row, ""))
            node = table.origins[voice].node
            rank = ranks.get((node, int(local[1]))) if local else None
            silent[at] = rank is not None and rank not in told
        return ~silent | _after(table, rows, asked)

    def promote(one: Candidate) -> Candidate:
        if one not in exits or explained(one.rows).all():
            return one
        silent = _without(table, one, explained, "").with_role(Role.ROOT, "the process ended without a word")
        return replace(silent, fact=_SILENT_EXIT)

    return [promote(one) for one in candidates]


# --- rows and times -----------------------------------------------------------------------------------------------


def _requests(candidates: Sequence[Candidate]) -> list[Candidate]:
    return [one for one in candidates if _REQUESTS.search(one.text)]


def _without(table: EventTable, one: Candidate, ending: Chosen, why: str) -> Candidate:
    """The candidate without the rows of an ending; as teardown when nothing else is left."""
    rows = one.rows[~ending(one.rows)]
    if len(rows) == 0:
        return one.with_role(Role.TEARDOWN, why)
    origins = [table.origins[voice] for voice in np.unique(table.voice[rows]).tolist()]
    return replace(
        one,
        rows=rows,
        count=one.count * len(rows) // len(one.rows),
        nodes=tuple(sorted({origin.node for origin in origins if origin.node})),
        ranks=tuple(sorted({origin.rank for origin in origins if origin.rank is not None})),
    )


def _first_times(table: EventTable, candidates: Sequence[Candidate]) -> NDArray[np.int64]:
    """First time of any of these on each node, by its place in the table; the last one is that of no node."""
    first = np.full(len(table.nodes) + 1, _NEVER, np.int64)
    for one in candidates:
        np.minimum.at(first, table.node[one.rows], table.time[one.rows])
    return first


def _after(table: EventTable, rows: Rows, since: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which rows come at or after the time of their node; those of no node never do."""
    known = table.node[rows] >= 0
    return np.asarray(known & (since[table.node[rows]] <= table.time[rows]), np.bool_)


def _came_before(table: EventTable, one: Candidate, stopped: tuple[int, int]) -> bool:
    """Whether a candidate came before a stop; one without a clock came after the words above it, perhaps long after.

    In the file of the stop the place tells.
    """
    beside = one.rows[table.file[one.rows] == table.file[stopped[1]]]
    if len(beside):
        return int(beside[0]) < stopped[1]
    time, row = _onset(table, one)
    return time < stopped[0] if table.timed[row] else 0 <= time < stopped[0] - GRACE


def _onset(table: EventTable, one: Candidate) -> tuple[int, int]:
    """Time and row of a candidate's first row; where clocks do not tell, the place in the file does."""
    row = one.rows[np.lexsort((one.rows, table.time[one.rows]))[0]]
    return int(table.time[row]), int(row)
