"""Kills that clear up: a process that is killed after the job has begun to fail is no suspect for that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.events.messages import keys_of, unlabelled
from core.events.row_text import read_rows
from core.events.table import EventTable
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.judge.exits import ranks_by_place, ranks_of
from core.judge.roles.row_queries import (
    LATE,
    NEVER,
    Rows,
    after,
    are_schedulers,
    first_of_files,
    first_of_ranks,
    first_times,
    is_trouble,
    requests,
    rows_of,
    without,
)
from core.judge.survived_errors import GRACE
from core.model import Role
from core.parsed import Parsed
from core.processes import NamedProcess, process_of

MAX_EXITS = 4096  # reports of ended processes that are read: one a rank of the largest jobs


def clear_kills(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """A process that is killed after the job has begun to fail is no suspect for that, whoever words it how.

    After a request to end on its node; by the scheduler after any request; when its rank had complained of others
    before; when others had failed some seconds before, which is when launchers and schedulers begin to kill.
    """
    kills = {
        candidate for candidate in candidates if candidate.fact.kind == Kind.KILLED and candidate.role is Role.ROOT
    }
    if not kills:
        return candidates
    clearing = _ClearingUp(parsed, candidates, _processes(parsed, [kill.rows for kill in candidates if kill in kills]))
    why = "killed after the job had begun to fail"
    return [
        without(parsed.table, candidate, clearing.holds, why) if candidate in kills else candidate
        for candidate in candidates
    ]


@dataclass(frozen=True, eq=False)
class _ClearingUp:
    """Which reports of kills only tell of the clearing up. about: the processes that the reports name, by row."""

    parsed: Parsed
    candidates: Sequence[Candidate]
    about: Mapping[int, NamedProcess]

    def holds(self, rows: Rows) -> NDArray[np.bool_]:
        """Whether the report in each row tells of a kill that others had caused."""
        return np.asarray(self._was_asked(rows) | self._had_complained(rows) | self._after_others(rows), np.bool_)

    @property
    def _table(self) -> EventTable:
        return self.parsed.table

    @cached_property
    def _asked(self) -> NDArray[np.int64]:
        """When each node was first asked to stop."""
        return first_times(self._table, requests(self.candidates))

    @cached_property
    def _first_requests(self) -> Rows:
        """The first request to stop in each file; hostile jobs have thousands of requests and of kills."""
        return first_of_files(self._table, rows_of(requests(self.candidates)))

    @cached_property
    def _schedulers(self) -> NDArray[np.bool_]:
        return are_schedulers(self._table)

    @cached_property
    def _told(self) -> NDArray[np.int64]:
        """When each node was first told so by its own launcher or daemon."""
        return first_times(self._table, [candidate for candidate in self.candidates if candidate.fact.told_to_stop])

    @cached_property
    def _asked_processes(self) -> dict[tuple[int, int | None], int]:
        """When each process that a request names was first asked."""
        asking = [candidate.rows for candidate in self.candidates if candidate.fact.asks_to_stop]
        return _first_of_processes(self._table, _processes(self.parsed, asking))

    @cached_property
    def _trouble(self) -> list[Candidate]:
        return [candidate for candidate in self.candidates if is_trouble(candidate)]

    @cached_property
    def _troubled(self) -> NDArray[np.int64]:
        """When each node first had trouble."""
        return first_times(self._table, self._trouble)

    @cached_property
    def _complained(self) -> dict[int, int]:
        """When each rank first complained of anything but kills."""
        return first_of_ranks(
            self._table, [candidate for candidate in self._trouble if candidate.fact.kind != Kind.KILLED]
        )

    @cached_property
    def _ranks_by_place(self) -> Mapping[tuple[str | None, int], int]:
        return ranks_by_place(self.parsed)

    def _was_asked(self, rows: Rows) -> NDArray[np.bool_]:
        """A launcher that reports which process died asks the others of its node to stop: only those were asked."""
        table, asked_at = self._table, self._asked
        pids = [self.about[row].pid if row in self.about else None for row in rows.tolist()]
        named = np.array([_is_launched(self.about.get(row)) for row in rows.tolist()], np.bool_)
        places = zip(table.node[rows].tolist(), pids, strict=True)  # containers of all nodes count their own processes
        of_process = self._asked_processes
        since = [min(of_process.get((node, pid), NEVER), of_process.get((-1, pid), NEVER)) for node, pid in places]
        by_process = table.time[rows] >= np.array(since, np.int64)
        late: NDArray[np.bool_] = table.time[rows] >= asked_at.min()
        same_moment = table.time[rows] == asked_at.min()  # there the place in the file tells
        late &= ~(same_moment & (rows < self._first_requests[table.file[rows]]))
        by_node = np.where(named, after(table, rows, self._told), after(table, rows, asked_at))
        by_scheduler = self._schedulers[table.voice[rows]] & late & ~named  # a log of all ranks is no scheduler's
        return np.asarray(by_process | by_node | by_scheduler, np.bool_)

    def _had_complained(self, rows: Rows) -> NDArray[np.bool_]:
        """Whether all ranks that a report is about had complained before."""

        def had(row: int, time: int) -> bool:
            ranks = self._ranks_of_row(row)
            return bool(ranks) and all(self._complained.get(rank, NEVER) <= time for rank in ranks)

        times = self._table.time[rows].tolist()
        return np.array([had(row, time) for row, time in zip(rows.tolist(), times, strict=True)], np.bool_)

    def _ranks_of_row(self, row: int) -> tuple[int, ...]:
        """The ranks that a report is about, else the one that speaks."""
        origin = self._table.origins[self._table.voice[row]]
        about = self.about.get(row, NamedProcess())
        named = tuple(ranks_of(about, origin.node, self._ranks_by_place))
        is_told = about.local_rank is not None or origin.rank is None  # then it is not the one that speaks
        return named or (() if is_told else (origin.rank,))

    def _after_others(self, rows: Rows) -> NDArray[np.bool_]:
        """Whether other nodes had failed some seconds before a report that names no process."""
        table = self._table
        others = np.array([_first_elsewhere(self._troubled, node) for node in table.node[rows].tolist()], np.int64)
        named = np.array([row in self.about and self.about[row].pid is not None for row in rows.tolist()], np.bool_)
        late = table.time[rows] >= np.minimum(others, NEVER - GRACE) + LATE
        return np.asarray(~named & (others < NEVER) & late, np.bool_)


def _is_launched(process: NamedProcess | None) -> bool:
    """Whether a report names a process as its own launcher does: by its id or its local rank."""
    return process is not None and (process.pid is not None or process.local_rank is not None)


def _processes(parsed: Parsed, rows: Sequence[Rows]) -> dict[int, NamedProcess]:
    """The processes that some rows are about."""
    chosen = np.concatenate([np.zeros(0, np.intp), *rows])[:MAX_EXITS].tolist()
    keys = keys_of(parsed.table, chosen)  # of a report the lines that say what happened
    texts = read_rows(parsed.files, parsed.table, [key for row in chosen for key in keys[row]])
    messages = {key: unlabelled(parsed.table, key, text) for key, text in texts.items()}
    reports = {row: [process_of(messages.get(key, "")) for key in keys[row]] for row in chosen}
    named = {row: next((process for process in processes if process), None) for row, processes in reports.items()}
    known = parsed.launched.known
    return {
        row: replace(process, rank=known(int(parsed.table.file[row]), process))
        for row, process in named.items()
        if process is not None
    }


def _first_of_processes(table: EventTable, about: Mapping[int, NamedProcess]) -> dict[tuple[int, int | None], int]:
    """When each process of each node (its place in the table, -1 for none) was first told of."""
    first: dict[tuple[int, int | None], int] = {}
    for row, process in about.items():
        if process.pid is not None:
            key = int(table.node[row]), process.pid
            first[key] = min(first.get(key, NEVER), int(table.time[row]))
    return first


def _first_elsewhere(trouble: NDArray[np.int64], node: int) -> int:
    """When another node first had trouble; node: its place in the table, -1 for none."""
    others = np.delete(trouble[:-1], node) if node >= 0 else trouble[:-1]
    return int(others.min(initial=NEVER))
