"""The machine of each rank or task where no label names it, and somebody tells it once.

srun does when tasks end (``srun: error: gpu-7: task 2: Terminated``), each rank when it begins (``rank 3 on gpu-7``).
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from core.events.messages import unlabelled
from core.events.row_text import read_rows
from core.events.table import EventTable
from core.job import LogFile
from core.logs.hosts import MACHINE_NAME
from core.logs.voices import rank_called, task_called
from core.parsing.introductions import homes_of_ranks, slots_of
from core.processes import MAX_REPORTS, listed, process_of, within_bounds


def find_homes(table: EventTable, files: Mapping[str, LogFile]) -> dict[str, str]:
    """The node of each rank or task, by what it is called, from reports of how tasks ended.

    Of ranks none unless each that spoke is a task; of tasks that stand for nodes, those that a report names.
    """
    tasks = set(table.nodes) if names_only_tasks(table) else set()
    of_ranks = {rank_called(rank) for rank in table.ranks}
    called = task_called if tasks else rank_called
    found = {called(task): node for task, node in _homes_of_tasks(table, files).items()}
    if tasks:
        return {task: node for task, node in found.items() if task in tasks}
    return found if of_ranks and set(found) >= of_ranks else {}


def reported_homes(table: EventTable, files: Mapping[str, LogFile]) -> dict[str, tuple[int, ...]]:
    """The tasks of each node, from reports of how they ended, of a job in whose logs nothing else names any node."""
    nodes = _by_node(_homes_of_tasks(table, files))
    return nodes if len(nodes) > 1 else {}


def _by_node(homes: Mapping[int, str]) -> dict[str, tuple[int, ...]]:
    """The ranks or tasks of each node, in order, from the node of each."""
    nodes: dict[str, list[int]] = {}
    for number, node in sorted(homes.items()):
        nodes.setdefault(node, []).append(number)
    return {node: tuple(nodes[node]) for node in sorted(nodes)}


def _homes_of_tasks(table: EventTable, files: Mapping[str, LogFile]) -> dict[int, str]:
    """The node of each task; none where one is reported of two, for they are tasks of several steps."""
    events = [event for event, template in enumerate(table.templates) if _names_both(template.sample)]
    homes: dict[int, set[str]] = {}
    texts = _texts_of(table, files, events).items()
    processes = ((row, process_of(unlabelled(table, row, text))) for row, text in texts)
    for _, process in within_bounds((row, process) for row, process in processes if process is not None):
        if process.node and process.task and "[" not in process.node:
            for task in listed(process.task):
                homes.setdefault(task, set()).add(process.node)
    if any(len(nodes) > 1 for nodes in homes.values()):
        return {}
    return {task: next(iter(nodes)) for task, nodes in homes.items()}


# Where a rank runs: "process 3/6 runs on lat2", "rank 3 @ gpu-7", "hostname=turing", "[noether] rank 13/16 local 1".
# Its device is none; a name without a digit is one where nothing else stands.
_RUNS_ON = re.compile(
    r"(?:(?:\b(?:on|host(?:name)?|node)(?:\s?[=:]\s?|\s)(?:host |node )?|\d\s?@\s?)"
    r"(?=[\w.-]{0,62}[A-Za-z])(?=[\w.-]{0,62}\d)|\bhost(?:name)?[=:]\s?|^\[(?=[^\]\s]{1,64}\] rank \d))"
    r"(?!(?:cuda|[gxn]pu|device|rank)\d{1,4}\b)(?P<node>[A-Za-z0-9][\w.-]{1,62})",
    re.IGNORECASE | re.ASCII,
)


def told_homes(table: EventTable, files: Mapping[str, LogFile]) -> dict[str, str]:
    """The node of each rank, by what it is called, from a message that all ranks say once and in which each names one.

    None unless there are several nodes: of a message that names one for all, nobody knows whose it is.
    """
    for event, template in enumerate(table.templates):
        if table.heads[event] != len(table.ranks) or not _may_name_a_node(template.sample):
            continue
        rows = table.rows_of([event])[event]
        texts = {int(table.rank[row]): text for row, text in read_rows(files, table, rows).items()}
        if len(texts) == len(table.ranks) and -1 not in texts and (homes := _homes_told_in(texts)):
            return {rank_called(rank): node for rank, node in homes.items()}
    return {}


def _homes_told_in(texts: Mapping[int, str]) -> dict[int, str]:
    """The node of each rank, from what each says: behind a word that is before a node's name, else by what it does."""
    found = {rank: match["node"] for rank, text in texts.items() if (match := _RUNS_ON.search(text))}
    if len(found) == len(texts) and len(set(found.values())) > 1:
        return found
    return homes_of_ranks({rank: slots_of(text) for rank, text in texts.items()})


def _may_name_a_node(sample: str) -> bool:
    name = _as_name(sample)
    return _RUNS_ON.search(name) is not None or MACHINE_NAME.search(name) is not None


def _as_name(sample: str) -> str:
    """A masked message with something in place of what was masked that a name may hold."""
    return sample.replace("<NUM>", "0").replace("<ID>", "id0")


# Open MPI, orte/runtime/data_type_support (4.1), what mpirun --display-map prints
_OF_MAP = re.compile(
    r"^\s*Data for node: (?P<node>[\w.-]{1,253})\s|^\s*Process OMPI jobid: .{1,64} Process rank: (?P<rank>\d{1,6})\b"
)


def mapped_homes(table: EventTable, files: Mapping[str, LogFile]) -> dict[str, tuple[int, ...]]:
    """The ranks of each node, from the map that mpirun prints before it starts them; none where it prints none."""
    events = [
        event
        for event, template in enumerate(table.templates)
        if "Process OMPI jobid" in template.sample or "Data for node" in template.sample
    ]
    nodes: dict[str, list[int]] = {}
    node = ""
    for text in _texts_of(table, files, events).values():
        found = _OF_MAP.search(text)
        if found is not None and found["node"]:
            node = found["node"]
        elif found is not None and node:
            nodes.setdefault(node, []).append(int(found["rank"]))
    return {name: tuple(sorted(own)) for name, own in sorted(nodes.items())} if len(nodes) > 1 else {}


# NCCL, src/init.cc (2.21): "comm 0x55d0 rank 5 nranks 8 cudaDev 1 busId 41000 commId 0x9f3b - Init COMPLETE"
# and "comm 0x55d0 rank 5 nRanks 16 nNodes 2 localRanks 8 localRank 5 MNNVL 0"
_OF_COMMUNICATOR = re.compile(r"\brank (\d{1,6}) n[rR]anks (\d{1,6}) ")


# NCCL, src/debug.cc (2.21): host, process and thread, and its device: "gpu12:2231:2231 [0] NCCL INFO "
_NCCL_SPEAKS = re.compile(
    r"(?<![\w.-])(?P<node>(?=[\w.-]{0,62}[A-Za-z])[\w.-]{1,63}):\d{1,10}:\d{1,10}(?: \[\d{1,4}\])? NCCL "
)


def communicator_homes(table: EventTable, files: Mapping[str, LogFile]) -> dict[str, tuple[int, ...]]:
    """The ranks of each node, from what NCCL says there when it sets up the communicator of all ranks.

    None unless that has a line for each of its ranks, on one node each; smaller communicators count their own ranks.
    """
    events = [
        event
        for event, template in enumerate(table.templates)
        if _OF_COMMUNICATOR.search(template.sample.replace("<NUM>", "0"))
    ]
    homes: dict[int, dict[int, set[str]]] = {}
    for row, text in _texts_of(table, files, events).items():
        match, speaks = _OF_COMMUNICATOR.search(text), _NCCL_SPEAKS.search(text)
        node = table.origins[table.voice[row]].node or (speaks["node"] if speaks else None)
        if node and match:
            homes.setdefault(int(match[2]), {}).setdefault(int(match[1]), set()).add(node)
    count = max(homes, default=0)
    of_rank = homes.get(count, {})
    if (
        sorted(of_rank) != list(range(len(of_rank)))
        or len(of_rank) != count
        or any(len(own) > 1 for own in of_rank.values())
    ):
        return {}
    return _by_node({rank: next(iter(own)) for rank, own in of_rank.items()})


# nvidia-resiliency-ext, as core.nodes.reported_slowest reads it: "Rank=9 Node=eos0225 Score=0.53"
_RATED = re.compile(r"\bRank=(\d{1,6}) Node=([A-Za-z0-9][\w.-]{0,62}) Score=\d")


def rated_homes(table: EventTable, files: Mapping[str, LogFile], ranks: int) -> dict[str, tuple[int, ...]]:
    """The ranks of each node, from reports that rate the slowest and the fastest; those between are in the same blocks.

    Args:
        ranks: of the job. None unless each node has as many of them, one behind the other.
    """
    events = [event for event, template in enumerate(table.templates) if "Rank=" in template.sample]
    told = [match.groups() for text in _texts_of(table, files, events).values() for match in _RATED.finditer(text)]
    homes = {int(rank): node for rank, node in told}
    each = ranks // max(1, len(set(homes.values())))
    blocks = {(rank // each, node) for rank, node in homes.items()} if each else set()
    if len(blocks) < 2 or len(blocks) * each != ranks or len({block for block, _ in blocks}) < len(blocks):
        return {}
    return {node: tuple(range(block * each, (block + 1) * each)) for block, node in sorted(blocks)}


def _texts_of(table: EventTable, files: Mapping[str, LogFile], events: Sequence[int]) -> dict[int, str]:
    """The first lines of these events by their row, in the order of rows."""
    rows = table.all_rows_of(events)[:MAX_REPORTS]
    return dict(sorted(read_rows(files, table, rows).items()))


def names_only_tasks(table: EventTable) -> bool:
    """Whether the only nodes that are known are tasks of srun's."""
    return bool(table.nodes) and _tasks().issuperset(table.nodes)


@cache
def _tasks() -> frozenset[str]:
    """Every task that may report; made anew, they took a tenth of a small job's diagnosis."""
    return frozenset(map(task_called, range(MAX_REPORTS)))


def _names_both(sample: str) -> bool:
    """Whether a message may name a node and a task; numbers are masked in it."""
    process = process_of(sample.replace("<NUM>", "0"))
    return process is not None and bool(process.node and process.task)
