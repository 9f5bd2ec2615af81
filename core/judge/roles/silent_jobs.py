"""Jobs of which nobody says in known words what broke: who fell silent, and who ended first."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from core.events.table import EventTable
from core.facts import Blame, Fact
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.judge.rank_rows import last_rows, last_words
from core.judge.roles.row_queries import LATE, LEAD, TROUBLE, first_of_ranks, without
from core.logs.lines import NO_TIME
from core.model import Role
from core.parsed import Parsed
from core.shares import MAJORITY, few_of

MIN_SPEAKERS = 2  # of one alone nothing was lost
AT_ONCE = 1_000_000  # microseconds: who follows another one notices first, gloo and torchrun poll by the second
FIRST_TO_END = 0.6  # strength of the words with which a process ended before all others: as sure as silence
_LOST = Fact(
    Role.PROPAGATED,
    Blame.NOBODY,
    Kind.PEER_LOST,
    0.5,
    "ended when another one had fallen silent",
    "See who said nothing.",
)


def weigh_silence(table: EventTable, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Where most end together in errors that nobody knows, after few had fallen silent, they say that they lost them.

    In whatever words.
    """
    roots = [candidate for candidate in candidates if candidate.role is Role.ROOT]
    last = last_words(table)
    firsts = first_of_ranks(
        table, [*roots, *(candidate for candidate in candidates if candidate.role is Role.PROPAGATED)]
    )
    mute = {*last, *table.ranks} - set(  # a rank that has no clock never complained either
        first_of_ranks(table, [candidate for candidate in candidates if candidate.role is not Role.BENIGN])
    )
    if any(root.fact.known for root in roots) or not mute or len(firsts) <= len(last) * MAJORITY:
        return candidates
    first, latest = min(firsts.values()), max(firsts.values())
    together = first >= 0 and latest - first <= LATE and all(last.get(rank, 0) < first - LEAD for rank in mute)
    if not together or len(mute) > few_of(len(last)):
        return candidates
    why = "said when another one had fallen silent"
    return [
        replace(candidate, fact=_LOST, role=Role.PROPAGATED, why=why) if candidate in roots else candidate
        for candidate in candidates
    ]


def weigh_last_words(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Who ended first with a complaint broke, and the others followed.

    A process that complains and says nothing more has ended with that; who ends after it had lost it.
    """
    table, reached = parsed.table, parsed.iterations
    at_end = reached.at_end
    if at_end or any(
        candidate.role is Role.ROOT and (candidate.fact.known or candidate.fact.strength >= TROUBLE)
        for candidate in candidates
    ):
        return candidates
    last = last_rows(table)
    telling = [
        candidate
        for candidate in candidates
        if candidate.role is not Role.TEARDOWN and candidate.fact.kind != Kind.WARNING
    ]
    dying = [candidate for candidate in telling if not candidate.fact.known or _tells_of_peers(candidate)]
    ended = {int(row) for candidate in dying for row in np.intersect1d(candidate.rows, list(last.values())).tolist()}
    if len(last) < MIN_SPEAKERS or not ended:
        return candidates
    lost = {int(row) for candidate in dying if _tells_of_peers(candidate) for row in candidate.rows.tolist()}
    first = min(int(table.time[row]) for row in ended)
    led = np.array(sorted(row for row in ended if int(table.time[row]) <= first + LEAD), np.intp)
    if lost & set(led.tolist()):
        return candidates  # who lost a peer ended no later

    def weigh(candidate: Candidate) -> Candidate:
        own = np.intersect1d(candidate.rows, led)
        if candidate not in dying or candidate.fact.known or not len(own) or _say_all_at_once(parsed, candidate, last):
            return candidate
        why = "said last, and first of all"
        root = without(table, candidate, lambda rows: ~np.isin(rows, own), "").with_role(Role.ROOT, why)
        return replace(root, fact=replace(candidate.fact, strength=max(candidate.fact.strength, FIRST_TO_END)))

    return [weigh(candidate) for candidate in candidates]


def _say_all_at_once(parsed: Parsed, candidate: Candidate, last: Mapping[int, int]) -> bool:
    """Whether most speakers, or one on each node, end with the same words: each decided so by itself, none was lost.

    Within a second; or, where nobody had made progress for as long as peers take to notice a death, within that time.
    """
    table, ended = parsed.table, parsed.iterations.ended
    rows = np.intersect1d(candidate.rows, list(last.values()))
    times, nodes = table.time[rows], np.unique(table.node[list(last.values())])
    most = len(rows) > len(last) * MAJORITY or (
        len(nodes) > MIN_SPEAKERS and len(np.unique(table.node[rows])) == len(nodes)
    )
    stood = ended != NO_TIME and len(rows) > 0 and int(times.min()) - ended > LATE
    return most and int(times.max() - times.min()) <= (LATE if stood else AT_ONCE)


def _tells_of_peers(candidate: Candidate) -> bool:
    return candidate.role is Role.PROPAGATED
