"""Which ranks a launcher's reports are about, where the lines of the job name no node.

torchrun's failure report tells the global rank of each process id (``rank : 9 (local_rank: 1)``, ``exitcode : -9 (pid:
7533)``) and its machine; the line above it has that id and the local rank alone. Where all reports are of one machine,
as those of torch.multiprocessing always are, a local rank is a rank.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from core.events.messages import keys_of, rows_of_messages, unlabelled
from core.events.row_text import read_rows
from core.events.table import EventTable
from core.job import LogFile
from core.processes import MAX_REPORTS, NamedProcess, process_of

_REPORT = "ChildFailedError: first failure"  # as core.logs.blocks.reports calls it
MIN_PROCESSES = 2  # of one alone nobody is told apart
MAX_LOCAL = 1024  # processes of one machine; the largest have 192 cores, and a log may claim any number


@dataclass(frozen=True, slots=True)
class Launched:
    """Processes by the reports of launchers.

    rank_of_pid: global rank, by place of the file and process id. first_of_host: the rank of local rank 0 on each
    machine whose launcher reports a failed process. is_one_machine: no report tells of another local rank than rank,
    and one file holds them all. count: of processes that are told of.
    """

    rank_of_pid: Mapping[tuple[int, int], int] = field(default_factory=dict)
    first_of_host: Mapping[str, int] = field(default_factory=dict)
    is_one_machine: bool = False
    count: int = 0

    @property
    def ranks(self) -> range:
        """All ranks of the only machine; none where that is not told, or of one alone."""
        return range(self.count if self.is_one_machine and MIN_PROCESSES <= self.count <= MAX_LOCAL else 0)

    def homes(self, ranks: Collection[int]) -> dict[str, tuple[int, ...]]:
        """All ranks of each machine; none unless the launchers of all machines report, of several.

        Each has the ranks from its first one up to that of the next.

        Args:
            ranks: that spoke.
        """
        firsts = sorted((first, host) for host, first in self.first_of_host.items())
        each = firsts[1][0] if len(firsts) > 1 else 0
        is_whole = [first for first, _ in firsts] == [place * each for place in range(len(firsts))]
        if not 0 < each <= MAX_LOCAL or not is_whole or max(ranks, default=0) >= each * len(firsts):
            return {}
        return {host: tuple(range(first, first + each)) for first, host in firsts}

    def known(self, file: int, process: NamedProcess) -> int | None:
        """The global rank of a process, which its report may not tell."""
        if process.rank is not None:
            return process.rank
        by_pid = None if process.pid is None else self.rank_of_pid.get((file, process.pid))
        return process.local_rank if by_pid is None and self.is_one_machine else by_pid


NOBODY_LAUNCHED = Launched()


def find_launched(table: EventTable, files: Mapping[str, LogFile]) -> Launched:
    """What the launchers of a job tell of its ranks; nothing where no process is reported by its local rank."""
    ranks, pids, others, places = set[int](), set[tuple[int, int]](), set[tuple[int, int]](), set[int]()
    rank_of_pid: dict[tuple[int, int], int] = {}
    firsts: dict[str, int] = {}
    above, host = NamedProcess(), ""
    is_alike = True
    for row, process in _reports(table, files):
        file = int(table.file[row])
        if process.pid is not None:
            pids.add((file, process.pid))
            others |= {(file, process.pid)} if process.is_other else set()
        if process.local_rank is not None:
            places.add(file)
            ranks.add(process.local_rank)
        if process.node is not None and not process.ended:
            host = process.node
        if process.rank is not None:
            above = process
            if host and process.local_rank is not None:
                firsts[host] = process.rank - process.local_rank
            is_alike &= process.local_rank in (None, process.rank)
        elif process.pid is not None and above.rank is not None and process.ended and process.local_rank is None:
            rank_of_pid[file, process.pid] = above.rank
            above = NamedProcess()
    count = max(len(pids), len(others) + 1, max(ranks, default=0) + 1)
    return Launched(rank_of_pid, firsts, is_alike and len(places) == 1, count)


def _reports(table: EventTable, files: Mapping[str, LogFile]) -> Iterator[tuple[int, NamedProcess]]:
    """Rows that tell of processes, in order: single lines, those of torchrun's report, key lines of other blocks."""
    events = [event for event, template in enumerate(table.templates) if _may_tell(template.sample)]
    heads = table.all_rows_of(events)[:MAX_REPORTS].tolist()
    is_report = [_REPORT in table.templates[table.event[head]].sample for head in heads]
    reports = rows_of_messages(table, [head for head, report in zip(heads, is_report, strict=True) if report])
    keys = keys_of(table, [head for head, report in zip(heads, is_report, strict=True) if not report])
    chosen = sorted(
        {row for own in (*keys.values(), *(report.tolist() for report in reports)) for row in own[:MAX_REPORTS]}
    )
    for row, text in sorted(read_rows(files, table, chosen).items()):
        process = process_of(unlabelled(table, row, text))
        if process is not None:
            yield row, process


def _may_tell(sample: str) -> bool:
    return _REPORT in sample or process_of(sample.replace("<NUM>", "0")) is not None
