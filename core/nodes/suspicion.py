"""All signs that point to nodes, gathered from the channels of ``core.nodes.spatial``."""

from collections.abc import Mapping, Sequence

import numpy as np

from core.course.broken_number import BrokenNumber
from core.course.leak import Leak
from core.events.messages import keys_of
from core.events.row_text import read_rows
from core.events.table import EventTable
from core.facts import Blame
from core.failure_kinds import Kind
from core.job import LogFile, Status
from core.judge.candidates import Candidate
from core.judge.durations import Durations
from core.judge.ending import Ending
from core.judge.exits import Exits
from core.judge.rank_rows import ranks_of_nodes
from core.judge.ranking import telling_roots
from core.judge.speaker import is_of_any
from core.judge.work_spans import Span
from core.model import Role
from core.nodes.addresses import address_signs
from core.nodes.agreement import agreement_signs
from core.nodes.aliases import find_aliases
from core.nodes.blame import Edge, Names, blame_edges
from core.nodes.checksums import checksum_signs
from core.nodes.collectives import collective_signs
from core.nodes.common_end import common_end_signs
from core.nodes.contrast import contrast_signs
from core.nodes.counted_waits import counted_wait_signs
from core.nodes.device_tables import device_signs
from core.nodes.durations import duration_signs, told_alone_signs
from core.nodes.exits import exit_signs
from core.nodes.last_list import last_list_signs
from core.nodes.last_round import last_round_signs
from core.nodes.leaks import leak_signs
from core.nodes.listed import listed_signs
from core.nodes.missing_tensors import missed_signs
from core.nodes.odd_values import odd_value_signs
from core.nodes.one_counter import counter_signs
from core.nodes.onset import onset_signs
from core.nodes.pair_results import pair_signs
from core.nodes.peers import other_work
from core.nodes.probe_levels import probe_signs
from core.nodes.rank_levels import alone_signs, exchange_signs, gauge_signs, level_signs
from core.nodes.rank_series import series_signs
from core.nodes.rank_values import told_by_all
from core.nodes.reported_slowest import reported_signs
from core.nodes.sign import Sign
from core.nodes.silent_nodes import silent_node_signs
from core.nodes.slow import slow_signs
from core.nodes.slow_from_start import slow_from_the_start
from core.nodes.sole_named_peer import singled_signs
from core.nodes.spatial import behind_signs, direct_signs, missing_signs, named_signs, silence_signs, stubborn_signs
from core.nodes.stall import stall_signs
from core.nodes.told_numbers import counters, told_numbers, told_often, told_seldom
from core.nodes.unfinished import speechless_signs, unfinished_signs
from core.nodes.votes import vote_signs
from core.nodes.waits import waiting_signs
from core.parsed import Parsed
from core.parsing.identities import told_identities
from core.shares import MIN_RANKS

TELLING = (
    0.4  # of a sign that is worth telling of a job that hung (core.answer.findings); only without one hints are asked
)
MAX_READ = 4096  # raw lines of blaming messages that are read: one a rank of the largest jobs


def find_signs(
    parsed: Parsed,
    candidates: Sequence[Candidate],
    ending: Ending,
    exits: Exits,
    spans: Sequence[Span] = (),
    durations: Sequence[Durations] = (),
    broken: BrokenNumber | None = None,
    leak: Leak | None = None,
) -> tuple[Sign, ...]:
    """Signs of every channel for every node."""
    table, manifest, files, nodes = parsed.table, parsed.job.manifest, parsed.files, parsed.nodes
    by_event = {candidate.event: candidate for candidate in candidates}
    expected = ranks_of_nodes(table, manifest.node_ranks)
    node_of_rank = {rank: node for node, ranks in expected.items() for rank in ranks}
    apart = other_work(parsed)
    peers = [node for node in nodes if node not in apart]
    home = {rank: node for rank, node in node_of_rank.items() if node not in apart}
    all_values = tuple(told_by_all(parsed, len(node_of_rank))) if len(node_of_rank) >= MIN_RANKS else ()
    names = _names(parsed)
    edges = blame_edges(table, candidates, _blaming_texts(parsed, candidates, files), names)
    direct = _direct(parsed, candidates, edges)
    if ending.stopped_first:  # what ranks say of each other then is how they were ended, one after the other
        candidates = [candidate for candidate in candidates if candidate.role is not Role.PROPAGATED]
        edges = tuple(edge for edge in edges if by_event[edge.event].role is not Role.PROPAGATED)
    slow, between_lines = slow_signs(parsed, ending, node_of_rank)
    signs = (
        *direct,
        *named_signs(edges, by_event, nodes, apart | (set(nodes) - set(table.nodes))),
        *common_end_signs(parsed, candidates, names),
        *silence_signs(table, candidates, _heard(table, expected), nodes),
        *behind_signs(table, parsed.iterations, node_of_rank),
        *stubborn_signs(candidates, nodes),
        *contrast_signs(table, parsed.usual, peers, parsed.telling),
        *waiting_signs(parsed, candidates, expected),
        *_missing(parsed, expected, candidates),
        *slow,
        *_of_pace(parsed, ending, durations, node_of_rank),
        *_of_hang(parsed, candidates, ending, home, names),
        *speechless_signs(parsed, candidates, home | _counting(parsed, node_of_rank)),
        *unfinished_signs(parsed, ending, spans, home),
        *last_round_signs(parsed, ending, home),
        *vote_signs(parsed, candidates, node_of_rank),
        *agreement_signs(parsed, all_values, broken, node_of_rank),
        *checksum_signs(parsed, candidates, peers),
        *listed_signs(parsed, candidates, node_of_rank),
        *leak_signs(parsed, leak, node_of_rank),
        *address_signs(parsed, candidates, node_of_rank),
        *exit_signs(exits, candidates, ending, {} if table.ranks_are_nodes else node_of_rank, peers),
    )
    if any(sign.weight >= TELLING and sign.channel != "behind" for sign in signs):  # the log of who is may be cut off
        return (*signs, *between_lines)
    return (
        *signs,
        *onset_signs(parsed, candidates, ending),
        *silent_node_signs(parsed, ending),
        *(_by_any_numbers(parsed, candidates, ending, home) or between_lines),
        *(last_list_signs(parsed, ending, home, names) or _by_lists_of_numbers(parsed)),
    )


def _by_lists_of_numbers(parsed: Parsed) -> list[Sign]:
    """Signs by what machines measure of themselves or of each other, once or a few times."""
    return pair_signs(parsed) or odd_value_signs(parsed) or probe_signs(parsed)


def _by_any_numbers(
    parsed: Parsed, candidates: Sequence[Candidate], ending: Ending, home: Mapping[int, str]
) -> list[Sign]:
    """Signs by numbers that nobody knows, where nothing that broke tells why a job failed, or took so long."""
    if any(candidate.role is Role.ROOT and not candidate.fact.stops for candidate in candidates):
        return []
    often, told = told_often(parsed, home), told_numbers(parsed, home)
    return (
        series_signs(parsed, told, _onset(ending), ending.slow)
        or counter_signs(parsed, counters(parsed, often), ending)
        or exchange_signs(told)
        or exchange_signs(tuple(told_seldom(parsed, home)), seldom=True)
        or alone_signs(told)
        or level_signs(told, slow=_is_slower(ending))
        or (gauge_signs(told, home.get(min(home, default=0), "")) if _is_slower(ending) else [])
    )


def _direct(parsed: Parsed, candidates: Sequence[Candidate], edges: Sequence[Edge]) -> list[Sign]:
    """What nodes say of themselves; what a switch says of a node, or a machine of another job, is told of that node."""
    # of who left no log nobody knows what it would have said; a driver says again what one of its actors raised
    spoke = frozenset(parsed.table.nodes or parsed.nodes).union(*(candidate.nodes for candidate in candidates))
    by_others = {edge.event for edge in edges if edge.reporter not in parsed.nodes}
    found = direct_signs(telling_roots(candidates), [node for node in parsed.nodes if node in spoke], parsed.unit)
    return [sign for sign in found if sign.node in parsed.nodes or sign.event not in by_others]


def _names(parsed: Parsed) -> Names:
    """What nodes are called, by job.json and by the logs."""
    table, files, manifest = parsed.table, parsed.files, parsed.job.manifest
    names = Names(table, manifest)
    addresses, ranks = told_identities(table, files)
    names.learn(addresses, ranks, find_aliases(parsed))
    return names


def _onset(ending: Ending) -> int | None:
    """The iteration from which on the job is slower than before."""
    slow = ending.slow or ending.drift
    return None if slow is None or slow.than_good_jobs else slow.iteration


def _is_slower(ending: Ending) -> bool:
    return ending.slow is not None and ending.slow.than_good_jobs


def _of_pace(
    parsed: Parsed, ending: Ending, durations: Sequence[Durations], home: Mapping[int, str]
) -> tuple[Sign, ...]:
    """Signs by numbers: who is behind in collectives, who made the job slow, what machines measure of themselves."""
    return (
        *collective_signs(parsed, home),
        *missed_signs(parsed, home),
        *slow_from_the_start(parsed, ending, home),
        *reported_signs(parsed, ending, home),
        *duration_signs(parsed, durations, home),
        *told_alone_signs(parsed, ending, durations, home),
        *device_signs(parsed, ending),
    )


def _of_hang(
    parsed: Parsed, candidates: Sequence[Candidate], ending: Ending, home: Mapping[int, str], names: Names
) -> tuple[Sign, ...]:
    """Signs by what the others wait for, of a job that stands still."""
    judged = frozenset(candidate.event for candidate in candidates if candidate.role is not Role.BENIGN)
    return (
        *stall_signs(parsed, ending, home, judged),
        *singled_signs(parsed, ending, names),
        *counted_wait_signs(parsed, ending),
    )


def _counting(parsed: Parsed, node_of_rank: Mapping[int, str]) -> dict[int, str]:
    """The node of each rank that counts iterations, a server of other work among them: its silence tells as much."""
    return {rank: node_of_rank[rank] for rank in parsed.iterations.of_rank if rank in node_of_rank}


def _missing(parsed: Parsed, expected: Mapping[str, Sequence[int]], candidates: Sequence[Candidate]) -> Sequence[Sign]:
    """Signs for nodes that left no log; not for ranks, of which many speak only when something breaks."""
    table = parsed.table
    ranks = () if table.ranks_are_nodes else table.ranks
    if parsed.unit == "rank":
        return ()
    began = parsed.iterations.last is not None or parsed.job.status is Status.COMPLETED
    return missing_signs(expected, ranks, parsed.nodes, table.nodes, candidates, _chatty(table), began=began)


def _heard(table: EventTable, expected: Mapping[str, Sequence[int]]) -> dict[str, Sequence[int]]:
    """Ranks of each node, without nodes that speak and of which no line tells a rank: theirs may well complain."""
    ranks, spoke = set(table.ranks), set(table.nodes)
    return {node: own for node, own in expected.items() if node not in spoke or ranks & set(own)}


def _blaming_texts(parsed: Parsed, candidates: Sequence[Candidate], files: Mapping[str, LogFile]) -> dict[int, str]:
    """Raw text of messages that may name somebody: of blocks the lines that say what happened, under their head row.

    What a scheduler says of a fault it says of a node of its own, if it names one.
    """
    table, nodes = parsed.table, set(parsed.nodes)
    texts: dict[int, str] = {}
    for candidate in candidates:
        named = candidate.fact.blame is Blame.NAMED and candidate.role in (Role.ROOT, Role.PROPAGATED)
        says = candidate.role is Role.ROOT and candidate.fact.known and not candidate.fact.stop
        nameless = nodes.isdisjoint(candidate.nodes) and not candidate.ranks and not is_of_any(candidate)
        is_told = says and nameless and candidate.fact.blame is not Blame.NOBODY
        waits = candidate.role is Role.PROPAGATED and candidate.fact.kind == Kind.PEER_SILENT
        if named or is_told or waits:
            keys = keys_of(table, candidate.rows[:MAX_READ].tolist())
            raw = read_rows(files, table, [key for rows in keys.values() for key in rows])
            below = read_rows(files, table, [rows[-1] + 1 for rows in keys.values() if _goes_on(table, raw, rows[-1])])
            for row, rows in keys.items():
                message = [*(raw.get(key, "") for key in rows), below.get(rows[-1] + 1, "")]
                texts[row] = "\n".join(message).rstrip("\n")
    return texts


def _chatty(table: EventTable) -> frozenset[str]:
    """Nodes that said as much as half of what most nodes did: their ranks spoke, whatever label they had."""
    places: dict[str | None, int] = {name: place for place, name in enumerate(table.nodes)}
    node = np.array([places.get(origin.node, -1) for origin in table.origins], np.int64)
    lines_of_node = np.zeros(len(table.nodes) + 1, np.int64)
    np.add.at(lines_of_node, node[table.counts.voice], table.counts.heads)
    usual = float(np.median(lines_of_node[:-1])) if len(table.nodes) else 0.0
    return frozenset(
        name for name, count in zip(table.nodes, lines_of_node.tolist(), strict=False) if count * 2 >= usual > 0
    )


def _goes_on(table: EventTable, raw: Mapping[int, str], row: int) -> bool:
    """Whether a message ends in a colon and its list stands below it."""
    below = row + 1 < len(table) and table.voice[row + 1] == table.voice[row]
    return bool(below) and raw.get(row, "").rstrip().endswith(":")
