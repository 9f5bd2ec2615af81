"""Links and servers that were lost: those that nobody says came back, and servers that answered again."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.events.messages import unlabelled
from core.events.row_text import read_rows
from core.events.table import EventTable
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.judge.roles.row_queries import Rows, without
from core.model import Role
from core.parsed import Parsed

STOOD = 60_000_000  # microseconds that a job went on after a server answered: no step takes so long by chance
MAX_READ = 4096  # lines of links: a switch that flaps says thousands


@dataclass(frozen=True, slots=True)
class _Service:
    """What the kernel says when it loses a link or a server, and when it has it back; ``link`` is its name.

    lost_words, back_words: as a message with masked numbers says it.
    """

    lost_words: re.Pattern[str]
    lost: re.Pattern[str]
    back_words: re.Pattern[str]
    back: re.Pattern[str]


# As systemd-networkd (252) and Linux' drivers of network cards (6.6) say it: what stands before the colon is the link
_LINK = _Service(
    lost_words=re.compile(r"lost carrier|link (?:is )?down\b", re.IGNORECASE),
    lost=re.compile(r"(?P<link>[A-Za-z][\w.]{1,31}): (?:Lost carrier|(?:NIC )?Link (?:is )?down)\b", re.IGNORECASE),
    back_words=re.compile(r"gained carrier|link (?:is )?up\b", re.IGNORECASE),
    back=re.compile(r"(?P<link>[A-Za-z][\w.]{1,31}): (?:Gained carrier|(?:NIC )?Link (?:is )?up)\b", re.IGNORECASE),
)
# As HPE's driver of Slingshot cards (shs-cxi-driver, cass_phy.c) says it
_SLINGSHOT = _Service(
    lost_words=re.compile(r"CXI_EVENT_LINK_DOWN"),
    lost=re.compile(r"\[(?P<link>hsn\d{1,2})\]:? CXI_EVENT_LINK_DOWN"),
    back_words=re.compile(r"CXI_EVENT_LINK_UP"),
    back=re.compile(r"\[(?P<link>hsn\d{1,2})\]:? CXI_EVENT_LINK_UP"),
)
# As Linux' NFS client (fs/nfs, net/sunrpc/clnt.c, 6.6) says it
_SERVER = _Service(
    lost_words=re.compile(r"nfs: server .{1,64} not responding, (?:still trying|timed out)", re.IGNORECASE),
    lost=re.compile(r"nfs: server (?P<link>[\w.:-]{1,64}) not responding", re.IGNORECASE),
    back_words=re.compile(r"nfs: server .{1,64} OK\b", re.IGNORECASE),
    back=re.compile(r"nfs: server (?P<link>[\w.:-]{1,64}) OK\b", re.IGNORECASE),
)
# As Lustre's client (lustre/ptlrpc/import.c, 2.15) says it
_TARGET = _Service(
    lost_words=re.compile(r"Connection to .{1,64} \(at .{1,64}\) was lost"),
    lost=re.compile(r"Connection to (?P<link>[\w.-]{1,64}) \(at [\w.@:]{1,64}\) was lost"),
    back_words=re.compile(r"Connection restored to "),
    back=re.compile(r"Connection restored to (?P<link>[\w.-]{1,64}) \(at "),
)
_SERVICES = (_LINK, _SLINGSHOT, _SERVER, _TARGET)


def never_back(parsed: Parsed, candidates: Sequence[Candidate]) -> frozenset[int]:
    """Events of links and servers that were lost once, and of which nobody says that they came back."""
    found = set()
    for service in _SERVICES:
        lost = [candidate for candidate in candidates if service.lost_words.search(candidate.text)]
        back = _came_up(parsed, service) if lost else {}
        for candidate in lost:
            last = candidate.rows[-MAX_READ:]
            links = _links(parsed, last, service.lost)
            if any(back.get(link, -1) < int(parsed.table.time[row]) for row, link in links.items()):
                found.add(candidate.event)
    return frozenset(found)


def _links(parsed: Parsed, rows: NDArray[np.intp], words: re.Pattern[str]) -> dict[int, tuple[int, str]]:
    """The node and the link that each of these rows tells of, by row."""
    found = {}
    for row, text in read_rows(parsed.files, parsed.table, rows).items():
        if (match := words.search(unlabelled(parsed.table, row, text))) is not None:
            found[row] = int(parsed.table.node[row]), match["link"]
    return found


def clear_answered_servers(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates without file servers that answered again, a minute at least before the logs end."""
    lost = [
        candidate
        for candidate in candidates
        if candidate.role is Role.ROOT and _SERVER.lost_words.search(candidate.text)
    ]
    if not lost:
        return candidates
    again = _came_up(parsed, _SERVER)
    end = int(parsed.table.spoke.last.max()) - STOOD
    rows = np.unique(np.concatenate([candidate.rows for candidate in lost]))[:MAX_READ]
    silent = _links(parsed, rows, _SERVER.lost)
    back = {row for row, link in silent.items() if int(parsed.table.time[row]) <= again.get(link, -1) <= end}

    def answers(of: Rows) -> NDArray[np.bool_]:
        return np.isin(of, sorted(back))

    why = "the server answered again, and the job went on"
    return [
        without(parsed.table, candidate, answers, why) if candidate in lost else candidate for candidate in candidates
    ]


def clear_links_that_came_back(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates without links that came up again, where another link that went down never did."""
    for service in (_LINK, _SLINGSHOT):
        lost = [
            candidate
            for candidate in candidates
            if candidate.role is Role.ROOT and service.lost_words.search(candidate.text)
        ]
        if not lost:
            continue
        again = _came_up(parsed, service)
        rows = np.unique(np.concatenate([candidate.rows for candidate in lost]))[:MAX_READ]
        down = _links(parsed, rows, service.lost)
        back = sorted(row for row, link in down.items() if int(parsed.table.time[row]) <= again.get(link, -1))
        if not 0 < len(back) < len(down):
            continue

        def came_back(of: Rows, back: Sequence[int] = back) -> NDArray[np.bool_]:
            return np.isin(of, back)

        why = "the link came up again, and another one did not"
        candidates = [
            without(parsed.table, candidate, came_back, why) if candidate in lost else candidate
            for candidate in candidates
        ]
    return candidates


def _came_up(parsed: Parsed, service: _Service) -> dict[tuple[int, str], int]:
    """When each link of each node last came up."""
    table = parsed.table
    events = [event for event, template in enumerate(table.templates) if service.back_words.search(template.sample)]
    rows = table.all_rows_of(events)[-MAX_READ:]
    last_up: dict[tuple[int, str], int] = {}
    for row, link in _links(parsed, rows, service.back).items():
        last_up[link] = max(last_up.get(link, -1), int(table.time[row]))
    return last_up


def clear_transfers_over_a_broken_link(table: EventTable, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Transfers that other nodes retried in vain once a node had told that its own link broke follow from that."""
    broken = [
        (frozenset(candidate.nodes), int(table.time[candidate.rows].min()))
        for candidate in candidates
        if candidate.role is Role.ROOT and candidate.fact.kind == Kind.NETWORK_LINK and candidate.nodes
        if table.timed[candidate.rows].all()
    ]

    def follows(candidate: Candidate) -> bool:
        if candidate.role is not Role.ROOT or candidate.fact.kind != Kind.RDMA_TRANSPORT or not candidate.nodes:
            return False
        first = int(table.time[candidate.rows].min())
        return any(nodes.isdisjoint(candidate.nodes) and at <= first for nodes, at in broken)

    return [
        candidate.with_role(Role.PROPAGATED, "the link of another node had broken") if follows(candidate) else candidate
        for candidate in candidates
    ]
