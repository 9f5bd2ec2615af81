"""Spatial: nodes against each other (L4, section 4.3): who is special, how much, and why.

Evidence about a node comes from channels that fail in different ways, so that no single one decides:
direct (it says itself what broke), named (others, or the scheduler, name it), silence (its peers complain and it does
not), behind (its last iteration, its last word), missing (it lacks what all its peers say).

Differs: L4 ranks nodes by Isolation Forest over event count vectors of filtered logs, which must always accuse somebody
and cannot see absence. Here presence and absence are judged apart, inside cohorts, in closed form.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from core.course.iterations import Iterations
from core.events.table import EventTable
from core.facts import Blame
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.judge.rank_rows import last_words
from core.judge.roles.untold import WHY
from core.live.findings import duration
from core.model import Role
from core.naming import called
from core.nodes.blame import Edge, end_of_chains, sinks
from core.nodes.sign import Sign, short
from core.shares import MAJORITY

NAMED_BY_PEERS = 0.45  # peers blame somebody every time: less than a direct trace
NAMED_BY_MOST = (
    0.65  # when most of the other nodes blame one that blames nobody, there is a sink (method.md, "Spatial")
)
RELAY = 0.4  # what is left of a blame that falls on who waits for somebody else
SILENT = 0.6  # more than a hint, less than the blame of most peers: who says nothing may only have lost its log
BEHIND = 0.35  # a hint: who is late may wait for another one
ALONE_BEHIND = 0.4  # as sure as lacking what the others said last: few ranks, and all others at the same iteration
STUBBORN = 0.4  # as ALONE_BEHIND: of all that were told to end one had to be killed
# counts that are told, every one or each hundredth iteration: those of one job wait for each other, so a rank that is
# further behind went on, and its log ends before
MOST_BEHIND = 4
FEW_BEHIND = 0.25  # of the ranks (as in core.nodes.stall)
FEW = 0.05  # of the nodes: so few silent ones are as telling as one alone (amplified jobs, docs/LOG.md)
TELLING_GAP = 500_000  # microseconds; loggers flush and clocks differ by less
MIN_COMPLAINERS = 2  # of one peer alone nothing follows about the silent ones


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
        if candidate.fact.stops:
            continue  # a stop from outside is told where it arrives
        if candidate.fact.kind == Kind.STOOD_APART:
            continue  # the stack that it is has a channel of its own, and is one ground, not two
        others = len(nodes) - len(candidate.nodes)
        for node in candidate.nodes:
            rest = f"the other {unit}" if others == 1 else f"the other {others} {unit}s"
            alone = f"; {rest} never did." if others else "."
            again = " again" if candidate.fact.again else ""
            because = f"{node} logged \u201c{short(candidate.quote)}\u201d{again}{alone}"
            if candidate.why == WHY:
                because = f"\u201c{short(candidate.quote)}\u201d is taken to be of {node}: {WHY}."
            signs.append(Sign(node, "direct", candidate.score, because, candidate.event))
    return signs


_OF_ALL = frozenset({Kind.EXCEPTION, Kind.NUMERICS})


def is_local(candidate: Candidate, nodes: Sequence[str]) -> bool:
    """Whether an event marks a part of the nodes: said by at least one and at most half of two or more.

    Of a job with logs of one node only, a hardware event still marks that node.
    """
    if len(nodes) == 1:
        return candidate.fact.hardware and len(candidate.nodes) == 1
    if candidate.fact.kind in _OF_ALL and len(candidate.nodes) > max(1, len(nodes) * FEW):
        return False  # the same exception of a program on several nodes is its code, and a NaN its numbers: no machine
    return 0 < len(candidate.nodes) <= len(nodes) * MAJORITY


def named_signs(
    edges: Sequence[Edge], candidates: Mapping[int, Candidate], nodes: Sequence[str], apart: Collection[str] = ()
) -> list[Sign]:
    """Nodes that the scheduler names as lost, and nodes that peers blame and that blame nobody.

    Args:
        apart: nodes that do other work: who takes leave of a server names it, whatever happened.
    """
    signs = []
    named = {
        (candidates[edge.event].fact.kind, edge.blamed) for edge in edges if candidates[edge.event].role is Role.ROOT
    }
    named |= {  # what a node says of itself as the others' schedulers do
        (candidate.fact.kind, node)
        for candidate in candidates.values()
        if candidate.role is Role.ROOT and candidate.fact.named and candidate.fact.blame is Blame.SELF
        for node in candidate.nodes
    }
    of_kind = Counter(kind for kind, _ in named)
    for edge in edges:
        candidate = candidates[edge.event]
        alike = of_kind[candidate.fact.kind]  # what is said of most nodes marks none of them
        if candidate.role is Role.ROOT and (alike == 1 or alike <= len(nodes) * MAJORITY):
            because = f"{edge.reporter or 'the scheduler'} says of {edge.blamed}: \u201c{short(candidate.quote)}\u201d."
            signs.append(Sign(edge.blamed, "named", candidate.score, because, edge.event))
    peers = [edge for edge in edges if candidates[edge.event].role is Role.PROPAGATED]
    waiting = {node for item in candidates.values() if item.fact.kind in _NEVER_MET for node in item.nodes}
    timed_out = {node for item in candidates.values() if item.fact.kind == Kind.PEER_SILENT for node in item.nodes}
    gave_up = timed_out if len(timed_out) > len(nodes) * MAJORITY else set()
    counts = sinks(peers)
    waits = [edge for edge in peers if candidates[edge.event].fact.kind == Kind.LAST_WORDS]
    counts |= {node: max(count, counts.get(node, 0)) for node, count in end_of_chains(waits).items() if node in counts}
    for node, count in counts.items():
        most = len(nodes) > 2 and count * 2 > len(nodes) - 1
        weight = NAMED_BY_MOST if most else NAMED_BY_PEERS * count / max(counts.values())
        if node in waiting or (node in gave_up and not most):
            weight *= RELAY  # it is named because all wait at its store, or because it gave up as well, and closed
        elif node in apart and _told(peers, candidates, node) == {Kind.LAST_WORDS}:
            weight *= RELAY
        certain = max(candidates[edge.event].fact.strength for edge in peers if edge.blamed == node)
        weight = max(weight, certain) if certain >= SILENT else weight  # a barrier that asks each rank, and names who
        text = f"{count} other node{'s' * (count != 1)} {_of_peer(peers, candidates, node)}"
        signs.append(Sign(node, "peers", weight, f"{text} {node}, which names none itself."))
    return signs


def _of_peer(edges: Sequence[Edge], candidates: Mapping[int, Candidate], node: str) -> str:
    """What others tell of a node: known words for a lost connection, or its name in their last words."""
    reporters = _told(edges, candidates, node)
    return "at last spoke only of peers, and so of" if reporters == {Kind.LAST_WORDS} else "lost the connection to"


def _told(edges: Sequence[Edge], candidates: Mapping[int, Candidate], node: str) -> set[str]:
    """Kinds of the messages that name a node."""
    return {candidates[edge.event].fact.kind for edge in edges if edge.blamed == node}


def silence_signs(
    table: EventTable, candidates: Sequence[Candidate], expected: Mapping[str, Sequence[int]], nodes: Sequence[str]
) -> list[Sign]:
    """Nodes with ranks that say nothing while most of the others complain (hang rules; absence marks the node).

    Args:
        expected: ranks of each node, from the manifest or from what spoke.
        nodes: of the job.
    """
    complained = _complained(candidates)
    spoke_up = (
        complained
        | _lost_at_once(table, candidates, complained)
        | {rank for c in candidates if c.role is Role.ROOT and c.fact.blame is Blame.SELF for rank in c.ranks}
    )
    everyone = {rank for ranks in expected.values() for rank in ranks}
    silent = everyone - spoke_up
    if len(complained) < MIN_COMPLAINERS or not silent or len(silent) > len(everyone) * MAJORITY:
        return _silent_nodes(table, candidates, expected, nodes)
    ended = last_words(table)
    homes = [node for node, ranks in expected.items() if set(ranks) & silent]
    signs = []
    for node, ranks in sorted(expected.items()):
        mute = sorted(set(ranks) & silent)
        if mute:
            weight = SILENT if len(homes) <= max(1, len(expected) * FEW) else SILENT * 0.75
            when = _earlier(ended, mute, complained)
            most = f"{len(complained)} of {len(everyone)} {table.speakers} did"
            because = f"{table.called(mute, node)} never complained; {most}{when}."
            signs.append(Sign(node, "silence", weight, because))
    return signs


def _silent_nodes(
    table: EventTable, candidates: Sequence[Candidate], expected: Mapping[str, Sequence[int]], nodes: Sequence[str]
) -> list[Sign]:
    """Nodes of which nobody knows the ranks, and that say nothing while all others complain."""
    known = set(table.nodes)
    unknown = [node for node in nodes if node in known and not expected.get(node)]
    telling = [
        candidate for candidate in candidates if candidate.fact.kind != Kind.LAST_WORDS
    ]  # who is silent may have had others
    complaining = {
        node for candidate in telling if candidate.role in (Role.ROOT, Role.PROPAGATED) for node in candidate.nodes
    }
    others = [node for node in nodes if node not in known or expected.get(node)]
    if not others:  # nobody tells a rank of any: nodes stand for themselves
        unknown, others = [node for node in unknown if node not in complaining], sorted(complaining & set(nodes))
    ranks = {rank for candidate in telling if candidate.role is Role.PROPAGATED for rank in candidate.ranks}
    many = max(len(others), len(ranks)) >= MIN_COMPLAINERS  # all ranks of the only other node are several
    if not unknown or not others or not many or not complaining >= set(others) or complaining & set(unknown):
        return []
    if len(unknown) > max(1, len(nodes) * FEW):
        return []
    rest = f"the other {len(others)} nodes" if len(others) > 1 else f"{called(sorted(ranks))} on {others[0]}"
    return [Sign(node, "silence", SILENT, f"{node} never complained; {rest} did.") for node in unknown]


def _complained(candidates: Sequence[Candidate]) -> set[int]:
    """Ranks that waited for others: those that timed out, when most complaints are time-outs.

    Who loses a connection only after the others timed out kept them waiting (docs/explain/method.md, "Spatial").
    """
    complaints = [c for c in candidates if c.role is Role.PROPAGATED]
    timed_out = {rank for c in complaints if c.fact.kind == "peer silent" for rank in c.ranks}
    lost = {rank for c in complaints if c.fact.kind == "peer lost" for rank in c.ranks}
    return timed_out if len(timed_out) > len(lost - timed_out) else timed_out | lost


def _lost_at_once(table: EventTable, candidates: Sequence[Candidate], complained: set[int]) -> set[int]:
    """Ranks that lost a connection while the others timed out: they waited too, and one of those closed it.

    A rank that was frozen says so as well once it goes on, but then the others have long given up.
    """
    complaints = [candidate for candidate in candidates if candidate.role is Role.PROPAGATED]
    times = [_first_said(table, candidate) for candidate in complaints if candidate.fact.kind == Kind.PEER_SILENT]
    last = max((time for of in times for rank, time in of.items() if rank in complained), default=None)
    if last is None:
        return set()
    lost = [_first_said(table, candidate) for candidate in complaints if candidate.fact.kind == Kind.PEER_LOST]
    return {rank for of in lost for rank, time in of.items() if time <= last + TELLING_GAP}


def _first_said(table: EventTable, candidate: Candidate) -> dict[int, int]:
    """When each rank first said it, by a clock of its own."""
    found: dict[int, int] = {}
    rows = candidate.rows[table.timed[candidate.rows]]
    for rank, time in zip(table.rank[rows].tolist(), table.time[rows].tolist(), strict=True):
        if rank >= 0:
            found[rank] = min(found.get(rank, time), time)
    return found


def behind_signs(table: EventTable, iterations: Iterations, node_of_rank: Mapping[int, str]) -> list[Sign]:
    """Ranks whose last complete iteration is before that of the others, if those can have gone on without them."""
    if len(iterations.of_rank) < 3 or iterations.last is None:
        return []
    usual = int(np.median(list(iterations.of_rank.values())))
    signs = []
    late = {rank: last for rank, last in iterations.of_rank.items() if last < usual}
    told = np.unique(iterations.numbers)
    if np.sum((told > max(late.values(), default=usual)) & (told <= usual)) > MOST_BEHIND:
        return []
    if len(late) * 2 > len(iterations.of_rank):
        return []
    few = len(late) <= max(1, len(iterations.of_rank) * FEW_BEHIND)
    weight = ALONE_BEHIND if few and max(iterations.of_rank.values()) == usual else BEHIND
    for rank, last in late.items():
        node = node_of_rank.get(rank)
        if node:
            signs.append(
                Sign(
                    node,
                    "behind",
                    weight,
                    f"{table.called([rank], node)} completed iteration {last}; the others reached {usual}.",
                )
            )
    return signs


def stubborn_signs(candidates: Sequence[Candidate], nodes: Sequence[str]) -> list[Sign]:
    """Nodes whose programs did not end when they were told to, while those of the others did: frozen, not waiting."""
    killed = [candidate for candidate in candidates if candidate.fact.forced and is_local(candidate, nodes)]
    return [
        Sign(node, "stubborn", STUBBORN, f"{node} did not end when told to: \u201c{short(candidate.quote)}\u201d.")
        for candidate in killed
        for node in candidate.nodes
    ]


def missing_signs(
    expected: Mapping[str, Sequence[int]],
    ranks: Sequence[int],
    nodes: Sequence[str],
    spoke: Sequence[str],
    candidates: Sequence[Candidate],
    chatty: Collection[str] = (),
    *,
    began: bool = True,
) -> list[Sign]:
    """Nodes of which no rank ever spoke, while others did; where the processes never all met, that is why.

    Or where they never began to train, and nothing else tells why.

    Args:
        ranks: that spoke.
        nodes: of the job.
        spoke: nodes of which anything is logged.
        chatty: those of which as much is logged as of the others.
        began: whether any iteration was completed.
    """
    if ranks:
        heard = set(ranks)
        mute = [node for node, own in sorted(expected.items()) if own and heard.isdisjoint(own)]
        mute = [node for node in mute if node not in chatty]
        known = len(expected)
    if not ranks or (not mute and max(len(spoke), len(nodes)) > len(expected)):  # of some nodes no rank is known
        told = set(spoke)
        mute, known = [node for node in nodes if node not in told], len(nodes)
    others = known - len(mute)
    if not mute or others < MIN_COMPLAINERS or len(mute) >= others:
        return []
    roots = [candidate for candidate in candidates if candidate.role is Role.ROOT]
    waited = any(root.fact.kind in _NEVER_MET for root in roots) or not (began or roots)
    weight = SILENT if waited else SILENT * 0.5
    return [
        Sign(node, "missing", weight, f"no rank of {node} left any log; {others} other nodes did.", says=_NEVER_CAME)
        for node in mute
    ]


_NEVER_MET = frozenset({Kind.RENDEZVOUS, Kind.UNREACHABLE})
_NEVER_CAME = "it never logged anything, and the others waited for it"


def _earlier(ended: Mapping[int, int], mute: Sequence[int], complained: set[int]) -> str:
    mine = [ended[rank] for rank in mute if rank in ended]
    theirs = [ended[rank] for rank in complained if rank in ended]
    if mine and theirs and min(theirs) - max(mine) >= TELLING_GAP:
        return f", and its last word came {duration((min(theirs) - max(mine)) / 1e6)} before theirs"
    return ""
