"""Roles that only context decides: survived errors, kills that were asked for, stops from outside, agents that end.

A fact says what a message means by itself (``core.facts``); whether it is the fault, its echo or the clearing up
depends on what else the job said, and when (METHOD.md, section 3).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from core.crossjob import Candidate
from core.model import Role
from core.origins import Program
from core.parsed import Parsed
from core.table import EventTable
from core.text import read_rows

STOP_WINDOW = 30_000_000  # microseconds: torchrun and schedulers wait 10 to 30 s between SIGTERM and SIGKILL
SURVIVED = 0.5  # share of its rows that the job survived beyond which a known event is no cause
WORTH_A_LOOK = 0.4  # strength from which on an unknown message may be a root; a warning alone is none
TROUBLE = 0.5  # strength from which on an event is trouble by itself: exceptions and what peers report, not warnings
_KILLED, _STORE, _TERMINATED = "killed", "store lost", "terminated"  # kinds in rules/facts.toml
_REQUESTS = re.compile(
    r"asked to terminate|did not stop within|sending SIGKILL|death signal|got signal: 15|received SIGTERM",
    re.IGNORECASE,
)
_TOLD = re.compile(r"death signal|got signal: 15|closing signal", re.IGNORECASE)

Times = Mapping[str, int]  # node (empty for none) -> microseconds


def assign_roles(parsed: Parsed, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Candidates with the roles that they have in this job."""
    table = parsed.table
    steps: tuple[Callable[[EventTable, Sequence[Candidate]], Sequence[Candidate]], ...] = (
        _demote_survived,
        _clear_asked_kills,
        _clear_endings,
        _weigh_stops,
        _promote_first_stop,
    )
    for step in steps:
        candidates = step(table, candidates)
    return tuple(_promote_silent_exits(parsed, candidates))


def _demote_survived(table: EventTable, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Errors that were followed by progress, and mere warnings, are benign; unknown lines after one survival."""

    def demote(one: Candidate) -> Candidate:
        periodic = not one.fact.known and not table.templates[one.event].block  # exceptions are no beat
        if one.role is Role.ROOT and one.survived > (0.0 if periodic else SURVIVED):
            return one.with_role(Role.BENIGN, "the job went on after it")
        if one.role is Role.ROOT and not one.fact.known and one.fact.strength < WORTH_A_LOOK:
            return one.with_role(Role.BENIGN, "a warning that nothing else supports")
        return one

    return [demote(one) for one in candidates]


def _clear_asked_kills(table: EventTable, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """SIGKILL after a request to end is clearing up."""
    asked = _first_times(table, [one for one in candidates if _REQUESTS.search(one.text)])

    def was_asked(row: int) -> bool:
        if table.origins[table.voice[row]].program is Program.SCHEDULER:
            return bool(asked) and min(asked.values()) <= int(table.time[row])
        return _after(table, row, asked)

    why = "killed after it was asked to stop"
    return [_keep(table, one, was_asked, why) if one.fact.kind == _KILLED else one for one in candidates]


def _clear_endings(table: EventTable, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """What peers tell after their own node was told to end, or an agent of a store after its node had failed."""
    asked = _first_times(table, [one for one in candidates if _REQUESTS.search(one.text)])
    troubled = _first_times(table, [one for one in candidates if _is_trouble(one)])

    def clear(one: Candidate) -> Candidate:
        if one.fact.kind == _TERMINATED and one.role is Role.ROOT:
            return _keep(
                table,
                one,
                lambda row: _after(table, row, troubled) or _after(table, row, asked),
                "its node was ending already",
            )
        if one.role is not Role.PROPAGATED:
            return one
        since = troubled if one.fact.kind == _STORE else asked
        return _keep(table, one, lambda row: _after(table, row, since), "its node was ending already")

    return [clear(one) for one in candidates]


def _is_trouble(one: Candidate) -> bool:
    counts = (
        one.role in (Role.ROOT, Role.PROPAGATED) and one.fact.kind not in (_STORE, _TERMINATED) and not one.fact.stop
    )
    return counts and one.fact.strength >= TROUBLE


def _weigh_stops(table: EventTable, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """A stop from outside explains what comes after it, and explains nothing when something had failed before."""
    stops = [one for one in candidates if one.fact.stop and one.role is Role.ROOT]
    roots = [one for one in candidates if one.role is Role.ROOT and not one.fact.stop and one.fact.strength >= TROUBLE]
    if not stops:
        return candidates
    stopped = min(_onset(table, one) for one in stops)
    if any(_onset(table, one) < stopped for one in roots):
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

    def elsewhere(row: int) -> bool:
        soon = began <= int(table.time[row]) <= began + STOP_WINDOW
        return not soon or table.origins[table.voice[row]].node not in nodes

    def promote(one: Candidate) -> Candidate:
        if one.role is not Role.TEARDOWN or not _TOLD.search(one.text):
            return one
        if all(elsewhere(row) for row in one.rows.tolist()):
            return one
        return _keep(table, one, elsewhere, one.why).with_role(Role.ROOT, "the launcher that was stopped first")

    return [promote(one) for one in candidates]


def _promote_silent_exits(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """A launcher's report of a process that ended by itself without a word is the only trace there is."""
    table = parsed.table
    spoke = {rank for one in candidates if one.role in (Role.ROOT, Role.PROPAGATED) for rank in one.ranks}
    exits = [one for one in candidates if one.role is Role.TEARDOWN and _EXITED.search(one.text)]
    asked = _first_times(table, [one for one in candidates if _REQUESTS.search(one.text)])
    texts = read_rows(parsed.files, table, [row for one in exits for row in one.rows.tolist()])
    rank_at = {
        (origin.node, origin.local_rank): origin.rank for origin in table.origins if origin.local_rank is not None
    }

    def said_why(row: int) -> bool:
        local = _LOCAL_RANK.search(texts.get(row, ""))
        rank = rank_at.get((table.origins[table.voice[row]].node, int(local[1]))) if local else None
        return rank is None or rank in spoke or _after(table, row, asked)

    def promote(one: Candidate) -> Candidate:
        if one not in exits or all(said_why(row) for row in one.rows.tolist()):
            return one
        return _keep(table, one, said_why, one.why).with_role(Role.ROOT, "the process ended without a word")

    return [promote(one) for one in candidates]


_EXITED = re.compile(r"failed \(exitcode: (?!-)\d+\)")
_LOCAL_RANK = re.compile(r"local_rank: (\d+)")


def _keep(table: EventTable, one: Candidate, is_ending: Callable[[int], bool], why: str) -> Candidate:
    """The candidate without the rows of an ending; as teardown when nothing else is left."""
    rows = np.array([row for row in one.rows.tolist() if not is_ending(row)], np.intp)
    if len(rows) == 0:
        return one.with_role(Role.TEARDOWN, why)
    origins = [table.origins[table.voice[row]] for row in rows.tolist()]
    return replace(
        one,
        rows=rows,
        nodes=tuple(sorted({origin.node for origin in origins if origin.node})),
        ranks=tuple(sorted({origin.rank for origin in origins if origin.rank is not None})),
    )


def _first_times(table: EventTable, candidates: Sequence[Candidate]) -> Times:
    """First time of any of these on each node."""
    first: dict[str, int] = {}
    for one in candidates:
        for row in one.rows.tolist():
            node = table.origins[table.voice[row]].node or ""
            first[node] = min(first.get(node, int(table.time[row])), int(table.time[row]))
    return first


def _after(table: EventTable, row: int, since: Times) -> bool:
    node = table.origins[table.voice[row]].node
    return bool(node) and node in since and since[node] <= int(table.time[row])


def _onset(table: EventTable, one: Candidate) -> tuple[int, int]:
    """Time and row of a candidate's first row; where clocks do not tell, the place in the file does."""
    return min(zip(table.time[one.rows].tolist(), one.rows.tolist(), strict=True))
