"""Agreement: what all ranks print alike, time after time, until one of them prints something else and stays apart.

Replicas hold the same weights, a reduced loss or norm is the same everywhere, parts of a checkpoint are of one size.
Nothing complains when a bit flips or a disk is full and nobody looks; the number does: who alone no longer agrees,
while all others still do, computes or writes something else since then.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.course.broken import Broken
from core.course.values import values_of
from core.events.text import each_row
from core.facts import complains
from core.nodes.sign import Sign
from core.nodes.votes import of_each
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS, few_of

ODD_ONE = 0.75  # surer than a vote: it agreed before, by itself and on all ranks
MIN_AGREED, MIN_ODD = 4, 3  # times that all print the same first, and that one prints something else then
MAX_EVENTS = 6  # messages that are looked at, those said most often first
MAX_ROWS = 4_000  # of a message, of all ranks in the same iterations, evenly spread: a twentieth of a second
_UNIT = re.compile(r"[mun]?s|secs?|seconds|min|h|%|[KMGT]i?B|[a-z]{1,12}/s(?:ec)?|m?s/[a-z]{1,12}", re.IGNORECASE)
# What each machine measures for itself, alike for a while by chance.
_COUNTED = re.compile(r"bytes|files|tokens|samples|rows|records|shards|tensors|param(?:eter)?s", re.IGNORECASE)
_MEASURED = re.compile(
    r"time|elapsed|took|secs?|mem|rss|alloc|reserv|util|temp|load|power|queue|cpu|gpu|rate|eta|speed|tps"
)

Key = tuple[int, int]  # an iteration, and which of the messages of this kind in it
Values = Mapping[Key, Mapping[int, str]]  # by rank


@dataclass(frozen=True, slots=True)
class Apart:
    """Ranks that no longer agree: what with, since when, what they print and what all others do, and two that do."""

    ranks: tuple[int, ...]
    name: str
    since: Key
    own: str
    usual: str
    shown: tuple[int, int]

    @property
    def iteration(self) -> int | None:
        """Since which iteration; None before the first."""
        return self.since[0] if self.since[0] > 0 else None


def agreement_signs(parsed: Parsed, broken: Broken | None, home: Mapping[int, str]) -> list[Sign]:
    """Signs for the nodes of the few ranks that left what all agreed on, or whose numbers broke before the others'.

    Args:
        broken: what is no number any more.
        home: node of each rank.
    """
    if len(home) < MIN_RANKS:
        return []
    if broken is not None:
        return [_broke_first(parsed, broken, rank, home[rank]) for rank in broken.first if rank in home]
    signs: dict[str, Sign] = {}
    for event in _events(parsed, len(home)):
        rows, keys = _chosen(parsed, event)
        for apart in _find_apart(_values(parsed, rows, keys), len(home)):
            shown = _rows_of(parsed, rows, keys, apart)
            for node in sorted({home[rank] for rank in apart.ranks if rank in home}):
                own = [rank for rank in apart.ranks if home.get(rank) == node]
                since = f" from iteration {apart.iteration} on" if apart.iteration else ""
                sign = Sign(
                    node,
                    "agreement",
                    ODD_ONE,
                    f"{parsed.table.called(own, node)} says {apart.name} {apart.own}{since}, all others {apart.usual}; "
                    "until then all said the same.",
                    event,
                    says=f"{apart.name} {apart.own} there, {apart.usual} on all others",
                    check=f"Compare {node} with another node: free space, memory errors (ECC), its data; run a step "
                    "twice and compare the results bit by bit.",
                    ranks=tuple(own),
                    iteration=apart.iteration,
                    rows=shown,
                )
                signs.setdefault(node, sign)
    return list(signs.values()) if len(signs) <= few_of(len(set(home.values()))) else []


def _broke_first(parsed: Parsed, broken: Broken, rank: int, node: str) -> Sign:
    who = parsed.table.called([rank], node)
    return Sign(
        node,
        "agreement",
        ODD_ONE,
        f"{broken.name} of {who} was nan in iteration {broken.iteration} already, when that of all others was not.",
        says=f"its {broken.name} was nan before that of all others",
        check=f"Look at what {who} read and computed in that iteration: its data, and the memory of its device.",
        ranks=(rank,),
        iteration=broken.iteration,
        rows=(broken.row,),
    )


def _events(parsed: Parsed, ranks: int) -> list[int]:
    """Messages with values that most ranks say often, and that complain of nothing."""
    table = parsed.table
    often = (MIN_AGREED + MIN_ODD) * max(MIN_RANKS, int(ranks * MAJORITY))
    found = [
        event
        for event, template in enumerate(table.templates)
        if table.heads[event] >= often
        and not template.block
        and "<" in template.sample
        and not complains(template.sample)
    ]
    return sorted(found, key=lambda event: (-int(table.heads[event]), event))[:MAX_EVENTS]


def _rows_of(parsed: Parsed, rows: NDArray[np.intp], keys: Sequence[Key], apart: Apart) -> tuple[int, ...]:
    """The rows in which the first one left the others, and in which one of them said what they all did."""
    ranks = parsed.table.rank[rows].tolist()
    return tuple(
        row
        for row, key, rank in zip(rows.tolist(), keys, ranks, strict=True)
        if key == apart.since and rank in apart.shown
    )


def _values(parsed: Parsed, rows: NDArray[np.intp], keys: Sequence[Key]) -> Iterator[tuple[str, Values]]:
    """Each value of a message with its name, as the ranks print it."""
    key_of = dict(zip(rows.tolist(), keys, strict=True))
    told: dict[tuple[int, str], dict[Key, dict[int, str]]] = defaultdict(lambda: defaultdict(dict))
    for row, text in each_row(parsed.files, parsed.table, rows):
        for place, name, value in _read(text):
            told[place, name][key_of[row]][int(parsed.table.rank[row])] = value
    for (_, name), values in sorted(told.items()):
        yield name, values


def _chosen(parsed: Parsed, event: int) -> tuple[NDArray[np.intp], list[Key]]:
    """Rows of an event, sorted, that are read, and what brings those of all ranks together."""
    table = parsed.table
    rows = table.rows_of([event])[event]
    rows = rows[table.rank[rows] >= 0]
    numbers, ranks = parsed.iterations.of_row[rows].astype(np.int64), table.rank[rows]
    each = max(MIN_AGREED + MIN_ODD, MAX_ROWS // max(1, len(np.unique(ranks))))
    known = np.unique(numbers)
    wanted = known[np.unique(np.linspace(0, len(known) - 1, each).astype(np.intp))] if len(known) else known
    chosen = np.flatnonzero(np.isin(numbers, wanted))[: 4 * MAX_ROWS]
    times: Counter[tuple[int, int]] = Counter()
    keys = []
    for number, rank in zip(numbers[chosen].tolist(), ranks[chosen].tolist(), strict=True):
        keys.append((number, times[number, rank]))
        times[number, rank] += 1
    return rows[chosen], keys


def _read(text: str) -> Iterator[tuple[int, str, str]]:
    """Values of a line with their places and names; none that each machine measures for itself."""
    for value in values_of(text):
        if not (_UNIT.fullmatch(value.behind) or of_each(value.name) or _MEASURED.search(value.name.lower())):
            yield value.place, value.behind if _COUNTED.fullmatch(value.behind) else value.name, value.text


def _find_apart(told: Iterator[tuple[str, Values]], ranks: int) -> Iterator[Apart]:
    for name, values in told:
        speakers = Counter(rank for of_rank in values.values() for rank in of_rank)
        often = {rank for rank, times in speakers.items() if times * 2 >= len(values)}
        if len(often) < max(MIN_RANKS, ranks * MAJORITY) or not name:
            continue
        common = [(key, values[key]) for key in sorted(values) if often <= values[key].keys()]
        if (apart := _apart(name, [(key, {rank: of[rank] for rank in often}) for key, of in common])) is not None:
            yield apart


def _apart(name: str, common: Sequence[tuple[Key, Mapping[int, str]]]) -> Apart | None:
    """Who printed something else from some time on, until the end, while all others agreed each time."""
    agreed = next((place for place, (_, of) in enumerate(common) if len(set(of.values())) > 1), len(common))
    since = common[agreed:]
    if agreed < MIN_AGREED or len(since) < MIN_ODD:
        return None
    usual, _ = Counter(since[0][1].values()).most_common(1)[0]
    before = {value for _, of in common[:agreed] for value in of.values()}
    if len(before) == 1 and (before != {usual} or not usual.isdigit()):
        return None  # of what had never changed, who changed is apart; and what is measured may stand for a while
    odd = {rank for rank, value in since[0][1].items() if value != usual}
    if len(odd) > few_of(len(since[0][1])):
        return None
    for _, of in since:
        others = {value for rank, value in of.items() if rank not in odd}
        if len(others) != 1 or others & {of[rank] for rank in odd}:
            return None
    key, of = since[0]
    return Apart(tuple(sorted(odd)), name, key, of[min(odd)], usual, (min(odd), min(of.keys() - odd)))
