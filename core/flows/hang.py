"""A job that fell silent with its connections open, and who fell silent first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.flows.connections import FIN_RST, Bools, Connections
from core.flows.groups import Groups
from core.flows.jobs import JobFlows
from core.flows.phases import ways_of, with_data
from core.flows.table import Ints
from core.flows.timeline import Timeline
from core.flows.topology import Topology

PERIODS = 6  # of silence, after which a job hangs (docs/how-to/flows.md)
APART = 0.1  # of a step, that the first one fell silent before all others
AGAIN = 2  # records of data that a NIC has to leave without an answer: of a single one the answer may be lost
UNTOLD = "no record between its NICs carries TCP flags, so a job that hangs looks like one that has ended"


@dataclass(frozen=True)
class Silence:
    """A hang.

    Attributes:
        start: microseconds since 1970, when the last data was sent.
        end: when the connections were closed, or the capture ended.
        nics: places in ``addresses`` of who fell silent first, or alone sent no data of the next step: one NIC, or
            all of a server where the records do not tell which was first; empty where nobody stands out.
        before: microseconds by which it was first; 0 where it only sent nothing.
        called: its neighbours, if it counts as first because all of them called it later; else 0.
        unanswered: records of data sent to it, if it counts as first because it acknowledged none of them; else 0.
    """

    start: int
    end: int
    nics: tuple[int, ...]
    before: int
    called: int = 0
    unanswered: int = 0


def find_silence(
    connections: Connections, topology: Topology, job: JobFlows, groups: Groups, timeline: Timeline, last: int
) -> Silence | str | None:
    """The silence at the end of a job; None where there is none, a text where the records cannot tell.

    NICs of a server wait for each other over links that no switch sees, so servers are compared.

    Args:
        last: when the capture ended.
    """
    if last - int(timeline.end[-1]) < PERIODS * timeline.period:
        return None
    dead = _dead(connections, job, APART * timeline.period)
    span = _open_silence(connections, job, timeline, last, dead)
    if span is None or isinstance(span, str):
        return span
    start, end = span
    homes = {nic: topology.server_of(connections.addresses[nic]) for nic in job.nics}
    if len({homes[nic] for nic in dead}) == 1:
        return Silence(start, end, tuple(sorted(dead)), 0, unanswered=min(dead.values()))
    latest = _last_messages(connections, job, int(timeline.end[-1] - timeline.period))
    servers: dict[str, int] = {}
    for nic, moment in latest.items():
        servers[homes[nic]] = max(servers.get(homes[nic], 0), moment)
    order: Sequence[str] = sorted(servers, key=lambda server: (servers[server], server))
    before = servers[order[1]] - servers[order[0]] if len(order) > 1 else 0
    own = [nic for nic in job.nics if homes[nic] == order[0]]
    if before >= APART * timeline.period:
        return Silence(start, end, _first(own, latest, timeline.period), before)
    called = [_unanswered(connections, job, nic, latest[nic]) for nic in own]
    if len(order) > 1 and all(called):
        return Silence(start, end, _first(own, latest, timeline.period), before, sum(called))
    absent = _absent(connections, job, groups, int(timeline.end[-1]))
    return Silence(start, end, absent if len({homes[nic] for nic in absent}) == 1 else (), 0)


def _open_silence(
    connections: Connections, job: JobFlows, timeline: Timeline, last: int, dead: Mapping[int, int]
) -> tuple[int, int] | str | None:
    """From the last data until connections were closed; None where that is not long, a text where nothing tells."""
    counted = _counted(connections, job.heavy)
    data = counted[connections.data[counted] & ~_sent_to(connections, counted, dead)]
    start = int(connections.end[data].max())
    if not connections.flags[counted].any():  # RoCE has none
        counted = _counted(connections, _fallen_silent(connections, job, start, timeline.period))
    flags = connections.flags[counted]
    closed = counted[(flags & FIN_RST) > 0]
    closed = closed[connections.end[closed] > start]
    end = int(connections.start[closed].min()) if len(closed) else last
    if end - start < PERIODS * timeline.period:
        return None
    if not flags.any():
        return UNTOLD
    in_last = not len(closed) and bool((flags & FIN_RST).any())  # closed in the record that holds the last data
    return None if in_last else (start, end)


def _counted(connections: Connections, members: Sequence[int]) -> Ints:
    """Rows of some connections, each record once."""
    parts = [np.arange(connections.offset[member], connections.offset[member + 1]) for member in members]
    rows: Ints = np.concatenate(parts) if parts else np.zeros(0, np.int64)
    return rows[connections.counted[rows]]


def _dead(connections: Connections, job: JobFlows, least: float) -> dict[int, int]:
    """NICs that were sent data when they had sent nothing any more, and how many records.

    Whoever hangs still acknowledges: an adapter, or a kernel, does it for its program.

    Args:
        least: microseconds from the last that a NIC sent to the last data that it was sent.
    """
    rows = np.flatnonzero(connections.counted)
    sender, receiver = _ends(connections, rows)
    said = np.zeros(len(connections.addresses), np.int64)
    np.maximum.at(said, sender, connections.end[rows])
    mine = np.isin(connections.of_rows()[rows], job.heavy) & connections.data[rows]
    late = mine & (connections.start[rows] > said[receiver] + least)
    count = np.bincount(receiver[late], minlength=len(said))
    return {nic: int(count[nic]) for nic in job.nics if count[nic] >= AGAIN}


def _ends(connections: Connections, rows: Ints) -> tuple[Ints, Ints]:
    """Who sent and who received some records."""
    member, back = connections.of_rows()[rows], connections.back[rows]
    a, b = connections.a[member], connections.b[member]
    return np.where(back, b, a), np.where(back, a, b)


def _sent_to(connections: Connections, rows: Ints, nics: Mapping[int, int]) -> Bools:
    there: Bools = np.isin(_ends(connections, rows)[1], sorted(nics))
    return there


def _fallen_silent(connections: Connections, job: JobFlows, start: int, period: float) -> list[int]:
    """Control connections of TCP that are open until the last data, and say nothing behind it but that they close.

    Programs that use RoCE keep some beside it. What goes on without the job (ssh, a file system) is none of them.
    """
    found = []
    for member in job.light:
        rows = connections.rows(member)
        begun, closing = connections.start[rows], (connections.flags[rows] & FIN_RST) > 0
        said = connections.counted[rows] & connections.messages(rows) & ~closing
        goes_on = bool((begun[said] > start + PERIODS * period).any())
        ended_before = bool((begun[closing] < start - period).any())
        if connections.flags[rows].any() and not goes_on and not ended_before:
            found.append(member)
    return found


def _first(own: Sequence[int], latest: Mapping[int, int], period: float) -> tuple[int, ...]:
    """Of the NICs of a server the one that fell silent before all others, or all of them."""
    order = sorted(own, key=lambda nic: (latest[nic], nic))
    alone = len(order) == 1 or latest[order[1]] - latest[order[0]] >= APART * period
    return (order[0],) if alone else tuple(own)


def _last_messages(connections: Connections, job: JobFlows, since: int) -> dict[int, int]:
    """When each NIC sent the last message of its program, not before ``since``."""
    latest: dict[int, int] = dict.fromkeys(job.nics, since)
    for member in (*job.heavy, *job.light):
        rows = connections.rows(member)
        for back, nic in ((False, int(connections.a[member])), (True, int(connections.b[member]))):
            own = _messages(connections, rows) & (connections.back[rows] == back)
            if own.any():
                latest[nic] = max(latest[nic], int(connections.end[rows][own].max()))
    return latest


def _unanswered(connections: Connections, job: JobFlows, nic: int, since: int) -> int:
    """How many exchange data with a NIC, if all of them called it later than it said anything; else 0."""
    calls: dict[int, bool] = {}
    for member in (*job.heavy, *job.light):
        ends = connections.ends(member)
        if nic not in ends:
            continue
        rows, other = connections.rows(member), ends[ends[0] == nic]
        later = _messages(connections, rows) & (connections.start[rows] > since)
        called = bool((later & (connections.back[rows] == (other == ends[1]))).any())
        if member in job.heavy or other in calls:
            calls[other] = calls.get(other, False) or called
    return len(calls) if calls and all(calls.values()) else 0


def _messages(connections: Connections, rows: slice) -> Bools:
    """Records with something of a program, that close no connection, each once."""
    own: Bools = connections.counted[rows] & connections.messages(rows) & ((connections.flags[rows] & FIN_RST) == 0)
    return own


def _absent(connections: Connections, job: JobFlows, groups: Groups, since: int) -> tuple[int, ...]:
    """Those that sent none of the data that the others began to send behind the last step.

    Who sends to a NIC that is not ready waits with it, so of several those whose receivers did send.
    """
    receivers: dict[int, set[int]] = {nic: set() for nic in job.nics}
    sent: set[int] = set()
    for group in groups.groups:
        if group.kind == "emb":
            continue  # it ends a step, and begins none
        lanes = with_data(connections, group.connections)
        used = {lane: _data_since(connections, lane, since) for lane in lanes}
        for way in ways_of(connections, group, lanes) or (lanes,):
            if not any(used[lane] for lane in way):
                continue  # another phase of the step: nobody has come so far
            for member, back in way:
                sender, receiver = connections.ends(member)
                if back:
                    sender, receiver = receiver, sender
                receivers[sender].add(receiver)
                if used[member, back]:
                    sent.add(sender)
    silent = {nic for nic in job.nics if nic not in sent}
    alone = [nic for nic in sorted(silent) if receivers[nic] and not receivers[nic] & silent]
    return tuple(alone) if len(silent) <= len(job.nics) / 2 else ()


def _data_since(connections: Connections, lane: tuple[int, bool], since: int) -> bool:
    rows = connections.rows(lane[0])
    own = connections.counted[rows] & connections.data[rows] & (connections.back[rows] == lane[1])
    return bool((connections.start[rows][own] > since).any())
