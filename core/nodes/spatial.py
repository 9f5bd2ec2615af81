"""Spatial: nodes against each other (L4, section 4.3): who is special, how much, and why.

Evidence about a node comes from channels that fail in different ways, so that no single one decides:
direct (it says itself what broke), named (others, or the scheduler, name it), silence (its peers complain and it does
not), behind (its last iteration, its last word), missing (it lacks what all its peers say).

Differs: L4 ranks nodes by Isolation Forest over event count vectors of filtered logs, which must always accuse somebody
and cannot see absence. Here presence and absence are judged apart, inside cohorts, in closed form.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.course.iterations import Iterations
from core.crossjob import Candidate
from core.events.table import EventTable, rows_by
from core.facts import Blame
from core.logs.origins import Program
from core.model import Line, Role
from core.naming import called, natural
from core.nodes.blame import Edge, sinks

MAJORITY = 0.5  # an event that more than half of the nodes say marks no node (docs/how-it-works.md)
NAMED_BY_PEERS = 0.45  # peers blame somebody every time: less than a direct trace
NAMED_BY_MOST = (
    0.65  # when most of the other nodes blame one that blames nobody, there is a sink (docs/how-it-works.md, "Spatial")
)
SILENT = 0.6
BEHIND = 0.35
STUBBORN = 0.4
FEW = 0.05  # of the nodes: so few silent ones are as telling as one alone (amplified jobs, docs/LOG.md)
TELLING_GAP = 500_000  # microseconds; loggers flush and clocks differ by less
MIN_COMPLAINERS = 2  # of one peer alone nothing follows about the silent ones


@dataclass(frozen=True, slots=True)
class Sign:
    """One thing that points to a node. weight: 0..1, chance that a node with this sign is the faulty one.

    says, check: what broke and what to look at, for the answer, where no event says it; ranks, lines: as in evidence.
    """

    node: str
    channel: str
    weight: float
    because: str
    event: int | None = None
    says: str = ""
    check: str = ""
    ranks: tuple[int, ...] = ()
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Suspicion:
    """All that points to one node; score: 0..1, by noisy-or over the channels."""

    node: str
    score: float
    signs: tuple[Sign, ...]


def suspects(signs: Sequence[Sign]) -> tuple[Suspicion, ...]:
    """Nodes by how much points to them; within a channel only the strongest sign counts."""
    by_node: dict[str, list[Sign]] = defaultdict(list)
    for sign in signs:
        by_node[sign.node].append(sign)
    found = []
    for node, own in by_node.items():
        best: dict[str, Sign] = {}
        for sign in sorted(own, key=lambda sign: (-sign.weight, sign.because)):
            best.setdefault(sign.channel, sign)
        doubt = float(np.prod([1 - sign.weight for sign in best.values()]))
        found.append(
            Suspicion(node, 1 - doubt, tuple(sorted(best.values(), key=lambda sign: (-sign.weight, sign.channel))))
        )
    return tuple(sorted(found, key=lambda suspicion: (-suspicion.score, natural(suspicion.node))))


def direct_signs(candidates: Sequence[Candidate], nodes: Sequence[str], unit: str) -> list[Sign]:
    """Nodes that themselves say what broke, when not most nodes do."""
    signs = []
    everywhere = {
        c.fact.kind: c.score for c in candidates if c.role is Role.ROOT and c.nodes and not is_local(c, nodes)
    }
    for candidate in candidates:
        if everywhere.get(candidate.fact.kind, 0.0) >= candidate.score:
            continue  # a variant of what most nodes say, such as a line that was cut off
        if candidate.role is not Role.ROOT or candidate.fact.blame is not Blame.SELF or not is_local(candidate, nodes):
            continue
        others = len(nodes) - len(candidate.nodes)
        for node in candidate.nodes:
            rest = f"the other {unit}" if others == 1 else f"the other {others} {unit}s"
            alone = f"; {rest} never did." if others else "."
            again = " again" if candidate.fact.again else ""
            because = f"{node} logged \u201c{short(candidate.quote)}\u201d{again}{alone}"
            signs.append(Sign(node, "direct", candidate.score, because, candidate.event))
    return signs


def is_local(candidate: Candidate, nodes: Sequence[str]) -> bool:
    """Whether an event marks a part of the nodes: said by at least one and at most half of two or more.

    Of a job with logs of one node only, a hardware event still marks that node.
    """
    if len(nodes) == 1:
        return candidate.fact.hardware and len(candidate.nodes) == 1
    return 0 < len(candidate.nodes) <= len(nodes) * MAJORITY


def named_signs(edges: Sequence[Edge], candidates: Mapping[int, Candidate], nodes: Sequence[str]) -> list[Sign]:
    """Nodes that the scheduler names as lost, and nodes that peers blame and that blame nobody."""
    signs = []
    for edge in edges:
        candidate = candidates[edge.event]
        if candidate.role is Role.ROOT:
            because = f"{edge.reporter or 'the scheduler'} says of {edge.blamed}: \u201c{short(candidate.quote)}\u201d."
            signs.append(Sign(edge.blamed, "named", candidate.score, because, edge.event))
    peers = [edge for edge in edges if candidates[edge.event].role is Role.PROPAGATED]
    counts = sinks(peers)
    for node, count in counts.items():
        most = len(nodes) > 2 and count * 2 > len(nodes) - 1
        weight = NAMED_BY_MOST if most else NAMED_BY_PEERS * count / max(counts.values())
        signs.append(
            Sign(
                node,
                "peers",
                weight,
                f"{count} other node{'s' * (count != 1)} lost the connection to {node}, which blames nobody.",
            )
        )
    return signs


def silence_signs(
    table: EventTable, candidates: Sequence[Candidate], expected: Mapping[str, Sequence[int]]
) -> list[Sign]:
    """Nodes with ranks that say nothing while most of the others complain (hang rules; absence marks the node).

    Args:
        expected: ranks of each node, from the manifest or from what spoke.
    """
    complained = _complained(candidates)
    spoke_up = complained | {
        rank for c in candidates if c.role is Role.ROOT and c.fact.blame is Blame.SELF for rank in c.ranks
    }
    everyone = {rank for ranks in expected.values() for rank in ranks}
    silent = everyone - spoke_up
    if len(complained) < MIN_COMPLAINERS or not silent or len(silent) > len(everyone) * MAJORITY:
        return []
    ended = last_words(table)
    homes = [node for node, ranks in expected.items() if set(ranks) & silent]
    signs = []
    for node, ranks in sorted(expected.items()):
        mute = sorted(set(ranks) & silent)
        if mute:
            weight = SILENT if len(homes) <= max(1, len(expected) * FEW) else SILENT * 0.75
            when = _earlier(ended, mute, complained)
            most = f"{len(complained)} of {len(everyone)} ranks did"
            because = f"{called(mute)} on {node} never complained; {most}{when}."
            signs.append(Sign(node, "silence", weight, because))
    return signs


def _complained(candidates: Sequence[Candidate]) -> set[int]:
    """Ranks that waited for others: those that timed out, when most complaints are time-outs.

    Who loses a connection only after the others timed out kept them waiting (docs/how-it-works.md, "Spatial").
    """
    told = [c for c in candidates if c.role is Role.PROPAGATED]
    timed_out = {rank for c in told if c.fact.kind == "peer silent" for rank in c.ranks}
    lost = {rank for c in told if c.fact.kind == "peer lost" for rank in c.ranks}
    return timed_out if len(timed_out) > len(lost - timed_out) else timed_out | lost


def behind_signs(iterations: Iterations, node_of_rank: Mapping[int, str]) -> list[Sign]:
    """Ranks whose last complete iteration is before that of the others."""
    if len(iterations.of_rank) < 3 or iterations.last is None:
        return []
    usual = int(np.median(list(iterations.of_rank.values())))
    signs = []
    late = {rank: last for rank, last in iterations.of_rank.items() if last < usual}
    if len(late) * 2 > len(iterations.of_rank):
        return []
    for rank, last in late.items():
        node = node_of_rank.get(rank)
        if node:
            signs.append(
                Sign(
                    node,
                    "behind",
                    BEHIND,
                    f"rank {rank} on {node} completed iteration {last}; the others reached {usual}.",
                )
            )
    return signs


def stubborn_signs(candidates: Sequence[Candidate], nodes: Sequence[str]) -> list[Sign]:
    """Nodes whose programs did not end when they were told to, while those of the others did: frozen, not waiting."""
    killed = [one for one in candidates if _KILLED.search(one.text) and is_local(one, nodes)]
    return [
        Sign(node, "stubborn", STUBBORN, f"{node} did not end when told to: \u201c{short(one.quote)}\u201d.")
        for one in killed
        for node in one.nodes
    ]


_KILLED = re.compile(
    r"did not (stop|end|exit) within|sending SIGKILL|still alive after SIGTERM|task did not stop after", re.IGNORECASE
)


def missing_signs(expected: Mapping[str, Sequence[int]], ranks: Sequence[int]) -> list[Sign]:
    """Nodes of which no rank ever spoke, while others did."""
    spoke = set(ranks)
    mute = [node for node, own in sorted(expected.items()) if own and not spoke & set(own)]
    if not spoke or not mute or len(mute) * 2 > len(expected):
        return []
    return [
        Sign(
            node,
            "missing",
            SILENT * 0.5,
            f"no rank of {node} left any log; {len(expected) - len(mute)} other nodes did.",
        )
        for node in mute
    ]


def last_words(table: EventTable) -> dict[int, int]:
    """Time of the last row of each rank."""
    spoke = np.flatnonzero(table.is_rank & (table.rank_of_voice >= 0) & (table.spoke.last >= 0))
    return {rank: int(table.spoke.last[voices].max()) for rank, voices in rows_by(table.rank_of_voice, spoke)}


def ranks_of_nodes(table: EventTable, manifest_ranks: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
    """Ranks of each node: as the manifest says, else as they spoke."""
    if manifest_ranks:
        return {node: tuple(ranks) for node, ranks in manifest_ranks.items()}
    found: dict[str, set[int]] = defaultdict(set)
    for origin in table.origins:
        if origin.rank is not None and origin.program is Program.RANK:
            found[origin.node or f"rank {origin.rank}"].add(origin.rank)
    return {node: tuple(sorted(ranks)) for node, ranks in sorted(found.items())}


def short(text: str, length: int = 90) -> str:
    """A template cut for a sentence."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "\u2026"


def _earlier(ended: Mapping[int, int], mute: Sequence[int], complained: set[int]) -> str:
    mine = [ended[rank] for rank in mute if rank in ended]
    theirs = [ended[rank] for rank in complained if rank in ended]
    if mine and theirs and min(theirs) - max(mine) >= TELLING_GAP:
        return f", and its last word came {(min(theirs) - max(mine)) / 1e6:.1f} s before theirs"
    return ""
