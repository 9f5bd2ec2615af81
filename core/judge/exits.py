"""How each rank's process ended, as its launcher, its scheduler or job.json report it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from core.events.messages import keys_of, unlabelled
from core.events.row_text import read_rows
from core.judge.rank_rows import ranks_of_nodes
from core.parsed import Parsed
from core.processes import MAX_REPORTS, SHELL_SIGNAL, NamedProcess, are_all_listed, listed, process_of, within_bounds

ALONE = -1  # stands for the local rank of a node that has one rank
REPORT = 3  # rows from the line of a report that names the rank to that which tells how it ended (torchrun, mpirun)
_LAST_SIGNAL = 64  # of Linux


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended: by a signal (its number), or with an exit code.

    time: microseconds, of the report; -1 where unknown. row: of the report in the event table; None for job.json.
    """

    code: int | None = None
    signal: int | None = None
    time: int = -1
    row: int | None = None


@dataclass(frozen=True, slots=True)
class Exits:
    """The first report of each rank, and what job.json says of its nodes (None: a node never told how it ended).

    failed: rows of all reports of processes that ended with an error, of whatever rank, in order; with the signal, if
    one ended them. on: the node of those that name it. are_capped: there were more reports, or tasks in them, than are
    read.
    """

    of_rank: Mapping[int, Exit]
    of_node: Mapping[str, Exit | None]
    failed: Mapping[int, int | None] = field(default_factory=dict)
    on: Mapping[int, str] = field(default_factory=dict)
    are_capped: bool = False


def find_exits(parsed: Parsed) -> Exits:
    """All reports of a job."""
    codes = parsed.job.manifest.exit_codes
    of_node = {node: None if code is None else _by_code(code) for node, code in sorted(codes.items())}
    own = parsed.job.manifest.rank_exit_codes
    reports, are_capped = _reports(parsed)
    of_rank = {rank: _by_code(code) for rank, code in own.items() if code is not None} | _by_rank(parsed, reports)
    failed = {row: process.signal for row, process in sorted(reports.items()) if process.code or process.signal}
    on = {row: node for row in failed if (node := reports[row].node)}
    return Exits(dict(sorted(of_rank.items())), of_node, failed, on, are_capped)


def _reports(parsed: Parsed) -> tuple[dict[int, NamedProcess], bool]:
    """The processes that ended, by the row that reports it, and whether there were more than are read."""
    table = parsed.table
    events = [event for event, template in enumerate(table.templates) if _may_report(template.sample)]
    if not events:
        return {}, False
    every = table.all_rows_of(events)
    rows = every[:MAX_REPORTS]
    heads = [row for row in rows.tolist() if table.templates[table.event[row]].block]
    keys = {head: own[0] for head, own in keys_of(table, heads).items()}  # an exception tells it in its own words
    texts = read_rows(parsed.files, table, sorted({keys.get(row, row) for row in rows.tolist()}))
    processes = {row: process_of(unlabelled(table, row, texts.get(keys.get(row, row), ""))) for row in rows.tolist()}
    ended = dict(_whole((row, process) for row, process in processes.items() if process is not None))
    read = dict(within_bounds(ended.items()))
    are_capped = len(every) > len(rows) or len(ended) > len(read)
    are_capped |= not all(are_all_listed(process.task) for process in read.values() if process.task)
    known = parsed.launched.known
    return {
        row: replace(process, rank=known(int(table.file[row]), process)) for row, process in read.items()
    }, are_capped


def _whole(processes: Iterable[tuple[int, NamedProcess]]) -> Iterator[tuple[int, NamedProcess]]:
    """Reports of how processes ended; of those that take several lines, which the rank stands above, each as one."""
    above, named = -1, NamedProcess()
    for row, process in processes:
        if not process.ended:
            above, named = row, process
            continue
        nameless = process.rank is None and process.local_rank is None and process.task is None
        below = nameless and row - above <= REPORT
        yield row, replace(process, rank=named.rank, local_rank=named.local_rank) if below else process


def _by_rank(parsed: Parsed, reports: Mapping[int, NamedProcess]) -> dict[int, Exit]:
    """The first report of each rank."""
    table = parsed.table
    first_exits: dict[int, Exit] = {}
    local_ranks = ranks_by_place(parsed)
    tasks_are_ranks = _tasks_are_ranks(parsed, reports.values())
    for row in sorted(reports, key=lambda row: (int(table.time[row]), row)):
        process, node = reports[row], table.origins[table.voice[row]].node
        if process.task is None or tasks_are_ranks:
            for rank in ranks_of(process, node, local_ranks):
                first_exits.setdefault(rank, Exit(process.code, process.signal, int(table.time[row]), row))
    return first_exits


def _tasks_are_ranks(parsed: Parsed, reports: Iterable[NamedProcess]) -> bool:
    """Whether a task of srun is a rank; it is the launcher of a node where there are as many ranks more."""
    tasks = [task for process in reports if process.task for task in listed(process.task)]
    manifest = parsed.job.manifest
    ranks = manifest.world_size or len(parsed.table.ranks) or sum(map(len, manifest.node_ranks.values()))
    return not tasks or len(parsed.nodes) in (0, ranks) or max(tasks) >= len(parsed.nodes)


def _may_report(sample: str) -> bool:
    """Whether a message may tell how a process ended, or of which rank its report is; numbers are masked in it."""
    process = process_of(sample.replace("<NUM>", "0"))
    return process is not None and (process.ended or process.rank is not None)


def ranks_by_place(parsed: Parsed) -> dict[tuple[str | None, int], int]:
    """The global rank of each node and local rank that spoke, and of each node that has a single one (ALONE)."""
    expected = ranks_of_nodes(parsed.table, parsed.job.manifest.node_ranks)
    alone = {(node, ALONE): ranks[0] for node, ranks in expected.items() if len(ranks) == 1}
    return alone | {
        (origin.node, origin.local_rank): origin.rank
        for origin in parsed.table.origins
        if origin.local_rank is not None and origin.rank is not None
    }


def ranks_of(
    process: NamedProcess, node: str | None, local_ranks: Mapping[tuple[str | None, int], int]
) -> Iterator[int]:
    """The global ranks that a report is about.

    Args:
        node: of the launcher that reports; its local ranks are meant.
        local_ranks: the rank of each node and local rank, and of each node that has a single one.
    """
    if process.task is not None:
        yield from listed(process.task)
    elif process.rank is not None:
        yield process.rank
    else:
        local = ALONE if process.local_rank is None else process.local_rank
        alone = local_ranks.get((node, ALONE)) if local <= 0 else None  # where there is a second one, nobody is
        rank = local_ranks.get((node, local), alone)
        if rank is not None:
            yield rank


def _by_code(code: int) -> Exit:
    """An exit code as Python (-9) or a shell (137) tells it."""
    if code < 0:
        return Exit(signal=-code)
    is_signal = SHELL_SIGNAL < code <= SHELL_SIGNAL + _LAST_SIGNAL
    return Exit(signal=code - SHELL_SIGNAL) if is_signal else Exit(code)
