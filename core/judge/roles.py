"""Roles that only context decides: survived errors, kills that were asked for, stops from outside, agents that end.

A fact says what a message means by itself (``core.facts``); whether it is the fault, its echo or the clearing up
depends on what else the job said, and when (docs/explain/method.md, "Roles").
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.course.pace import SECOND
from core.course.patience import END_STEPS, patience
from core.events.messages import keys_of, unlabelled
from core.events.table import EventTable
from core.facts import Blame, Fact
from core.judge.candidates import GRACE, KILLED, Candidate
from core.judge.ending import is_order
from core.judge.exits import Exits, ranks_by_place, ranks_of
from core.judge.ranks import MAJORITY, last_rows, last_words, ranks_of_nodes
from core.kinds import Kind
from core.logs.origins import Program
from core.model import Role
from core.parsing.parsed import Parsed
from core.processes import Process, process_of
from core.text import read_rows

LEAD = 100_000  # microseconds: clocks of a cluster are nearer to each other, and a loss is noticed no sooner
FEW = 0.25  # of the ranks (as in core.nodes.stall)
MIN_SPEAKERS = 2  # of one alone nothing was lost
FIRST_TO_END = 0.6  # strength of the words with which a process ended before all others: as sure as silence
SURVIVED = 0.5  # share of its rows that the job survived beyond which a known event is no cause
WORTH_A_LOOK = 0.4  # strength from which on an unknown message may be a root; a warning alone is none
TROUBLE = 0.5  # strength from which on an event is trouble by itself: exceptions and what peers report, not warnings
LATE = 5_000_000  # microseconds after others failed: peers notice a death sooner, gloo and torchrun poll by the second
MAX_EXITS = 4096  # reports of ended processes that are read: one a rank of the largest jobs
CRASHES = frozenset(
    {4, 6, 7, 8, 9, 11}
)  # signals by which processes die: SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGSEGV
_SILENT_EXIT = Fact(
    Role.TEARDOWN,
    Blame.SELF,
    Kind.SILENT_EXIT,
    0.2,
    "a process there ended with an error and without a word",
    "Look for its standard error elsewhere, for a core file, and into the kernel log of that node.",
)
_OF_OTHERS = frozenset({Kind.UNREACHABLE, Kind.RENDEZVOUS, Kind.STORE_LOST})  # of who is gone this is said again
_MEETING = frozenset({Kind.RENDEZVOUS, Kind.UNREACHABLE})  # they wait in vain for one that has failed
_LOST = Fact(
    Role.PROPAGATED,
    Blame.NOBODY,
    Kind.PEER_LOST,
    0.5,
    "ended when another one had fallen silent",
    "See who said nothing.",
)
_NEVER = np.iinfo(np.int64).max

Rows = NDArray[np.intp]
Chosen = Callable[[Rows], NDArray[np.bool_]]  # which of these rows


def assign_roles(parsed: Parsed, candidates: Sequence[Candidate], exits: Exits) -> tuple[Candidate, ...]:
    """Candidates with the roles that they have in this job."""
    table = parsed.table
    candidates = _demote_survived(table, candidates)
    candidates = _clear_kills(parsed, candidates)
    candidates = _clear_endings(table, candidates)
    candidates = _clear_echoes(parsed, candidates)
    candidates = _weigh_silence(table, candidates)
    candidates = _weigh_last_words(parsed, candidates)
    candidates = _weigh_stops(parsed, candidates, exits)
    candidates = _promote_first_stop(table, candidates)
    return tuple(_promote_silent_exits(parsed, candidates, exits))


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


def _clear_kills(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """A process that is killed after the job has begun to fail is no suspect for that, whoever words it how.

    After a request to end on its node; by the scheduler after any request; when its rank had complained of others
    before; when others had failed some seconds before, which is when launchers and schedulers begin to kill.
    """
    table = parsed.table
    kills = [one for one in candidates if one.fact.kind == KILLED and one.role is Role.ROOT]
    if not kills:
        return candidates
    told = _first_times(table, [one for one in candidates if one.fact.told_to_stop])
    asked = _first_times(table, _requests(candidates))
    requests = np.sort(np.concatenate([np.zeros(0, np.intp), *(one.rows for one in _requests(candidates))]))
    asking = [one.rows for one in candidates if one.fact.asks_to_stop]
    asked_pids = _first_of_pids(table, _processes(parsed, asking))
    about = _processes(parsed, [one.rows for one in kills])
    scheduler = np.array([origin.program is Program.SCHEDULER for origin in table.origins] or [False], np.bool_)
    troubled = [one for one in candidates if _is_trouble(one)]
    complained = _first_of_ranks(table, [one for one in troubled if one.fact.kind != KILLED])
    trouble = _first_times(table, troubled)
    local_ranks = ranks_by_place(parsed)

    def was_asked(rows: Rows) -> NDArray[np.bool_]:
        """A launcher that reports which process died asks the others of its node to stop: only those were asked."""
        pids = [about[row].pid if row in about else None for row in rows.tolist()]
        named = np.array([pid is not None for pid in pids], np.bool_)
        places = zip(table.node[rows].tolist(), pids, strict=True)  # containers of all nodes count their own processes
        since = [min(asked_pids.get((node, pid), _NEVER), asked_pids.get((-1, pid), _NEVER)) for node, pid in places]
        by_pid = table.time[rows] >= np.array(since, np.int64)
        late: NDArray[np.bool_] = table.time[rows] >= asked.min()
        late &= ~((table.time[rows] == asked.min()) & _above(table, rows, requests))  # of one moment the place tells
        by_node = np.where(named, _after(table, rows, told), _after(table, rows, asked))
        return np.asarray(by_pid | by_node | (scheduler[table.voice[rows]] & late), np.bool_)

    def ranks_of_row(row: int) -> tuple[int, ...]:
        """The ranks that a report is about, else the one that speaks."""
        origin = table.origins[table.voice[row]]
        named = tuple(ranks_of(about[row], origin.node, local_ranks)) if row in about else ()
        return named or (() if origin.rank is None else (origin.rank,))

    def had_complained(rows: Rows) -> NDArray[np.bool_]:
        times = table.time[rows].tolist()
        return np.array(
            [
                bool(ranks := ranks_of_row(row)) and all(complained.get(rank, _NEVER) <= time for rank in ranks)
                for row, time in zip(rows.tolist(), times, strict=True)
            ],
            np.bool_,
        )

    def after_others(rows: Rows) -> NDArray[np.bool_]:
        others = np.array([_first_elsewhere(trouble, node) for node in table.node[rows].tolist()], np.int64)
        named = np.array([row in about and about[row].pid is not None for row in rows.tolist()], np.bool_)
        late = table.time[rows] >= np.minimum(others, _NEVER - GRACE) + LATE
        return np.asarray(~named & (others < _NEVER) & late, np.bool_)

    def clearing_up(rows: Rows) -> NDArray[np.bool_]:
        return np.asarray(was_asked(rows) | had_complained(rows) | after_others(rows), np.bool_)

    why = "killed after the job had begun to fail"
    return [_without(table, one, clearing_up, why) if one in kills else one for one in candidates]


def _processes(parsed: Parsed, rows: Sequence[Rows]) -> dict[int, Process]:
    """The processes that some rows are about."""
    chosen = np.concatenate([np.zeros(0, np.intp), *rows])[:MAX_EXITS].tolist()
    keys = keys_of(parsed.table, chosen)  # of a report the lines that say what happened
    texts = read_rows(parsed.files, parsed.table, [key for row in chosen for key in keys[row]])
    said = {key: unlabelled(parsed.table, key, text) for key, text in texts.items()}
    told = {row: [process_of(said.get(key, "")) for key in keys[row]] for row in chosen}
    return {row: known[0] for row, processes in told.items() if (known := [one for one in processes if one])}


def _first_of_pids(table: EventTable, about: Mapping[int, Process]) -> dict[tuple[int, int | None], int]:
    """When each process of each node (its place in the table, -1 for none) was first told of."""
    found: dict[tuple[int, int | None], int] = {}
    for row, process in about.items():
        if process.pid is not None:
            key = int(table.node[row]), process.pid
            found[key] = min(found.get(key, _NEVER), int(table.time[row]))
    return found


def _first_of_ranks(table: EventTable, candidates: Sequence[Candidate]) -> dict[int, int]:
    """When each rank first said one of these."""
    found: dict[int, int] = {}
    for one in candidates:
        for rank, time in zip(table.rank[one.rows].tolist(), table.time[one.rows].tolist(), strict=True):
            if rank >= 0:
                found[rank] = min(found.get(rank, time), time)
    return found


def _first_elsewhere(trouble: NDArray[np.int64], node: int) -> int:
    """When another node first had trouble."""
    return (
        int(np.delete(trouble[:-1], node).min(initial=_NEVER)) if node >= 0 else int(trouble[:-1].min(initial=_NEVER))
    )


def _clear_endings(table: EventTable, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """What peers tell after their own node was told to end, or an agent of a store after its node had failed.

    And a watchdog that waited in vain for a peer ends its own process with SIGABRT: that is no fault of its node.
    """
    asked = _first_times(table, _orders(table, candidates))
    troubled = _first_times(table, [one for one in candidates if _is_trouble(one)])
    waited = _first_times(table, [one for one in candidates if _waited(one)])
    why = "its node was ending already"

    def clear(one: Candidate) -> Candidate:
        if one.fact.kind == Kind.ABORTED and one.role is Role.ROOT:
            return _without(
                table,
                one,
                lambda rows: waited[table.node[rows]] <= table.time[rows],
                "it had waited for a peer in vain",
            )
        if one.fact.kind == Kind.TERMINATED and one.role is Role.ROOT:
            return _without(table, one, lambda rows: _after(table, rows, np.minimum(asked, troubled)), why)
        if one.role is Role.PROPAGATED:
            since = troubled if one.fact.kind == Kind.STORE_LOST else asked
            return _without(table, one, lambda rows: _after(table, rows, since), why)
        return one

    return [clear(one) for one in candidates]


def _is_trouble(one: Candidate) -> bool:
    tells = one.role in (Role.ROOT, Role.PROPAGATED) and one.fact.kind not in (Kind.STORE_LOST, Kind.TERMINATED)
    return tells and not one.fact.stop and one.fact.strength >= TROUBLE


def _waited(one: Candidate) -> bool:
    return one.role is Role.PROPAGATED and one.fact.kind == Kind.PEER_SILENT


def _clear_echoes(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """What a scheduler complains of in words that nobody knows, after ranks had failed, reports that they did.

    And what a rank raises in such words after it had complained of others, or, of a job that had trained, that it
    cannot reach them: it fails because they did.
    """
    table, of_others = parsed.table, _OF_OTHERS if parsed.iterations.last is not None else frozenset[Kind]()
    waited = _first_of_ranks(table, [one for one in candidates if _is_trouble(one) and one.role is Role.PROPAGATED])
    known = [one for one in candidates if _is_trouble(one) and one.ranks]
    first = min((int(table.time[one.rows].min()) for one in known), default=_NEVER)

    def is_echo(one: Candidate) -> bool:
        guessed = one.role is Role.ROOT and one.fact.kind in (Kind.ERROR, Kind.WARNING)
        programs = {table.origins[voice].program for voice in np.unique(table.voice[one.rows]).tolist()}
        return guessed and programs == {Program.SCHEDULER} and int(table.time[one.rows].min()) >= first

    def follows(one: Candidate) -> bool:
        if one.role is not Role.ROOT or (one.fact.known and one.fact.kind not in of_others):
            return False
        said = zip(table.rank[one.rows].tolist(), table.time[one.rows].tolist(), strict=True)
        return all(rank >= 0 and waited.get(rank, _NEVER) <= time for rank, time in said)

    raised = min((int(table.time[one.rows].min()) for one in candidates if _raised(table, one)), default=_NEVER)

    def never_met(one: Candidate) -> bool:
        """Whether it waited for one that had raised an exception before."""
        return (
            one.role is Role.ROOT
            and one.fact.kind in _MEETING
            and parsed.iterations.last is None
            and raised + LATE <= int(table.time[one.rows].min())
        )

    def clear(one: Candidate) -> Candidate:
        if is_echo(one):
            return one.with_role(Role.TEARDOWN, "said after ranks had failed")
        if never_met(one):
            return one.with_role(Role.PROPAGATED, "another one had failed before they could meet")
        return one.with_role(Role.PROPAGATED, "it had complained of others before") if follows(one) else one

    return [clear(one) for one in candidates]


def _raised(table: EventTable, one: Candidate) -> bool:
    """Whether a process raised an exception that is not about its peers."""
    peers = one.fact.kind in _OF_OTHERS | _MEETING
    return one.role is Role.ROOT and table.templates[one.event].block and not peers and one.fact.strength >= TROUBLE


def _weigh_silence(table: EventTable, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Where nobody says in known words what broke, and most end together in errors after few had fallen silent.

    What they say then is that they lost somebody, in whatever words.
    """
    roots = [one for one in candidates if one.role is Role.ROOT]
    last = last_words(table)
    said = _first_of_ranks(table, [*roots, *(one for one in candidates if one.role is Role.PROPAGATED)])
    mute = set(last) - set(_first_of_ranks(table, [one for one in candidates if one.role is not Role.BENIGN]))
    if any(one.fact.kind != Kind.ERROR for one in roots) or not mute or len(said) <= len(last) * MAJORITY:
        return candidates
    first, latest = min(said.values()), max(said.values())
    together = first >= 0 and latest - first <= LATE and all(last[rank] < first - LEAD for rank in mute)
    if not together or len(mute) > max(1, len(last) * FEW):
        return candidates
    return [
        replace(one, fact=_LOST, role=Role.PROPAGATED, why="said when another one had fallen silent")
        if one in roots
        else one
        for one in candidates
    ]


def _weigh_last_words(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Where nobody says in known words what broke, who ended first with a complaint broke, and the others followed.

    A process that complains and says nothing more has ended with that; who ends after it had lost it.
    """
    table, reached = parsed.table, parsed.iterations
    at_end = reached.last is not None and reached.total is not None and reached.last >= reached.total
    if at_end or any(one.role is Role.ROOT and (one.fact.known or one.fact.strength >= TROUBLE) for one in candidates):
        return candidates
    last = last_rows(table)
    told = [one for one in candidates if one.role is not Role.TEARDOWN and one.fact.kind != Kind.WARNING]
    dying = [one for one in told if not one.fact.known or _tells_of_peers(one)]
    ended = {int(row) for one in dying for row in np.intersect1d(one.rows, list(last.values())).tolist()}
    if len(last) < MIN_SPEAKERS or not ended:
        return candidates
    lost = {int(row) for one in dying if _tells_of_peers(one) for row in one.rows.tolist()}
    first = min(int(table.time[row]) for row in ended)
    led = np.array(sorted(row for row in ended if int(table.time[row]) <= first + LEAD), np.intp)
    if lost & set(led.tolist()):
        return candidates  # who lost a peer ended no later

    def weigh(one: Candidate) -> Candidate:
        own = np.intersect1d(one.rows, led)
        if one not in dying or one.fact.known or not len(own):
            return one
        root = _without(table, one, lambda rows: ~np.isin(rows, own), "").with_role(
            Role.ROOT, "said last, and first of all"
        )
        return replace(root, fact=replace(one.fact, strength=max(one.fact.strength, FIRST_TO_END)))

    return [weigh(one) for one in candidates]


def _tells_of_peers(one: Candidate) -> bool:
    return one.role is Role.PROPAGATED


def _weigh_stops(parsed: Parsed, candidates: Sequence[Candidate], exits: Exits) -> Sequence[Candidate]:
    """A stop from outside explains what comes after it, and explains nothing when something had failed before.

    Who timed out before the stop had waited for long: what kept them waiting is older still. And what has no clock came
    when progress ended, if that was long before the stop. A launcher that tells above the stop of a process that ended
    with an error is stopped because of it.
    """
    table = parsed.table
    stops = [one for one in candidates if one.fact.stop and one.role is Role.ROOT]
    roots = [one for one in candidates if one.role is Role.ROOT and not one.fact.stop and one.fact.strength >= TROUBLE]
    if not stops:
        return candidates
    stopped = min(_onset(table, one) for one in stops)
    waited = [one for one in candidates if _waited(one)]
    reach = 0 if _had_stalled(parsed, stopped[0]) else GRACE
    above = any(table.file[row] == table.file[stopped[1]] and row < stopped[1] for row in exits.failed)
    if above or any(_came_before(table, one, stopped, reach) for one in (*roots, *waited)):
        why, cleared = "something had failed before", stops
    else:
        why, cleared = "came after the stop", roots
    return [one.with_role(Role.TEARDOWN, why) if one in cleared else one for one in candidates]


def _had_stalled(parsed: Parsed, stopped: int) -> bool:
    """Whether the job had made no progress for long when it was stopped."""
    course = parsed.iterations.course.until(stopped)
    pace = course.pace()
    if pace is None:
        return False
    quiet = (stopped - int(course.times[-1])) / SECOND
    return quiet > patience(pace.progress, pace.progress, pace.longest, steps=END_STEPS)


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

    told = _requests(candidates)

    def promote(one: Candidate) -> Candidate:
        if one.role is not Role.TEARDOWN or one not in told or elsewhere(one.rows).all():
            return one
        return _without(table, one, elsewhere, "").with_role(Role.ROOT, "the launcher that was stopped first")

    return [promote(one) for one in candidates]


def _promote_silent_exits(parsed: Parsed, candidates: Sequence[Candidate], exits: Exits) -> Sequence[Candidate]:
    """A launcher's report of a process that ended by itself without a word is the only trace there is.

    It is that process's trace: of the rank that it names, where the launcher is of no node.
    """
    table = parsed.table
    homes = ranks_of_nodes(table, parsed.job.manifest.node_ranks)
    told = {rank for one in candidates if one.role in (Role.ROOT, Role.PROPAGATED) for rank in one.ranks}
    told = set() if table.ranks_are_nodes else told
    asked = _first_times(table, _requests(candidates))
    silent = np.array(
        sorted(
            one.row
            for rank, one in exits.of_rank.items()
            if rank not in told and one.row is not None and (one.code or one.signal in CRASHES)
        ),
        np.intp,
    )

    orders = np.sort(np.concatenate([np.zeros(0, np.intp), *(one.rows for one in _requests(candidates))]))
    scheduler = np.array([origin.program is Program.SCHEDULER for origin in table.origins] or [False], np.bool_)

    def explained(rows: Rows) -> NDArray[np.bool_]:
        """What a scheduler reports below its own order, and a launcher after it was told, is clearing up."""
        above = np.searchsorted(orders, rows) - 1
        ordered = (above >= 0) & (table.file[orders[above]] == table.file[rows]) if len(orders) else rows < 0
        ordered &= scheduler[table.voice[rows]]
        return np.asarray(~np.isin(rows, silent) | _after(table, rows, asked) | ordered, np.bool_)

    def promote(one: Candidate) -> Candidate:
        if one.role is not Role.TEARDOWN or not len(silent) or explained(one.rows).all():
            return one
        alone = _without(table, one, explained, "").with_role(Role.ROOT, "the process ended without a word")
        ranks = tuple(sorted(rank for rank, end in exits.of_rank.items() if end.row in alone.rows))
        nodes = tuple(node for node in homes if set(homes[node]) & set(ranks))
        return replace(alone, fact=_SILENT_EXIT, nodes=alone.nodes or nodes, ranks=alone.ranks or ranks)

    return [promote(one) for one in candidates]


# --- rows and times -----------------------------------------------------------------------------------------------


def _orders(table: EventTable, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Orders to end that come from outside of a node; its own launcher asks the others because one of them failed."""
    return [one for one in candidates if is_order(table, one)]


def _requests(candidates: Sequence[Candidate]) -> list[Candidate]:
    return [one for one in candidates if one.fact.told_to_stop or one.fact.asks_to_stop]


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


def _above(table: EventTable, rows: Rows, others: Rows) -> NDArray[np.bool_]:
    """Which rows stand above the first of some others in their file."""
    first = np.full(len(table.files) + 1, -1, np.intp)
    for row in others[::-1].tolist():
        first[table.file[row]] = row
    return np.asarray(rows < first[table.file[rows]], np.bool_)


def _after(table: EventTable, rows: Rows, since: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which rows come at or after the time of their node; those of no node never do."""
    known = table.node[rows] >= 0
    return np.asarray(known & (since[table.node[rows]] <= table.time[rows]), np.bool_)


def _came_before(table: EventTable, one: Candidate, stopped: tuple[int, int], reach: int) -> bool:
    """Whether a candidate came before a stop; one without a clock came after the words above it, perhaps long after.

    In the file of the stop the place tells.

    Args:
        reach: microseconds by which those words must be older than the stop.
    """
    beside = one.rows[table.file[one.rows] == table.file[stopped[1]]]
    if len(beside):
        return int(beside[0]) < stopped[1]
    time, row = _onset(table, one)
    if one.fact.kind == Kind.CRASH and not table.timed[row]:
        return True  # who stops a job sends no SIGSEGV
    return time < stopped[0] if table.timed[row] else 0 <= time < stopped[0] - reach


def _onset(table: EventTable, one: Candidate) -> tuple[int, int]:
    """Time and row of a candidate's first row; where clocks do not tell, the place in the file does."""
    row = one.rows[np.lexsort((one.rows, table.time[one.rows]))[0]]
    return int(table.time[row]), int(row)
