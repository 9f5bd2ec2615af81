"""The network flows of a job that is diagnosed: those that somebody names, or those in ``flows/`` of its folder."""

from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from core.errors import FirstfaultError, UnreadableFlows
from core.flows.analyse import analyse
from core.flows.answer import FlowsAnswer
from core.flows.table import table_from
from core.flows.topology import Topology
from core.job import Job
from core.model import Skipped
from sources.flows.flow_files import read_flows, read_topology
from sources.flows.records import Records

TOPOLOGY = "topology.json"
PIECE = 1 << 20  # bytes that are unpacked at a time, so that a bomb is noticed within one
MAX_BYTES = 1 << 30  # of all files of flows/, unpacked: ten million records as CSV


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
            paths = _kept(job, Path(folder))
            attached = [path for path in paths if path.name == TOPOLOGY]
            topology = read_topology(attached[0]) if attached else Topology()
            records = [read_flows(path) for path in paths if path.name != TOPOLOGY]
            return (_answer(records, "flows/", topology) if records else None), ()
    except (FirstfaultError, OSError) as trouble:
        reason = trouble.message if isinstance(trouble, FirstfaultError) else str(trouble)
        return None, (Skipped("network", reason.replace(folder, "flows")),)


def _kept(job: Job, folder: Path) -> list[Path]:
    """Copies of the files of the job: they may be in a bucket or an archive, and nfdump reads files."""
    paths, room = [], MAX_BYTES
    for file in job.flows:
        paths.append(folder / file.name.rpartition("/")[2])
        with file.open() as stream, paths[-1].open("wb") as copy:
            while piece := stream.read(PIECE):
                room -= len(piece)
                if room < 0:
                    raise UnreadableFlows(f"flows/ was left out: it unpacks to more than {MAX_BYTES:,} bytes", "")
                copy.write(piece)
    return paths


def _answer(records: list[Records], name: str, topology: Topology) -> FlowsAnswer:
    frame = (
        pl.concat([record.frame for record in records], how="diagonal_relaxed")
        if len(records) > 1
        else records[0].frame
    )
    sentences = tuple(dict.fromkeys(sentence for record in records for sentence in record.remarks))
    return analyse(table_from(frame, name), topology, sentences)
