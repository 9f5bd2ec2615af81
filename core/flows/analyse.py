"""The story of ``firstfault flows``: records, connections, jobs, groups, steps, findings; one line a step."""

from collections.abc import Sequence

from core.flows.answer import FlowsAnswer, JobAnswer, NamedGroup
from core.flows.connections import Connections, find_connections
from core.flows.findings import find_findings
from core.flows.groups import Group, Groups, find_groups
from core.flows.jobs import JobFlows, find_jobs
from core.flows.lanes import find_lanes
from core.flows.table import FlowTable
from core.flows.timeline import find_timeline
from core.flows.topology import Topology
from core.model import Skipped


def analyse(table: FlowTable, topology: Topology, told: Sequence[str] = (), *, with_lanes: bool = False) -> FlowsAnswer:
    """Jobs, groups, steps and findings of a table of flow records; the order of its rows changes nothing.

    Args:
        told: what a person should know of how the records were read.
        with_lanes: whether the traffic of each group is kept, to be drawn.
    """
    connections = find_connections(table, topology)
    found = find_jobs(connections, topology)
    jobs = []
    skipped = [Skipped("records", says) for says in told]
    skipped += _of_capture(table, topology, blind=found.blind)
    for number, flows in enumerate(found.jobs, start=1):
        name = f"J{number}"
        groups = find_groups(connections, flows)
        timeline = find_timeline(connections, topology, flows, groups)
        named = _named(connections, groups, name)
        findings, left_out = find_findings(connections, topology, flows, groups, timeline, named)
        unknown = bool(groups.unknown)
        nics = tuple(connections.addresses[nic] for nic in flows.nics)
        job = JobAnswer(
            name,
            nics,
            tuple(sorted({topology.server_of(nic) for nic in nics})),
            named,
            _pairs(connections, groups),
            timeline,
            dp=_size(groups.of("dp"), unknown=unknown),
            pp=_size(groups.of("pp"), unknown=unknown),
            tp=_rails(connections, topology, flows, groups),
            findings=findings,
            lanes=find_lanes(connections, groups, named) if with_lanes else (),
        )
        jobs.append(job)
        if groups.unknown:
            both = f"{name}: {len(groups.unknown)} connections go both ways"
            skipped.append(
                Skipped("groups", f"{both}, and no transfers are seen that tell groups of two from pipelines")
            )
        if timeline.why_not:
            skipped.append(Skipped("timeline", f"{name}: {timeline.why_not}"))
        skipped += [Skipped(step, f"{name}: {reason}") for step, reason in left_out]
    span = (int(table.start.min()), int(table.end.max())) if len(table) else (0, 0)
    return FlowsAnswer(
        span,
        len(table) + table.left_out,
        table.left_out,
        connections.copies,
        table.switches,
        tuple(jobs),
        tuple(skipped),
    )


def _of_capture(table: FlowTable, topology: Topology, *, blind: bool) -> list[Skipped]:
    """What cannot be told of any job."""
    skipped = []
    if table.left_out:
        what = "have no address, an end before their start, or a time before 1970 or after 2100"
        skipped.append(Skipped("records", f"{table.left_out:,} of {len(table) + table.left_out:,} {what}"))
    if not topology.server:
        alone = "each NIC counts as a server, and rails of one job are not joined"
        skipped.append(Skipped("servers", f"the topology has none: {alone}"))
    if not topology.trunks or not table.switches:
        reason = "the records name no exporter" if topology.trunks else "the topology has no links between switches"
        skipped.append(Skipped("switches", f"{reason}: no switch can be named"))
    if blind:
        reason = "clusters that share servers were joined, for the records are too long to compare their clocks"
        skipped.append(Skipped("jobs", reason))
    return skipped


def _named(connections: Connections, groups: Groups, job: str) -> tuple[NamedGroup, ...]:
    counts: dict[str, int] = {}
    named = []
    for group in groups.groups:
        number = counts.setdefault(group.kind, 0)
        counts[group.kind] += 1
        nics = tuple(connections.addresses[nic] for nic in group.nics)
        named.append(NamedGroup(f"{job}.{group.kind}{number}", group.kind, nics))
    return tuple(named)


def _pairs(connections: Connections, groups: Groups) -> tuple[tuple[str, str, str], ...]:
    names = connections.addresses
    return tuple(
        sorted(
            {
                (names[connections.a[member]], names[connections.b[member]], kind)
                for member, kind in groups.kinds.items()
                if kind != "?"
            }
        )
    )


def _size(groups: Sequence[Group], *, unknown: bool) -> int | None:
    """How many NICs each group has; one where there is no group, None where they differ or are unknown."""
    if unknown:
        return None
    sizes = {len(group.nics) for group in groups} or {1}
    return sizes.pop() if len(sizes) == 1 else None


def _rails(connections: Connections, topology: Topology, flows: JobFlows, groups: Groups) -> int | None:
    """How many NICs of a server share its work over links that no switch sees: those that are in no group together."""
    together = {frozenset(pair) for group in groups.groups for pair in zip(group.nics, group.nics[1:], strict=False)}
    ring = {nic: number for number, group in enumerate(groups.of("dp")) for nic in group.nics}
    servers: dict[str, list[int]] = {}
    for nic in flows.nics:
        servers.setdefault(topology.server_of(connections.addresses[nic]), []).append(nic)
    sizes = {len(nics) for nics in servers.values()}
    apart = all(
        len({ring.get(nic, -1 - nic) for nic in nics}) == len(nics)
        and not any(frozenset((a, b)) in together for a in nics for b in nics if a < b)
        for nics in servers.values()
    )
    return sizes.pop() if apart and len(sizes) == 1 and not groups.unknown else None
