"""The machine of each rank where ranks name none and srun does: ``srun: error: gpu-7: task 2: Terminated``."""

from collections.abc import Mapping

import numpy as np

from core.events.messages import unlabelled
from core.events.table import EventTable
from core.job import LogFile
from core.processes import MAX_REPORTS, listed, process_of
from core.text import read_rows


def find_homes(table: EventTable, files: Mapping[str, LogFile]) -> dict[int, str]:
    """The node of each rank, from reports of how tasks ended; none unless each rank is a task of one node."""
    events = [event for event, template in enumerate(table.templates) if _names_both(template.sample)]
    rows = np.sort(np.concatenate([np.zeros(0, np.intp), *table.rows_of(events).values()]))[:MAX_REPORTS]
    homes: dict[int, set[str]] = {}
    for row, text in read_rows(files, table, rows).items():
        process = process_of(unlabelled(table, row, text))
        if process is not None and process.node and process.task and "[" not in process.node:
            for task in listed(process.task):
                homes.setdefault(task, set()).add(process.node)
    if set(homes) != set(table.ranks) or any(len(nodes) > 1 for nodes in homes.values()):
        return {}
    return {rank: next(iter(nodes)) for rank, nodes in homes.items()}


def _names_both(sample: str) -> bool:
    """Whether a message may name a node and a task; numbers are masked in it."""
    process = process_of(sample.replace("<NUM>", "0"))
    return process is not None and bool(process.node and process.task)
