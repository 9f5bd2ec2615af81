"""Stacks in logs, printed by the ranks (faulthandler, on SIGTERM) or taken by a watchdog (py-spy): who stands apart.

The same question as for dumps that lie beside the logs (``core.dumps.outliers``): in a hang the healthy processes stand
in communication, and the one that they wait for stands elsewhere.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from core.dumps.job_dumps import read_dumps
from core.dumps.outliers import Outlier, outliers
from core.dumps.stacks import Process, read_text
from core.events.messages import message_rows, unlabelled
from core.events.row_text import read_rows
from core.events.table import EventTable, rows_by
from core.facts import Blame, Fact
from core.failure_kinds import Kind
from core.job import LogFile
from core.judge.candidates import Candidate
from core.model import Role
from core.parsed import Parsed

DUMP = "Stack dump of all threads"  # text of such a block (core.logs.blocks.dumps)
MAX_DUMPS = 4096  # one a rank of the largest jobs
MAX_TRACES = 1  # a reader looks at one stack; the others are in the merged tree
MAX_ROWS = 400  # rows of a dump that are read
LOGS = "logs/"  # in which the logs of a job lie
LEAD = 4  # rows above "Python v3.10.14 (...)", in which a dump by py-spy tells whose it is
_PY_SPY = re.compile(r"Python v(?:\d|<NUM>)\S* \(")  # benfred/py-spy, src/dump.rs (0.4)
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
    """Stacks in the logs: the last dump of each rank, or of each node where nobody tells ranks.

    heads: the head row of each. outliers: the processes that stand where few do.
    """

    processes: tuple[Process, ...] = ()
    heads: Mapping[int | str, int] = field(default_factory=dict)
    outliers: tuple[Outlier, ...] = ()


def find_printed(parsed: Parsed, home: Callable[[int], str]) -> Printed:
    """The stacks in the logs of a job.

    Args:
        home: node of a rank.
    """
    table = parsed.table
    events = [event for event, template in enumerate(table.templates) if template.sample.startswith(DUMP)]
    heads: dict[int | str, int] = {}
    for rows in table.rows_of(events).values() if events else ():
        for row, voice in zip(rows.tolist(), table.voice[rows].tolist(), strict=True):
            speaker = table.origins[voice].rank if table.ranks else table.origins[voice].node
            if speaker is not None:
                heads[speaker] = max(row, heads.get(speaker, row))
    last = sorted(heads.items(), key=lambda item: item[1])[:MAX_DUMPS]
    read = [_process(parsed, speaker, head, home) for speaker, head in last]
    processes = tuple(process for process in read if process is not None)
    if not processes:
        of_rank = _taken(parsed, home)
        heads |= {rank: row for rank, (row, _) in of_rank.items()}
        processes = tuple(process for _, (_, process) in sorted(of_rank.items())) or _of_files(parsed)
    return Printed(processes, heads, outliers(processes))


def _taken(parsed: Parsed, home: Callable[[int], str]) -> dict[int, tuple[int, Process]]:
    """The last stack that py-spy took of each rank into a log, and its row; a line or its command names the rank."""
    table = parsed.table
    rows = _py_spy_rows(table)
    found: dict[int, tuple[int, Process]] = {}
    for file in np.unique(table.file[rows]).tolist():
        own, whole = rows[table.file[rows] == file], table.rows_of_file(file)
        first, end = max(whole.start, int(own[0]) - LEAD), min(whole.stop, int(own[-1]) + MAX_ROWS)
        texts = read_rows(parsed.files, table, range(first, end))
        text = "\n".join(unlabelled(table, row, texts.get(row, "")) for row in range(first, end))
        for process in read_text(text, table.files[file]):
            if process.rank is not None and process.threads:
                row = first + max(0, process.threads[0].at - 1)
                threads = tuple(replace(thread, at=0) for thread in process.threads)
                found[process.rank] = row, replace(process, node=home(process.rank), threads=threads)
    return found


def _py_spy_rows(table: EventTable) -> NDArray[np.intp]:
    """The second line of each stack that py-spy took."""
    events = [event for event, template in enumerate(table.templates) if _PY_SPY.match(template.sample)]
    return table.all_rows_of(events)[:MAX_DUMPS]


def _of_files(parsed: Parsed) -> tuple[Process, ...]:
    """The processes of files among the logs that hold nothing but what py-spy printed of one."""
    table = parsed.table
    files, found = list[LogFile](), _py_spy_rows(table)
    for file, places in rows_by(table.file[found], np.arange(len(found))):
        whole = table.rows_of_file(file)
        if len(whole) <= MAX_ROWS and found[places[0]] - whole.start <= LEAD:
            files.append(parsed.files[table.files[file]])
    return read_dumps(files, parsed.job.manifest, folder=LOGS).processes


def _process(parsed: Parsed, speaker: int | str, head: int, home: Callable[[int], str]) -> Process | None:
    """The process, of a rank or a node, whose dump starts at a head row."""
    table = parsed.table
    texts = read_rows(parsed.files, table, message_rows(table, head)[:MAX_ROWS])
    text = "\n".join(unlabelled(table, row, texts[row]) for row in sorted(texts))
    found = read_text(text, table.files[table.file[head]])
    threads = tuple(replace(thread, at=0) for process in found for thread in process.threads)
    rank, node = (None, speaker) if isinstance(speaker, str) else (speaker, home(speaker))
    return replace(found[0], rank=rank, node=node, threads=threads) if threads else None


def traces(parsed: Parsed, printed: Printed) -> tuple[Candidate, ...]:
    """The dump of the process that stands apart and does not wait itself, as a direct trace."""
    apart = [(outlier, _speaker(outlier.process)) for outlier in printed.outliers if not outlier.waits]
    known = [(outlier, printed.heads[speaker]) for outlier, speaker in apart if speaker in printed.heads]
    return tuple(_trace(parsed, outlier, head) for outlier, head in known[:MAX_TRACES])


def _speaker(process: Process) -> int | str:
    return process.rank if process.rank is not None else process.node or ""


def _trace(parsed: Parsed, outlier: Outlier, row: int) -> Candidate:
    event = int(parsed.table.event[row])
    return Candidate(
        event=event,
        text=parsed.table.templates[event].sample,
        fact=replace(_APART, says=f"a process there stands in {outlier.frame.where} while the others wait"),
        rows=np.array([row], np.intp),
        count=1,
        excess=1.0,
        survived=0.0,
        nodes=(outlier.process.node,) if outlier.process.node else (),
        ranks=(outlier.process.rank,) if outlier.process.rank is not None else (),
        role=Role.ROOT,
    )
