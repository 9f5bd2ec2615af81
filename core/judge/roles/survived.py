"""Errors that the job survived are none, nor is a warning alone, nor what daemons beside it log on healthy machines."""

from collections.abc import Iterable, Sequence

import numpy as np

from core.events.row_text import read_rows
from core.job import Status
from core.judge.candidates import Candidate
from core.judge.roles.links import never_back
from core.logs.voices import Program
from core.model import Role
from core.parsed import Parsed

SURVIVED = 0.5  # share of its rows that the job survived beyond which a known event is no cause
WORTH_A_LOOK = 0.4  # strength from which on an unknown message may be a root; a warning alone is none


def demote_survived(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Errors that were followed by progress, and mere warnings, are benign; unknown lines after one survival.

    A link or a server that never came back was not survived where iterations are counted without a clock.
    In a job that failed and of which nothing else tells why, only by progress of the node that says them: others may
    do work of their own.
    """
    table, marks = parsed.table, parsed.iterations.marks
    clockless = len(marks) and not table.timed[marks].any()
    lost = never_back(parsed, candidates) if clockless else frozenset[int]()
    lost |= _never_there(parsed, candidates)

    def demote(candidate: Candidate) -> Candidate:
        fact = candidate.fact
        periodic = not fact.known and not table.templates[candidate.event].block  # exceptions are no beat
        limit = 0.0 if periodic else SURVIVED
        if (
            candidate.role in (Role.ROOT, Role.PROPAGATED)
            and candidate.survived > limit
            and candidate.event not in lost
        ):
            return candidate.with_role(Role.BENIGN, "the job went on after it")
        if candidate.role is Role.ROOT and not fact.known and fact.strength < WORTH_A_LOOK:
            return candidate.with_role(Role.BENIGN, "a warning that nothing else supports")
        return candidate

    demoted = [demote(candidate) for candidate in candidates]
    if parsed.job.status is not Status.FAILED or any(
        candidate.role in (Role.ROOT, Role.PROPAGATED) for candidate in demoted
    ):
        return demoted
    return [old if _ended(parsed, old) else new for old, new in zip(candidates, demoted, strict=True)]


def _never_there(parsed: Parsed, candidates: Sequence[Candidate]) -> frozenset[int]:
    """Events that name a machine of the job of whose ranks nothing was ever heard: it did not go on, others did."""
    table = parsed.table
    absent = set(parsed.nodes) - {origin.node for origin in table.origins if origin.rank is not None}
    naming = [candidate for candidate in candidates if candidate.fact.named is not None and candidate.survived]
    if not absent or not naming or not table.ranks or parsed.unit != "node":
        return frozenset()
    texts = read_rows(parsed.files, table, sorted({int(candidate.rows[0]) for candidate in naming}))
    return frozenset(
        candidate.event
        for candidate in naming
        if candidate.fact.named is not None
        and (match := candidate.fact.named.search(texts.get(int(candidate.rows[0]), "")))
        and match.groupdict().get("node") in absent
    )


def _ended(parsed: Parsed, candidate: Candidate) -> bool:
    """Whether an exception was the end of the nodes that raised it: they made no progress after it."""
    table, marks = parsed.table, parsed.iterations.marks
    if not (candidate.nodes and table.templates[candidate.event].block and candidate.role is Role.ROOT):
        return False
    nodes = [table.origins[voice].node for voice in table.voice[marks].tolist()]
    own = marks[np.isin(np.array([node or "" for node in nodes], dtype=np.str_), candidate.nodes)]
    return not (table.time[own] > table.time[candidate.rows].max()).any()


def clear_unknown_daemons(parsed: Parsed, candidates: Iterable[Candidate]) -> list[Candidate]:
    """What daemons alone say, in words that no rule has, is no fault of a job whose own programs speak."""
    table = parsed.table
    if not any(origin.program in (Program.RANK, Program.LAUNCHER) for origin in table.origins):
        return list(candidates)
    return [
        candidate.with_role(Role.BENIGN, "a daemon beside the job said it, in words that nobody knows")
        if candidate.role is Role.ROOT
        and not candidate.fact.known
        and all(table.origins[voice].program is Program.DAEMON for voice in set(table.voice[candidate.rows].tolist()))
        else candidate
        for candidate in candidates
    ]
