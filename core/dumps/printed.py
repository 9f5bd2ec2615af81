"""Stacks that ranks print into their logs (faulthandler, on SIGTERM or SIGUSR1 before a job ends): who stands apart.

The same question as for dumps that lie beside the logs (``core.dumps.outliers``): in a hang the healthy processes stand
in communication, and the one that they wait for stands elsewhere.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from core.dumps.outliers import Outlier, outliers
from core.dumps.stacks import Process, read_text
from core.events.messages import message_rows, unlabelled
from core.events.text import read_rows
from core.facts import Blame, Fact
from core.judge.candidates import Candidate
from core.kinds import Kind
from core.model import Role
from core.parsed import Parsed

DUMP = "Stack dump of all threads"  # text of such a block (core.logs.blocks.dumps)
MAX_DUMPS = 4096  # one a rank of the largest jobs
MAX_TRACES = 1  # a reader looks at one stack; the others are in the merged tree
MAX_ROWS = 400  # rows of a dump that are read
_APART = Fact(
    Role.ROOT,
    Blame.SELF,
    Kind.STOOD_APART,
    0.7,
    "a process there stands elsewhere than the others, who wait",
    "See what this process waits for: its children, files and locks.",
)


@dataclass(frozen=True, slots=True)
class Printed:
    """Stacks in the logs: the last dump of each rank, its head row, and the processes that stand where few do."""

    processes: tuple[Process, ...] = ()
    heads: Mapping[int, int] = field(default_factory=dict)
    outliers: tuple[Outlier, ...] = ()


def find_printed(parsed: Parsed, home: Callable[[int], str]) -> Printed:
    """The stacks in the logs of a job.

    Args:
        home: node of a rank.
    """
    table = parsed.table
    events = [event for event, one in enumerate(table.templates) if one.sample.startswith(DUMP)]
    heads: dict[int, int] = {}
    for rows in table.rows_of(events).values() if events else ():
        for row, rank in zip(rows.tolist(), table.rank[rows].tolist(), strict=True):
            if rank >= 0:
                heads[rank] = max(row, heads.get(rank, row))
    read = {rank: _process(parsed, rank, head, home) for rank, head in sorted(heads.items())[:MAX_DUMPS]}
    processes = tuple(process for process in read.values() if process is not None)
    return Printed(processes, heads, outliers(processes))


def _process(parsed: Parsed, rank: int, head: int, home: Callable[[int], str]) -> Process | None:
    """The process whose dump starts at a head row."""
    table = parsed.table
    texts = read_rows(parsed.files, table, message_rows(table, head)[:MAX_ROWS])
    text = "\n".join(unlabelled(table, row, texts[row]) for row in sorted(texts))
    found = read_text(text, table.files[table.file[head]])
    threads = tuple(replace(thread, at=0) for one in found for thread in one.threads)
    return replace(found[0], rank=rank, node=home(rank), threads=threads) if threads else None


def traces(parsed: Parsed, printed: Printed) -> tuple[Candidate, ...]:
    """The dump of the process that stands apart and does not wait itself, as a direct trace."""
    apart = [one for one in printed.outliers if not one.waits and one.process.rank in printed.heads]
    return tuple(_trace(parsed, one, printed.heads[one.process.rank or 0]) for one in apart[:MAX_TRACES])


def _trace(parsed: Parsed, one: Outlier, row: int) -> Candidate:
    event = int(parsed.table.event[row])
    return Candidate(
        event=event,
        text=parsed.table.templates[event].sample,
        fact=replace(_APART, says=f"a process there stands in {one.frame.where} while the others wait"),
        rows=np.array([row], np.intp),
        count=1,
        excess=1.0,
        survived=0.0,
        nodes=(one.process.node,) if one.process.node else (),
        ranks=(one.process.rank,) if one.process.rank is not None else (),
        role=Role.ROOT,
    )
