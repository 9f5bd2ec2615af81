"""Addresses that ranks name: one that nobody has, one that the others do not ask for, one end of all lost transfers.

A wrong entry in one node's list of peers stops all of them: those who are never asked complain as loudly as the one
that asks in vain. What tells them apart is the address itself, which every comparison of templates masks.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from core.events.messages import keys_of
from core.events.row_text import read_rows
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.model import Role
from core.nodes.sign import Sign
from core.nodes.votes import MAX_READ, ODD
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS, few_of

ELSEWHERE = 0.7  # more than a vote on any parameter: that one went elsewhere is why they never met
COMMON_END = 0.6  # as sure as silence: it tells which machine, not which end of its cables
MIN_REPORTERS = 2  # of one pair alone, either end may have failed
_MASKED = "<IP>"
_ADDRESS = re.compile(r"(?<![\w.])(?P<address>\d{1,3}(?:\.\d{1,3}){3})(?![\w.])(?::(?P<port>\d{1,5}))?")
# Where somebody is met: an address, or the name of a machine with a port. File and line look alike, and are the same on
# all ranks.
_PLACE = re.compile(
    _ADDRESS.pattern
    + r"|(?<![\w./:-])(?![\w.-]{1,62}\.(?:cc?|cpp|h|py|go|rs|java|js):)[A-Za-z][\w.-]{0,62}:\d{2,5}(?![\w.:])"
)
_CHECK = "Compare its settings with those of the others: the address of the master, the list of peers, its host names."
_NEVER_MET = frozenset({Kind.RENDEZVOUS, Kind.UNREACHABLE, Kind.PEER_SILENT, Kind.ADDRESS})
_LOST_TRANSFERS = frozenset({Kind.PEER_LOST, Kind.RDMA_TRANSPORT})
_LOCAL = ("127.", "0.")  # of the machine itself, and where it listens


def address_signs(parsed: Parsed, candidates: Sequence[Candidate], home: Mapping[int, str]) -> list[Sign]:
    """Signs for nodes that ask for an address of nobody, for another one than most, or that all lost transfers share.

    Args:
        home: node of each rank.
    """
    return [
        *_strangers(parsed, candidates),
        *_meetings(parsed, candidates, home),
        *_ends_of_transfers(parsed, candidates),
    ]


def _ends_of_transfers(parsed: Parsed, candidates: Sequence[Candidate]) -> list[Sign]:
    """The one end of all transfers that failed in the same way: several nodes name its address, and it names others.

    Nobody has to know whose address it is. Who closes a connection because its own transfer failed is named as well, by
    other messages.
    """
    ways: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        if candidate.fact.kind in _LOST_TRANSFERS:
            ways[candidate.fact.says].append(candidate)
    ends = [(end, of[0].event) for of in ways.values() if (end := _common_end(parsed, of)) is not None]
    if len({node for (node, _, _), _ in ends}) != 1:
        return []
    (node, address, count), event = ends[0]
    because = f"Of each transfer that failed {node} is one end: {count} others name {address}, and {node} names others."
    check = f"Look at the links and counters of {node}: cable, port, switch, driver."
    says = "all transfers that failed were with it"
    return [Sign(node, "address", COMMON_END, because, event, says=says, check=check)]


def _common_end(parsed: Parsed, lost: Sequence[Candidate]) -> tuple[str, str, int] | None:
    """The node that is one end of all these transfers, its address, and how many others name that; None without one."""
    named: dict[str, set[str]] = defaultdict(set)
    for candidate in lost:
        for row, text in _texts(parsed, candidate.rows[:MAX_READ].tolist()).items():
            node, match = parsed.table.origins[parsed.table.voice[row]].node, _ADDRESS.search(text)
            if node and match:
                named[match["address"]].add(node)
    ends = []
    for address, reporters in sorted(named.items()):
        others = {node for other, by in named.items() if other != address for node in by}
        if len(reporters) >= MIN_REPORTERS and len(others) == 1 and not others & reporters:
            ends += [(node, address, len(reporters)) for node in others]
    return ends[0] if len(ends) == 1 else None


def _strangers(parsed: Parsed, candidates: Sequence[Candidate]) -> list[Sign]:
    """Who complains, alone, of an address between those of the job's nodes that is none of them."""
    table, known = parsed.table, parsed.job.manifest.node_addresses
    if len(known) < MIN_RANKS or set(known) != set(parsed.nodes):
        return []  # of a part of the addresses nothing follows
    own = {address for addresses in known.values() for address in addresses}
    nets = {_net(address) for address in own}
    askers: dict[str, set[str]] = defaultdict(set)
    events: dict[str, int] = {}
    for candidate in candidates:
        if candidate.role not in (Role.ROOT, Role.PROPAGATED) or _MASKED not in table.templates[candidate.event].text:
            continue
        for row, text in _texts(parsed, candidate.rows[:MAX_READ].tolist()).items():
            node = table.origins[table.voice[row]].node
            for match in _ADDRESS.finditer(text) if node else ():
                if _net(match["address"]) in nets and match["address"] not in own:
                    askers[match["address"]].add(node or "")
                    events.setdefault(match["address"], candidate.event)
    return [
        Sign(node, "address", ODD, f"{node} asks for {address}, which is no node of the job.", events[address],
             says="it asks for an address that no node has", check=_CHECK)
        for address, nodes in sorted(askers.items()) if len(nodes) == 1 for node in nodes
    ]  # fmt: skip


def _meetings(parsed: Parsed, candidates: Sequence[Candidate], home: Mapping[int, str]) -> list[Sign]:
    """Who goes to another address than most, by the same words, of a job whose processes never all met."""
    waited = [
        candidate for candidate in candidates if candidate.role is not Role.BENIGN and candidate.fact.kind in _NEVER_MET
    ]
    if not waited or parsed.iterations.last is not None or len(home) < MIN_RANKS:
        return []
    table = parsed.table
    naming = [event for event, template in enumerate(table.templates) if _may_name(template.text)]
    for _, rows in sorted(table.rows_of(naming).items()):
        first: dict[int, int] = {}
        for row, rank in zip(rows[:MAX_READ].tolist(), table.rank[rows[:MAX_READ]].tolist(), strict=True):
            if rank in home:
                first.setdefault(rank, row)
        if len(first) < max(MIN_RANKS, len(home) * MAJORITY):
            continue
        texts = _texts(parsed, sorted(first.values()))
        asked = {rank: _places(texts.get(row, "")) for rank, row in first.items()}
        for place in range(min(map(len, asked.values()))):
            at = {rank: found[place] for rank, found in asked.items()}
            if signs := _minority(at, home, waited[0].event, parsed):
                return signs
    return []


def _places(text: str) -> list[str]:
    """The first place that a text names, and names of machines behind it: a further address may be the speaker's."""
    found = list(_PLACE.finditer(text))
    return [match[0] for number, match in enumerate(found) if not number or match["address"] is None]


def _may_name(template: str) -> bool:
    """Whether a message may tell where somebody is met; numbers are masked in it."""
    return _MASKED in template or _PLACE.search(template.replace("<NUM>", "10")) is not None


def _minority(asked: Mapping[int, str], home: Mapping[int, str], event: int, parsed: Parsed) -> list[Sign]:
    usual, count = Counter(asked.values()).most_common(1)[0] if asked else ("", 0)
    odd = sorted(rank for rank, address in asked.items() if address != usual)
    if not odd or usual.startswith(_LOCAL) or count <= len(asked) * MAJORITY or len(odd) > few_of(len(asked)):
        return []
    signs = []
    for node in sorted({home[rank] for rank in odd}):
        own = [rank for rank in odd if home[rank] == node]
        called = parsed.table.called(own, node)
        because = f"{called} goes to {asked[own[0]]}, {count} of {len(asked)} {parsed.table.speakers} to {usual}."
        says = "it went to another address than the others to meet them"
        signs.append(Sign(node, "address", ELSEWHERE, because, event, says=says, check=_CHECK, ranks=tuple(own)))
    return signs


def _texts(parsed: Parsed, heads: Sequence[int]) -> dict[int, str]:
    """What messages say, by their head row."""
    keys = keys_of(parsed.table, heads)
    raw = read_rows(parsed.files, parsed.table, [key for rows in keys.values() for key in rows])
    return {head: "\n".join(raw.get(key, "") for key in rows) for head, rows in keys.items()}


def _net(address: str) -> str:
    """The first two numbers: the nodes of a job are in one network, whose masks nobody tells."""
    return ".".join(address.split(".")[:2])
