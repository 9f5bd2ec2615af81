"""The story of ``firstfault flows``: records, connections, jobs, and each job judged by itself; one line a step."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor

from core.flows.answer import FlowsAnswer
from core.flows.connections import Connections, find_connections
from core.flows.jobs import CaptureJobs, find_jobs, part_of
from core.flows.judge import Judged, judge
from core.flows.record_grain import PACKET
from core.flows.table import FlowTable
from core.flows.topology import Topology
from core.model import Skipped


def analyse(
    table: FlowTable,
    topology: Topology,
    sentences: Sequence[str] = (),
    *,
    with_lanes: bool = False,
    workers: Executor | None = None,
) -> FlowsAnswer:
    """Jobs, groups, steps and findings of a table of flow records; the order of its rows changes nothing.

    Args:
        told: what a person should know of how the records were read.
        with_lanes: whether the traffic of each group is kept, to be drawn.
        workers: who judges the jobs, each from the records of its NICs; None: this process, one after the other.
    """
    connections = find_connections(table, topology)
    found = find_jobs(connections, topology)
    span = (int(table.start.min()), int(table.end.max())) if len(table) else (0, 0)
    skipped = [Skipped("records", says) for says in sentences]
    skipped += _of_capture(table, topology, blind=found.blind)
    jobs = []
    for job, reasons in _judged(connections, found, topology, workers, with_lanes=with_lanes):
        jobs.append(job)
        skipped += reasons
    return FlowsAnswer(
        span,
        len(table) + table.left_out,
        table.left_out,
        connections.copies,
        table.switches,
        tuple(jobs),
        tuple(skipped),
    )


def _judged(
    connections: Connections, found: CaptureJobs, topology: Topology, workers: Executor | None, *, with_lanes: bool
) -> Iterator[Judged]:
    """Each job in its order, by whoever judges."""
    last = int(connections.end.max()) if len(connections.end) else 0
    parts = ((f"J{number}", *part_of(connections, job)) for number, job in enumerate(found.jobs, start=1))
    if workers is None:
        yield from (judge(*part, topology, last, with_lanes=with_lanes) for part in parts)
        return
    for future in [workers.submit(judge, *part, topology, last, with_lanes=with_lanes) for part in parts]:
        yield future.result()


def _of_capture(table: FlowTable, topology: Topology, *, blind: bool) -> list[Skipped]:
    """What cannot be told of any job."""
    skipped = []
    if table.left_out:
        what = "have no address, an end before their start, or a time before 1970 or after 2100"
        skipped.append(Skipped("records", f"{table.left_out:,} of {len(table) + table.left_out:,} {what}"))
    if (table.packets == 1).all() and (table.bytes > PACKET).any():
        what = "the records do not count them, so acknowledgements are not told from data"
        skipped.append(Skipped("packets", f"{what}, and a slow link may be told as a slow accelerator"))
    if not topology.server:
        alone = "each NIC counts as a server, rails of one job are not joined, and storage may count as a NIC"
        skipped.append(Skipped("servers", f"the topology has none: {alone}"))
    if not topology.trunks or not table.switches:
        reason = "the records name no exporter" if topology.trunks else "the topology has no links between switches"
        skipped.append(Skipped("switches", f"{reason}: no switch can be named"))
    if blind:
        reason = "clusters that share servers were joined, for the records are too long to compare their clocks"
        skipped.append(Skipped("jobs", reason))
    return skipped
