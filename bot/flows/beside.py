"""The network flows of a job that is diagnosed: those that somebody names, or those in ``flows/`` of its folder."""

from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from core.errors import FirstfaultError
from core.flows.analyse import analyse
from core.flows.answer import FlowsAnswer
from core.flows.table import table_from
from core.flows.topology import Topology
from core.job import Job
from core.model import Skipped
from sources.flows.read import read_flows, read_topology
from sources.flows.records import Records

TOPOLOGY = "topology.json"
PIECE = 1 << 20  # bytes


def flows_of(flows: Path, topology: Path | None) -> FlowsAnswer:
    """What the flows of a file tell.

    Raises:
        UnreadableFlows, BadTopology: a file cannot be used.
    """
    return _answer([read_flows(flows)], str(flows), read_topology(topology) if topology else Topology())


def flows_beside(job: Job) -> tuple[FlowsAnswer | None, tuple[Skipped, ...]]:
    """What the files in flows/ of a job folder tell; that they cannot be used ends no diagnosis."""
    if not job.flows:
        return None, ()
    try:
        with TemporaryDirectory() as folder:
            paths = [_kept(file.name, Path(folder), job) for file in job.flows]
            attached = [path for path in paths if path.name == TOPOLOGY]
            topology = read_topology(attached[0]) if attached else Topology()
            records = [read_flows(path) for path in paths if path.name != TOPOLOGY]
            return (_answer(records, "flows/", topology) if records else None), ()
    except (FirstfaultError, OSError) as trouble:
        reason = trouble.message if isinstance(trouble, FirstfaultError) else str(trouble)
        return None, (Skipped("network", reason.replace(folder, "flows")),)


def _kept(name: str, folder: Path, job: Job) -> Path:
    """A copy of a file of the job: it may be in a bucket or an archive, and nfdump reads files."""
    path = folder / name.rpartition("/")[2]
    file = next(file for file in job.flows if file.name == name)
    with file.open() as stream, path.open("wb") as copy:
        while piece := stream.read(PIECE):
            copy.write(piece)
    return path


def _answer(records: list[Records], name: str, topology: Topology) -> FlowsAnswer:
    frame = pl.concat([one.frame for one in records], how="diagonal_relaxed") if len(records) > 1 else records[0].frame
    told = tuple(dict.fromkeys(sentence for one in records for sentence in one.told))
    return analyse(table_from(frame, name), topology, told)
