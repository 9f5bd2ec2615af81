"""Roles and blame: who is a direct trace of the fault, who only tells of it, and whom they point to (METHOD, section 3)."""

import ipaddress
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.crossjob import Candidate
from core.facts import Blame
from core.job import Manifest
from core.model import Role
from core.origins import Program
from core.table import EventTable

REQUESTS = re.compile(
    r"asked to terminate|did not stop within|sending SIGKILL|death signal|got signal: 15|received SIGTERM",
    re.IGNORECASE,
)
STOP_WINDOW = 30_000_000  # microseconds: torchrun and schedulers wait 10 to 30 s between SIGTERM and SIGKILL
_PLAIN_TROUBLE = (
    0.5  # strength from which on an event is trouble by itself: exceptions and what peers report, not warnings
)
_WORTH_A_LOOK = 0.4  # strength from which on an unknown message may be a root; a warning alone is none
DEMOTED = 0.5  # share of the rows that the job survived beyond which an event is no cause


@dataclass(frozen=True, slots=True)
class Edge:
    """One node says something of another."""

    reporter: str
    blamed: str
    event: int


def assign_roles(table: EventTable, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Roles that context decides: survived errors, kills that were asked for, and a launcher that was stopped first."""
    asked = _asked_to_stop(table, candidates)
    troubled = _troubled(table, candidates)
    roles = [_role(table, candidate, asked, troubled) for candidate in candidates]
    return tuple(_first_stop(table, _around_stop(table, roles)))


def _around_stop(table: EventTable, candidates: Sequence[Candidate]) -> list[Candidate]:
    """A stop from outside explains what comes after it, and explains nothing when something had failed before."""
    stops = [one for one in candidates if one.fact.stop and one.role is Role.ROOT]
    roots = [
        one for one in candidates if one.role is Role.ROOT and not one.fact.stop and one.fact.strength >= _PLAIN_TROUBLE
    ]
    if not stops:
        return list(candidates)
    stopped = min(int(table.time[one.rows].min()) for one in stops)
    failed_before = any(int(table.time[one.rows].min()) < stopped for one in roots)
    result = []
    for one in candidates:
        if one in stops and failed_before:
            result.append(one.with_role(Role.TEARDOWN, "something had failed before"))
        elif one in roots and not failed_before:
            result.append(one.with_role(Role.TEARDOWN, "came after the stop"))
        else:
            result.append(one)
    return result


def _role(table: EventTable, candidate: Candidate, asked: Mapping[str, int], troubled: Mapping[str, int]) -> Candidate:
    if candidate.role is Role.ROOT and candidate.survived > (DEMOTED if candidate.fact.known else 0.0):
        return candidate.with_role(Role.BENIGN, "the job went on after it")
    if candidate.role is Role.ROOT and not candidate.fact.known and candidate.fact.strength < _WORTH_A_LOOK:
        return candidate.with_role(Role.BENIGN, "a warning that nothing else supports")
    if candidate.fact.kind == "killed":
        unasked = np.array([row for row in candidate.rows.tolist() if not _was_asked(table, row, asked)], np.intp)
        if len(unasked) == 0:
            return candidate.with_role(Role.TEARDOWN, "killed after it was asked to stop")
        return _narrow(table, candidate, unasked)
    if candidate.role is Role.PROPAGATED:
        began = troubled if candidate.fact.kind == _STORE else asked
        first = np.array([row for row in candidate.rows.tolist() if not _after(table, row, began)], np.intp)
        if len(first) == 0:
            return candidate.with_role(Role.TEARDOWN, "its node was ending already")
        return _narrow(table, candidate, first)
    return candidate


_STORE = "store lost"


def _troubled(table: EventTable, candidates: Sequence[Candidate]) -> dict[str, int]:
    """First time at which each node showed trouble of its own; losing the store after that is how it ends."""
    began: dict[str, int] = {}
    for candidate in candidates:
        if (
            candidate.role in (Role.ROOT, Role.PROPAGATED)
            and candidate.fact.kind != _STORE
            and candidate.fact.strength >= _PLAIN_TROUBLE
        ):
            for row in candidate.rows.tolist():
                node = table.origins[table.voice[row]].node
                if node and not candidate.fact.stop:
                    began[node] = min(began.get(node, int(table.time[row])), int(table.time[row]))
    return began


def _after(table: EventTable, row: int, began: Mapping[str, int]) -> bool:
    node = table.origins[table.voice[row]].node
    return node in began and began[node or ""] <= int(table.time[row])


def _narrow(table: EventTable, candidate: Candidate, rows: np.ndarray) -> Candidate:
    origins = [table.origins[table.voice[row]] for row in rows.tolist()]
    return replace(
        candidate,
        rows=rows,
        nodes=tuple(sorted({origin.node for origin in origins if origin.node})),
        ranks=tuple(sorted({origin.rank for origin in origins if origin.rank is not None})),
    )


def _asked_to_stop(table: EventTable, candidates: Sequence[Candidate]) -> dict[str, int]:
    """First time at which each node's programs were told to stop."""
    asked: dict[str, int] = {}
    for candidate in candidates:
        if REQUESTS.search(candidate.text):
            for row in candidate.rows.tolist():
                node = table.origins[table.voice[row]].node or ""
                asked[node] = min(asked.get(node, int(table.time[row])), int(table.time[row]))
    return asked


def _was_asked(table: EventTable, row: int, asked: Mapping[str, int]) -> bool:
    origin = table.origins[table.voice[row]]
    if origin.program is Program.SCHEDULER:
        return bool(asked) and min(asked.values()) <= int(table.time[row])
    return origin.node in asked and asked[origin.node or ""] <= int(table.time[row])


def _first_stop(table: EventTable, candidates: Sequence[Candidate]) -> list[Candidate]:
    """A launcher that is told to stop before anything failed anywhere is not teardown: it is how the stop began."""
    stops = [
        candidate for candidate in candidates if candidate.fact.stop and candidate.role is Role.ROOT and candidate.nodes
    ]
    if not stops:
        return list(candidates)
    began = min(int(table.time[candidate.rows].min()) for candidate in stops)
    nodes = {node for candidate in stops for node in candidate.nodes}
    result = []
    for candidate in candidates:
        here = [row for row in candidate.rows.tolist() if table.origins[table.voice[row]].node in nodes]
        soon = [row for row in here if began <= int(table.time[row]) <= began + STOP_WINDOW]
        if candidate.role is Role.TEARDOWN and soon and _TOLD.search(candidate.text):
            result.append(
                _narrow(table, candidate, np.array(soon, np.intp)).with_role(
                    Role.ROOT, "the launcher that was stopped first"
                )
            )
        else:
            result.append(candidate)
    return result


_TOLD = re.compile(r"death signal|got signal: 15|closing signal", re.IGNORECASE)


# --- whom raw lines name ------------------------------------------------------------------------------------------


class Names:
    """Nodes by every name that lines use for them: the name itself, its short form, addresses, ranks."""

    def __init__(self, table: EventTable, manifest: Manifest) -> None:
        nodes = tuple(dict.fromkeys((*manifest.nodes, *table.nodes)))
        self._nodes = {node: node for node in nodes} | {
            node.split(".")[0]: node for node in nodes if not _is_address(node)
        }
        self._nodes |= {address: node for node, addresses in manifest.node_addresses.items() for address in addresses}
        self._ranks = {rank: node for node, ranks in manifest.node_ranks.items() for rank in ranks}
        for origin in table.origins:
            if origin.rank is not None and origin.node:
                self._ranks.setdefault(origin.rank, origin.node)

    def learn(self, addresses: Mapping[str, str], ranks: Mapping[int, str]) -> None:
        """Take in address -> node and rank -> node pairs that the logs themselves tell."""
        self._nodes = dict(addresses) | self._nodes
        self._ranks = dict(ranks) | self._ranks

    def node(self, name: str) -> str | None:
        """The node that goes by a name or address."""
        return self._nodes.get(name) or self._nodes.get(name.split(".")[0] if not _is_address(name) else name)

    def of_rank(self, rank: int) -> str | None:
        """The node of a global rank."""
        return self._ranks.get(rank)

    def mentioned(self, text: str) -> str | None:
        """A node whose name stands in a text as a word."""
        return next((self._nodes[word] for word in re.findall(r"[\w.-]+", text) if word in self._nodes), None)


def blame_edges(
    table: EventTable, candidates: Sequence[Candidate], texts: Mapping[int, str], names: Names
) -> tuple[Edge, ...]:
    """Who names whom in messages that blame somebody."""
    edges = set()
    for candidate in candidates:
        if candidate.fact.blame is not Blame.NAMED or candidate.role in (Role.TEARDOWN, Role.BENIGN):
            continue
        for row in candidate.rows.tolist():
            reporter = table.origins[table.voice[row]].node or ""
            blamed = _blamed(candidate, texts.get(row, ""), names)
            if blamed and blamed != reporter:
                edges.add(Edge(reporter, blamed, candidate.event))
    return tuple(sorted(edges, key=lambda edge: (edge.event, edge.reporter, edge.blamed)))


def _blamed(candidate: Candidate, text: str, names: Names) -> str | None:
    match = candidate.fact.named.search(text) if candidate.fact.named else None
    if match is None:
        return names.mentioned(text) if candidate.fact.role is Role.ROOT else None
    for group, value in match.groupdict().items():
        if value is not None:
            return (
                names.of_rank(int(value))
                if group.startswith("rank")
                else None
                if group == "device"
                else names.node(value)
            )
    return None


def sinks(edges: Sequence[Edge]) -> dict[str, int]:
    """Nodes that are blamed and blame nobody, with how many blame them."""
    blamed: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        blamed[edge.blamed].add(edge.reporter)
    reporters = {edge.reporter for edge in edges}
    return {node: len(by) for node, by in sorted(blamed.items()) if node not in reporters}


# Lines in which a speaker tells who it is: its address, or its global rank.
_OWN_ADDRESS = re.compile(
    r"(?:own|local|host)\s*(?:ip|address)\D{0,3}(\d{1,3}(?:\.\d{1,3}){3})|NET/\w+ : Using .*?<(\d{1,3}(?:\.\d{1,3}){3})",
    re.IGNORECASE,
)
_OWN_RANK = re.compile(r"SetupAgent rankNum\[\d+\], rank\[(\d+)\]|initialized process group: rank (\d+)/\d+")


def own_address(text: str) -> str | None:
    """The address that a line says is the speaker's own."""
    match = _OWN_ADDRESS.search(text)
    return (match[1] or match[2]) if match else None


def own_rank(text: str) -> int | None:
    """The global rank that a line says is the speaker's own."""
    match = _OWN_RANK.search(text)
    return int(match[1] or match[2]) if match else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
