"""Whose words they are that another process passes on: a launcher without a name, or Ray's driver that raises again."""

import re
import signal
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from core.events.messages import keys_of
from core.events.row_text import read_rows
from core.events.table import EventTable
from core.facts import Blame
from core.failure_kinds import OF_THE_PROGRAM, Kind
from core.judge.candidates import Candidate
from core.judge.exits import Exits
from core.judge.rank_rows import ranks_of_nodes
from core.model import Role
from core.parsed import Parsed
from core.parsing.identities import MAX_READ, told_identities

# ray-project/ray python/ray/exceptions.py (2.40): ray::Learner.gradient() (pid=27307, ip=10.150.1.13, actor_id=...
_RAISED = re.compile(r"ray::(?P<actor>\w{0,64})[^(]{0,200}\(\)\S{0,8} \(pid=\d{1,9}, ip=(?P<address>[\d.]{7,15})")
_RAISED_BY = re.compile(r"ray::(?P<actor>\w{1,64})")
_DIED = re.compile(r"^\s+ip: (?P<address>[\d.]{7,15})\s*$")  # below "The actor died unexpectedly", as it tells of it
_TOLD_BELOW = 8  # rows: class_name, actor_id, pid, name, namespace, ip, and how the actor ended
_ACTOR = re.compile(rb"\((?P<actor>\w{1,64}) pid=(?P<pid>\d{1,10})")  # how it labels what an actor prints
# What the process that leads all others reads for them: no other one tried.
_OF_ITS_SETTINGS = OF_THE_PROGRAM | {Kind.SETTINGS, Kind.MODEL_MISMATCH, Kind.MISSING_FILE, Kind.SOFTWARE}
# openucx/ucx src/ucs/debug/log.c (1.15): "[1653901933.4] [gpu02:5215 :0]  sock.c:325  UCX  ERROR ..."
OWN_HEAD = re.compile(r"^\[\d{9,11}\.\d{1,9}\] \[(?P<node>[\w.-]{1,253}):\d{1,10} *:\d{1,10}\]")
_CLEARED = frozenset({signal.SIGTERM, signal.SIGKILL})  # by which launchers end the others once one has failed


def name_speakers(parsed: Parsed, candidates: Sequence[Candidate], exits: Exits) -> tuple[Candidate, ...]:
    """The candidates; what Ray's driver raises again is said on the node of the actor.

    What stands unnamed above the only report of a process that failed, and was not ended for that, is said by that
    process. Its report is no trace of its own then, and becomes what it was: clearing up.
    """
    candidates = _as_raised(
        parsed,
        [replace(candidate, nodes=(), ranks=()) if is_of_any(candidate) else candidate for candidate in candidates],
    )
    candidates = _as_reported(parsed, candidates, exits)
    alone = [(rank, ending.row) for rank, ending in exits.of_rank.items() if ending.code and ending.row is not None]
    if len(alone) != 1:
        return tuple(candidates)
    ((rank, report),) = alone
    if any(row < report or ended_by not in _CLEARED for row, ended_by in exits.failed.items() if row != report):
        return tuple(candidates)
    homes = ranks_of_nodes(parsed.table, parsed.job.manifest.node_ranks)
    nodes = tuple(node for node, ranks in homes.items() if rank in ranks)
    unnamed = [
        candidate for candidate in candidates if _is_unnamed(parsed, candidate) and _above(parsed, candidate, report)
    ]
    if not nodes or not unnamed:
        return tuple(candidates)
    return tuple(
        replace(candidate, nodes=nodes, ranks=(rank,))
        if candidate in unnamed
        else candidate.with_role(Role.TEARDOWN, "its process had said why")
        if candidate.role is Role.ROOT and report in candidate.rows
        else candidate
        for candidate in candidates
    )


def _as_reported(parsed: Parsed, candidates: Sequence[Candidate], exits: Exits) -> Sequence[Candidate]:
    """The candidates; where nobody names nodes, the only process that a signal ended by itself is who died of it."""
    died = [
        (rank, ending)
        for rank, ending in exits.of_rank.items()
        if ending.signal is not None and ending.signal != signal.SIGTERM and ending.row is not None
    ]
    homes = ranks_of_nodes(parsed.table, parsed.job.manifest.node_ranks)
    nodes = tuple(node for node, ranks in homes.items() if len(died) == 1 and died[0][0] in ranks)
    if not parsed.launched.count or not nodes:
        return candidates
    ((rank, ending),) = died
    kinds = {candidate.fact.kind for candidate in candidates if ending.row in candidate.rows}

    def reported(candidate: Candidate) -> bool:
        if candidate.role is not Role.ROOT or candidate.fact.kind not in kinds:
            return False
        return ending.row in candidate.rows or not (candidate.nodes or candidate.ranks)

    return [
        replace(candidate, nodes=nodes, ranks=(rank,)) if reported(candidate) else candidate for candidate in candidates
    ]


def name_own_machines(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates; where a library puts its own machine before each line in a file of all, it is said there."""
    asked = [candidate for candidate in candidates if not candidate.nodes and "UCX" in candidate.text]
    if not asked:
        return candidates
    rows = sorted({row for candidate in asked for row in candidate.rows[:MAX_READ].tolist()})
    heads = {row: OWN_HEAD.match(text) for row, text in read_rows(parsed.files, parsed.table, rows).items()}
    nodes = {row: head["node"] for row, head in heads.items() if head is not None and head["node"] in parsed.nodes}
    return [
        replace(candidate, nodes=tuple(sorted({nodes[row] for row in candidate.rows.tolist() if row in nodes})))
        if candidate in asked
        else candidate
        for candidate in candidates
    ]


def is_raised_again(candidate: Candidate) -> bool:
    """Whether Ray's driver raises what one actor raised."""
    return "ray::" in candidate.text and not is_of_any(candidate)


def is_of_any(candidate: Candidate) -> bool:
    """Whether Ray's driver raises numbers that are wrong everywhere: it gets them from any actor first."""
    return "ray::" in candidate.text and candidate.fact.kind == Kind.NUMERICS


def _as_raised(parsed: Parsed, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates, of which those that Ray's driver raised again, or says that they died, are the actor's."""
    rows = {
        candidate.event: _rows_of_actor(parsed.table, candidate)
        for candidate in candidates
        if candidate.role is Role.ROOT and (is_raised_again(candidate) or _is_of_dead_actor(candidate))
    }
    if not rows:
        return tuple(candidates)
    texts = read_rows(parsed.files, parsed.table, sorted({row for own in rows.values() for row in own}))
    nodes = {address: node for node, own in parsed.job.manifest.node_addresses.items() for address in own}
    nodes |= told_identities(parsed.table, parsed.files)[0] | {node: node for node in parsed.table.nodes}
    ranks = ranks_of_nodes(parsed.table, parsed.job.manifest.node_ranks)
    leaders = find_leaders(parsed.table)
    named = []
    for candidate in candidates:
        form = _DIED if _is_of_dead_actor(candidate) else _RAISED
        matches = [match for row in rows.get(candidate.event, ()) if (match := form.search(texts.get(row, "")))]
        if _is_of_no_machine(candidate):  # where the actor that leads all others raised it
            matches = [match for match in matches if match.groupdict().get("actor") not in leaders]
        homes = sorted({nodes[match["address"]] for match in matches if match["address"] in nodes})
        own = tuple(sorted(ranks[homes[0]])) if len(homes) == 1 and len(ranks.get(homes[0], ())) == 1 else ()
        fact = replace(candidate.fact, blame=Blame.SELF) if form is _DIED else candidate.fact
        named.append(replace(candidate, fact=fact, nodes=tuple(homes), ranks=own) if homes else candidate)
    return tuple(named)


def is_of_leader(candidate: Candidate, leaders: Collection[str]) -> bool:
    """Whether Ray's driver raises what the actor that leads all others met: the address beside it is of no fault."""
    match = _RAISED_BY.search(candidate.text) if _is_of_no_machine(candidate) else None
    return match is not None and match["actor"] in leaders


def _is_of_no_machine(candidate: Candidate) -> bool:
    return not candidate.fact.known or candidate.fact.kind in _OF_ITS_SETTINGS


def _is_of_dead_actor(candidate: Candidate) -> bool:
    """Whether Ray's driver tells that an actor died by itself, and below that which one."""
    return "ActorDiedError" in candidate.text and not is_raised_again(candidate)


def _rows_of_actor(table: EventTable, candidate: Candidate) -> Sequence[int]:
    """The rows that name the actor: the exception's own, of one that died those below it."""
    keys = [row for own in keys_of(table, candidate.rows[:MAX_READ].tolist()).values() for row in own]
    if not _is_of_dead_actor(candidate):
        return keys
    ends = {row: table.rows_of_file(int(table.file[row])).stop for row in keys}
    return [below for row, end in ends.items() for below in range(row, min(row + _TOLD_BELOW, end))]


def find_leaders(table: EventTable) -> frozenset[str]:
    """Classes of Ray's actors that have one process alone where others have several: it leads them."""
    processes: dict[str, set[str]] = defaultdict(set)
    for voice in range(len(table.origins)):
        for match in _ACTOR.finditer(table.prefix_of(voice)):
            processes[match["actor"].decode()].add(match["pid"].decode())
    several = any(len(pids) > 1 for pids in processes.values())
    return frozenset(actor for actor, pids in processes.items() if several and len(pids) == 1)


def _is_unnamed(parsed: Parsed, candidate: Candidate) -> bool:
    tells = candidate.fact.known or parsed.table.templates[candidate.event].block  # exceptions too that no fact knows
    return (
        candidate.role is Role.ROOT
        and tells
        and not candidate.fact.stop
        and not candidate.nodes
        and not candidate.ranks
    )


def _above(parsed: Parsed, candidate: Candidate, report: int) -> bool:
    """Whether all that it says stands above the report, in its file."""
    file = parsed.table.file
    return bool(np.all((candidate.rows < report) & (file[candidate.rows] == file[report])))
